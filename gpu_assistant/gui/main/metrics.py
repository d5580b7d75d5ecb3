"""What is measured, how it is called, and how its figures are said: shared by Home and Monitor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from ...core.results import GpuSample, Sample

Key = Literal["cpu", "ram", "util", "mem", "temp", "power", "clock", "fan"]
GIB = 2**30


class Metric(Struct, frozen=True, kw_only=True):
    """One metric. `read` gives (value, full scale) from what it is read from; `floor` is where its plot begins.

    Memory is in GiB, which makers and systems write as "GB"; everything else as the sample has it.
    """

    key: Key
    title: str
    icon: str
    colour: str
    unit: str
    read: Callable[[Sample, GpuSample | None], tuple[float | None, float | None]]
    of_total: bool = False
    digits: int = 0
    floor: float = 0.0

    def name(self) -> str:
        """The metric's name in the language that is on."""
        return QCoreApplication.translate("Metric", self.title)

    def figure(self, value: float | None) -> str:
        """The bare figure: "97", "5.6"; "—" where it is unknown."""
        return "—" if value is None or math.isnan(value) else f"{value:,.{self.digits}f}"

    def with_unit(self, value: float | None) -> str:
        """The figure with its unit."""
        return self.figure(value) if value is None else f"{self.figure(value)} {self.unit}"

    def unit_of(self, total: float | None) -> str:
        """The unit, and out of how much: "of 8.0 GB"."""
        if total is None or not self.of_total:
            return self.unit
        text = QCoreApplication.translate("Metric", "of {total} {unit}")
        return text.format(total=f"{total:,.{self.digits}f}", unit=self.unit)

    def ticks(self, highest: float, total: float | None) -> tuple[float, ...]:
        """Four steps of a round length from the floor up to the highest value, or to the full scale."""
        if self.unit == "%":
            return (0, 25, 50, 75, 100)
        if self.key == "temp":
            return (30, 50, 70, 90) if highest <= 92 else (30, 50, 70, 90, 110)
        top = max(total if self.key in ("mem", "ram") and total else highest, 1e-9)
        size = 10.0 ** math.floor(math.log10(top / 4))
        step = next(m * size for m in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if m * size * 4 >= top * 0.999)
        return tuple(step * i for i in range(math.ceil(top / step - 1e-3) + 1))


def _scaled(value: float | None, by: float) -> float | None:
    return None if value is None else value / by


def _gpu(
    value: Callable[[GpuSample], float | None], total: Callable[[GpuSample], float | None]
) -> Callable[[Sample, GpuSample | None], tuple[float | None, float | None]]:
    return lambda _, gpu: (None, None) if gpu is None else (value(gpu), total(gpu))


CPU = Metric(
    key="cpu",
    title=QT_TRANSLATE_NOOP("Metric", "CPU load"),
    icon="cpu",
    colour="s5",
    unit="%",
    read=lambda sample, _: (sample.cpu, 100.0),
)
RAM = Metric(
    key="ram",
    title=QT_TRANSLATE_NOOP("Metric", "Main memory"),
    icon="memory",
    colour="s5",
    unit="GB",
    read=lambda sample, _: (_scaled(sample.ram_used, GIB), _scaled(sample.ram_total, GIB)),
    of_total=True,
    digits=1,
)
LOAD = Metric(
    key="util",
    title=QT_TRANSLATE_NOOP("Metric", "Load"),
    icon="chip",
    colour="s1",
    unit="%",
    read=_gpu(lambda gpu: gpu.util, lambda _: 100.0),
)
MEMORY = Metric(
    key="mem",
    title=QT_TRANSLATE_NOOP("Metric", "Memory"),
    icon="memory",
    colour="s2",
    unit="GB",
    read=_gpu(lambda gpu: _scaled(gpu.mem_used, GIB), lambda gpu: _scaled(gpu.mem_total, GIB)),
    of_total=True,
    digits=1,
)
TEMPERATURE = Metric(
    key="temp",
    title=QT_TRANSLATE_NOOP("Metric", "Temperature"),
    icon="temp",
    colour="s3",
    unit="°C",
    read=_gpu(lambda gpu: gpu.temp, lambda _: 100.0),
    floor=30.0,
)
POWER = Metric(
    key="power",
    title=QT_TRANSLATE_NOOP("Metric", "Power"),
    icon="bolt",
    colour="s4",
    unit="W",
    read=_gpu(lambda gpu: gpu.power_w, lambda gpu: gpu.power_limit_w),
    of_total=True,
)
CLOCK = Metric(
    key="clock",
    title=QT_TRANSLATE_NOOP("Metric", "Clock"),
    icon="clock",
    colour="s5",
    unit="MHz",
    read=_gpu(lambda gpu: gpu.clock_sm, lambda _: None),
)
FAN = Metric(
    key="fan",
    title=QT_TRANSLATE_NOOP("Metric", "Fan"),
    icon="fan",
    colour="s5",
    unit="%",
    read=_gpu(lambda gpu: gpu.fan, lambda _: 100.0),
)

OF_MACHINE = (CPU, RAM)
OF_GPU = (LOAD, MEMORY, TEMPERATURE, POWER)
TILES_OF_GPU = (*OF_GPU, CLOCK, FAN)
# The colour says which card where there are several: look.md §3.
GPU_COLOURS = ("s1", "s2", "s3", "s4")
