"""Windows' 16-byte names of classes, interfaces and properties."""

from __future__ import annotations

import ctypes
import uuid


class Guid(ctypes.Structure):
    """A GUID in memory."""

    _fields_ = (("bytes", ctypes.c_ubyte * 16),)


def guid_from_text(text: str) -> Guid:
    """From its text, with or without braces."""
    return Guid.from_buffer_copy(uuid.UUID(text).bytes_le)
