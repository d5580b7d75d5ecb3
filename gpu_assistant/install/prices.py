"""What publishers said of the sizes of files, kept so that a plan knows its price without asking anybody."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ..core import json
from ..core.machine import OperatingSystem
from ..core.paths import DataDir
from ..core.recommendation import Recommendation
from ..fetch.extent import Extent
from .target import target_of
from .wish import Wish, wish

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


class Prices(Struct, frozen=True, kw_only=True):
    """`packages` by the key of a wish, other `files` by their address."""

    packages: dict[str, tuple[PricedFile, ...]] = {}
    files: dict[str, Extent] = {}

    def environment(self, wanted: Wish, data: DataDir) -> Extent | None:
        """What is to be downloaded for a wish and what its environment takes; None where nobody asked."""
        found = self.packages.get(wanted.key)
        if found is None:
            return None
        ahead = [file.bytes for file in found if not (file.local or file.cached(data))]
        return Extent(bytes=_sum(ahead), unpacked=_sum([file.unpacked for file in found]))


def read(data: DataDir) -> Prices:
    """What is kept; nothing where it cannot be read."""
    try:
        return msgspec.json.decode((data.prices / FILE).read_bytes(), type=Prices)
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
