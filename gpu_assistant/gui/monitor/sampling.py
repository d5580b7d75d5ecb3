"""One thread that samples the machine once a second, for whichever pages want it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt, Signal

from ...app.judging import Judge
from ...core.errors import AppError
from ...core.results import Sample
from ...monitor.recorder import Recorder
from ...monitor.sampler import due_after
from .history import History

if TYPE_CHECKING:
    from ...core.health import Health
    from ...monitor.history import History as Store


class SampleSource(Protocol):
    """What gives samples: `monitor.sampler.Sampler`, or a fake."""

    def sample(self, *, looking: bool = ..., programs: bool = ...) -> Sample:
        """One moment of the machine; may block for a while, so it is called on the sampling thread only.

        Unless somebody is `looking`, what is dear to ask is left out, and unless at the `programs`, these.
        """
        ...

    def close(self) -> None:
        """Let go of the driver: an open one keeps cards awake."""
        ...


class Sampling(QObject):
    """Samples while anybody wants them, every `interval` seconds; parked, without waking up, otherwise.

    `history` has the latest samples and what was kept of all before, `health` how the cards are by the latest one;
    `sampled(Sample)`, `judged(Health)` and `failed(AppError)` arrive on the thread that owns this object. Source and
    history are made on the sampling thread too: both read the disk. The thread starts at the first `want`.
    """

    sampled = Signal(object)
    judged = Signal(object)
    failed = Signal(object)
    _arrived = Signal(object, object)
    _refused = Signal(object)

    def __init__(
        self,
        make: Callable[[], SampleSource],
        store: Callable[[], Store],
        *,
        judge: Judge | None = None,
        interval: float = 1.0,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.judge = judge
        self.health: Health | None = None
        self._make = make
        self._interval = interval
        self._recorder = Recorder(store)
        self.history = History(self._recorder)
        self._wanted: dict[str, tuple[bool, bool]] = {}
        self._looking = self._programs = False
        self._wake = threading.Condition()
        self._running = False
        self._stop = False
        self._saved: threading.Event | None = None  # somebody wants it on the disk now
        self._thread: threading.Thread | None = None
        # Queued, so that a page is told on the window's thread and never after `stop`.
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._refused.connect(self._deliver_failure, Qt.ConnectionType.QueuedConnection)

    @property
    def running(self) -> bool:
        """Whether somebody wants samples just now."""
        return self._running

    def want(self, who: str, wanted: bool, *, looking: bool = False, programs: bool = False) -> None:
        """`who` wants samples from now on, or no longer; `looking` at all of them, also at what is dear to ask, and at
        the `programs` on the cards, which is dearest.
        """
        with self._wake:
            if wanted:
                self._wanted[who] = looking, programs
            else:
                self._wanted.pop(who, None)
            if self._stop:
                return
            self._running = bool(self._wanted)
            self._looking, self._programs = (any(each[at] for each in self._wanted.values()) for at in (0, 1))
            if self._running and self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="sampling", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def hurry(self) -> None:
        """Somebody wants to see more than the last minute: read the history with the next sample."""
        self._recorder.hurry()

    def save(self, timeout: float) -> bool:
        """Bring to the disk soon what was seen so far; whether it was there within `timeout` seconds."""
        with self._wake:
            if self._thread is None or not self._running:
                return True  # what was seen before a pause is there
            saved = self._saved = self._saved or threading.Event()
            self._wake.notify_all()
        return saved.wait(timeout)

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

    def _deliver(self, sample: Sample, health: Health | None) -> None:
        if not self._stop:
            self.history.add(sample)
            self.health = health
            self.sampled.emit(sample)
            if health is not None:
                self.judged.emit(health)

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
                self._try(self._recorder.flush)
        self._try(self._recorder.close)

    def _sample(self, source: SampleSource) -> None:
        """Sample until nobody wants it any more."""
        while self._running and not self._stop:
            due = time.monotonic()
            try:
                sample = source.sample(looking=self._looking, programs=self._programs)
            except AppError as error:
                self._tell(error)
                ended = time.monotonic()
            else:
                ended = time.monotonic()
                self.take(sample)
            self._pause(due_after(due, ended, self._interval))

    def take(self, sample: Sample) -> None:
        """Keep a sample, judge it and hand it to the window; on one thread, which is the sampling one."""
        self._try(lambda: self._recorder.keep(sample))
        health = None
        if self.judge is not None:
            try:
                health = self.judge.look(sample, self._recorder.history)
            except AppError as error:
                self._tell(error)
        if not self._stop:
            self._arrived.emit(sample, health)

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except AppError as error:
            self._tell(error)

    def _tell(self, error: AppError) -> None:
        if not self._stop:
            self._refused.emit(error)

    def _pause(self, due: float) -> None:
        """Wait until it is time, or until nobody wants samples any more; save what is wanted saved meanwhile."""
        while True:
            with self._wake:
                while self._running and not (self._stop or self._saved) and (left := due - time.monotonic()) > 0:
                    self._wake.wait(left)
                saved, self._saved = self._saved, None
            if saved is None:
                return
            self._try(self._recorder.flush)
            saved.set()

    def _wait_until_wanted(self) -> bool:
        """Wait, without waking up, until somebody wants samples; False once it is over."""
        with self._wake:
            while not (self._running or self._stop):
                self._wake.wait()
            return not self._stop
