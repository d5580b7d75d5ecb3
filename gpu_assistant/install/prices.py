"""What publishers said of the sizes of files, kept so that a plan knows its price without asking anybody."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ..core import json
from ..core.errors import AppError
from ..core.machine import OperatingSystem
from ..core.paths import DataDir
from ..core.recommendation import Recommendation
from ..fetch.extent import Extent
from ..fetch.local import local_path
from .target import target_of
from .wish import Wish, lock_path, wish

if TYPE_CHECKING:
    from ..catalog.load import Catalog

FILE = "sizes.json"
# So many wishes are remembered; the oldest are asked for again.
MOST = 40


class PricedFile(Struct, frozen=True, kw_only=True):
    """One file of a lock: `unpacked` is what it takes once installed; a `local` one is not downloaded."""

    name: str
    sha256: str
    local: bool
    bytes: int | None
    unpacked: int | None

    def cached(self, data: DataDir) -> bool:
        """Whether an earlier download of it lies here."""
        return (data.files / self.sha256[:16] / self.name).is_file()


class Told(Struct, frozen=True, kw_only=True):
    """What is to be downloaded and what it unpacks to, None where the size of a file is not known; `least` of the
    download is known all the same.
    """

    bytes: int | None
    unpacked: int | None
    least: int


class Prices(Struct, frozen=True, kw_only=True):
    """`packages` by the key of a wish, other `files` by their address."""

    packages: dict[str, tuple[PricedFile, ...]] = {}
    files: dict[str, Extent] = {}

    def environment(self, wanted: Wish, data: DataDir) -> Told | None:
        """What is to be downloaded for a wish and what its environment takes, by what the publishers said, else by the
        lock of an earlier run; None where nobody asked.
        """
        found = self.packages.get(wanted.key) or _locked(wanted, data)
        if found is None:
            return None
        ahead = [file.bytes for file in found if not (file.local or file.cached(data))]
        unpacked = [file.unpacked for file in found]
        return Told(bytes=_sum(ahead), unpacked=_sum(unpacked), least=sum(count or 0 for count in ahead))


def _locked(wanted: Wish, data: DataDir) -> tuple[PricedFile, ...] | None:
    """The files of the lock that an earlier run kept, with the sizes that the index gave."""
    path = lock_path(data, wanted)
    if not path.is_file():
        return None
    from .lock import parse

    try:
        found = parse(path.read_text(encoding="utf-8"), wanted.python, wanted.target)
    except (OSError, UnicodeDecodeError, AppError):
        return None
    return tuple(
        PricedFile(
            name=package.file.name,
            sha256=package.file.sha256 or "",
            local=local_path(package.file.url) is not None,
            bytes=package.file.bytes,
            unpacked=None,
        )
        for package in found.packages
    )


def read(data: DataDir) -> Prices:
    """What is kept; nothing where it cannot be read."""
    try:
        return json.decode((data.prices / FILE).read_bytes(), Prices)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return Prices()


def keep(data: DataDir, prices: Prices) -> Path:
    """Write it; raises AppError."""
    path = data.prices / FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise json.storage_error(error, path.parent) from error
    newest = dict(list(prices.packages.items())[-MOST:])
    json.write_file(path, json.encode_pretty(msgspec.structs.replace(prices, packages=newest)) + "\n")
    return path


def wanted_of(
    recommendation: Recommendation,
    system: OperatingSystem,
    catalog: Catalog,
    *,
    python: str,
    folder: str | None,
    simulated: bool,
) -> Wish:
    """The wish of a plan; a simulated machine's is for another computer. Raises CannotSetUp."""
    torch = recommendation.pytorch
    arch = system.arch or "x86_64"
    serves = torch is not None and catalog.default_variant(torch.version, system.system, arch) == torch.variant
    target = target_of(system, torch.version if torch is not None else "") if simulated else None
    held = catalog.held_for(torch.version if torch is not None else None, system.system)
    return wish(recommendation, python=python, folder=folder, serves_variant=serves, held=held, target=target)


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
