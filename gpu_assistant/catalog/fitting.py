"""How a training is planned into memory: what stays free, and how long it takes to work that out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from ..core.machine import SystemName
from .subject import Bytes, Confidence, Subject

if TYPE_CHECKING:
    from .load import Catalog

Share = Annotated[float, Meta(ge=0, lt=1)]


class Spare(Struct, frozen=True, kw_only=True):
    """What of a device's free memory is not planned with: a share of it, no less than `least_bytes`; `why` in words
    for whoever reads the catalog. `system` None: any other.
    """

    device: Literal["cpu", "gpu"]
    system: SystemName | None
    share: Share
    least_bytes: Bytes
    why: str
    source: str
    confidence: Confidence


class Took(Struct, frozen=True, kw_only=True):
    """Seconds that one model took on a processor with that many cores; `load`: how many programs wanted them."""

    model: str
    cores: int
    load: float
    seconds: float
    source: str


class Fitting(Subject, frozen=True, kw_only=True):
    """`fit.json`."""

    spare: tuple[Spare, ...]
    took: tuple[Took, ...]

    def spare_of(self, device: Literal["cpu", "gpu"], system: SystemName) -> Spare | None:
        """The first that is meant."""
        meant = (each for each in self.spare if each.device == device and each.system in (system, None))
        return next(meant, None)

    def took_of(self, model: str) -> Took | None:
        """What was measured of a model on a processor; None where nobody did."""
        return next((each for each in self.took if each.model == model), None)


def fitting(catalog: Catalog) -> Fitting:
    """The catalog's; raises AppError("catalog-broken")."""
    return catalog.read("fit.json", Fitting)
