"""NVML between init and shutdown, through nvidia-ml-py: the only importer of pynvml, at the first question."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .device import NvmlDevice, decode_text

EXTRA_LIBRARY_PATHS = (
    Path("/usr/lib/wsl/lib/libnvidia-ml.so.1"),  # WSL: the Windows driver's half for Linux
    Path("/run/opengl-driver/lib/libnvidia-ml.so.1"),  # NixOS
)
MAX_EVENTS = 16  # taken at a time: a card that fails may report without an end


class NvmlLibrary:
    """An open library and its cards. It is unloaded with the last session of the process.

    Unloading matters: after a driver update the old library stays useless for as long as it is mapped.
    """

    _lock = threading.Lock()
    _open_count = 0

    def __init__(self, library: Path | None) -> None:
        """Raises NVMLError."""
        import pynvml

        self.pynvml = pynvml
        self._event_set: Any = None
        self._wait_for_event: Any = None
        self._has_event_sources = False
        with self._lock:
            try:
                self._load(library)
                pynvml.nvmlInit()
            except pynvml.NVMLError:
                if not NvmlLibrary._open_count:
                    self._unload()
                raise
            NvmlLibrary._open_count += 1
        try:
            self.devices = tuple(NvmlDevice(index, pynvml) for index in range(pynvml.nvmlDeviceGetCount()))
            self.driver = decode_text(pynvml.nvmlSystemGetDriverVersion())
        except pynvml.NVMLError:
            self.close()
            raise

    def close(self) -> None:
        """Shut down; called once."""
        with self._lock:
            # A driver that is gone cannot be shut down.
            with suppress(self.pynvml.NVMLError):
                if self._event_set:
                    self.pynvml.nvmlEventSetFree(self._event_set)
            with suppress(self.pynvml.NVMLError):
                self.pynvml.nvmlShutdown()
            NvmlLibrary._open_count -= 1
            if not NvmlLibrary._open_count:
                self._unload()

    def device_count(self) -> int:
        """How many cards the driver has just now. Raises NVMLError."""
        return int(self.pynvml.nvmlDeviceGetCount())

    def register_events(self) -> None:
        """From now on `xids` tells what the driver reports of each card that can report."""
        pynvml = self.pynvml
        try:
            self._event_set = pynvml.nvmlEventSetCreate()
            self._wait_for_event = pynvml._nvmlGetFunctionPointer("nvmlEventSetWait_v2")
        except pynvml.NVMLError:
            self._event_set = False
            return
        for device in self.devices:
            device.reports_xids = device.call(
                "nvmlDeviceRegisterEvents", pynvml.nvmlEventTypeXidCriticalError, self._event_set
            )
        self._has_event_sources = any(device.reports_xids for device in self.devices)

    def read_xids(self) -> Iterator[tuple[NvmlDevice, int]]:
        """The Xid errors reported since the last time. Raises NVMLError where the whole session is broken."""
        pynvml = self.pynvml
        if self._event_set is None:
            self.register_events()
        if not self._has_event_sources:
            return
        event = pynvml.c_nvmlEventData_t()
        for _ in range(MAX_EVENTS):
            # Straight to the library: that nothing happened is no error to be raised each second.
            error_code = self._wait_for_event(self._event_set, ctypes.byref(event), 0)
            if error_code in (pynvml.NVML_ERROR_TIMEOUT, pynvml.NVML_ERROR_GPU_IS_LOST):
                return  # a lost card is found when it is asked itself
            if error_code != pynvml.NVML_SUCCESS:
                raise pynvml.NVMLError(error_code)
            pointer = _pointer_value(event.device)
            for device in self.devices:
                if device.reports_xids and _pointer_value(device.handle) == pointer:
                    yield device, int(event.eventData)

    def _load(self, library: Path | None) -> None:
        # On Windows nvidia-ml-py itself loads System32\nvml.dll (then NVSMI's) by full path; on Linux the
        # loader's own search finds libnvidia-ml.so.1, but for the folders that it may not know.
        pynvml = self.pynvml
        if pynvml.nvmlLib is None:
            paths = [library] if library is not None else [path for path in EXTRA_LIBRARY_PATHS if path.is_file()]
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


def _pointer_value(handle: Any) -> int | None:  # noqa: ANN401 - a pointer of ctypes
    """A handle is a pointer, and equal ones are different objects."""
    return ctypes.cast(handle, ctypes.c_void_p).value
