"""Who the cards are: a card has the number that the driver gives it now, and one that the driver no longer lists is
remembered for a while.

When to let go of a laptop's idle card: an open driver keeps it awake, which costs hours of battery.

Sources: a card sleeps 6 to 10 s after the last program let go of it (cosmic-applets issue 38); 16 W asked each
second and 10 W asleep, on one laptop (beszel-docs issue 35).

NVIDIA's management library: who the cards are and how they are just now.

Nothing here raises: a driver that does not answer is a state with a name, a figure that a card does not
report is None.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from ...core.machine import Driver, Gpu
from ...core.results import GpuSample, GpuState, NvmlState
from .library import NvmlLibrary

if TYPE_CHECKING:
    from ..base import System


class GpuRegistry:
    """The names of the cards, and what was reported of them, by their numbers of now; and who is gone, since when.

    A card that is gone is forgotten after `forget_s` seconds; None: never.
    """

    def __init__(self, forget_s: float | None = None) -> None:
        self._forget_s = forget_s
        self._known: dict[int, GpuSample] = {}
        self._missing: tuple[tuple[GpuSample, float], ...] = ()

    def all_samples(self, state: GpuState) -> tuple[GpuSample, ...]:
        """All of them, with nothing but their names; who is gone stays so."""
        return self._with_missing([replace(known, state=state) for known in self._known.values()])

    def update(self, samples: Sequence[GpuSample], now: float) -> tuple[GpuSample, ...]:
        """The same samples, whose numbers are the driver's, and the cards seen before that are not among them, as
        "gone". `now` is in seconds of a steady clock.
        """
        if not self._missing and self._is_unchanged(samples):
            return tuple(samples)
        reported_uuids = {sample.uuid for sample in samples if sample.uuid is not None}
        current = {sample.index: self._restore_identity(sample, reported_uuids) for sample in samples}
        current_uuids = {sample.uuid for sample in current.values() if sample.uuid is not None}

        def is_missing(gpu: GpuSample) -> bool:
            return gpu.index not in current if gpu.uuid is None else gpu.uuid not in current_uuids

        missing = [*self._missing, *((known, now) for known in self._known.values())]
        remembered = [
            (card, missing_since)
            for card, missing_since in missing
            if is_missing(card) and (self._forget_s is None or now - missing_since < self._forget_s)
        ]
        self._known = {index: _identity_sample(index, sample) for index, sample in current.items()}
        self._missing = _assign_indexes(remembered, set(current))
        return self._with_missing(current.values())

    def _with_missing(self, present: Iterable[GpuSample]) -> tuple[GpuSample, ...]:
        missing = [replace(card, state="gone") for card, _ in self._missing]
        return tuple(sorted([*present, *missing], key=lambda card: card.index))

    def _is_unchanged(self, samples: Sequence[GpuSample]) -> bool:
        """Whether all cards are there, at work and in their seats, as nearly always."""
        if len(samples) != len(self._known):
            return False
        for sample in samples:
            known = self._known.get(sample.index)
            if known is None or sample.uuid is None or sample.uuid != known.uuid or sample.state != "ready":
                return False
        return True

    def _restore_identity(self, sample: GpuSample, reported_uuids: set[str]) -> GpuSample:
        """A card that is lost cannot say who it is: the one that was in its place, unless that is elsewhere."""
        previous = self._known.get(sample.index)
        if sample.uuid is not None or previous is None or previous.uuid in reported_uuids:
            return sample
        return replace(
            sample,
            name=sample.name or previous.name,
            uuid=previous.uuid,
            address=sample.address or previous.address,
        )


def _assign_indexes(
    missing: Sequence[tuple[GpuSample, float]], used_indexes: set[int]
) -> tuple[tuple[GpuSample, float], ...]:
    """Who is gone keeps its number until a card that is there has it; then it gets one that nobody has."""
    numbered = [entry for entry in missing if entry[0].index not in used_indexes]
    used_indexes |= {card.index for card, _ in numbered}
    for card, missing_since in missing:
        if card.index in used_indexes and (card, missing_since) not in numbered:
            index = next(candidate for candidate in count() if candidate not in used_indexes)
            used_indexes.add(index)
            numbered.append((replace(card, index=index), missing_since))
    return tuple(numbered)


def _identity_sample(index: int, sample: GpuSample) -> GpuSample:
    return GpuSample(
        index=index,
        name=sample.name,
        uuid=sample.uuid,
        address=sample.address,
        xid=sample.xid,
        xid_t=sample.xid_t,
    )


IDLE_SAMPLES = 5
RELEASE_S = 15.0  # longer than a card needs to fall asleep
RETRY_AFTER_S = 600.0  # a card that stayed awake is held by somebody else: the next try is so late, then twice as late
IDLE_PSTATE = 5  # nvml.h: 0 is the fastest, 15 the slowest; a card that is worked with stands below


class IdleRelease:
    """Counts idle samples; says when to let go and for how long. Times in seconds, of one steady clock."""

    def __init__(self) -> None:
        self._idle_samples = 0
        self._released_until: float | None = None
        self._not_before = 0.0
        self._retry_after_s = RETRY_AFTER_S

    def is_released(self, now: float) -> bool:
        """Whether the driver is let go of just now."""
        if self._released_until is not None and now >= self._released_until:
            self._released_until = None
            self._not_before = now + self._retry_after_s
            self._retry_after_s *= 2
        return self._released_until is not None

    def should_release(self, samples: Sequence[GpuSample], now: float) -> bool:
        """Whether a rest begins after these samples."""
        self._idle_samples = self._idle_samples + 1 if samples and all(map(_is_idle, samples)) else 0
        if self._idle_samples < IDLE_SAMPLES or now < self._not_before:
            return False
        self._idle_samples = 0
        self._released_until = now + RELEASE_S
        return True

    def confirm_sleep(self) -> None:
        """The cards did fall asleep, so that the next rest may come at once."""
        self._released_until = None
        self._not_before = 0.0
        self._retry_after_s = RETRY_AFTER_S
        self._idle_samples = 0


def _is_idle(sample: GpuSample) -> bool:
    if sample.state in ("asleep", "gone"):
        return True
    is_active = sample.pstate is not None and sample.pstate < IDLE_PSTATE
    return sample.state == "ready" and sample.util == 0 and not is_active


FIRST_RETRY_S = 5.0  # a driver that did not answer is asked again after this time,
MAX_RETRY_S = 60.0  # and each time after twice as long, up to this
RECOUNT_INTERVAL_S = 10.0  # a card that was plugged in or taken away is found after this time at most

DRIVER_MODELS = {0: "WDDM", 1: "TCC", 2: "MCDM"}


class NvmlSnapshot(Struct, frozen=True, kw_only=True):
    """What the driver says of itself and of its cards, in the driver's own order."""

    driver: Driver
    gpus: tuple[Gpu, ...]


class NvmlMonitor:
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
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.state: NvmlState = "untried"
        self.driver: str | None = None
        self._system = system
        self._library = library
        self._clock = clock
        self._wall_clock = wall_clock
        self._lock = threading.RLock()
        self._session: NvmlLibrary | None = None
        self._retry_at: float | None = None
        self._retry_s = FIRST_RETRY_S
        self._recount_at = 0.0
        self._registry = GpuRegistry(forget_s)
        self._idle_release = IdleRelease()
        self._xids: dict[str, tuple[int, float]] = {}
        self._can_release = False

    def __enter__(self) -> NvmlMonitor:
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
                session = self._open_session()
                return self._snapshot(session) if session is not None else None
            finally:
                if not was_open:
                    self.close()

    def _snapshot(self, session: NvmlLibrary) -> NvmlSnapshot | None:
        pynvml = session.pynvml
        try:
            driver_models = [device.query("nvmlDeviceGetCurrentDriverModel") for device in session.devices]
            gpus = tuple(device.describe() for device in session.devices)
        except pynvml.NVMLError as error:
            self._fail_session(error)
            return None
        if not session.driver:
            self._schedule_retry("failed")
            return None
        driver_model = next((driver_model for driver_model in driver_models if driver_model is not None), None)
        return NvmlSnapshot(
            driver=Driver(
                version=session.driver,
                cuda_max=self._max_cuda_version(pynvml),
                model=DRIVER_MODELS.get(driver_model) if driver_model is not None else None,
            ),
            gpus=gpus,
        )

    def sample(self, *, detailed: bool = True, processes: bool = True) -> tuple[GpuSample, ...]:
        """Every card just now, also those seen before that do not answer any more, or are gone; `state` says why.

        Unless somebody is `looking`, what is dear to ask is left out, and unless at the `programs`, these.
        """
        with self._lock:
            now = self._clock()
            # A driver that did not answer is left alone for a while, and the bus with it: looking there costs more.
            retry_pending = self._retry_at is not None and now < self._retry_at
            if self._session is None and not retry_pending and self._system.are_gpus_asleep():
                self.state = "asleep"
                self._idle_release.confirm_sleep()
                return self._registry.all_samples("asleep") or self._sleeping_samples()
            if self._session is None and self._idle_release.is_released(now):
                self.state = "resting"
                return self._registry.all_samples("resting")
            session = self._open_session()
            if session is None:
                return self._registry.all_samples("silent")
            try:
                session = self._reopen_if_count_changed(session, now)
                device_samples = (
                    self._sample_devices(session, now, detailed=detailed, processes=processes)
                    if session is not None
                    else ()
                )
            except Exception as error:
                if not _is_nvml_error(error):
                    raise
                self._fail_session(error)
                return self._registry.all_samples("silent")
            samples = self._registry.update(device_samples, now)
            self._update_state(samples)
            if self._can_release and self._idle_release.should_release(samples, now):
                self.close()
            return samples

    def last_known_samples(self) -> tuple[GpuSample, ...]:
        """The cards of the open session by name, as "silent". It asks nothing and waits for nobody, so that another
        thread can call it while a question hangs.
        """
        session = self._session
        return tuple(device.identity_sample("silent") for device in session.devices) if session is not None else ()

    def _sample_devices(
        self, session: NvmlLibrary, now: float, *, detailed: bool, processes: bool
    ) -> tuple[GpuSample, ...]:
        for device, xid in session.read_xids():
            device.xid = self._xids[device.address or ""] = xid, self._wall_clock()
        return tuple(
            device.sample(now, self._system, detailed=detailed, processes=processes) for device in session.devices
        )

    def _reopen_if_count_changed(self, session: NvmlLibrary, now: float) -> NvmlLibrary | None:
        """The session, opened anew where a card was plugged in or taken away."""
        if now < self._recount_at:
            return session
        self._recount_at = now + RECOUNT_INTERVAL_S
        if session.device_count() == len(session.devices):
            return session
        self.close()
        return self._open_session()

    def _update_state(self, samples: tuple[GpuSample, ...]) -> None:
        if any(sample.state == "lost" for sample in samples):
            if self._retry_at is None:
                self._schedule_retry("lost")
        else:
            self.state = "ready"
            self._retry_s = FIRST_RETRY_S

    def _sleeping_samples(self) -> tuple[GpuSample, ...]:
        """Names that the system knows without asking the driver."""
        names = (gpu.name for gpu in self._system.display_adapters() if gpu.vendor == "nvidia")
        return tuple(GpuSample(index=index, name=name, state="asleep") for index, name in enumerate(names))

    def _open_session(self) -> NvmlLibrary | None:
        if self._retry_at is not None:
            if self._clock() < self._retry_at:
                return self._session
            self._retry_at = None
            self.close()  # a lost card comes back only in a new session
        if self._session is None:
            try:
                self._session = NvmlLibrary(self._library)
            except ImportError:
                self._schedule_retry("absent")
            except Exception as error:  # noqa: BLE001 - NVMLError, which has no name before pynvml is loaded
                self._schedule_retry(_state_of_error(getattr(error, "value", None)))
            else:
                self.state = "ready"
                self.driver = self._session.driver
                self._prepare_devices(self._session)
                self._recount_at = self._clock() + RECOUNT_INTERVAL_S
        return self._session

    def _prepare_devices(self, session: NvmlLibrary) -> None:
        for device in session.devices:
            device.can_sleep = device.address is not None and self._system.can_gpu_sleep(device.address)
            # What a card reported before it was lost is still true.
            device.xid = self._xids.get(device.address or "", device.xid)
        self._can_release = bool(session.devices) and all(device.can_sleep for device in session.devices)

    def _schedule_retry(self, state: NvmlState) -> None:
        self.state = state
        self._retry_at = self._clock() + self._retry_s
        self._retry_s = min(2 * self._retry_s, MAX_RETRY_S)

    def _fail_session(self, error: Exception) -> None:
        self.close()
        self._schedule_retry(_state_of_error(getattr(error, "value", None)))

    @staticmethod
    def _max_cuda_version(pynvml: Any) -> str | None:  # noqa: ANN401
        try:
            version_number = pynvml.nvmlSystemGetCudaDriverVersion_v2()
        except pynvml.NVMLError:
            return None
        return f"{version_number // 1000}.{version_number % 1000 // 10}" if version_number > 0 else None


def _is_nvml_error(error: Exception) -> bool:
    return type(error).__module__ == "pynvml"


def _state_of_error(error_code: int | None) -> NvmlState:
    # NVML_ERROR_* of nvml.h; plain numbers, because pynvml itself may be what is missing.
    states: dict[int, NvmlState] = {
        4: "no-permission",
        9: "not-loaded",
        12: "absent",
        15: "lost",
        16: "lost",
        18: "version-mismatch",
    }
    return states.get(error_code or 0, "failed")
