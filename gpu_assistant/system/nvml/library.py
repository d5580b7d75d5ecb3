"""A session of NVML, from init to shutdown. The only module that imports pynvml, when the first session opens."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .device import NvmlDevice, decode_text

EXTRA_LIBRARY_PATHS = (
    Path("/usr/lib/wsl/lib/libnvidia-ml.so.1"),  # WSL: the part of Windows' driver for Linux
    Path("/run/opengl-driver/lib/libnvidia-ml.so.1"),  # NixOS
)
MAX_EVENTS = 16  # read at a time: a failing GPU may report without end


class NvmlLibrary:
    """An open session and its GPUs. The library is unloaded with the last session of the process.

    That matters after an update of the driver: the old library is useless for as long as it stays loaded.
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
            # A driver that was unloaded cannot be shut down.
            with suppress(self.pynvml.NVMLError):
                if self._event_set:
                    self.pynvml.nvmlEventSetFree(self._event_set)
            with suppress(self.pynvml.NVMLError):
                self.pynvml.nvmlShutdown()
            NvmlLibrary._open_count -= 1
            if not NvmlLibrary._open_count:
                self._unload()

    def device_count(self) -> int:
        """How many GPUs the driver has now. Raises NVMLError."""
        return int(self.pynvml.nvmlDeviceGetCount())

    def register_events(self) -> None:
        """Let `read_xids` tell the Xid errors of each GPU that can report them."""
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
        """The Xid errors reported since the last call. Raises NVMLError where the whole session is broken."""
        pynvml = self.pynvml
        if self._event_set is None:
            self.register_events()
        if not self._has_event_sources:
            return
        event = pynvml.c_nvmlEventData_t()
        for _ in range(MAX_EVENTS):
            # The C function itself: nvidia-ml-py would raise a time-out each second.
            error_code = self._wait_for_event(self._event_set, ctypes.byref(event), 0)
            if error_code in (pynvml.NVML_ERROR_TIMEOUT, pynvml.NVML_ERROR_GPU_IS_LOST):
                return  # which GPU is lost shows when it is sampled
            if error_code != pynvml.NVML_SUCCESS:
                raise pynvml.NVMLError(error_code)
            pointer = _pointer_value(event.device)
            for device in self.devices:
                if device.reports_xids and _pointer_value(device.handle) == pointer:
                    yield device, int(event.eventData)

    def _load(self, library: Path | None) -> None:
        # On Windows nvidia-ml-py loads System32\nvml.dll (then NVSMI's) by full path; on Linux the loader finds
        # libnvidia-ml.so.1, except in these folders.
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
    """The address in a handle: equal handles are different objects."""
    return ctypes.cast(handle, ctypes.c_void_p).value
