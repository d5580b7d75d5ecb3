"""What in a folder of ours is somebody else's: packages that were put into it since, and files that nobody listed."""

from __future__ import annotations

import os
from collections.abc import Collection, Container
from pathlib import Path

from msgspec import Struct

from ..core.json import storage_error
from . import listing, manifest, owned

# So many are named; of more only the number is told.
NAMED = 5


class Strangers(Struct, frozen=True):
    """`packages` were installed, or changed, by somebody else, and `theirs` are their files, which go with the folder;
    `records` say where it is written down what each of them is.

    `stay`: files that no package brought, or that were changed, and folders (with a "/" at their end) that are empty or
    hold nothing else. `notes` are our own that are damaged: nobody's work.
    """

    packages: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    stay: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def strangers(folder: Path, gone: Collection[Path] = frozenset()) -> Strangers:
    """Look through a whole folder of ours; what is `gone` by then is passed over. Raises AppError."""
    try:
        return _strangers(folder, gone)
    except OSError as error:
        raise storage_error(error, folder) from error


def _strangers(folder: Path, gone: Collection[Path]) -> Strangers:
    ours = listing.read(folder)
    found = owned.packages(folder)
    root, away = os.fspath(folder), {path.relative_to(folder).as_posix() for path in gone if folder in path.parents}

    def as_it_was(name: str) -> bool:
        return name in ours and listing.untouched(root, name, ours[name])

    changed = [package for package in found if not as_it_was(package.record)]
    since = {package.name: package.since for package in changed}
    owners = {name: (digest, package) for package in found for name, digest in package.files.items()}
    places = listing.above((*ours, *owners))
    notes = tuple(name for name in manifest.lacking(folder) if (folder / name).is_file())
    theirs, stay = [], []
    for name in listing.walk(folder):
        if name in (listing.FILES, listing.UNFINISHED, *notes) or name in away:
            continue
        if name.endswith("/"):
            if name[:-1] not in places and name[:-1].rpartition("/")[2] != listing.BYTECODE:
                stay.append(name)
        elif listing.is_bytecode(name) or as_it_was(name):
            continue
        elif name in owners and owned.whole(folder / name, owners[name][0], since.get(owners[name][1].name)):
            theirs.append(name)
        else:
            stay.append(name)
    return Strangers(
        packages=tuple(since),
        records=tuple(package.record for package in changed),
        theirs=tuple(theirs),
        stay=tuple(dict.fromkeys(_top(name, places) for name in stay)),
        notes=notes,
    )


def _top(name: str, places: Container[str]) -> str:
    """The highest folder above it in which nothing is ours; else itself."""
    parts = name.rstrip("/").split("/")
    tops = ("/".join(parts[:count]) for count in range(1, len(parts)))
    return next((f"{top}/" for top in tops if top not in places), name)


def named(names: tuple[str, ...]) -> str:
    """Some of them, for people to read."""
    return ", ".join((*names[:NAMED], *(["…"] if len(names) > NAMED else [])))
