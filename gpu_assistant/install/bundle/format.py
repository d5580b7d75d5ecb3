"""A bundle: a folder with all files of one plan, for installing without a network.

    bundle.json               BundleContents: each file's path, sha256 and official address
    pylock.toml               the lock file; local wheels have the address file:///bundle/wheels/…
    wheels/<name>             the wheels of the lock file
    files/<16 hex>/<name>     everything else: archives, installers, indexes

    bundle.json.minisig       a signature of the list, where it was made with a key

`jobs/create_bundle.py` makes one, `source.py` installs from it, `jobs/check_bundle.py` compares every byte with the
list. The list comes with the folder and is untrusted: its paths are checked when it is read, links when a file is
located, hashes when it is used. Who made it only the list's own SHA-256 says, or its signature (`check_signature`).
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from ...core import json
from ...core.errors import UsageError
from ...core.recommendation import Choice
from ...core.types import Channel, Goal
from ..packages.requirements import PackageRequest, Platform
from . import minisign

LIST_FILE = "bundle.json"
SIGNATURE_FILE = f"{LIST_FILE}{minisign.SIGNATURE_SUFFIX}"
# In the folder while a bundle is made: it is no bundle yet, and the next run continues with its files.
UNFINISHED_FILE = ".bundle-begun.json"
LOCK_FILE = "pylock.toml"
WHEELS_FOLDER, FILES_FOLDER = "wheels", "files"
# The address of the bundle's folder in its lock file, wherever it will be.
BUNDLE_URL = "file:///bundle/"

_OUTSIDE_PATTERN = re.compile(r"\A(?:[/\\]|[A-Za-z]:)|(?:\A|[/\\])\.\.(?:[/\\]|\Z)")
_PATH_PATTERN = re.compile(r"(?:pylock\.toml|wheels/[^/]+|files/[0-9a-f]{16}/[^/]+)\Z")
_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+%-]{0,200}\Z")


class BundleFile(Struct, frozen=True, kw_only=True):
    """A file by its path below the folder; `url` is its official address (None: it was a local file)."""

    path: str
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
    bytes: Annotated[int, Meta(ge=0)]
    url: str | None = None


class BundleContents(Struct, frozen=True, kw_only=True):
    """`bundle.json`: the `request` and `platform` that it was made for, and its files.

    `excluded_codes` are the codes of steps whose programs need the network themselves. `catalog` is the date of the
    catalog, `choice` what the user chose by hand. There is no date of creation, so that the same files have the same
    list, with the same sha256.
    """

    schema: Literal["gpu-assistant/bundle/1"]
    program: str
    catalog: str | None
    goal: Goal
    channel: Channel
    request: PackageRequest
    platform: Platform
    files: tuple[BundleFile, ...]
    excluded_codes: tuple[str, ...] = ()
    choice: Choice | None = None

    @property
    def bytes(self) -> int:
        """The total size of all files in bytes."""
        return sum(file.bytes for file in self.files)

    @property
    def pinned_choice(self) -> Choice:
        """The choice that makes another computer recommend the same."""
        request = self.request
        return structs.replace(
            self.choice or Choice(), pytorch=request.torch, variant=request.variant, python=request.python
        )

    def check_platform(self, folder: Path, platform: Platform) -> None:
        """Raise UsageError("bundle-other-machine") if it was made for another kind of computer."""
        if not self.platform.is_compatible_with(platform):
            raise UsageError(
                "bundle-other-machine", path=str(folder), made_for=self.platform.label, here=platform.label
            )


def read_contents(folder: Path, name: str = LIST_FILE, *, sha256: str | None = None) -> BundleContents:
    """The list in a folder; raises UsageError: bundle-missing, bundle-unfinished, bundle-list (invalid or unsafe),
    bundle-differs (a list with another hash than `sha256`), and those of `json.read_file`.
    """
    data = _read_list(folder, name, sha256)
    path = folder / name
    contents = json.decode_file(path, data, BundleContents, code="bundle-list")
    seen_paths: set[str] = set()
    for file in contents.files:
        name = file.path.rpartition("/")[2]
        # On a case-insensitive file system one of two such files would replace the other.
        if (
            _PATH_PATTERN.match(file.path) is None
            or _NAME_PATTERN.match(name) is None
            or file.path.casefold() in seen_paths
        ):
            fault = "@file.fault.outside" if _OUTSIDE_PATTERN.search(file.path) else "@file.fault.form"
            raise UsageError("bundle-list", path=str(path), fault=fault, where=file.path)
        seen_paths.add(file.path.casefold())
    if LOCK_FILE not in seen_paths:
        raise UsageError("bundle-list", path=str(path), fault="@file.fault.missing", where=LOCK_FILE)
    return contents


def list_hash(folder: Path, sha256: str | None = None) -> str:
    """The SHA-256 of the list. Since the list holds the hashes of all files, it stands for the whole bundle.

    Raises what `read_contents` raises for a list that is missing, or is another one than `sha256`.
    """
    return hashlib.sha256(_read_list(folder, LIST_FILE, sha256)).hexdigest()


def check_signature(folder: Path, public_key: minisign.PublicKey) -> str:
    """The SHA-256 of the list that this key signed; raises UsageError: bundle-unsigned, bundle-signature, and what
    `list_hash` raises.
    """
    data = _read_list(folder, LIST_FILE, None)
    path = folder / SIGNATURE_FILE
    if not path.is_file() or path.is_symlink():
        raise UsageError("bundle-unsigned", path=str(folder))
    if not minisign.is_signed(data, json.read_bytes(path).decode("utf-8", "replace"), public_key):
        raise UsageError("bundle-signature", path=str(folder))
    return hashlib.sha256(data).hexdigest()


def _read_list(folder: Path, name: str, sha256: str | None) -> bytes:
    path = folder / name
    if not path.is_file() or path.is_symlink():
        raise UsageError(
            "bundle-unfinished" if (folder / UNFINISHED_FILE).is_file() else "bundle-missing", path=str(folder)
        )
    data = json.read_bytes(path)
    found = hashlib.sha256(data).hexdigest()
    if sha256 not in (None, found):
        raise UsageError("bundle-differs", path=str(folder), expected=sha256, found=found)
    return data


def locate_file(folder: Path, file: BundleFile) -> Path:
    """The path of a listed file; raises UsageError("bundle-link") if a link is on the way to it."""
    path = folder.joinpath(*file.path.split("/"))
    if any(each.is_symlink() for each in (path, *path.parents) if folder in each.parents):
        raise UsageError("bundle-link", path=str(path))
    return path
