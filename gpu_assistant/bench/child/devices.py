"""What torch can compute on here, and how time is taken on it."""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Dict, List, Optional, Union

from .free_memory import free_memory

CLEARED_BYTES = 256 * 2**20  # written before each run, so that no cache of a card holds its input (triton's do_bench)


def usable_cores(given: Optional[int]) -> Optional[int]:
    """The physical cores, but no more than this process may use (containers, taskset)."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:
        return given
    return min(given, allowed) if given else None


class Cpu:
    """The processor, with one thread a physical core: a second one a core only disturbs a matrix product."""

    id = "cpu"
    kind = "cpu"
    capability = None

    def __init__(self, torch: Any, cores: Optional[int]) -> None:
        self.torch = torch
        threads = usable_cores(cores)
        if threads:
            torch.set_num_threads(threads)

    def about(self) -> Dict[str, Any]:
        """The device as the parent reads it."""
        return {"id": self.id, "threads": self.torch.get_num_threads()}

    def free_bytes(self) -> Optional[int]:
        """Memory that can be filled, or None."""
        return free_memory()

    def seconds(self, work: Callable[[], Any], count: int = 1) -> List[float]:
        """The time of each of `count` runs."""
        times = []
        for _ in range(count):
            started = time.perf_counter()
            work()
            times.append(time.perf_counter() - started)
        return times

    def lost(self) -> bool:
        """Whether it stopped answering."""
        return False


class Cuda:
    """One CUDA (or ROCm) device, timed by its own events."""

    kind = "gpu"

    def __init__(self, torch: Any, index: int) -> None:
        self.torch = torch
        self._index = index
        self._to_clear: Any = None
        self.id = "cuda:%d" % index
        self.capability = None if torch.version.hip else tuple(torch.cuda.get_device_capability(index))

    def about(self) -> Dict[str, Any]:
        """The device as the parent reads it."""
        properties = self.torch.cuda.get_device_properties(self._index)
        return {"id": self.id, "name": properties.name, "memory_bytes": properties.total_memory}

    def free_bytes(self) -> Optional[int]:
        """Memory that can be filled."""
        return int(self.torch.cuda.mem_get_info(self._index)[0])

    def seconds(self, work: Callable[[], Any], count: int = 1) -> List[float]:
        """The time of each of `count` runs on the device itself.

        Clearing its cache keeps the device busy while the next run is handed over, so that the way there is not
        counted; the runs are handed over together and waited for once.
        """
        cuda = self.torch.cuda
        with cuda.device(self._index):
            if self._to_clear is None:
                self._to_clear = self.torch.empty(CLEARED_BYTES, dtype=self.torch.uint8, device=self.id)
            pairs = [(cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)) for _ in range(count)]
            cuda.synchronize()
            for start, stop in pairs:
                self._to_clear.zero_()
                start.record()
                work()
                stop.record()
            cuda.synchronize()
        return [float(start.elapsed_time(stop)) / 1e3 for start, stop in pairs]

    def lost(self) -> bool:
        """Whether it stopped answering: after a fatal error every later call of the process fails."""
        try:
            self.torch.cuda.synchronize(self._index)
        except Exception:  # noqa: BLE001 - whatever it says, it does not answer
            return True
        return False


Device = Union[Cpu, Cuda]


def devices_of(torch: Any, cores: Optional[int]) -> List[Device]:
    """The processor, then every device that torch has."""
    devices: List[Device] = [Cpu(torch, cores)]
    if torch.cuda.is_available():
        devices += [Cuda(torch, index) for index in range(torch.cuda.device_count())]
    return devices
