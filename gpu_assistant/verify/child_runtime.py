"""Checks that Microsoft's C++ runtime has the libraries that PyTorch imports; runs in an environment's own Python."""

from __future__ import annotations

import ctypes
import importlib.util
import mmap
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .child_protocol import CheckWriter

VISUAL_CPP = re.compile(r"(vcruntime|msvcp|concrt)140\w*\.dll", re.IGNORECASE)


def imported_libraries(library: Path) -> Iterator[str]:
    """The names in the import directory of a 64-bit Windows library (PE format)."""
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:

        def unpack_at(layout: str, offset: int) -> tuple[Any, ...]:
            return struct.unpack_from(f"<{layout}", data, offset)

        (pe_offset,) = unpack_at("I", 0x3C)
        count, optional_header_size = unpack_at("H12xH", pe_offset + 6)
        sections = [
            unpack_at("4I", pe_offset + 24 + optional_header_size + 40 * section_index + 8)
            for section_index in range(count)
        ]

        def file_offset(address: int) -> int:
            offsets = [raw + address - start for span, start, _, raw in sections if start <= address < start + span]
            return int(offsets[0])

        (address,) = unpack_at("I", pe_offset + 24 + 120)
        entry = file_offset(address)
        while name := unpack_at("I", entry + 12)[0]:
            name_offset = file_offset(name)
            yield data[name_offset : data.find(b"\0", name_offset)].decode("ascii")
            entry += 20


def check_visual_cpp(writer: CheckWriter) -> bool:
    """Check that the runtime libraries that PyTorch imports can be loaded; does nothing outside Windows."""
    spec = importlib.util.find_spec("torch")
    folder = Path(spec.origin or "").with_name("lib") if spec is not None else Path()
    libraries = sorted(folder.glob("*.dll")) if spec is not None else []
    if not libraries:
        return True
    writer.send(begin="visual-cpp")
    try:
        required = {
            name.lower() for library in libraries for name in imported_libraries(library) if VISUAL_CPP.fullmatch(name)
        }
    except (struct.error, IndexError, ValueError, OSError):
        return True  # a damaged library: the import of torch gives a better message
    missing = []
    for name in sorted(required):
        try:
            if not (folder / name).is_file():
                ctypes.WinDLL(name, winmode=0)  # type: ignore[attr-defined,unused-ignore]  # looks everywhere
        except OSError:
            missing.append(name)
    if missing:
        writer.report("visual-cpp", "fail", value=", ".join(missing), reason="@verify.reason.visual-cpp")
    else:
        writer.report("visual-cpp", "pass")
    return not missing
