"""Whether each DLL that a shipped binary asks for is shipped where Windows looks for it, or is one of Windows' own.

A computer on which programs were built has Microsoft's C++ runtime in its system folder, and hides that a shipped one
is missing; a fresh Windows does not. `dlls.json` names Windows' own and the folders that are searched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
import pefile  # type: ignore[import-untyped]
from stage import BuildError

DATA = Path(__file__).resolve().parent / "dlls.json"
ENDINGS = (".exe", ".dll", ".pyd")


class SearchedFolder(msgspec.Struct, frozen=True, kw_only=True):
    """What lies in or below a folder also finds the DLLs of another; both relative to the program's folder."""

    below: str
    searched: str
    why: str


class SystemDll(msgspec.Struct, frozen=True, kw_only=True):
    """A DLL that every supported Windows has; in lower case, with wildcards."""

    name: str
    why: str


class Dlls(msgspec.Struct, frozen=True, kw_only=True):
    """`dlls.json`."""

    folders: tuple[SearchedFolder, ...]
    windows: tuple[SystemDll, ...]


def binaries(folder: Path) -> Iterator[Path]:
    """Programs, libraries and extension modules below a folder, sorted."""
    return (file for file in sorted(folder.rglob("*")) if file.suffix.lower() in ENDINGS)


def asked(file: Path) -> set[str]:
    """The DLLs that a binary imports, at once or when they are first used, in lower case. Raises BuildError."""
    try:
        with pefile.PE(str(file), fast_load=True) as binary:
            kinds = ("IMAGE_DIRECTORY_ENTRY_IMPORT", "IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT")
            binary.parse_data_directories([pefile.DIRECTORY_ENTRY[kind] for kind in kinds])
            entries = [
                *getattr(binary, "DIRECTORY_ENTRY_IMPORT", ()),
                *getattr(binary, "DIRECTORY_ENTRY_DELAY_IMPORT", ()),
            ]
            return {entry.dll.decode("ascii").lower() for entry in entries}
    except pefile.PEFormatError as error:
        raise BuildError(f"{file.name} is no program or library for Windows: {error}.") from error


def missing(folder: Path, known: Dlls | None = None) -> list[str]:
    """What is asked for and found nowhere: one line for each DLL, with the binaries that ask for it."""
    known = known or msgspec.json.decode(DATA.read_bytes(), type=Dlls)
    shipped: dict[str, set[str]] = {}
    files = list(binaries(folder))
    for file in files:
        shipped.setdefault(file.parent.relative_to(folder).as_posix(), set()).add(file.name.lower())
    lacking: dict[str, list[str]] = {}
    for file in files:
        found = set().union(*(shipped.get(place, ()) for place in _searched(file.relative_to(folder), known.folders)))
        for name in asked(file) - found:
            if not any(fnmatchcase(name, each.name) for each in known.windows):
                lacking.setdefault(name, []).append(file.relative_to(folder).as_posix())
    return [f"{name}, asked for by {', '.join(by)}" for name, by in sorted(lacking.items())]


def check(folder: Path) -> None:
    """Raise BuildError where a shipped binary would not load on a Windows that has nothing but itself."""
    if lacking := missing(folder):
        raise BuildError(
            "A fresh Windows has no such DLL, and none is shipped where it is looked for:\n  "
            + "\n  ".join(lacking)
            + f"\nShip it (parts.json), or name it in {DATA.name} if Windows itself brings it."
        )


def _searched(file: Path, folders: Sequence[SearchedFolder]) -> set[str]:
    own = file.parent.as_posix()
    return {own, *(each.searched for each in folders if f"{own}/".startswith(f"{each.below}/" if each.below else ""))}
