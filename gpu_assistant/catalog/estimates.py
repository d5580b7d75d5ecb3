"""Estimates from measurements: memory to keep in reserve when training is planned, durations of parts of a setup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct, field

from ..core.machine import SystemName
from .records.base import ByteCount, CatalogFile, Confidence
from .records.gpus import Segment

if TYPE_CHECKING:
    from .store import Catalog


Fraction = Annotated[float, Meta(ge=0, lt=1)]


class MemoryReserve(Struct, frozen=True, kw_only=True):
    """The part of a device's memory that is not planned with: `share` of it, at least `least_bytes` and at most
    `most_bytes` (None: no bound). Of a CPU it is a part of what is free.

    `system` None stands for all systems, and `segment` None for all kinds of GPU, without a record of their own before
    it. `why` is for readers of the catalog.
    """

    device: Literal["cpu", "gpu"]
    system: SystemName | None
    segment: Segment | None
    share: Fraction
    least_bytes: ByteCount
    most_bytes: ByteCount | None
    why: str
    source: str
    confidence: Confidence

    def bytes_of(self, memory: int) -> int:
        """So much of `memory` bytes."""
        reserve = max(round(memory * self.share), self.least_bytes)
        return min(memory, reserve if self.most_bytes is None else min(reserve, self.most_bytes))

    def bytes_of_free(self, free: int, memory: int) -> int:
        """So much of the `free` bytes of `memory`: what others take already counts towards the reserve, of which
        `least_bytes` stay free.
        """
        return min(free, max(self.bytes_of(memory) - (memory - free), self.least_bytes))


class PlanningDuration(Struct, frozen=True, kw_only=True):
    """The measured seconds of a memory measurement of one model on a CPU; `load` is the system's load average then."""

    model: str
    cores: int
    load: float
    seconds: float
    source: str


class MemoryPlanningCatalog(CatalogFile, frozen=True, kw_only=True):
    """`fit.json`."""

    reserves: tuple[MemoryReserve, ...] = field(name="spare")
    durations: tuple[PlanningDuration, ...] = field(name="took")

    def find_reserve(
        self, device: Literal["cpu", "gpu"], system: SystemName, segment: Segment | None = None
    ) -> MemoryReserve | None:
        """The first reserve for a kind of device on a system; None where there is none. A GPU whose `segment` is not
        known gets what all get.
        """
        matches = (
            each
            for each in self.reserves
            if each.device == device and each.system in (system, None) and each.segment in (segment, None)
        )
        return next(matches, None)

    def find_duration(self, model: str) -> PlanningDuration | None:
        """The duration that was measured for a model on a CPU; None where there is none."""
        return next((each for each in self.durations if each.model == model), None)


def load_memory_planning(catalog: Catalog) -> MemoryPlanningCatalog:
    """Read `fit.json`; raises AppError("catalog-broken")."""
    return catalog.read("fit.json", MemoryPlanningCatalog)


class DurationCatalog(CatalogFile, frozen=True, kw_only=True):
    """`paces.json`: measured seconds and bytes per second, None where they were not measured.

    `line_bytes_per_second` is an assumed speed of the internet connection, for estimates before a download starts.
    After `torch_load_limit_seconds` a PyTorch that has not been imported is considered hung.
    """

    resolve_seconds: float | None
    unpack_bytes_per_second: float | None
    verify_seconds: float | None
    compile_seconds: float | None
    compile_source: str
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

    @property
    def compile_minutes(self) -> float | None:
        """To prove an environment, and compile a CUDA program and a PyTorch extension; None where not measured."""
        seconds = (self.verify_seconds, self.compile_seconds)
        return None if None in seconds else _to_minutes(sum(each or 0 for each in seconds))

    def unpack_minutes(self, count: int | None) -> float | None:
        """To install or unpack so many bytes onto the disk."""
        rate = self.unpack_bytes_per_second
        return None if count is None or rate is None else _to_minutes(count / rate)


def load_durations(catalog: Catalog) -> DurationCatalog:
    """The catalog's paces; raises AppError("catalog-broken")."""
    return catalog.read("paces.json", DurationCatalog)


def _to_minutes(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds / 60, 1)
