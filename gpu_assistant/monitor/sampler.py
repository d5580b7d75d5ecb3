"""Samples of the whole computer: GPUs, CPU and memory. A driver that is slow or hangs is not waited for.

Sampler                  one sample of everything, in the caller's thread
  NonBlockingSampler     asks NVML in a thread of its own, and waits for it for at most two seconds
    NvmlMonitor          system/nvml/monitor.py
  psutil                 CPU and memory
SampleCsvWriter, SampleCollector, HistoryWriter     where samples go: a file, Prometheus, the history
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ..core.results import GpuSample, NvmlState, Sample

if TYPE_CHECKING:
    from ..system.nvml.monitor import NvmlMonitor


WAIT_S = 2.0  # a healthy driver takes some milliseconds, and a second or two to wake up
HUNG_S = 15.0  # eight server GPUs without persistence mode take this long to open
NVML_THREAD = "nvml"
# psutil's CPU load over less time means nothing (documentation of cpu_percent).
MIN_CPU_INTERVAL_S = 0.1


class Sampler:
    """Samples of the computer, for one thread at a time. Close it when nobody looks: an open one keeps GPUs awake.

    The CPU load is the mean since the previous sample, or since creation; None if that is too short, because the system
    counts in ticks and would tell 0 or 100. A driver that does not answer within `wait_s` seconds is "slow", after
    `hung_s` seconds "hung".
    """

    def __init__(
        self,
        nvml: NvmlMonitor,
        clock: Callable[[], float] = time.time,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        wait_s: float = WAIT_S,
        hung_s: float = HUNG_S,
    ) -> None:
        import psutil

        self._driver = NonBlockingSampler(nvml, wait_s=wait_s, hung_s=hung_s)
        self._clock = clock
        self._monotonic = monotonic
        self._psutil = psutil
        psutil.cpu_percent(interval=None)
        self._cpu_read_at = monotonic()

    def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
        """The computer now; an unknown figure is None.

        `detailed` adds what is expensive to read (PCIe traffic), and with `processes` the processes on each GPU.
        """
        answer = self._driver.sample(detailed=detailed, processes=processes)
        cpu = ram_used = ram_total = None
        try:
            if self._monotonic() - self._cpu_read_at >= MIN_CPU_INTERVAL_S:
                cpu = self._psutil.cpu_percent(interval=None)
                self._cpu_read_at = self._monotonic()
            memory = self._psutil.virtual_memory()
            # Memory that programs cannot get: the system frees its caches on request.
            ram_total, ram_used = memory.total, memory.total - memory.available
        except (self._psutil.Error, OSError, RuntimeError):
            pass
        return Sample(
            t=self._clock(),
            gpus=answer.gpus,
            cpu=cpu,
            ram_used=ram_used,
            ram_total=ram_total,
            nvml=answer.state,
            driver=answer.driver,
        )

    def close(self) -> None:
        """Close the session with the driver."""
        self._driver.close()


class DriverAnswer(Struct, frozen=True, kw_only=True):
    """The driver's last answer."""

    state: NvmlState = "untried"
    driver: str | None = None
    gpus: tuple[GpuSample, ...] = ()


class NonBlockingSampler:
    """Samples in a thread of its own; one thread at a time may call.

    A call that hangs in the driver cannot be ended: its thread (a daemon) is abandoned, `state` says so, and sampling
    goes on when the call returns.
    """

    def __init__(self, nvml: NvmlMonitor, *, wait_s: float = WAIT_S, hung_s: float = HUNG_S) -> None:
        self._nvml = nvml
        self._wait_s, self._hung_s = wait_s, hung_s
        self._condition = threading.Condition()
        self._answer: DriverAnswer | Exception = DriverAnswer()
        self._gpus: tuple[GpuSample, ...] = ()
        self._requested_at: float | None = None
        self._is_late = False
        self._detailed = self._processes = True
        self._closed = False
        self._thread: threading.Thread | None = None

    def sample(self, *, detailed: bool, processes: bool) -> DriverAnswer:
        """The GPUs now. While the driver does not answer, they are "silent", and `state` says why."""
        with self._condition:
            is_new_request = self._requested_at is None
            if is_new_request and not self._is_late:
                self._requested_at = time.monotonic()
                self._detailed, self._processes = detailed, processes
                self._start_thread()
                self._condition.notify_all()
            # A late answer is not waited for again: CPU and memory are shown meanwhile.
            has_answer = self._condition.wait_for(
                lambda: self._requested_at is None, self._wait_s if is_new_request else 0
            )
            self._is_late = not has_answer
            if not has_answer:
                waited_s = time.monotonic() - (self._requested_at or 0.0)
                gpus = self._gpus or self._nvml.last_known_samples()
                silent_gpus = tuple(gpu if gpu.state == "gone" else replace(gpu, state="silent") for gpu in gpus)
                return DriverAnswer(state="hung" if waited_s >= self._hung_s else "slow", gpus=silent_gpus)
            answer = self._answer
        if isinstance(answer, Exception):
            raise answer
        self._gpus = tuple(
            GpuSample(index=gpu.index, name=gpu.name, uuid=gpu.uuid, address=gpu.address, state=gpu.state)
            for gpu in answer.gpus
        )
        return answer

    def close(self) -> None:
        """Close the session; where a call hangs, as soon as it returns."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
        if self._thread is not None:
            self._thread.join(0.0 if self._requested_at is not None else self._wait_s)

    def _start_thread(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=NVML_THREAD, daemon=True)
            self._thread.start()

    def _run(self) -> None:
        try:
            while self._wait_for_request():
                try:
                    gpus = self._nvml.sample(detailed=self._detailed, processes=self._processes)
                    answer: DriverAnswer | Exception = DriverAnswer(
                        state=self._nvml.state, driver=self._nvml.driver, gpus=gpus
                    )
                except Exception as error:  # noqa: BLE001 - raised in the caller's thread
                    answer = error
                with self._condition:
                    self._answer, self._requested_at = answer, None
                    self._condition.notify_all()
        finally:
            self._nvml.close()

    def _wait_for_request(self) -> bool:
        """Wait for the next request; False after `close`."""
        with self._condition:
            self._condition.wait_for(lambda: self._closed or self._requested_at is not None)
            return not self._closed


def next_due(last_due: float, finished_at: float, interval: float) -> float:
    """When the next sample is due, after one that was due at `last_due` and finished at `finished_at`.

    After one that took long (the first opens the driver) the next comes half an interval later at the earliest, because
    rates over a shorter time are noise.
    """
    return max(last_due + interval, finished_at + interval / 2)
