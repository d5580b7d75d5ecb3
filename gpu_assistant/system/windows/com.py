"""GUIDs and COM objects, whose methods are called through their method tables."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .functions import ole32
from .structures import Guid

# objbase.h, winerror.h
COINIT_MULTITHREADED, COINIT_APARTMENTTHREADED, COINIT_DISABLE_OLE1DDE = 0x0, 0x2, 0x4
CLSCTX_INPROC_SERVER = 0x1
RPC_E_CHANGED_MODE = -2147417850
# unknwn.h: indexes in the method table of every COM object
QUERY_INTERFACE, RELEASE = 0, 2


def guid_from_text(text: str) -> Guid:
    """A GUID from its text, with or without braces."""
    return Guid.from_buffer_copy(uuid.UUID(text).bytes_le)


@contextmanager
def com_initialized(mode: int = COINIT_APARTMENTTHREADED) -> Iterator[None]:
    """COM in this thread; one that was set up in another mode serves as well. Raises OSError."""
    result: int = ole32.CoInitializeEx(None, mode)
    if result < 0 and result != RPC_E_CHANGED_MODE:
        raise ctypes.WinError(result)
    try:
        yield
    finally:
        if result >= 0:
            ole32.CoUninitialize()


def create_object(class_id: str, interface_id: str) -> ctypes.c_void_p:
    """A new object, to be released; raises OSError."""
    instance = ctypes.c_void_p()
    ole32.CoCreateInstance(
        ctypes.byref(guid_from_text(class_id)),
        None,
        CLSCTX_INPROC_SERVER,
        ctypes.byref(guid_from_text(interface_id)),
        ctypes.byref(instance),
    )
    return instance


def query_interface(instance: ctypes.c_void_p, interface_id: str) -> ctypes.c_void_p:
    """Another interface of an object, to be released; raises OSError."""
    interface = ctypes.c_void_p()
    call_method(
        instance,
        QUERY_INTERFACE,
        (ctypes.c_void_p, ctypes.c_void_p),
        ctypes.byref(guid_from_text(interface_id)),
        ctypes.byref(interface),
    )
    return interface


def call_method(
    instance: ctypes.c_void_p,
    index: int,
    argument_types: tuple[Any, ...],
    *values: Any,  # noqa: ANN401 - what ctypes takes
) -> None:
    """Call the method at an index of the object's table; raises OSError for a failed result."""
    result = _method(instance, index, argument_types)(instance, *values)
    if result < 0:
        raise ctypes.WinError(result)


def release(instance: ctypes.c_void_p) -> None:
    """Release an object; None is no object."""
    if instance:
        _method(instance, RELEASE, ())(instance)


def _method(instance: ctypes.c_void_p, index: int, argument_types: tuple[Any, ...]) -> Any:  # noqa: ANN401 - what ctypes gives
    method_table = ctypes.cast(instance, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
    return ctypes.WINFUNCTYPE(ctypes.c_long, ctypes.c_void_p, *argument_types)(method_table[index] or 0)
