"""Which Debian packages a folder of programs and libraries needs, read from the files themselves."""

from __future__ import annotations

from pathlib import Path

import msgspec
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from stage import BuildError

DATA = Path(__file__).resolve().parent / "libraries.json"


class Libraries(msgspec.Struct, frozen=True, kw_only=True):
    """`libraries.json`: the oldest glibc that will do, and the package of each shared library by its soname."""

    glibc: str
    libraries: dict[str, str]


def packages(folder: Path, known: Libraries | None = None) -> list[str]:
    """What goes into Depends, sorted. Raises BuildError for a library that no package is known for."""
    known = known or msgspec.json.decode(DATA.read_bytes(), type=Libraries)
    files = [file for file in folder.rglob("*") if file.is_file()]
    own = {file.name for file in files}
    found: set[str] = set()
    for file in files:
        for name in sorted(asked(file) - own):
            if name not in known.libraries:
                raise BuildError(f"{file.relative_to(folder)} asks for {name}: say in {DATA.name} who brings it.")
            found.add(known.libraries[name])
    return sorted(f"{each} (>= {known.glibc})" if each == "libc6" else each for each in found)


def asked(file: Path) -> set[str]:
    """The sonames that a program or library asks for itself; empty for any other file."""
    with file.open("rb") as opened:
        if opened.read(4) != b"\x7fELF":
            return set()
        opened.seek(0)
        dynamic = ELFFile(opened).get_section_by_name(".dynamic")
        if not isinstance(dynamic, DynamicSection):
            return set()
        # A tag has an attribute named after its own kind.
        return {tag.needed for tag in dynamic.iter_tags("DT_NEEDED")}  # type: ignore[attr-defined]
