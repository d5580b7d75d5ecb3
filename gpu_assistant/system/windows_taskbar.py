"""Progress on a window's task-bar button: the shell's ITaskbarList3 (shobjidl_core.h), called through its table."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from ctypes import wintypes  # noqa: E402
from typing import Any  # noqa: E402

from .services import TaskbarState  # noqa: E402
from .windows_guid import guid_from_text  # noqa: E402

CLSID_TASKBAR_LIST = "56fdf344-fd6d-11d0-958a-006097c9a090"  # CLSID_TaskbarList
IID_TASKBAR_LIST3 = "ea1afb91-9e28-4b86-90e9-9e9f8a5eefaf"  # IID_ITaskbarList3
CLSCTX_INPROC_SERVER = 0x1
TASKBAR_RELEASE, HR_INIT, SET_VALUE, SET_STATE = 2, 3, 9, 10  # places in the table
TASKBAR_FLAGS: dict[TaskbarState, int] = {"none": 0, "busy": 1, "normal": 2, "error": 4, "paused": 8}
PROGRESS_TOTAL = 1000


class WindowsTaskbarProgress:
    """See `services.Taskbar`; `window` is the window's handle. Raises OSError where the shell has no task bar."""

    def __init__(self, window: int) -> None:
        self._window = wintypes.HWND(window)
        self._list = ctypes.c_void_p()
        ole = ctypes.OleDLL("ole32")  # raises OSError for a failed result
        ole.CoCreateInstance(
            ctypes.byref(guid_from_text(CLSID_TASKBAR_LIST)),
            None,
            CLSCTX_INPROC_SERVER,
            ctypes.byref(guid_from_text(IID_TASKBAR_LIST3)),
            ctypes.byref(self._list),
        )
        if self._call_method(HR_INIT, ()) < 0:
            self.close()
            raise OSError("the shell has no task bar")

    def show(self, state: TaskbarState, fraction: float | None = None) -> bool:
        """A value turns "busy" into "normal", so the state comes last."""
        window = self._window
        status = 0
        if state not in ("none", "busy"):
            value = round(PROGRESS_TOTAL * min(max(1.0 if fraction is None else fraction, 0.0), 1.0))
            value_types = (ctypes.c_ulonglong, ctypes.c_ulonglong)
            status = self._call_method(SET_VALUE, (wintypes.HWND, *value_types), window, value, PROGRESS_TOTAL)
        return status >= 0 and self._call_method(SET_STATE, (wintypes.HWND, ctypes.c_int), window, TASKBAR_FLAGS[state]) >= 0

    def close(self) -> None:
        """Give the object back."""
        if self._list:
            self._call_method(TASKBAR_RELEASE, ())
            self._list = ctypes.c_void_p()

    def _call_method(self, method_index: int, argument_types: tuple[Any, ...], *values: Any) -> int:  # noqa: ANN401 - what ctypes takes
        method_table = ctypes.cast(self._list, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
        method = ctypes.WINFUNCTYPE(ctypes.c_long, ctypes.c_void_p, *argument_types)(method_table[method_index] or 0)
        return int(method(self._list, *values))
