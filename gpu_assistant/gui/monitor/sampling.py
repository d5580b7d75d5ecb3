"""Samples the machine once a second on a thread of its own, for the pages that request it.

What flows here, with the modules:

    sampling thread:  SampleSource ──► Sample ──► monitor.sampler.HistoryWriter (ring buffers, disk)
                                             └──► app.monitoring.HealthEvaluator ──► Health
                      both ──► queued signal
    window's thread:  deliver ──► history_model.SampleHistory, then `sampled` and `health_changed` to the pages

`request_samples` wakes the sampling thread. Without a request it waits on a condition with the driver closed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
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
    """Takes samples: `monitor.sampler.Sampler`, or a fake."""

    def sample(self, *, detailed: bool = ..., processes: bool = ...) -> Sample:
        """Take one sample; may block, so it is called on the sampling thread only.

        Fields that are expensive to read are left out unless `detailed`, the processes on the GPUs unless `processes`.
        Raises AppError.
        """
        ...

    def close(self) -> None:
        """Close the driver: an open one keeps idle GPUs from sleeping."""
        ...


class SamplingService(QObject):
    """Samples every `interval` seconds while at least one client requests it.

    `history` has the latest samples and the stored ones, `health` the state by the latest sample. `sampled(Sample)`,
    `health_changed(Health)` and `failed(AppError)` are emitted on the thread that owns this object. Source and store
    are created on the sampling thread, since both read the disk; that thread starts with the first request.
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
        self.writer = HistoryWriter(open_store)
        self.history = SampleHistory(self.writer)
        self._requests: Mapping[str, tuple[bool, bool]] = {}  # by client: (detailed, processes)
        self._condition = threading.Condition()
        self._stopped = False
        self._save_done: threading.Event | None = None  # set while `flush` waits
        self._thread: threading.Thread | None = None
        # Queued: slots run on the window's thread, and not after `stop`.
        self._sample_ready.connect(self._on_sample_ready, Qt.ConnectionType.QueuedConnection)
        self._sample_failed.connect(self._on_sample_failed, Qt.ConnectionType.QueuedConnection)

    @property
    def running(self) -> bool:
        """Whether samples are being taken."""
        return bool(self._requests) and not self._stopped

    @property
    def requests(self) -> Mapping[str, tuple[bool, bool]]:
        """(detailed, processes) by the client that requests samples."""
        return self._requests

    @property
    def detailed(self) -> bool:
        """Whether a client requests the fields that are expensive to read."""
        return any(detailed for detailed, _ in self._requests.values())

    @property
    def processes(self) -> bool:
        """Whether a client requests the processes on the GPUs, the most expensive of all."""
        return any(processes for _, processes in self._requests.values())

    def request_samples(self, client: str, active: bool, *, detailed: bool = False, processes: bool = False) -> None:
        """Start or end the request of a client; see `SampleSource.sample` for `detailed` and `processes`."""
        with self._condition:
            # Replaced, never changed: the sampling thread reads it without the lock.
            requests = {name: fields for name, fields in self._requests.items() if name != client}
            self._requests = {**requests, client: (detailed, processes)} if active else requests
            if self.running and self._thread is None:
                self._thread = threading.Thread(target=self._run, name="sampling", daemon=True)
                self._thread.start()
            self._condition.notify_all()

    def load_now(self) -> None:
        """Read the stored history with the next sample, since more than the last minute is shown."""
        self.writer.load_now()

    def flush(self, timeout: float) -> bool:
        """Write pending samples to disk; False if that takes longer than `timeout` seconds."""
        with self._condition:
            if self._thread is None or not self.running:
                return True  # written when sampling paused
            done = self._save_done = self._save_done or threading.Event()
            self._condition.notify_all()
        return done.wait(timeout)

    def stop(self, timeout: float = 5.0) -> bool:
        """End the thread for good; False if it is still running after `timeout` seconds.

        The thread is a daemon, so that a driver that hangs does not keep the program from ending.
        """
        with self._condition:
            self._stopped = True
            self._condition.notify_all()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def deliver(self, sample: Sample, health: Health | None) -> None:
        """Add a sample to the history and notify the pages; on the window's thread."""
        self.history.add(sample)
        self.health = health
        self.sampled.emit(sample)
        if health is not None:
            self.health_changed.emit(health)

    def _on_sample_ready(self, sample: Sample, health: Health | None) -> None:
        if not self._stopped:
            self.deliver(sample, health)

    def _on_sample_failed(self, error: AppError) -> None:
        if not self._stopped:
            self.failed.emit(error)

    def _run(self) -> None:
        while self._wait_for_request():
            # Opened again after every pause: an open driver keeps idle GPUs from sleeping.
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
                self._run_guarded(self.writer.flush)
        self._run_guarded(self.writer.close)

    def _sample_while_requested(self, source: SampleSource) -> None:
        while self.running:
            due_at = time.monotonic()
            try:
                sample = source.sample(detailed=self.detailed, processes=self.processes)
            except AppError as error:
                self._report_error(error)
                ended_at = time.monotonic()
            else:
                ended_at = time.monotonic()
                self.process_sample(sample)
            self._wait_until_due(next_due(due_at, ended_at, self._interval))

    def process_sample(self, sample: Sample) -> None:
        """Record a sample, evaluate it and send it to the window's thread; on the sampling thread only."""
        self._run_guarded(lambda: self.writer.add_sample(sample))
        health = None
        if self.evaluator is not None:
            try:
                health = self.evaluator.evaluate(sample, self.writer.history)
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
        """Wait until the next sample is due or no longer requested; serve calls of `flush` meanwhile."""
        while True:
            with self._condition:
                while self.running and not self._save_done and (remaining := due_at - time.monotonic()) > 0:
                    self._condition.wait(remaining)
                save_done, self._save_done = self._save_done, None
            if save_done is None:
                return
            self._run_guarded(self.writer.flush)
            save_done.set()

    def _wait_for_request(self) -> bool:
        """Wait until samples are requested; False after `stop`."""
        with self._condition:
            while not (self.running or self._stopped):
                self._condition.wait()
            return not self._stopped
