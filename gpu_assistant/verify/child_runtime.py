"""Whether Microsoft's C++ runtime has what the libraries of PyTorch ask for; in an environment's own Python."""

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
    from .child_talk import Talk

VISUAL_CPP = re.compile(r"(vcruntime|msvcp|concrt)140\w*\.dll", re.IGNORECASE)


def imported(library: Path) -> Iterator[str]:
    """The names of the libraries that a 64-bit Windows library asks for (PE format, import directory)."""
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:

        def numbers_at(form: str, place: int) -> tuple[Any, ...]:
            return struct.unpack_from(f"<{form}", data, place)

        (head,) = numbers_at("I", 0x3C)
        count, size = numbers_at("H12xH", head + 6)
        sections = [numbers_at("4I", head + 24 + size + 40 * number + 8) for number in range(count)]

        def place_of(address: int) -> int:
            found = [raw + address - start for span, start, _, raw in sections if start <= address < start + span]
            return int(found[0])

        (address,) = numbers_at("I", head + 24 + 120)
        entry = place_of(address)
        while name := numbers_at("I", entry + 12)[0]:
            begin = place_of(name)
            yield data[begin : data.find(b"\0", begin)].decode("ascii")
            entry += 20


def visual_cpp(talk: Talk) -> bool:
    """Whether all parts of Microsoft's C++ runtime load that PyTorch's own libraries ask for; nothing elsewhere."""
    found = importlib.util.find_spec("torch")
    folder = Path(found.origin or "").with_name("lib") if found is not None else Path()
    libraries = sorted(folder.glob("*.dll")) if found is not None else []
    if not libraries:
        return True
    talk.send(begin="visual-cpp")
    try:
        wanted = {name.lower() for library in libraries for name in imported(library) if VISUAL_CPP.fullmatch(name)}
    except (struct.error, IndexError, ValueError, OSError):
        return True  # a damaged library: loading it tells more
    missing = []
    for name in sorted(wanted):
        try:
            if not (folder / name).is_file():
                ctypes.WinDLL(name, winmode=0)  # type: ignore[attr-defined,unused-ignore]  # looks everywhere
        except OSError:
            missing.append(name)
    if missing:
        talk.check("visual-cpp", "fail", value=", ".join(missing), reason="@verify.reason.visual-cpp")
    else:
        talk.check("visual-cpp", "pass")
    return not missing
