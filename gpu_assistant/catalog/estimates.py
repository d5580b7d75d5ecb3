"""Estimates from measurements: memory to keep free when training is planned, and how long parts of a setup take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from ..core.machine import SystemName
from .records.base import ByteCount, CatalogFile, Confidence

if TYPE_CHECKING:
    from .store import Catalog


Fraction = Annotated[float, Meta(ge=0, lt=1)]


class MemoryReserve(Struct, frozen=True, kw_only=True):
    """What of a device's free memory is not planned with: a share of it, no less than `least_bytes`; `why` in words
    for whoever reads the catalog. `system` None: any other.
    """

    device: Literal["cpu", "gpu"]
    system: SystemName | None
    share: Fraction
    least_bytes: ByteCount
    why: str
    source: str
    confidence: Confidence


class PlanningDuration(Struct, frozen=True, kw_only=True):
    """Seconds that one model took on a processor with that many cores; `load`: how many programs wanted them."""

    model: str
    cores: int
    load: float
    seconds: float
    source: str


class MemoryPlanningCatalog(CatalogFile, frozen=True, kw_only=True):
    """`fit.json`."""

    spare: tuple[MemoryReserve, ...]
    took: tuple[PlanningDuration, ...]

    def find_reserve(self, device: Literal["cpu", "gpu"], system: SystemName) -> MemoryReserve | None:
        """The first that is meant."""
        matches = (each for each in self.spare if each.device == device and each.system in (system, None))
        return next(matches, None)

    def find_duration(self, model: str) -> PlanningDuration | None:
        """What was measured of a model on a processor; None where nobody did."""
        return next((each for each in self.took if each.model == model), None)


def load_memory_planning(catalog: Catalog) -> MemoryPlanningCatalog:
    """The catalog's; raises AppError("catalog-broken")."""
    return catalog.read("fit.json", MemoryPlanningCatalog)


class DurationCatalog(CatalogFile, frozen=True, kw_only=True):
    """`paces.json`. Seconds and bytes per second; None where nobody measured it. `line_bytes_per_second` is no
    measure but the line that minutes are told for: how fast the user's is, shows only with the first bytes. A PyTorch
    that has not loaded after `torch_load_limit_seconds` is taken for one that hangs.
    """

    resolve_seconds: float | None
    unpack_bytes_per_second: float | None
    verify_seconds: float | None
    torch_load_limit_seconds: Annotated[float, Meta(gt=0)]
    torch_load_source: str
    line_bytes_per_second: float | None = None
    line_source: str | None = None

    def download_minutes(self, count: int | None) -> float | None:
        """To download so many bytes over the line that serves as the example."""
        if count is None or (count and self.line_bytes_per_second is None):
            return None
        return _to_minutes(count / self.line_bytes_per_second) if self.line_bytes_per_second else 0.0

    def archive_minutes(self, download_bytes: int | None, unpacked_bytes: int | None = None) -> float | None:
        """To download so many bytes and unpack them, which gives no less than that where nobody told how much."""
        parts = (
            self.download_minutes(download_bytes),
            self.unpack_minutes(download_bytes if unpacked_bytes is None else unpacked_bytes),
        )
        return sum(part for part in parts if part is not None) if None not in parts else None

    @property
    def line_speed_mbits(self) -> int | None:
        """That line in megabits per second, as lines are sold."""
        return round(8 * self.line_bytes_per_second / 1e6) if self.line_bytes_per_second is not None else None

    @property
    def resolve_minutes(self) -> float | None:
        """To choose exact versions."""
        return _to_minutes(self.resolve_seconds)

    @property
    def verify_minutes(self) -> float | None:
        """To prove an environment."""
        return _to_minutes(self.verify_seconds)

    def unpack_minutes(self, count: int | None) -> float | None:
        """To install or unpack so many bytes onto the disk."""
        rate = self.unpack_bytes_per_second
        return None if count is None or rate is None else _to_minutes(count / rate)


def load_durations(catalog: Catalog) -> DurationCatalog:
    """The catalog's paces; raises AppError("catalog-broken")."""
    return catalog.read("paces.json", DurationCatalog)


def _to_minutes(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds / 60, 1)
