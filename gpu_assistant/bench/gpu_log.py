"""What the GPUs did during a run: temperature, clocks, power, throttling, memory that Windows lent to a full card."""

from __future__ import annotations

import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Self

from msgspec.structs import replace

from ..core.results import BenchGpuLog, GpuSample

INTERVAL_S = 0.2  # shorter than the shortest measurement
BUSY_GPU_PERCENT, LOADED_GPU_PERCENT = 5, 50
MIN_THROTTLED_SAMPLES = 2  # under load
BUSY_CPU_PERCENT, CPU_LOAD_INTERVAL_S = 20, 0.5
# NVML's clock event reasons that indicate a problem; a power limit alone is normal under full load.
ABNORMAL_THROTTLE_REASONS = frozenset({"hardware-slowdown", "thermal", "hardware-thermal", "power-brake"})
THERMAL_THROTTLE_REASONS = frozenset({"thermal", "hardware-thermal"})
# Windows' driver lends the computer's memory to a program when the card's own is nearly full:
# https://nvidia.custhelp.com/app/answers/detail/a_id/5490
FULL_MEMORY_SHARE = 0.9
# More than the benchmark has of it anyway: two pinned buffers of 256 MiB, and what the driver takes for itself.
LENT_BYTES = 2**30
MIN_LENT_SAMPLES = 2


def read_cpu_load(cancel: threading.Event) -> float | None:
    """The CPU load in percent; None if it cannot be read. Takes half a second."""
    import psutil

    try:
        psutil.cpu_percent(interval=None)
        cancel.wait(CPU_LOAD_INTERVAL_S)
        return psutil.cpu_percent(interval=None)
    except (psutil.Error, OSError, RuntimeError):
        return None


class GpuLogger:
    """Samples the GPUs each INTERVAL_S while it is open; `read_gpus` is called by one thread at a time.

    `read_shared_memory` tells how many bytes of the computer's memory the process `watched_pid` uses as GPU memory, and
    None where nobody counts them. It is called only while a GPU's own memory is nearly full, since it takes long.
    """

    def __init__(
        self,
        read_gpus: Callable[[], tuple[GpuSample, ...]],
        read_shared_memory: Callable[[int], int | None] = lambda _: None,
    ) -> None:
        self._read_gpus, self._read_shared_memory = read_gpus, read_shared_memory
        self.watched_pid: int | None = None
        self._lent_times: list[float] = []  # when the watched process had LENT_BYTES, in seconds since the epoch
        self._snapshots: list[tuple[GpuSample, ...]] = []
        self._times: list[float] = []  # of the snapshots, in seconds since the epoch
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="benchmark-watch", daemon=True)

    def __enter__(self) -> Self:
        self._take_snapshot()
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(INTERVAL_S):
            self._take_snapshot()

    def _take_snapshot(self) -> None:
        snapshot = self._read_gpus()
        self._times.append(time.time())
        self._snapshots.append(snapshot)
        if self.watched_pid is not None and any(_is_memory_full(sample) for sample in snapshot):
            shared_bytes = self._read_shared_memory(self.watched_pid)
            if shared_bytes is not None and shared_bytes >= LENT_BYTES:
                self._lent_times.append(self._times[-1])

    def clock_during(self, device: str, uuid: str | None, period: tuple[float, float]) -> int | None:
        """The median SM clock in MHz of a device ("cuda:0") from one time to another, in seconds since the epoch.

        None where no sample was taken in between. `uuid` as torch tells it; without one the device's number counts.
        """
        begin, end = period
        return _median(
            sample.clock_sm
            for taken_at, snapshot in zip(self._times, list(self._snapshots), strict=False)
            if begin <= taken_at <= end
            for sample in snapshot
            if (device == f"cuda:{sample.index}" if uuid is None else sample.has_uuid(uuid))
        )

    def was_memory_lent(self, period: tuple[float, float]) -> bool:
        """Whether the watched process computed with the computer's memory from one time to another, as above."""
        begin, end = period
        return sum(begin <= taken_at <= end for taken_at in list(self._lent_times)) >= MIN_LENT_SAMPLES

    def gpu_logs(self, devices: Mapping[str, str] | None = None) -> tuple[BenchGpuLog, ...]:
        """A summary for each GPU; complete after the context has been left. `devices` as in `summarize_snapshots`."""
        return summarize_snapshots(self._snapshots, devices)


def summarize_snapshots(
    snapshots: Sequence[tuple[GpuSample, ...]], devices: Mapping[str, str] | None = None
) -> tuple[BenchGpuLog, ...]:
    """A summary for each GPU; the first snapshot was taken before the run. A GPU keeps the index of its first sample,
    by which the child, started then, knows it. `devices` are the ids of torch's devices ("cuda:0") by UUID, with or
    without the driver's prefix; a slice of a divided GPU is watched as its GPU.
    """
    devices = devices or {}
    samples_by_gpu: dict[str | int, list[GpuSample]] = {}
    gpu_by_index: dict[int, str | int] = {}  # the last GPU with each index, which changes when one is removed
    for snapshot in snapshots:
        for sample in snapshot:
            if sample.state == "gone":
                continue
            previous_gpu = gpu_by_index.get(sample.index, sample.index)
            gpu = sample.uuid or previous_gpu
            if previous_gpu == sample.index and gpu not in samples_by_gpu and previous_gpu in samples_by_gpu:
                samples_by_gpu[gpu] = samples_by_gpu.pop(previous_gpu)  # the same GPU, whose UUID is known now
            gpu_by_index[sample.index] = gpu
            samples_by_gpu.setdefault(gpu, []).append(sample)
    first = snapshots[0] if snapshots else ()
    gpu_logs = [
        replace(
            _summarize_gpu(samples, util_before=samples[0].util if samples[0] in first else None),
            device=next(
                (device for uuid, device in devices.items() if any(each.has_uuid(uuid) for each in samples)), None
            ),
        )
        for samples in samples_by_gpu.values()
    ]
    return tuple(sorted(gpu_logs, key=lambda gpu_log: gpu_log.index))


def _is_memory_full(sample: GpuSample) -> bool:
    used_bytes, total_bytes = sample.mem_used, sample.mem_total
    return bool(used_bytes is not None and total_bytes and used_bytes >= FULL_MEMORY_SHARE * total_bytes)


def _summarize_gpu(samples: list[GpuSample], *, util_before: int | None) -> BenchGpuLog:
    loaded = [each for each in samples[1:] if each.is_loaded(LOADED_GPU_PERCENT)]
    temperatures = [each.temp for each in samples if each.temp is not None]
    return BenchGpuLog(
        index=samples[0].index,
        name=next((each.name for each in samples if each.name is not None), None),
        samples=len(samples),
        util_before=util_before,
        temp_start=temperatures[0] if temperatures else None,
        temp_end=temperatures[-1] if temperatures else None,
        temp_max=max(temperatures, default=None),
        clock_sm=_median(each.clock_sm for each in loaded),
        clock_mem=_median(each.clock_mem for each in loaded),
        power_max_w=max((each.power_w for each in samples if each.power_w is not None), default=None),
        power_limit_w=next((each.power_limit_w for each in samples if each.power_limit_w is not None), None),
        # An idle GPU reduces the speed of its PCI Express link.
        pcie_gen=max((each.pcie_gen for each in loaded if each.pcie_gen is not None), default=None),
        pcie_width=max((each.pcie_width for each in loaded if each.pcie_width is not None), default=None),
        throttle=_repeated_reasons(loaded),
    )


def _repeated_reasons(loaded: Sequence[GpuSample]) -> tuple[str, ...]:
    """The reasons seen in at least MIN_THROTTLED_SAMPLES, as the health test counts them: one may be a blip."""
    counts = Counter(reason for each in loaded for reason in set(each.throttle or ()))
    return tuple(sorted(reason for reason, count in counts.items() if count >= MIN_THROTTLED_SAMPLES))


def _median(values: Iterable[int | None]) -> int | None:
    present = [value for value in values if value is not None]
    return round(statistics.median(present)) if present else None
