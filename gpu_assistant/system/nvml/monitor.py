"""All NVIDIA GPUs of this computer: what they are, and how they are now.

A driver that does not answer is a state with a name, a figure that a GPU does not report is None; nothing here raises.

    NvmlMonitor.sample
      asleep             every GPU sleeps: nobody is woken, the system tells their names
      IdleRelease        the session is closed for a while, so that idle GPUs of a laptop can fall asleep
      NvmlLibrary        is opened, and opened again after an error, with growing pauses
      NvmlDevice.sample  for each GPU
      GpuRegistry        GPUs that were removed stay in the list as "gone"

A GPU falls asleep 6 to 10 s after the last program closed its driver (cosmic-applets, issue 38). Sampled each second
it takes 16 W, asleep 10 W, on one laptop (beszel-docs, issue 35).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ...core.machine import Driver, Gpu
from ...core.results import GpuSample, GpuState, NvmlState
from ..base import Hardware
from .library import NvmlLibrary

FIRST_RETRY_S = 5.0  # the pause before a failed session is opened again; it doubles
MAX_RETRY_S = 60.0  # up to this
RECOUNT_INTERVAL_S = 10.0  # how soon a GPU that was plugged in or removed is noticed

DRIVER_MODELS = {0: "WDDM", 1: "TCC", 2: "MCDM"}
# By NVML_ERROR_* of nvml.h; plain numbers, because pynvml itself may be what is missing.
STATE_BY_ERROR: dict[int, NvmlState] = {
    4: "no-permission",
    9: "not-loaded",
    12: "absent",
    15: "lost",
    16: "lost",
    18: "version-mismatch",
}

IDLE_SAMPLES = 5  # in a row, before the session is closed
RELEASE_S = 15.0  # longer than a GPU needs to fall asleep
RETRY_AFTER_S = 600.0  # until the next try for a GPU that stayed awake, held by another program; it doubles
IDLE_PSTATE = 5  # nvml.h: 0 is the fastest, 15 the slowest; a GPU in use is below


class NvmlSnapshot(Struct, frozen=True, kw_only=True):
    """The driver and its GPUs, in the driver's order."""

    driver: Driver
    gpus: tuple[Gpu, ...]


class NvmlMonitor:
    """The GPUs of this computer. Close it (or use `with`) when done: an open session keeps GPUs awake.

    `state` says why there are no figures, `driver` is the driver's version. `library` is another library file than the
    system's; `clock` is monotonic, `wall_clock` tells seconds since the epoch. A GPU that the driver no longer lists
    is dropped after `drop_after_s` seconds; None: never.
    """

    def __init__(
        self,
        system: Hardware,
        *,
        library: Path | None = None,
        drop_after_s: float | None = None,
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
        self._registry = GpuRegistry(drop_after_s)
        self._idle_release = IdleRelease()
        self._xids: dict[str, tuple[int, float]] = {}
        self._can_release = False

    def __enter__(self) -> NvmlMonitor:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether a session is open, which keeps GPUs awake."""
        return self._session is not None

    def close(self) -> None:
        """Close the session; the next call opens one again."""
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None

    def snapshot(self) -> NvmlSnapshot | None:
        """Driver and GPUs, or None where no driver answers (`state` says why).

        It wakes sleeping GPUs; a session that it opened is closed again.
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
        """Every GPU now, with those seen before that no longer answer or were removed; `state` says why.

        `detailed` adds what is expensive to read (PCIe traffic), and with `processes` the processes on each GPU.
        """
        with self._lock:
            now = self._clock()
            # During the pause after a failure the PCI bus is not read either: that costs more than a call of NVML.
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

    def mig_parents(self) -> dict[str, str]:
        """The GPU's UUID by the UUID of each instance of a divided GPU (MIG), of the open session."""
        with self._lock:
            devices = self._session.devices if self._session is not None else ()
            try:
                return {uuid: device.uuid for device in devices if device.uuid for uuid in device.mig_uuids()}
            except Exception as error:
                if not _is_nvml_error(error):
                    raise
                return {}

    def last_known_samples(self) -> tuple[GpuSample, ...]:
        """The GPUs of the open session by name, as "silent".

        It calls nothing and takes no lock, so that another thread can use it while a call hangs.
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
        """The session, opened again where a GPU was plugged in or removed."""
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
        """Names that the system knows without the driver."""
        names = (gpu.name for gpu in self._system.display_adapters() if gpu.vendor == "nvidia")
        return tuple(GpuSample(index=index, name=name, state="asleep") for index, name in enumerate(names))

    def _open_session(self) -> NvmlLibrary | None:
        if self._retry_at is not None:
            if self._clock() < self._retry_at:
                return self._session
            self._retry_at = None
            self.close()  # a lost GPU comes back only in a new session
        if self._session is None:
            try:
                self._session = NvmlLibrary(self._library)
            except ImportError:
                self._schedule_retry("absent")
            except Exception as error:  # noqa: BLE001 - NVMLError cannot be named before pynvml is imported
                self._schedule_retry(_state_by_error(error))
            else:
                self.state = "ready"
                self.driver = self._session.driver
                self._prepare_devices(self._session)
                self._recount_at = self._clock() + RECOUNT_INTERVAL_S
        return self._session

    def _prepare_devices(self, session: NvmlLibrary) -> None:
        for device in session.devices:
            device.can_sleep = device.address is not None and self._system.can_gpu_sleep(device.address)
            # What a GPU reported before it was lost still holds.
            device.xid = self._xids.get(device.address or "", device.xid)
        self._can_release = bool(session.devices) and all(device.can_sleep for device in session.devices)

    def _schedule_retry(self, state: NvmlState) -> None:
        self.state = state
        self._retry_at = self._clock() + self._retry_s
        self._retry_s = min(2 * self._retry_s, MAX_RETRY_S)

    def _fail_session(self, error: Exception) -> None:
        self.close()
        self._schedule_retry(_state_by_error(error))

    @staticmethod
    def _max_cuda_version(pynvml: Any) -> str | None:  # noqa: ANN401
        try:
            version_number = pynvml.nvmlSystemGetCudaDriverVersion_v2()
        except pynvml.NVMLError:
            return None
        return f"{version_number // 1000}.{version_number % 1000 // 10}" if version_number > 0 else None


def _is_nvml_error(error: Exception) -> bool:
    return type(error).__module__ == "pynvml"


def _state_by_error(error: Exception) -> NvmlState:
    return STATE_BY_ERROR.get(getattr(error, "value", 0), "failed")


class GpuRegistry:
    """Identity and last Xid error of each GPU by its index now, and of the removed ones with the time of removal.

    A removed GPU is dropped after `drop_after_s` seconds; None: never.
    """

    def __init__(self, drop_after_s: float | None = None) -> None:
        self._drop_after_s = drop_after_s
        self._known: dict[int, GpuSample] = {}
        self._missing: tuple[tuple[GpuSample, float], ...] = ()

    def all_samples(self, state: GpuState) -> tuple[GpuSample, ...]:
        """Every GPU in this state, without figures; removed ones stay "gone"."""
        return self._with_missing([replace(known, state=state) for known in self._known.values()])

    def update(self, samples: Sequence[GpuSample], now: float) -> tuple[GpuSample, ...]:
        """The same samples, and as "gone" the GPUs seen before that are not among them; sorted by index.

        Present GPUs have the driver's index. `now` is in seconds of a monotonic clock.
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
            (gpu, missing_since)
            for gpu, missing_since in missing
            if is_missing(gpu) and (self._drop_after_s is None or now - missing_since < self._drop_after_s)
        ]
        self._known = {index: _identity_sample(index, sample) for index, sample in current.items()}
        self._missing = _assign_indexes(remembered, set(current))
        return self._with_missing(current.values())

    def _with_missing(self, present: Iterable[GpuSample]) -> tuple[GpuSample, ...]:
        missing = [replace(gpu, state="gone") for gpu, _ in self._missing]
        return tuple(sorted([*present, *missing], key=lambda gpu: gpu.index))

    def _is_unchanged(self, samples: Sequence[GpuSample]) -> bool:
        """Whether all GPUs answer under the same index as before, as nearly always."""
        if len(samples) != len(self._known):
            return False
        for sample in samples:
            known = self._known.get(sample.index)
            if known is None or sample.uuid is None or sample.uuid != known.uuid or sample.state != "ready":
                return False
        return True

    def _restore_identity(self, sample: GpuSample, reported_uuids: set[str]) -> GpuSample:
        """A lost GPU cannot tell its UUID: it is the one that had its index, unless that one is elsewhere."""
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
    """A removed GPU keeps its index until a present one has it; then it gets a free one."""
    numbered = [entry for entry in missing if entry[0].index not in used_indexes]
    used_indexes |= {gpu.index for gpu, _ in numbered}
    for gpu, missing_since in missing:
        if gpu.index in used_indexes and (gpu, missing_since) not in numbered:
            index = next(candidate for candidate in count() if candidate not in used_indexes)
            used_indexes.add(index)
            numbered.append((replace(gpu, index=index), missing_since))
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


class IdleRelease:
    """When to close the session so that idle GPUs can fall asleep. Times are in seconds of one monotonic clock."""

    def __init__(self) -> None:
        self._idle_samples = 0
        self._released_until: float | None = None
        self._not_before = 0.0
        self._retry_after_s = RETRY_AFTER_S

    def is_released(self, now: float) -> bool:
        """Whether the session shall stay closed now."""
        if self._released_until is not None and now >= self._released_until:
            self._released_until = None
            self._not_before = now + self._retry_after_s
            self._retry_after_s *= 2
        return self._released_until is not None

    def should_release(self, samples: Sequence[GpuSample], now: float) -> bool:
        """Whether to close the session after these samples."""
        self._idle_samples = self._idle_samples + 1 if samples and all(map(_is_idle, samples)) else 0
        if self._idle_samples < IDLE_SAMPLES or now < self._not_before:
            return False
        self._idle_samples = 0
        self._released_until = now + RELEASE_S
        return True

    def confirm_sleep(self) -> None:
        """The GPUs fell asleep: the session may be closed again without a pause."""
        self._released_until = None
        self._not_before = 0.0
        self._retry_after_s = RETRY_AFTER_S
        self._idle_samples = 0


def _is_idle(sample: GpuSample) -> bool:
    if sample.state in ("asleep", "gone"):
        return True
    is_active = sample.pstate is not None and sample.pstate < IDLE_PSTATE
    return sample.state == "ready" and sample.util == 0 and not is_active
