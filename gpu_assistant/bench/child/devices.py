"""The devices that torch can compute on, with their memory and timing."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from .cuda_driver import OWN_MEMORY_SHARE, device_uuid, has_windows_driver


class MemoryStatusEx(ctypes.Structure):
    """MEMORYSTATUSEX of sysinfoapi.h."""

    _fields_ = [
        ("dwLength", ctypes.c_uint32),
        ("dwMemoryLoad", ctypes.c_uint32),
        ("ullTotalPhys", ctypes.c_uint64),
        ("ullAvailPhys", ctypes.c_uint64),
        ("ullTotalPageFile", ctypes.c_uint64),
        ("ullAvailPageFile", ctypes.c_uint64),
        ("ullTotalVirtual", ctypes.c_uint64),
        ("ullAvailVirtual", ctypes.c_uint64),
        ("ullAvailExtendedVirtual", ctypes.c_uint64),
    ]


def available_memory_bytes() -> Optional[int]:
    """Bytes of RAM available without swapping; None where they are unknown."""
    try:
        return _windows_available_bytes() if os.name == "nt" else _linux_available_bytes()
    except (OSError, StopIteration, ValueError, AttributeError):
        return None


def _linux_available_bytes() -> int:
    with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))


def _windows_available_bytes() -> Optional[int]:
    status = MemoryStatusEx(dwLength=ctypes.sizeof(MemoryStatusEx))
    ask = ctypes.WinDLL("kernel32").GlobalMemoryStatusEx  # type: ignore[attr-defined, unused-ignore]
    ask.argtypes, ask.restype = (ctypes.POINTER(MemoryStatusEx),), ctypes.c_int
    return int(status.ullAvailPhys) if ask(ctypes.byref(status)) else None


CACHE_FLUSH_BYTES = (
    256 * 2**20
)  # written before each run, so that no cache of a card holds its input (triton's do_bench)
GRAPH_WARM_UP_RUNS = 3  # before a graph is recorded: libraries allocate work space at their first calls


def usable_cores(physical_cores: Optional[int]) -> Optional[int]:
    """The number of physical cores, at most those that this process may use (containers, taskset)."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:
        return physical_cores
    return min(physical_cores, allowed) if physical_cores else None


class CpuDevice:
    """The CPU, with one thread for each physical core: a second one slows matrix products down."""

    id = "cpu"
    kind = "cpu"
    capability = None
    half_speedup: Optional[float] = None

    def __init__(self, torch: Any, cores: Optional[int]) -> None:
        self.torch = torch
        thread_count = usable_cores(cores)
        if thread_count:
            torch.set_num_threads(thread_count)

    def describe(self) -> Dict[str, Any]:
        """The device as the parent reads it."""
        return {"id": self.id, "threads": self.torch.get_num_threads()}

    def free_bytes(self) -> Optional[int]:
        """Free bytes of memory; None where they are unknown."""
        return available_memory_bytes()

    def time_runs(self, work: Callable[[], Any], count: int = 1) -> List[float]:
        """The time of each of `count` runs."""
        times = []
        for _ in range(count):
            started_at = time.perf_counter()
            work()
            times.append(time.perf_counter() - started_at)
        return times

    def is_lost(self) -> bool:
        """Whether it stopped answering."""
        return False


class CudaDevice:
    """One CUDA (or ROCm) device, timed by its own events."""

    kind = "gpu"

    def __init__(self, torch: Any, index: int) -> None:
        self.torch = torch
        self._index = index
        self._flush_buffer: Any = None
        self.half_speedup: Optional[float] = None  # of float16 over float32, once it was measured
        self.id = "cuda:%d" % index
        self.capability = None if torch.version.hip else tuple(torch.cuda.get_device_capability(index))
        if has_windows_driver():
            # In memory that the driver lends the link would be measured: a batch that does not fit must fail, and be
            # halved.
            free_bytes, total_bytes = torch.cuda.mem_get_info(index)
            torch.cuda.set_per_process_memory_fraction(OWN_MEMORY_SHARE * free_bytes / total_bytes, index)

    def describe(self) -> Dict[str, Any]:
        """The device as the parent reads it."""
        properties = self.torch.cuda.get_device_properties(self._index)
        return {
            "id": self.id,
            "name": properties.name,
            "memory_bytes": properties.total_memory,
            "uuid": device_uuid(self.torch, self._index),
        }

    def free_bytes(self) -> int:
        """Memory that can be filled."""
        return int(self.torch.cuda.mem_get_info(self._index)[0])

    def memory_of_run(self, work: Callable[[], Any]) -> Tuple[int, int]:
        """(bytes of tensors before a run, most bytes of them during it); the memory kept for later is given back."""
        cuda = self.torch.cuda
        self.release_cached_memory()
        before = int(cuda.memory_allocated(self._index))
        cuda.reset_peak_memory_stats(self._index)
        work()
        cuda.synchronize(self._index)
        peak = int(cuda.max_memory_allocated(self._index))
        self.release_cached_memory()
        return before, peak

    def time_runs(self, work: Callable[[], Any], count: int = 1) -> List[float]:
        """The time of each of `count` runs on the device itself.

        Clearing its cache keeps the device busy while the next run is handed over, so that the way there is not
        counted; the runs are handed over together and waited for once.
        """
        cuda = self.torch.cuda
        with cuda.device(self._index):
            if self._flush_buffer is None:
                self._flush_buffer = self.torch.empty(CACHE_FLUSH_BYTES, dtype=self.torch.uint8, device=self.id)
            event_pairs = [(cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)) for _ in range(count)]
            cuda.synchronize()
            for start_event, stop_event in event_pairs:
                self._flush_buffer.zero_()
                start_event.record()
                work()
                stop_event.record()
            cuda.synchronize()
        return [float(start_event.elapsed_time(stop_event)) / 1e3 for start_event, stop_event in event_pairs]

    def capture_graph(self, work: Callable[[], Any]) -> Any:
        """Record the kernels that `work` starts as a CUDA graph, which starts all of them at once.

        `work` runs a few times before and must leave its tensors fit for that; its results are in the same tensors
        after each replay. Raises RuntimeError where something in it cannot be recorded.
        """
        cuda = self.torch.cuda
        graph = cuda.CUDAGraph()
        with cuda.device(self._index):
            # The stream that torch would take by itself belongs to the first device that recorded something.
            stream = cuda.Stream(device=self.id)
            stream.wait_stream(cuda.current_stream())
            with cuda.stream(stream):  # its end sets the former stream again, also where the recording failed
                for _ in range(GRAPH_WARM_UP_RUNS):
                    work()
                cuda.synchronize()
                with cuda.graph(graph, stream=stream):
                    work()
            cuda.current_stream().wait_stream(stream)
        return graph

    def release_cached_memory(self) -> None:
        """Give the memory that torch keeps for later back to the driver."""
        try:
            self.torch.cuda.empty_cache()
        except RuntimeError as error:
            # Before torch 2.12 this fails once a graph could not be recorded: https://github.com/pytorch/pytorch/pull/180395
            print("empty_cache: %s" % error, file=sys.stderr)

    def is_lost(self) -> bool:
        """Whether a CUDA error was fatal: after it, every later call of the process fails."""
        try:
            self.torch.cuda.synchronize(self._index)
        except Exception:  # noqa: BLE001 - any exception means that the device is lost
            return True
        return False


# Words of memory errors, some of which do not name memory: cuDNN finds no algorithm whose work space fits; cuBLAS.
# Conv_v7.cpp and Conv_v8.cpp in https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/cudnn
OUT_OF_MEMORY_WORDS = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
    "unable to find a valid cudnn algorithm",
    "get was unable to find an engine",
    "unable to find an engine to execute this computation",
    "alloc_failed",
    # The handle's own memory, where the card is full when the first product is computed:
    # https://discuss.pytorch.org/t/cuda-error-cublas-status-not-initialized-when-calling-cublascreate-handle/125450
    "cublas_status_not_initialized when calling `cublascreate",
    "cudaerrormemoryallocation",
    "cuda_error_out_of_memory",
)
# An access outside of a tensor is an error of a program or a driver: after it the device is lost.
FATAL_WORDS = ("illegal memory access", "misaligned address", "illegal address")

# CUDA's and HIP's words for: the driver ended a kernel that ran too long, and all that the process had on the device.
TIMEOUT_WORDS = ("launch timed out", "launch_timeout", "launchtimeout")


def is_driver_reset(error: BaseException) -> bool:
    """Whether an error of torch says that the driver was reset, as Windows does where a kernel runs for two seconds."""
    return any(words in str(error).lower() for words in TIMEOUT_WORDS)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error of torch says, by any name, that the memory of its device did not suffice."""
    if isinstance(error, MemoryError):
        return True
    text = str(error).lower()
    if any(words in text for words in FATAL_WORDS):
        return False
    # torch.OutOfMemoryError (torch.cuda.OutOfMemoryError before torch 2.5) is a RuntimeError.
    return type(error).__name__ == "OutOfMemoryError" or any(words in text for words in OUT_OF_MEMORY_WORDS)


Device = Union[CpuDevice, CudaDevice]


def list_devices(torch: Any, cores: Optional[int]) -> List[Device]:
    """The CPU, then all GPUs that torch has."""
    devices: List[Device] = [CpuDevice(torch, cores)]
    if torch.cuda.is_available():
        devices += [CudaDevice(torch, index) for index in range(torch.cuda.device_count())]
    return devices
