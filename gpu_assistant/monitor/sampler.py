"""One look at the whole machine: GPUs, processor and memory.

Asks a driver that may be slow or hang, without waiting for it longer than a window can.

Brings samples into the history, on the thread that takes them: reading a month from the disk takes a moment.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ..core.errors import AppError
from ..core.results import GpuSample, NvmlState, Sample
from .series import SeriesExtractor

if TYPE_CHECKING:
    from ..system.nvml.monitor import NvmlMonitor
    from .history import History


WAIT_S = 2.0  # a healthy driver takes some milliseconds, and a second or two to wake up
HUNG_S = 15.0  # eight server cards without persistence mode take this long to open


class DriverAnswer(Struct, frozen=True, kw_only=True):
    """What the driver said last."""

    state: NvmlState = "untried"
    driver: str | None = None
    gpus: tuple[GpuSample, ...] = ()


class NonBlockingSampler:
    """Asks in a thread of its own; one thread at a time may call.

    A call that hangs inside the driver cannot be ended: it is left behind (the thread is a daemon), said, and
    taken up again when it comes back.
    """

    def __init__(self, nvml: NvmlMonitor, *, wait_s: float = WAIT_S, hung_s: float = HUNG_S) -> None:
        self._nvml = nvml
        self._wait_s, self._hung_s = wait_s, hung_s
        self._condition = threading.Condition()
        self._answer: DriverAnswer | Exception = DriverAnswer()
        self._gpus: tuple[GpuSample, ...] = ()
        self._requested_at: float | None = None
        self._is_late = False
        self._include_details = self._include_processes = True
        self._closed = False
        self._thread: threading.Thread | None = None

    def sample(self, *, looking: bool, programs: bool) -> DriverAnswer:
        """The cards just now. While the driver does not answer, they are "silent", and `state` says why."""
        with self._condition:
            is_new_request = self._requested_at is None
            if is_new_request and not self._is_late:
                self._requested_at, self._include_details, self._include_processes = time.monotonic(), looking, programs
                self._start_thread()
                self._condition.notify_all()
            # Who was waited for once is not waited for again: processor and memory are shown meanwhile.
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
        """Let go of the driver; where a call hangs, as soon as it comes back."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
        if self._thread is not None:
            self._thread.join(0.0 if self._requested_at is not None else self._wait_s)

    def _start_thread(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="nvml", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        try:
            while self._wait_for_request():
                try:
                    gpus = self._nvml.sample(detailed=self._include_details, processes=self._include_processes)
                    answer: DriverAnswer | Exception = DriverAnswer(
                        state=self._nvml.state, driver=self._nvml.driver, gpus=gpus
                    )
                except Exception as error:  # noqa: BLE001 - raised where it was asked
                    answer = error
                with self._condition:
                    self._answer, self._requested_at = answer, None
                    self._condition.notify_all()
        finally:
            self._nvml.close()

    def _wait_for_request(self) -> bool:
        """Until somebody asks; False once it is over."""
        with self._condition:
            self._condition.wait_for(lambda: self._closed or self._requested_at is not None)
            return not self._closed


# Below this psutil's load of the processor means nothing (its documentation of cpu_percent).
MIN_CPU_INTERVAL_S = 0.1


def next_due(last_due: float, finished_at: float, interval: float) -> float:
    """When the next sample is due, `due` being when the last one was and `ended` when it was there.

    One that took long, as the first does, which opens the driver, is not caught up with: the next comes half an
    interval later at the earliest, for rates over a shorter time are noise.
    """
    return max(last_due + interval, finished_at + interval / 2)


class Sampler:
    """Takes samples; one thread at a time. Close it when nobody looks: an open one keeps cards awake.

    The processor's load is the mean since the sample before, or since creation; None where that was only just now,
    for the system counts in ticks and would make it 0 or 100. A driver that does not answer within `wait_s` seconds
    is called slow, from `hung_s` on hung.
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
        """The machine just now; what nobody tells is None.

        Unless somebody is `looking`, what is dear to ask is left out: PCIe traffic, and processes, which nobody who
        does not want the `programs` pays for.
        """
        answer = self._driver.sample(looking=detailed, programs=processes)
        cpu = ram_used = ram_total = None
        try:
            if self._monotonic() - self._cpu_read_at >= MIN_CPU_INTERVAL_S:
                cpu = self._psutil.cpu_percent(interval=None)
                self._cpu_read_at = self._monotonic()
            memory = self._psutil.virtual_memory()
            # What programs cannot get: the system gives its caches back when asked.
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
        """Let go of the driver."""
        self._driver.close()


LOAD_DELAY_S = 1.0  # a window that just opened is drawn first; nobody is called well until the past is read


class HistoryWriter:
    """Keeps samples; the history (and numpy with it) is loaded once there are `patience_s` seconds of them, or at the
    next one after `hurry`.

    `history` is None until then; others may look into it while one thread calls `keep` and `close`.
    """

    def __init__(self, create_history: Callable[[], History], *, load_delay_s: float = LOAD_DELAY_S) -> None:
        self._create_history = create_history
        self._load_delay_s = load_delay_s
        self._load_requested = threading.Event()
        self._pending: list[Sample] = []
        self._reported_codes: set[str] = set()
        self._extractor = SeriesExtractor()
        self.history: History | None = None

    def load_now(self) -> None:
        """Somebody wants to see the history."""
        self._load_requested.set()

    def add_sample(self, sample: Sample) -> None:
        """Add a sample. Raises AppError where the disk cannot be read or written, once for each reason."""
        history = self.history
        if history is None:
            self._pending.append(sample)
            if not self._load_requested.is_set() and sample.t - self._pending[0].t < self._load_delay_s:
                return
            self.history = history = self._create_history()
            try:
                self._report_once(lambda: history.load(repair=True))
            finally:
                self._extractor.register_series(history.names)
                for pending_sample in self._pending:
                    history.add(pending_sample.t, self._extractor.values(pending_sample))
                self._pending = []
            self._report_once(lambda: history.gpu_names.update(sample.gpus))
            self._report_once(lambda: _raise_for_damage(history))
            return
        history.add(sample.t, self._extractor.values(sample))
        self._report_once(lambda: history.gpu_names.update(sample.gpus))
        self._report_once(history.write)

    def flush(self) -> None:
        """Sampling pauses: bring everything to the disk. Raises as `keep` does."""
        if self.history is not None:
            history = self.history
            self._report_once(lambda: history.write(force=True))

    def close(self) -> None:
        """The end: also what is under way. Raises as `keep` does."""
        if self.history is not None:
            self._report_once(self.history.close)

    def _report_once(self, action: Callable[[], None]) -> None:
        try:
            action()
        except AppError as error:
            # The graphs go on without the disk; a full one is said once and not each second.
            if error.code not in self._reported_codes:
                self._reported_codes.add(error.code)
                raise


def _raise_for_damage(history: History) -> None:
    """Raise AppError("history-damaged") where something was left out."""
    if history.damaged_count:
        raise AppError("history-damaged", count=history.damaged_count, path=str(history.folder))
