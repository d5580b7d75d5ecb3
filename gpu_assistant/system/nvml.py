"""NVIDIA's management library, read through nvidia-ml-py: who the cards are and how they are just now.

Nothing here raises: a driver that does not answer is a state with a name, a figure that a card does not
report is None. The only importer of pynvml; it is loaded with the first question.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from ..core.machine import Driver, Gpu
from ..core.results import GpuSample
from .nvml_card import Card, text

if TYPE_CHECKING:
    from .base import System

NvmlState = Literal[
    "untried",  # nobody asked yet
    "ready",
    "absent",  # no library: no NVIDIA driver is installed
    "not-loaded",  # the library is there, its kernel driver is not
    "version-mismatch",  # the driver was updated and waits for a restart
    "no-permission",
    "asleep",  # every card sleeps and is left asleep
    "lost",  # a card fell off the bus or needs a reset
    "failed",  # anything else that NVML says
]

RETRY_S = 5.0  # a driver that did not answer is asked again after this time

EXTRA_LIBRARIES = (
    Path("/usr/lib/wsl/lib/libnvidia-ml.so.1"),  # WSL: the Windows driver's half for Linux
    Path("/run/opengl-driver/lib/libnvidia-ml.so.1"),  # NixOS
)

DRIVER_MODELS = {0: "WDDM", 1: "TCC", 2: "MCDM"}


class NvmlSnapshot(Struct, frozen=True, kw_only=True):
    """What the driver says of itself and of its cards, in the driver's own order."""

    driver: Driver
    gpus: tuple[Gpu, ...]


class _Session:
    """NVML between init and shutdown. The library is unloaded with the last session of the process.

    Unloading matters: after a driver update the old library stays useless for as long as it is mapped.
    """

    _lock = threading.Lock()
    _open = 0

    def __init__(self, library: Path | None) -> None:
        """Raises NVMLError."""
        import pynvml

        self.pynvml = pynvml
        with self._lock:
            try:
                self._load(library)
                pynvml.nvmlInit()
            except pynvml.NVMLError:
                if not _Session._open:
                    self._unload()
                raise
            _Session._open += 1
        try:
            self.cards = tuple(Card(index, pynvml) for index in range(pynvml.nvmlDeviceGetCount()))
        except pynvml.NVMLError:
            self.close()
            raise

    def close(self) -> None:
        """Shut down; called once."""
        with self._lock:
            # A driver that is gone cannot be shut down.
            with suppress(self.pynvml.NVMLError):
                self.pynvml.nvmlShutdown()
            _Session._open -= 1
            if not _Session._open:
                self._unload()

    def _load(self, library: Path | None) -> None:
        # On Windows nvidia-ml-py itself loads System32\nvml.dll (then NVSMI's) by full path; on Linux the
        # loader's own search finds libnvidia-ml.so.1, but for the folders that it may not know.
        pynvml = self.pynvml
        if pynvml.nvmlLib is None:
            paths = [library] if library is not None else [path for path in EXTRA_LIBRARIES if path.is_file()]
            for path in paths:
                with suppress(OSError):
                    pynvml.nvmlLib = ctypes.CDLL(str(path))
                    return
            if library is not None:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    def _unload(self) -> None:
        library, self.pynvml.nvmlLib = self.pynvml.nvmlLib, None
        self.pynvml._nvmlGetFunctionPointer_cache.clear()
        if library is not None:
            import _ctypes

            free: Callable[[int], Any] = getattr(_ctypes, "FreeLibrary", None) or _ctypes.dlclose
            free(library._handle)


class Nvml:
    """The cards of this machine. Use `close()` (or `with`) when done: an open session keeps cards awake.

    `library` names another library file than the system's.
    """

    def __init__(
        self,
        system: System,
        *,
        library: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state: NvmlState = "untried"
        self._system = system
        self._library = library
        self._clock = clock
        self._lock = threading.RLock()
        self._session: _Session | None = None
        self._retry_at: float | None = None
        self._names: dict[int, str] = {}

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

    def _snapshot(self, session: _Session) -> NvmlSnapshot | None:
        pynvml = session.pynvml
        try:
            driver = text(pynvml.nvmlSystemGetDriverVersion())
            models = [card.ask("nvmlDeviceGetCurrentDriverModel") for card in session.cards]
            gpus = tuple(card.describe() for card in session.cards)
        except pynvml.NVMLError as error:
            self._broken(error)
            return None
        if not driver:
            self._later("failed")
            return None
        model = next((model for model in models if model is not None), None)
        return NvmlSnapshot(
            driver=Driver(
                version=driver,
                cuda_max=self._cuda(pynvml),
                model=DRIVER_MODELS.get(model) if model is not None else None,
            ),
            gpus=gpus,
        )

    def sample(self) -> tuple[GpuSample, ...]:
        """Every card just now. A card that sleeps or is lost keeps its index and name, all else is None.

        Without a driver the tuple is empty and `state` says why.
        """
        with self._lock:
            if self._session is None and self._system.cards_asleep():
                self.state = "asleep"
                names = (gpu.name for gpu in self._system.display_adapters() if gpu.vendor == "nvidia")
                return tuple(GpuSample(index=index, name=name) for index, name in enumerate(names))
            session = self._opened()
            if session is None:
                return ()
            now = self._clock()
            try:
                samples = tuple(self._named(card.sample(now, self._system.card_asleep)) for card in session.cards)
            except session.pynvml.NVMLError as error:
                self._broken(error)
                return ()
            if any(card.lost for card in session.cards) and self.state != "lost":
                self._later("lost")
            return samples

    def _named(self, sample: GpuSample) -> GpuSample:
        # A card that was lost may be unable to say even its name.
        if sample.name is None:
            return replace(sample, name=self._names.get(sample.index))
        self._names[sample.index] = sample.name
        return sample

    def _opened(self) -> _Session | None:
        if self._retry_at is not None:
            if self._clock() < self._retry_at:
                return self._session
            self._retry_at = None
            self.close()  # a lost card comes back only in a new session
        if self._session is None:
            try:
                self._session = _Session(self._library)
            except ImportError:
                self._later("absent")
            except Exception as error:  # noqa: BLE001 - NVMLError, which has no name before pynvml is loaded
                self._later(_state(getattr(error, "value", None)))
            else:
                self.state = "ready"
        return self._session

    def _later(self, state: NvmlState) -> None:
        self.state = state
        self._retry_at = self._clock() + RETRY_S

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
