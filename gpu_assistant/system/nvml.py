"""NVIDIA's management library: who the cards are and how they are just now.

Nothing here raises: a driver that does not answer is a state with a name, a figure that a card does not
report is None.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..core.machine import Driver, Gpu
from ..core.results import GpuSample, NvmlState
from .nvml_rest import Rest
from .nvml_seats import Seats
from .nvml_session import Session

if TYPE_CHECKING:
    from .base import System

RETRY_S = 5.0  # a driver that did not answer is asked again after this time,
LONGEST_RETRY_S = 60.0  # and each time after twice as long, up to this
COUNT_S = 10.0  # a card that was plugged in or taken away is found after this time at most

DRIVER_MODELS = {0: "WDDM", 1: "TCC", 2: "MCDM"}


class NvmlSnapshot(Struct, frozen=True, kw_only=True):
    """What the driver says of itself and of its cards, in the driver's own order."""

    driver: Driver
    gpus: tuple[Gpu, ...]


class Nvml:
    """The cards of this machine. Use `close()` (or `with`) when done: an open session keeps cards awake.

    `library` names another library file than the system's; `clock` is steady, `wall` tells seconds since the epoch.
    A card that the driver no longer lists is forgotten after `forget_s` seconds; None: never.
    """

    def __init__(
        self,
        system: System,
        *,
        library: Path | None = None,
        forget_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.state: NvmlState = "untried"
        self.driver: str | None = None
        self._system = system
        self._library = library
        self._clock = clock
        self._wall = wall
        self._lock = threading.RLock()
        self._session: Session | None = None
        self._retry_at: float | None = None
        self._retry_s = RETRY_S
        self._count_at = 0.0
        self._seats = Seats(forget_s)
        self._rest = Rest()
        self._xids: dict[str, tuple[int, float]] = {}
        self._may_rest = False

    def __enter__(self) -> Nvml:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the driver; the next question opens it again."""
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None

    def snapshot(self) -> NvmlSnapshot | None:
        """Driver and cards, or None where no driver answers (`state` says why).

        It asks a sleeping card too, since a person wants to know once; what it opened it closes again.
        """
        with self._lock:
            was_open = self._session is not None
            try:
                session = self._opened()
                return self._snapshot(session) if session is not None else None
            finally:
                if not was_open:
                    self.close()

    def _snapshot(self, session: Session) -> NvmlSnapshot | None:
        pynvml = session.pynvml
        try:
            models = [card.ask("nvmlDeviceGetCurrentDriverModel") for card in session.cards]
            gpus = tuple(card.describe() for card in session.cards)
        except pynvml.NVMLError as error:
            self._broken(error)
            return None
        if not session.driver:
            self._later("failed")
            return None
        model = next((model for model in models if model is not None), None)
        return NvmlSnapshot(
            driver=Driver(
                version=session.driver,
                cuda_max=self._cuda(pynvml),
                model=DRIVER_MODELS.get(model) if model is not None else None,
            ),
            gpus=gpus,
        )

    def sample(self, *, looking: bool = True, programs: bool = True) -> tuple[GpuSample, ...]:
        """Every card just now, also those seen before that do not answer any more, or are gone; `state` says why.

        Unless somebody is `looking`, what is dear to ask is left out, and unless at the `programs`, these.
        """
        with self._lock:
            now = self._clock()
            # A driver that did not answer is left alone for a while, and the bus with it: looking there costs more.
            waiting = self._retry_at is not None and now < self._retry_at
            if self._session is None and not waiting and self._system.cards_asleep():
                self.state = "asleep"
                self._rest.slept()
                return self._seats.all("asleep") or self._unasked()
            if self._session is None and self._rest.resting(now):
                self.state = "resting"
                return self._seats.all("resting")
            session = self._opened()
            if session is None:
                return self._seats.all("silent")
            try:
                session = self._recounted(session, now)
                found = self._asked(session, now, looking=looking, programs=programs) if session is not None else ()
            except Exception as error:
                if not _of_nvml(error):
                    raise
                self._broken(error)
                return self._seats.all("silent")
            samples = self._seats.seated(found, now)
            self._judge(samples)
            if self._may_rest and self._rest.begins(samples, now):
                self.close()
            return samples

    def named(self) -> tuple[GpuSample, ...]:
        """The cards of the open session by name, as "silent". It asks nothing and waits for nobody, so that another
        thread can call it while a question hangs.
        """
        session = self._session
        return tuple(card.named("silent") for card in session.cards) if session is not None else ()

    def _asked(self, session: Session, now: float, *, looking: bool, programs: bool) -> tuple[GpuSample, ...]:
        for card, xid in session.xids():
            card.xid = self._xids[card.address or ""] = xid, self._wall()
        return tuple(card.sample(now, self._system, looking=looking, programs=programs) for card in session.cards)

    def _recounted(self, session: Session, now: float) -> Session | None:
        """The session, opened anew where a card was plugged in or taken away."""
        if now < self._count_at:
            return session
        self._count_at = now + COUNT_S
        if session.count() == len(session.cards):
            return session
        self.close()
        return self._opened()

    def _judge(self, samples: tuple[GpuSample, ...]) -> None:
        if any(sample.state == "lost" for sample in samples):
            if self._retry_at is None:
                self._later("lost")
        else:
            self.state = "ready"
            self._retry_s = RETRY_S

    def _unasked(self) -> tuple[GpuSample, ...]:
        """Names that the system knows without asking the driver."""
        names = (gpu.name for gpu in self._system.display_adapters() if gpu.vendor == "nvidia")
        return tuple(GpuSample(index=index, name=name, state="asleep") for index, name in enumerate(names))

    def _opened(self) -> Session | None:
        if self._retry_at is not None:
            if self._clock() < self._retry_at:
                return self._session
            self._retry_at = None
            self.close()  # a lost card comes back only in a new session
        if self._session is None:
            try:
                self._session = Session(self._library)
            except ImportError:
                self._later("absent")
            except Exception as error:  # noqa: BLE001 - NVMLError, which has no name before pynvml is loaded
                self._later(_state(getattr(error, "value", None)))
            else:
                self.state = "ready"
                self.driver = self._session.driver
                self._greet(self._session)
                self._count_at = self._clock() + COUNT_S
        return self._session

    def _greet(self, session: Session) -> None:
        for card in session.cards:
            card.may_sleep = card.address is not None and self._system.card_may_sleep(card.address)
            # What a card reported before it was lost is still true.
            card.xid = self._xids.get(card.address or "", card.xid)
        self._may_rest = bool(session.cards) and all(card.may_sleep for card in session.cards)

    def _later(self, state: NvmlState) -> None:
        self.state = state
        self._retry_at = self._clock() + self._retry_s
        self._retry_s = min(2 * self._retry_s, LONGEST_RETRY_S)

    def _broken(self, error: Exception) -> None:
        self.close()
        self._later(_state(getattr(error, "value", None)))

    @staticmethod
    def _cuda(pynvml: Any) -> str | None:  # noqa: ANN401
        try:
            number = pynvml.nvmlSystemGetCudaDriverVersion_v2()
        except pynvml.NVMLError:
            return None
        return f"{number // 1000}.{number % 1000 // 10}" if number > 0 else None


def _of_nvml(error: Exception) -> bool:
    return type(error).__module__ == "pynvml"


def _state(code: int | None) -> NvmlState:
    # NVML_ERROR_* of nvml.h; plain numbers, because pynvml itself may be what is missing.
    states: dict[int, NvmlState] = {
        4: "no-permission",
        9: "not-loaded",
        12: "absent",
        15: "lost",
        16: "lost",
        18: "version-mismatch",
    }
    return states.get(code or 0, "failed")
