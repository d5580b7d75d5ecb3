"""Samples of a computer with one card, healthy and sick, second by second."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from gpu_assistant.catalog.records.health import HealthRules
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.results import GpuSample, Health, Sample
from gpu_assistant.health.monitor import HealthMonitor

RULES = load_catalog(resources_dir() / "catalog").read("health.json", HealthRules)
START = 1_795_000_000.0

# A desktop RTX 4060 that computes, as NVML tells of it.
BUSY = GpuSample(
    index=0,
    name="NVIDIA GeForce RTX 4060",
    uuid="GPU-00000000-1111-2222-3333-444444444444",
    address="0000:01:00.0",
    util=97,
    mem_util=40,
    mem_used=4 << 30,
    mem_total=8 << 30,
    temp=68,
    temp_max=83,
    temp_slow=90,
    temp_shutdown=95,
    power_w=98.0,
    power_limit_w=115.0,
    power_default_w=115.0,
    clock_sm=2700,
    clock_sm_max=3105,
    clock_mem=8501,
    clock_mem_max=8501,
    pstate=2,
    fan=55,
    fan_rpm=1500,
    pcie_gen=4,
    pcie_gen_max=4,
    pcie_gen_card=4,
    pcie_width=8,
    pcie_width_max=8,
    throttle=(),
    enc=0,
    dec=0,
    xid=0,
)
# The same at rest: link and clocks sleep down, the fan stands still.
IDLE = replace(
    BUSY, util=0, mem_util=0, temp=41, power_w=9.0, clock_sm=210, clock_mem=405, pstate=8, fan=0, fan_rpm=0, pcie_gen=1
)
# A data centre's card, which has no fan and counts its memory errors.
SERVER = replace(
    BUSY,
    name="NVIDIA H100 80GB HBM3",
    mem_total=80 << 30,
    mem_used=30 << 30,
    temp_max=87,
    temp_slow=92,
    temp_memory=70,
    temp_memory_max=95,
    fan=None,
    fan_rpm=None,
    power_w=500.0,
    power_limit_w=700.0,
    power_default_w=700.0,
    clock_sm=1755,
    clock_sm_max=1980,
    pstate=0,
    pcie_gen=5,
    pcie_gen_max=5,
    pcie_gen_card=5,
    pcie_width=16,
    pcie_width_max=16,
    ecc=True,
    ecc_corrected=3,
    ecc_uncorrected=0,
    ecc_corrected_total=3,
    ecc_uncorrected_total=0,
    remapped_rows=0,
    remap_pending=False,
    remap_failed=False,
)


class Time:
    """A watch, and a clock that goes on by a second with every sample."""

    def __init__(self, rules: HealthRules = RULES, *, step: float = 1.0, **given: Any) -> None:
        self.watch = HealthMonitor(rules, **given)
        self.step = step
        self.t = START
        self.health: Health | None = None

    def passes(self, seconds: float, *gpus: GpuSample, **changes: Any) -> Health:
        """So many seconds with these cards; how things stand after them."""
        for health in self.moments(seconds, *gpus, **changes):
            self.health = health
        assert self.health is not None
        return self.health

    def moments(self, seconds: float, *gpus: GpuSample, **changes: Any) -> Iterator[Health]:
        for _ in range(max(round(seconds / self.step), 1)):
            given = {"nvml": "ready", "driver": "566.03", **changes}
            yield self.watch.update(Sample(t=self.t, gpus=gpus, **given))
            self.t += self.step

    def rings(self) -> set[str]:
        assert self.health is not None
        return {alarm.id for alarm in self.health.alarms}
