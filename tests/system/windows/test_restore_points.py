"""Restore points: what Windows asks of who makes one, and that it was made. Wine has the functions, and makes none."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from ctypes import wintypes
from types import SimpleNamespace
from typing import Any

import pytest

if sys.platform != "win32":
    pytest.skip("System Restore is Windows'", allow_module_level=True)

from gpu_assistant.core.errors import AppError
from gpu_assistant.system.windows import restore_points
from gpu_assistant.system.windows.functions import Library
from gpu_assistant.system.windows.parsing import parse_restore_points
from gpu_assistant.system.windows.restore_points import (
    CALLERS_SDDL,
    absolute_descriptor,
    create_restore_point,
    list_restore_points,
)
from gpu_assistant.system.windows.structures import RestorePointInfo, StateManagerStatus

pytestmark = pytest.mark.windows
WINE = "WINELOADERNOEXEC" in os.environ or "WINEPREFIX" in os.environ
# winnt.h: SECURITY_DESCRIPTOR_CONTROL
SE_DACL_PRESENT, SE_SELF_RELATIVE = 0x4, 0x8000
ADVAPI32 = Library(
    "advapi32",
    {
        "IsValidSecurityDescriptor": (wintypes.BOOL, ctypes.c_void_p),
        "GetSecurityDescriptorControl": (
            *(wintypes.BOOL, ctypes.c_void_p),
            *(ctypes.POINTER(wintypes.WORD), ctypes.POINTER(wintypes.DWORD)),
        ),
    },
)


def test_descriptor_for_com_is_absolute() -> None:
    control, revision = wintypes.WORD(), wintypes.DWORD()
    with absolute_descriptor(CALLERS_SDDL) as descriptor:
        assert ADVAPI32.IsValidSecurityDescriptor(descriptor)
        assert ADVAPI32.GetSecurityDescriptorControl(descriptor, ctypes.byref(control), ctypes.byref(revision))
    assert control.value & SE_DACL_PRESENT
    assert not control.value & SE_SELF_RELATIVE


@pytest.mark.skipif(not WINE, reason="Windows would really make one")
def test_services_may_call_this_process_as_system_restore_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call of learn.microsoft.com/windows/win32/sr/using-system-restore: a valid absolute descriptor, all else as
    there, accepted by Windows' own function, before the point is begun.
    """
    calls: list[object] = []
    declared = restore_points.ole32

    def initialize_security(descriptor: Any, *others: Any) -> int:
        control, revision = wintypes.WORD(), wintypes.DWORD()
        assert ADVAPI32.IsValidSecurityDescriptor(descriptor)
        assert ADVAPI32.GetSecurityDescriptorControl(descriptor, ctypes.byref(control), ctypes.byref(revision))
        assert not control.value & SE_SELF_RELATIVE
        calls.append(others)
        result: int = declared.CoInitializeSecurity(descriptor, *others)
        return result

    def set_point(_info: object, _status: object) -> int:
        calls.append("point")
        return 0

    monkeypatch.setattr(restore_points, "ole32", SimpleNamespace(CoInitializeSecurity=initialize_security))
    with pytest.raises(AppError):
        create_restore_point("a test", set_point=set_point, list_points=frozenset)
    # No services, RPC_C_AUTHN_LEVEL_PKT_PRIVACY, RPC_C_IMP_LEVEL_IDENTIFY, EOAC_DISABLE_AAA | EOAC_NO_CUSTOM_MARSHAL.
    assert calls == [(-1, None, None, 6, 2, None, 0x3000, None), "point"]


@pytest.mark.skipif(not WINE, reason="Windows would really make one")
class TestLookedFor:
    @pytest.fixture
    def begun(self) -> list[tuple[int, int, int]]:
        return []

    @pytest.fixture
    def set_point(self, begun: list[tuple[int, int, int]]) -> Callable[..., int]:
        """Windows', which says that it made number 7."""

        def set_point(given: Any, status: Any) -> int:
            info = ctypes.cast(given, ctypes.POINTER(RestorePointInfo)).contents
            begun.append((info.dwEventType, info.dwRestorePtType, info.llSequenceNumber))
            ctypes.cast(status, ctypes.POINTER(StateManagerStatus)).contents.llSequenceNumber = 7
            return 1

        return set_point

    def test_point_that_is_listed_was_made(
        self, set_point: Callable[..., int], begun: list[tuple[int, int, int]]
    ) -> None:
        create_restore_point("a test", set_point=set_point, list_points=[frozenset((3, 7)), frozenset((3,))].pop)
        assert begun == [(100, 10, 0), (101, 10, 7)]  # BEGIN_SYSTEM_CHANGE and END_, of DEVICE_DRIVER_INSTALL

    def test_point_that_is_not_listed_was_not_made(self, set_point: Callable[..., int]) -> None:
        with pytest.raises(AppError) as caught:
            create_restore_point("a test", set_point=set_point, list_points=lambda: frozenset((3,)))
        assert caught.value.code == "restore-point"

    def test_point_of_the_last_24_hours_is_not_a_new_one(self, set_point: Callable[..., int]) -> None:
        """learn.microsoft.com/windows/win32/sr/calling-srsetrestorepoint: Windows gives the earlier one's number."""
        with pytest.raises(AppError) as caught:
            create_restore_point("a test", set_point=set_point, list_points=lambda: frozenset((3, 7)))
        assert caught.value.code == "restore-point"

    def test_windows_without_system_restore_makes_none(self) -> None:
        with pytest.raises(AppError) as caught:
            create_restore_point("a test")
        assert caught.value.code == "restore-point"

    def test_powershell_that_says_nothing_lists_none(self) -> None:
        assert list_restore_points() == frozenset()


@pytest.mark.parametrize(("text", "numbers"), [("", set()), ("7\r\n12\r\n", {7, 12}), ("Access denied.\r\n", set())])
def test_listed_numbers_are_read(text: str, numbers: set[int]) -> None:
    assert parse_restore_points(text) == numbers
