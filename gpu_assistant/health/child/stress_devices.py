"""The devices that a health test puts under load: the CPU and CUDA devices of torch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...bench.child.cuda_driver import device_uuid
else:  # `program.py` has put it on the path
    from cuda_driver import device_uuid


class StressDevice:
    """A device of torch's. `precisions` are those in which matrix products are tested."""

    id: str
    precisions: tuple[str, ...]

    def describe(self) -> dict[str, Any]:
        """The device for the parent, as JSON."""
        raise NotImplementedError

    def free_bytes(self) -> int:
        """Memory that a test may fill."""
        raise NotImplementedError

    def synchronize(self) -> None:
        """Wait until all its work is done."""
        raise NotImplementedError


class StressCpu(StressDevice):
    """The CPU, with a thread for each core; a memory test may fill `cpu_bytes` of RAM."""

    id = "cpu"
    precisions = ("float64", "float32", "bfloat16")

    def __init__(self, torch: Any, cores: int | None, cpu_bytes: int) -> None:  # noqa: ANN401
        self._memory_bytes = cpu_bytes
        try:
            usable_cores = len(os.sched_getaffinity(0))
        except AttributeError:
            usable_cores = os.cpu_count() or 1
        torch.set_num_threads(min(cores or usable_cores, usable_cores))

    def describe(self) -> dict[str, Any]:
        """The device in a message; the CPU has an id only."""
        return {"id": self.id}

    def free_bytes(self) -> int:
        """A fixed amount: other programs need the rest."""
        return self._memory_bytes

    def synchronize(self) -> None:
        """Nothing: torch computes synchronously on the CPU."""


class StressCuda(StressDevice):
    """One CUDA (or ROCm) device."""

    def __init__(self, torch: Any, index: int) -> None:  # noqa: ANN401
        self._torch = torch
        self._cuda = torch.cuda
        self._index = index
        self.id = f"cuda:{index}"
        # TF32 and bfloat16 came with compute capability 8.0.
        is_ampere_or_newer = torch.version.hip is None and torch.cuda.get_device_capability(index) >= (8, 0)
        self.precisions = (
            ("float64", "float32", "tf32", "float16", "bfloat16")
            if is_ampere_or_newer
            else ("float64", "float32", "float16")
        )

    def describe(self) -> dict[str, Any]:
        """With the driver's UUID of the GPU, or of the slice of a divided one."""
        properties = self._cuda.get_device_properties(self._index)
        return {
            "id": self.id,
            "name": properties.name,
            "memory_bytes": properties.total_memory,
            "uuid": device_uuid(self._torch, self._index),
        }

    def free_bytes(self) -> int:
        """As the driver counts it, after torch has released its cache."""
        self._cuda.empty_cache()
        return int(self._cuda.mem_get_info(self._index)[0])

    def synchronize(self) -> None:
        """Wait until all queued work is complete."""
        self._cuda.synchronize(self._index)


def list_stress_devices(torch: Any, cores: int | None, cpu_bytes: int) -> list[StressDevice]:  # noqa: ANN401
    """The CPU, then every CUDA device that torch has."""
    devices: list[StressDevice] = [StressCpu(torch, cores, cpu_bytes)]
    if torch.cuda.is_available():
        devices += [StressCuda(torch, index) for index in range(torch.cuda.device_count())]
    return devices
