"""The recorded H200: what NVML and nvidia-smi answered on the same computer in the same minute agrees."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest

from gpu_assistant.core.machine import Gpu
from gpu_assistant.detect import nvidia
from gpu_assistant.system.nvml.device import SLOW_INTERVAL_S
from gpu_assistant.system.nvml.monitor import NvmlMonitor
from tests.fakes.recorded_machine import MACHINES

from .conftest import Clock
from .machines import H200, H200_LOADED, Card
from .scenario import Scenario

IDLE_XML = MACHINES / "ubuntu24-h200/nvidia-smi.xml"
LOADED_XML = Path(__file__).parents[1] / "fixtures/nvidia_smi/580-h200-load.xml"
MIB = 2**20


def put(scenario: Scenario, card: Card) -> None:
    scenario.set(driver="580.159.04", cuda="13000")
    scenario.cards = [dict(card)]
    scenario.write()


def figures(path: Path) -> ElementTree.Element:
    gpu = ElementTree.parse(path).getroot().find("gpu")
    assert gpu is not None
    return gpu


def number(gpu: ElementTree.Element, path: str) -> float:
    """The figure without its unit: "345 MHz", "16x"."""
    return float((gpu.findtext(path) or "").split()[0].rstrip("x"))


def test_library_and_program_describe_the_same_computer(scenario: Scenario, nvml: NvmlMonitor) -> None:
    put(scenario, H200)
    snapshot = nvml.snapshot()
    assert snapshot is not None
    assert snapshot.gpus == (
        Gpu(
            index=0,
            vendor="nvidia",
            name="NVIDIA H200",
            pci_id="10de:2335",
            uuid="GPU-00000000-1111-2222-3333-202020202020",
            compute_capability="9.0",
            memory_bytes=150_754_820_096,
            vgpu=False,
            mig=False,
        ),
    )
    printed = nvidia.parse_nvidia_smi(IDLE_XML.read_text(encoding="utf-8"))
    assert printed is not None
    assert printed.driver == snapshot.driver
    names = ("index", "vendor", "name", "pci_id", "uuid", "memory_bytes", "vgpu", "mig")
    assert [getattr(printed.gpus[0], name) for name in names] == [getattr(snapshot.gpus[0], name) for name in names]


@pytest.mark.parametrize(("card", "xml"), [(H200, IDLE_XML), (H200_LOADED, LOADED_XML)], ids=["idle", "loaded"])
def test_library_and_program_give_the_same_figures(
    scenario: Scenario, nvml: NvmlMonitor, card: Card, xml: Path
) -> None:
    put(scenario, card)
    (sample,) = nvml.sample()
    gpu = figures(xml)
    exact = {
        "temp": "temperature/gpu_temp",
        "temp_memory": "temperature/memory_temp",
        "clock_mem": "clocks/mem_clock",
        "clock_sm_max": "max_clocks/sm_clock",
        "clock_mem_max": "max_clocks/mem_clock",
        "power_limit_w": "gpu_power_readings/current_power_limit",
        "power_default_w": "gpu_power_readings/default_power_limit",
        "pcie_gen": "pci/pci_gpu_link_info/pcie_gen/current_link_gen",
        "pcie_gen_max": "pci/pci_gpu_link_info/pcie_gen/max_link_gen",
        "pcie_width": "pci/pci_gpu_link_info/link_widths/current_link_width",
        "pcie_replays": "pci/replay_counter",
        "util": "utilization/gpu_util",
        "enc": "utilization/encoder_util",
        "ecc_corrected": "ecc_errors/volatile/dram_correctable",
        "ecc_uncorrected": "ecc_errors/volatile/dram_uncorrectable",
        "ecc_corrected_total": "ecc_errors/aggregate/dram_correctable",
        "remapped_corrected": "remapped_rows/remapped_row_corr",
        "remapped_uncorrected": "remapped_rows/remapped_row_unc",
    }
    assert {name: getattr(sample, name) for name in exact} == {name: number(gpu, path) for name, path in exact.items()}
    # They move between two calls.
    assert sample.clock_sm == pytest.approx(number(gpu, "clocks/sm_clock"), abs=30)
    assert sample.power_w == pytest.approx(number(gpu, "gpu_power_readings/average_power_draw"), abs=2)
    assert sample.mem_total == number(gpu, "fb_memory_usage/total") * MIB
    assert sample.mem_reserved == pytest.approx(number(gpu, "fb_memory_usage/reserved") * MIB, abs=MIB)
    assert sample.mem_used == pytest.approx(number(gpu, "fb_memory_usage/used") * MIB, abs=MIB)
    assert f"P{sample.pstate}" == gpu.findtext("performance_state")
    # What a card without a fan, with remapped rows in place of retired pages, does not have.
    assert (gpu.findtext("fan_speed"), sample.fan, sample.fan_rpm) == ("N/A", None, None)
    assert gpu.findtext("retired_pages/double_bit_retirement/retired_count") == "N/A"
    assert (sample.retired_pages, sample.retired_pending, sample.remap_failed) == (None, None, False)
    # Both ways to the temperatures at which it slows down lead to the same: absolute, and by the distance to them.
    assert (sample.temp_max, sample.temp_slow, sample.temp_shutdown, sample.temp_memory_max) == (87, 89, 95, 95)
    limits = [f"temperature/gpu_temp_max{part}_tlimit_threshold" for part in ("_gpu", "")]
    by_distance = [sample.temp + number(gpu, "temperature/gpu_temp_tlimit") - number(gpu, path) for path in limits]
    assert by_distance == [87, 95]


def test_load_is_limited_by_power_and_has_its_process(scenario: Scenario, nvml: NvmlMonitor) -> None:
    put(scenario, H200_LOADED)
    (sample,) = nvml.sample()
    assert (sample.throttle, sample.idle) == (("power-cap",), False)
    assert sample.processes is not None
    (process,) = sample.processes  # its name is that of whatever has its number here
    assert (process.pid, process.mem_used, process.kind) == (1325, 1_050_673_152, "compute")
    put(scenario, H200)
    (sample,) = nvml.sample(detailed=False)
    assert (sample.throttle, sample.idle) == ((), True)


def test_idle_card_has_no_processes_and_says_so(scenario: Scenario, nvml: NvmlMonitor) -> None:
    put(scenario, H200)
    (sample,) = nvml.sample()
    assert sample.processes == ()


def test_fan_that_is_not_there_is_asked_for_once(scenario: Scenario, nvml: NvmlMonitor, clock: Clock) -> None:
    put(scenario, H200)
    for _ in range(4):
        nvml.sample()
        clock.now += SLOW_INTERVAL_S
    calls = Counter(scenario.calls())
    assert calls["nvmlDeviceGetFanSpeedRPM"] == 1
    assert calls["nvmlDeviceGetEncoderUtilization"] == 4


def test_figure_whose_handle_is_invalid_for_a_moment_comes_back(
    scenario: Scenario, nvml: NvmlMonitor, clock: Clock
) -> None:
    put(scenario, H200)
    seen = []
    for answer in ("37", "!2", "38"):
        scenario.card(0, temp=answer)
        seen.append(nvml.sample()[0].temp)
        clock.now += 1
    assert seen == [37, None, 38]
