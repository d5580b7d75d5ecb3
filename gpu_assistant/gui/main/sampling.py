"""One thread that samples the machine once a second, for whichever pages want it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Qt, Signal

from ...core.errors import AppError
from ...core.results import Sample


class SampleSource(Protocol):
    """What gives samples: `monitor.sampler.Sampler`, or a fake."""

    def sample(self) -> Sample:
        """One moment of the machine; may block for a while, so it is called on the sampling thread only."""
        ...


class Sampling(QObject):
    """Samples while anybody wants them, every `interval` seconds; parked, without waking up, otherwise.

    `sampled(Sample)` and `failed(AppError)` arrive on the thread that owns this object. The source is made
    on the sampling thread too: opening NVML reads the disk. The thread starts at the first `want`.
    """

    sampled = Signal(object)
    failed = Signal(object)
    _arrived = Signal(object)
    _refused = Signal(object)

    def __init__(
        self, make: Callable[[], SampleSource], *, interval: float = 1.0, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._make = make
        self._interval = interval
        self._wanted: set[str] = set()
        self._wake = threading.Condition()
        self._running = False
        self._stop = False
        self._thread: threading.Thread | None = None
        # Queued, so that a page is told on the window's thread and never after `stop`.
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._refused.connect(self._deliver_failure, Qt.ConnectionType.QueuedConnection)

    @property
    def running(self) -> bool:
        """Whether somebody wants samples just now."""
        return self._running

    def want(self, who: str, wanted: bool) -> None:
        """`who` wants samples from now on, or no longer."""
        (self._wanted.add if wanted else self._wanted.discard)(who)
        with self._wake:
            if self._stop:
                return
            self._running = bool(self._wanted)
            if self._running and self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="sampling", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def stop(self, timeout: float = 5.0) -> bool:
        """End the thread for good and wait for it, at most `timeout` seconds; whether it ended.

        A driver that hangs must not keep the program from ending: the thread is a daemon.
        """
        with self._wake:
            self._stop = True
            self._running = False
            self._wake.notify_all()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _deliver(self, sample: Sample) -> None:
        if not self._stop:
            self.sampled.emit(sample)

    def _deliver_failure(self, error: AppError) -> None:
        if not self._stop:
            self.failed.emit(error)

    def _loop(self) -> None:
        source: SampleSource | None = None
        due = time.monotonic()
        while self._wait_until(due):
            due = time.monotonic() + self._interval
            try:
                source = source or self._make()
                sample = source.sample()
            except AppError as error:
                self._tell(self._refused, error)
            else:
                self._tell(self._arrived, sample)

    def _tell(self, signal: object, value: object) -> None:
        with self._wake:
            if self._stop:
                return
        signal.emit(value)  # type: ignore[attr-defined]

    def _wait_until(self, due: float) -> bool:
        """Wait for the next moment, or parked until somebody wants samples; False once it is over."""
        with self._wake:
            while not self._stop:
                if not self._running:
                    self._wake.wait()
                    continue
                left = due - time.monotonic()
                if left <= 0:
                    return True
                self._wake.wait(left)
            return False
