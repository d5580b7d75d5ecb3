"""nvitop on the same library sees what we see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_assistant.system.nvml.monitor import NvmlMonitor

from ..fakes.system import FakeSystem
from .machines import GTX_1060, RTX_4060, RTX_4060_LAPTOP, Card, eight_h100
from .scenario import Scenario

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nvitop finds its library by LD_LIBRARY_PATH")

ITS = """
import json
from nvitop import NA, Device
def plain(value):
    return None if value is NA else value
print(json.dumps([{
    "name": plain(d.name()), "uuid": plain(d.uuid()), "util": plain(d.gpu_utilization()),
    "mem_util": plain(d.memory_utilization()), "mem_used": plain(d.memory_used()),
    "mem_total": plain(d.memory_total()), "temp": plain(d.temperature()), "power": plain(d.power_usage()),
    "limit": plain(d.power_limit()), "sm": plain(d.sm_clock()), "mem": plain(d.memory_clock()),
    "sm_max": plain(d.max_sm_clock()), "fan": plain(d.fan_speed()), "enc": plain(d.encoder_utilization()),
    "dec": plain(d.decoder_utilization()), "tx": plain(d.pcie_tx_throughput()),
    "rx": plain(d.pcie_rx_throughput()), "pstate": plain(d.performance_state()),
    "ecc": plain(d.total_volatile_uncorrected_ecc_errors()),
    "processes": sorted((p.pid, plain(p.gpu_memory()), p.type) for p in d.processes().values()),
} for d in Device.all()]))
"""
KINDS = {"compute": "C", "graphics": "G", "both": "C+G"}


def milli(watts: float | None) -> int | None:
    return None if watts is None else round(watts * 1000)


@pytest.mark.parametrize(
    "cards",
    [(RTX_4060,), (RTX_4060_LAPTOP,), (GTX_1060,), eight_h100(), (GTX_1060, RTX_4060)],
    ids=["RTX 4060", "RTX 4060 Laptop", "GTX 1060", "8 x H100", "two kinds"],
)
def test_same_values_as_nvitop(scenario: Scenario, cards: tuple[Card, ...]) -> None:
    pytest.importorskip("nvitop", reason="the comparison's other side")
    scenario.cards = [
        {**card, "address": f"00000000:{index + 1:02X}:00.0", "compute": f"{os.getpid()}:1048576", "graphics": ""}
        for index, card in enumerate(cards)
    ]
    scenario.write()
    done = subprocess.run(
        [sys.executable, "-c", ITS],
        env={**os.environ, "LD_LIBRARY_PATH": str(Path(scenario.library).parent)},
        capture_output=True,
        timeout=60,
        check=True,
    )
    with NvmlMonitor(FakeSystem(), library=scenario.library) as nvml:
        sample = nvml.sample()
    assert [
        {
            "name": gpu.name,
            "uuid": gpu.uuid,
            "util": gpu.util,
            "mem_util": gpu.mem_util,
            "mem_used": gpu.mem_used,
            "mem_total": gpu.mem_total,
            "temp": gpu.temp,
            "power": milli(gpu.power_w),
            "limit": milli(gpu.power_limit_w),
            "sm": gpu.clock_sm,
            "mem": gpu.clock_mem,
            "sm_max": gpu.clock_sm_max,
            "fan": gpu.fan,
            "enc": gpu.enc,
            "dec": gpu.dec,
            "tx": None if gpu.pcie_tx is None else gpu.pcie_tx // 1000,
            "rx": None if gpu.pcie_rx is None else gpu.pcie_rx // 1000,
            "pstate": None if gpu.pstate is None else f"P{gpu.pstate}",
            "ecc": gpu.ecc_uncorrected,
            "processes": sorted([p.pid, p.mem_used, KINDS[p.kind or "both"]] for p in gpu.processes or ()),
        }
        for gpu in sample
    ] == json.loads(done.stdout)
