"""Progress on a window's task-bar button: the shell's ITaskbarList3 (shobjidl_core.h), called through its table."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from ctypes import wintypes  # noqa: E402
from typing import Any  # noqa: E402

from .services import TaskbarState  # noqa: E402
from .windows_guid import guid  # noqa: E402

CLASS = "56fdf344-fd6d-11d0-958a-006097c9a090"  # CLSID_TaskbarList
INTERFACE = "ea1afb91-9e28-4b86-90e9-9e9f8a5eefaf"  # IID_ITaskbarList3
CLSCTX_INPROC_SERVER = 0x1
RELEASE, HR_INIT, SET_VALUE, SET_STATE = 2, 3, 9, 10  # places in the table
STATES: dict[TaskbarState, int] = {"none": 0, "busy": 1, "normal": 2, "error": 4, "paused": 8}
WHOLE = 1000


class WindowsTaskbar:
    """See `services.Taskbar`; `window` is the window's handle. Raises OSError where the shell has no task bar."""

    def __init__(self, window: int) -> None:
        self._window = wintypes.HWND(window)
        self._list = ctypes.c_void_p()
        ole = ctypes.OleDLL("ole32")  # raises OSError for a failed result
        ole.CoCreateInstance(
            ctypes.byref(guid(CLASS)),
            None,
            CLSCTX_INPROC_SERVER,
            ctypes.byref(guid(INTERFACE)),
            ctypes.byref(self._list),
        )
        if self._call(HR_INIT, ()) < 0:
            self.close()
            raise OSError("the shell has no task bar")

    def show(self, state: TaskbarState, fraction: float | None = None) -> bool:
        """A value turns "busy" into "normal", so the state comes last."""
        window = self._window
        done = 0
        if state not in ("none", "busy"):
            value = round(WHOLE * min(max(1.0 if fraction is None else fraction, 0.0), 1.0))
            numbers = (ctypes.c_ulonglong, ctypes.c_ulonglong)
            done = self._call(SET_VALUE, (wintypes.HWND, *numbers), window, value, WHOLE)
        return done >= 0 and self._call(SET_STATE, (wintypes.HWND, ctypes.c_int), window, STATES[state]) >= 0

    def close(self) -> None:
        """Give the object back."""
        if self._list:
            self._call(RELEASE, ())
            self._list = ctypes.c_void_p()

    def _call(self, place: int, kinds: tuple[Any, ...], *values: Any) -> int:  # noqa: ANN401 - what ctypes takes
        table = ctypes.cast(self._list, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
        method = ctypes.WINFUNCTYPE(ctypes.c_long, ctypes.c_void_p, *kinds)(table[place] or 0)
        return int(method(self._list, *values))
