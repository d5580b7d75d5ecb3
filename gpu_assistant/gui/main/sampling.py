"""One thread that samples the machine once a second, for whichever pages want it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Qt, Signal

from ...core.errors import AppError
from ...core.results import Sample
from .history import History


class SampleSource(Protocol):
    """What gives samples: `monitor.sampler.Sampler`, or a fake."""

    def sample(self) -> Sample:
        """One moment of the machine; may block for a while, so it is called on the sampling thread only."""
        ...

    def close(self) -> None:
        """Let go of the driver: an open one keeps cards awake."""
        ...

    @property
    def nvml_state(self) -> str:
        """Whether the NVIDIA driver answers: see `system.nvml.NvmlState`."""
        ...


class Sampling(QObject):
    """Samples while anybody wants them, every `interval` seconds; parked, without waking up, otherwise.

    `history` keeps the last hour; `sampled(Sample)` and `failed(AppError)` arrive on the thread that owns this
    object. The source is made on the sampling thread too: opening NVML reads the disk. The thread starts at
    the first `want`.
    """

    sampled = Signal(object)
    failed = Signal(object)
    _arrived = Signal(object, str)
    _refused = Signal(object)

    def __init__(
        self, make: Callable[[], SampleSource], *, interval: float = 1.0, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._make = make
        self._interval = interval
        self.history = History()
        self.nvml_state = "untried"
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

    def _deliver(self, sample: Sample, nvml_state: str) -> None:
        if not self._stop:
            self.nvml_state = nvml_state
            self.history.add(sample)
            self.sampled.emit(sample)

    def _deliver_failure(self, error: AppError) -> None:
        if not self._stop:
            self.failed.emit(error)

    def _loop(self) -> None:
        while self._wait_until_wanted():
            # Opened anew after every pause: a driver that is left open keeps sleeping cards awake.
            try:
                source = self._make()
            except AppError as error:
                self._tell(error)
                self._pause(time.monotonic() + self._interval)
                continue
            try:
                self._sample(source)
            finally:
                source.close()

    def _sample(self, source: SampleSource) -> None:
        """Sample until nobody wants it any more."""
        while self._running and not self._stop:
            due = time.monotonic() + self._interval
            try:
                sample = source.sample()
            except AppError as error:
                self._tell(error)
            else:
                self._tell(sample, source.nvml_state)
            self._pause(due)

    def _tell(self, what: Sample | AppError, nvml_state: str = "") -> None:
        if self._stop:
            return
        if isinstance(what, AppError):
            self._refused.emit(what)
        else:
            self._arrived.emit(what, nvml_state)

    def _pause(self, due: float) -> None:
        """Wait until it is time, or until nobody wants samples any more."""
        with self._wake:
            while self._running and not self._stop and (left := due - time.monotonic()) > 0:
                self._wake.wait(left)

    def _wait_until_wanted(self) -> bool:
        """Wait, without waking up, until somebody wants samples; False once it is over."""
        with self._wake:
            while not (self._running or self._stop):
                self._wake.wait()
            return not self._stop
