"""What lies in a bundle, as its own list says it. The list comes with the folder: it is untrusted like all of it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from ...core import json
from ...core.errors import CallError
from ...core.names import Channel, Goal
from ...core.recommendation import Choice
from ..target import Target
from ..wish import Wish

LIST = "bundle.json"
# There while a bundle is being made: what lies in such a folder is no bundle yet, and ours to go on with.
BEGUN = ".bundle-begun.json"
LOCK = "pylock.toml"
WHEELS, FILES = "wheels", "files"
# A local file's address in the lock of a bundle, wherever the folder will stand.
HERE = "file:///bundle/"

_OUTSIDE = re.compile(r"\A(?:[/\\]|[A-Za-z]:)|(?:\A|[/\\])\.\.(?:[/\\]|\Z)")
_PATH = re.compile(r"(?:pylock\.toml|wheels/[^/]+|files/[0-9a-f]{16}/[^/]+)\Z")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+%-]{0,200}\Z")


class BundleFile(Struct, frozen=True, kw_only=True):
    """One file by its path below the folder; `url` is where it officially comes from (None: a file of the user's)."""

    path: str
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
    bytes: Annotated[int, Meta(ge=0)]
    url: str | None = None


class Contents(Struct, frozen=True, kw_only=True):
    """`bundle.json`: what it was made for and its files.

    `left_out` are the titles' codes of steps that need a network of their own, which no folder can hold.
    `catalog` is the day of the facts that the plan rests on, `choice` what was picked by hand when it was made. When
    that was does not stand here: the same files have the same list, and its sha256 stays.
    """

    schema: Literal["gpu-assistant/bundle/1"]
    program: str
    catalog: str | None
    goal: Goal
    channel: Channel
    wish: Wish
    target: Target
    files: tuple[BundleFile, ...]
    left_out: tuple[str, ...] = ()
    choice: Choice | None = None

    @property
    def bytes(self) -> int:
        """What all files take."""
        return sum(file.bytes for file in self.files)

    @property
    def picks(self) -> Choice:
        """What has to be picked where it is used, so that the same comes out."""
        wish = self.wish
        return structs.replace(self.choice or Choice(), pytorch=wish.torch, variant=wish.variant, python=wish.python)

    def refuse_others(self, folder: Path, here: Target) -> None:
        """Raise CallError("bundle-other-machine") where it was made for another kind of computer."""
        if not self.target.serves(here):
            raise CallError("bundle-other-machine", path=str(folder), made_for=self.target.label, here=here.label)


def read(folder: Path, name: str = LIST) -> Contents:
    """A bundle's list; raises CallError: bundle-missing, bundle-unfinished, bundle-list (broken or unsafe), and those
    of reading.
    """
    path = folder / name
    if not path.is_file() or path.is_symlink():
        raise CallError("bundle-unfinished" if (folder / BEGUN).is_file() else "bundle-missing", path=str(folder))
    found = json.read_file(path, Contents, code="bundle-list")
    seen: set[str] = set()
    for file in found.files:
        name = file.path.rpartition("/")[2]
        # Two names that a file system takes for one would hide a file behind another.
        if _PATH.match(file.path) is None or _NAME.match(name) is None or file.path.casefold() in seen:
            fault = "@file.fault.outside" if _OUTSIDE.search(file.path) else "@file.fault.form"
            raise CallError("bundle-list", path=str(path), fault=fault, where=file.path)
        seen.add(file.path.casefold())
    if LOCK not in seen:
        raise CallError("bundle-list", path=str(path), fault="@file.fault.missing", where=LOCK)
    return found


def fingerprint(folder: Path) -> str:
    """The sha256 of the list, which holds those of all files: who has it from the maker can trust the folder."""
    return hashlib.sha256((folder / LIST).read_bytes()).hexdigest()


def place(folder: Path, file: BundleFile) -> Path:
    """Where a file of a checked list lies; raises CallError("bundle-link") where something leads out of the folder."""
    path = folder.joinpath(*file.path.split("/"))
    if any(each.is_symlink() for each in (path, *path.parents) if folder in each.parents):
        raise CallError("bundle-link", path=str(path))
    return path
