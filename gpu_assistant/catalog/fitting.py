"""How a training is planned into memory: what stays free, and how long it takes to work that out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from ..core.machine import SystemName
from .subject import ByteCount, Confidence, CatalogFile

if TYPE_CHECKING:
    from .load import Catalog

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
