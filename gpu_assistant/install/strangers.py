"""What in a folder of ours is somebody else's: packages that were put into it since, and files that nobody listed."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path, PurePosixPath

from msgspec import Struct

from ..core.json import storage_error
from . import listing, owned

# So many are named; of more only the number is told.
NAMED = 5


class Strangers(Struct, frozen=True):
    """`packages` were installed, or changed, by somebody else, and `theirs` are their files, which go with the folder.

    `stay`: files that no package brought, or that were changed, and folders (with a "/" at their end) that are empty or
    hold nothing else.
    """

    packages: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    stay: tuple[str, ...] = ()


def strangers(folder: Path, gone: Container[Path] = frozenset()) -> Strangers:
    """Look through a whole folder of ours; what is `gone` by then is passed over. Raises AppError."""
    try:
        return _strangers(folder, gone)
    except OSError as error:
        raise storage_error(error, folder) from error


def _strangers(folder: Path, gone: Container[Path]) -> Strangers:
    ours = listing.read(folder)
    found = owned.packages(folder)
    since = {package.name: package.since for package in found if not _as_it_was(folder, package.record, ours)}
    owners = {name: (digest, package) for package in found for name, digest in package.files.items()}
    places = listing.above((*ours, *owners))
    theirs, stay = [], []
    for name in listing.walk(folder):
        if name in (listing.FILES, listing.UNFINISHED) or folder / name in gone:
            continue
        if name.endswith("/"):
            if name[:-1] not in places and PurePosixPath(name).name != listing.BYTECODE:
                stay.append(name)
        elif listing.is_bytecode(PurePosixPath(name)) or _as_it_was(folder, name, ours):
            continue
        elif name in owners and owned.whole(folder / name, owners[name][0], since.get(owners[name][1].name)):
            theirs.append(name)
        else:
            stay.append(name)
    return Strangers(tuple(since), tuple(theirs), tuple(dict.fromkeys(_top(name, places) for name in stay)))


def _as_it_was(folder: Path, name: str, ours: dict[str, listing.Mark | None]) -> bool:
    return name in ours and listing.untouched(folder / name, ours[name])


def _top(name: str, places: Container[str]) -> str:
    """The highest folder above it in which nothing is ours; else itself."""
    parts = name.rstrip("/").split("/")
    tops = ("/".join(parts[:count]) for count in range(1, len(parts)))
    return next((f"{top}/" for top in tops if top not in places), name)


def named(names: tuple[str, ...]) -> str:
    """Some of them, for people to read."""
    return ", ".join((*names[:NAMED], *(["…"] if len(names) > NAMED else [])))
