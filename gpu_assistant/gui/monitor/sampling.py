"""One thread that samples the machine once a second, for whichever pages want it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt, Signal

from ...app.monitoring import HealthEvaluator
from ...core.errors import AppError
from ...core.results import Sample
from ...monitor.history_writer import HistoryWriter
from ...monitor.sampler import next_due
from .history_model import SampleHistory

if TYPE_CHECKING:
    from ...core.results import Health
    from ...monitor.history import History as Store


class SampleSource(Protocol):
    """What gives samples: `monitor.sampler.Sampler`, or a fake."""

    def sample(self, *, detailed: bool = ..., processes: bool = ...) -> Sample:
        """One moment of the machine; may block for a while, so it is called on the sampling thread only.

        Unless somebody is `looking`, what is dear to ask is left out, and unless at the `programs`, these.
        """
        ...

    def close(self) -> None:
        """Let go of the driver: an open one keeps cards awake."""
        ...


class SamplingService(QObject):
    """Samples while anybody wants them, every `interval` seconds; parked, without waking up, otherwise.

    `history` has the latest samples and what was kept of all before, `health` how the cards are by the latest one;
    `sampled(Sample)`, `judged(Health)` and `failed(AppError)` arrive on the thread that owns this object. Source and
    history are made on the sampling thread too: both read the disk. The thread starts at the first `want`.
    """

    sampled = Signal(object)
    health_changed = Signal(object)
    failed = Signal(object)
    _sample_ready = Signal(object, object)
    _sample_failed = Signal(object)

    def __init__(
        self,
        make_source: Callable[[], SampleSource],
        open_store: Callable[[], Store],
        *,
        evaluator: HealthEvaluator | None = None,
        interval: float = 1.0,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.evaluator = evaluator
        self.health: Health | None = None
        self._make_source = make_source
        self._interval = interval
        self._recorder = HistoryWriter(open_store)
        self.history = SampleHistory(self._recorder)
        self._requests: dict[str, tuple[bool, bool]] = {}
        self._detailed = self._processes = False
        self._condition = threading.Condition()
        self._running = False
        self._stopped = False
        self._save_done: threading.Event | None = None  # somebody wants it on the disk now
        self._thread: threading.Thread | None = None
        # Queued, so that a page is told on the window's thread and never after `stop`.
        self._sample_ready.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._sample_failed.connect(self._deliver_failure, Qt.ConnectionType.QueuedConnection)

    @property
    def running(self) -> bool:
        """Whether somebody wants samples just now."""
        return self._running

    def request_samples(self, client: str, active: bool, *, detailed: bool = False, processes: bool = False) -> None:
        """`who` wants samples from now on, or no longer; `looking` at all of them, also at what is dear to ask, and at
        the `programs` on the cards, which is dearest.
        """
        with self._condition:
            if active:
                self._requests[client] = detailed, processes
            else:
                self._requests.pop(client, None)
            if self._stopped:
                return
            self._running = bool(self._requests)
            self._detailed, self._processes = (any(each[field] for each in self._requests.values()) for field in (0, 1))
            if self._running and self._thread is None:
                self._thread = threading.Thread(target=self._run, name="sampling", daemon=True)
                self._thread.start()
            self._condition.notify_all()

    def load_now(self) -> None:
        """Somebody wants to see more than the last minute: read the history with the next sample."""
        self._recorder.load_now()

    def flush(self, timeout: float) -> bool:
        """Bring to the disk soon what was seen so far; whether it was there within `timeout` seconds."""
        with self._condition:
            if self._thread is None or not self._running:
                return True  # what was seen before a pause is there
            done = self._save_done = self._save_done or threading.Event()
            self._condition.notify_all()
        return done.wait(timeout)

    def stop(self, timeout: float = 5.0) -> bool:
        """End the thread for good and wait for it, at most `timeout` seconds; whether it ended.

        A driver that hangs must not keep the program from ending: the thread is a daemon.
        """
        with self._condition:
            self._stopped = True
            self._running = False
            self._condition.notify_all()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _deliver(self, sample: Sample, health: Health | None) -> None:
        if not self._stopped:
            self.history.add(sample)
            self.health = health
            self.sampled.emit(sample)
            if health is not None:
                self.health_changed.emit(health)

    def _deliver_failure(self, error: AppError) -> None:
        if not self._stopped:
            self.failed.emit(error)

    def _run(self) -> None:
        while self._wait_for_request():
            # Opened anew after every pause: a driver that is left open keeps sleeping cards awake.
            try:
                source = self._make_source()
            except AppError as error:
                self._report_error(error)
                self._wait_until_due(time.monotonic() + self._interval)
                continue
            try:
                self._sample_while_requested(source)
            finally:
                source.close()
                self._run_guarded(self._recorder.flush)
        self._run_guarded(self._recorder.close)

    def _sample_while_requested(self, source: SampleSource) -> None:
        """Sample until nobody wants it any more."""
        while self._running and not self._stopped:
            due_at = time.monotonic()
            try:
                sample = source.sample(detailed=self._detailed, processes=self._processes)
            except AppError as error:
                self._report_error(error)
                ended_at = time.monotonic()
            else:
                ended_at = time.monotonic()
                self.process_sample(sample)
            self._wait_until_due(next_due(due_at, ended_at, self._interval))

    def process_sample(self, sample: Sample) -> None:
        """Keep a sample, judge it and hand it to the window; on one thread, which is the sampling one."""
        self._run_guarded(lambda: self._recorder.add_sample(sample))
        health = None
        if self.evaluator is not None:
            try:
                health = self.evaluator.evaluate(sample, self._recorder.history)
            except AppError as error:
                self._report_error(error)
        if not self._stopped:
            self._sample_ready.emit(sample, health)

    def _run_guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except AppError as error:
            self._report_error(error)

    def _report_error(self, error: AppError) -> None:
        if not self._stopped:
            self._sample_failed.emit(error)

    def _wait_until_due(self, due_at: float) -> None:
        """Wait until it is time, or until nobody wants samples any more; save what is wanted saved meanwhile."""
        while True:
            with self._condition:
                while (
                    self._running
                    and not (self._stopped or self._save_done)
                    and (remaining := due_at - time.monotonic()) > 0
                ):
                    self._condition.wait(remaining)
                save_done, self._save_done = self._save_done, None
            if save_done is None:
                return
            self._run_guarded(self._recorder.flush)
            save_done.set()

    def _wait_for_request(self) -> bool:
        """Wait, without waking up, until somebody wants samples; False once it is over."""
        with self._condition:
            while not (self._running or self._stopped):
                self._condition.wait()
            return not self._stopped
