"""The real nvidia-ml-py on our own library: healthy cards, sick ones, and a driver that comes and goes."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from pathlib import Path

from gpu_assistant.bench.gpu_log import summarize_snapshots
from gpu_assistant.core.machine import Gpu
from gpu_assistant.core.results import GpuProcess, GpuSample
from gpu_assistant.system.nvml.device import ERRORS_INTERVAL_S, EXPENSIVE_INTERVAL_S, SLOW_INTERVAL_S
from gpu_assistant.system.nvml.monitor import NvmlMonitor

from ..fakes.system import FakeSystem
from .conftest import Clock
from .machines import GTX_1060, H100, RTX_4060_LAPTOP
from .scenario import Scenario


def test_describe_healthy_gpu(scenario: Scenario, nvml: NvmlMonitor) -> None:
    scenario.card(model="0")
    snapshot = nvml.snapshot()
    assert snapshot is not None
    assert nvml.state == "ready"
    assert (snapshot.driver.version, snapshot.driver.cuda_max, snapshot.driver.model) == ("566.03", "12.7", "WDDM")
    assert snapshot.gpus == (
        Gpu(
            index=0,
            vendor="nvidia",
            name="NVIDIA GeForce RTX 4060",
            pci_id="10de:2882",
            uuid="GPU-00000000-1111-2222-3333-444444444444",
            compute_capability="8.9",
            memory_bytes=8585740288,
        ),
    )


def test_snapshot_closes_library(scenario: Scenario, nvml: NvmlMonitor) -> None:
    scenario.card()
    assert nvml.snapshot() is not None
    calls = Counter(scenario.calls())
    assert calls["nvmlShutdown"] == calls["nvmlInitWithFlags"] == 1
    assert not scenario.loaded()


def test_driver_without_gpus(nvml: NvmlMonitor) -> None:
    snapshot = nvml.snapshot()
    assert snapshot is not None
    assert snapshot.gpus == ()
    assert snapshot.driver.model is None
    assert nvml.sample() == ()


def test_every_field_in_its_unit(scenario: Scenario, nvml: NvmlMonitor) -> None:
    scenario.card(compute=f"{os.getpid()}:1048576", graphics=f"{os.getpid()}:1048576 4294900000:")
    (sample,) = nvml.sample()
    assert sample.processes is not None
    by_pid = {process.pid: process for process in sample.processes}
    assert by_pid[os.getpid()].mem_used == 1048576
    # Under Wine a process does not tell psutil its name.
    assert by_pid[os.getpid()].name or sys.platform == "win32"
    assert by_pid[os.getpid()].kind == "both"
    assert by_pid[4294900000] == GpuProcess(pid=4294900000, kind="graphics")
    assert len(sample.processes) == 2
    assert sample == GpuSample(
        index=0,
        name="NVIDIA GeForce RTX 4060",
        uuid="GPU-00000000-1111-2222-3333-444444444444",
        address="0000:01:00.0",
        state="ready",
        util=37,
        mem_util=12,
        mem_used=2_000_000_000,
        mem_total=8585740288,
        mem_reserved=250_000_000,
        temp=51,
        temp_max=84,
        temp_slow=87,
        temp_shutdown=92,
        power_w=63.2,
        power_limit_w=115.0,
        power_default_w=115.0,
        energy_j=123456.789,
        clock_sm=2460,
        clock_sm_max=3105,
        clock_mem=8501,
        clock_mem_max=8501,
        pstate=2,
        fan=30,
        fan_rpm=1250,
        pcie_gen=4,
        pcie_gen_max=4,
        pcie_gen_card=4,
        pcie_width=8,
        pcie_width_max=8,
        pcie_tx=120_000,
        pcie_rx=3_400_000,
        pcie_replays=0,
        throttle=("power-cap",),
        idle=False,
        enc=3,
        dec=4,
        xid=0,
        processes=sample.processes,
    )


def test_slices_are_watched_as_their_gpu(scenario: Scenario, nvml: NvmlMonitor, clock: Clock) -> None:
    scenario.card(0, **{**H100, "uuid": "GPU-aaaa"})
    slices = {"slice1.uuid": "MIG-1111", "slice3.uuid": "MIG-3333"}
    at_rest = {"clock_sm": "345", "pcie_gen": "1", "event_reasons": "0x1"}
    # A divided GPU does not tell its load.
    scenario.card(1, **{**H100, "uuid": "GPU-bbbb", "mig": "1", "util": "!3", **slices, **at_rest})
    snapshots = [nvml.sample()]
    scenario.card(1, clock_sm="1755", pcie_gen="5", event_reasons="0x0")
    clock.now += SLOW_INTERVAL_S
    snapshots.append(nvml.sample())
    assert [each.mig_devices for each in snapshots[-1]] == [(), ("MIG-1111", "MIG-3333")]
    (gpu_log,) = [each for each in summarize_snapshots(snapshots, {"3333": "cuda:0"}) if each.device == "cuda:0"]
    assert (gpu_log.index, gpu_log.clock_sm, gpu_log.pcie_gen) == (1, 1755, 5)


def test_server_gpu_reports_memory_errors(scenario: Scenario, nvml: NvmlMonitor) -> None:
    scenario.cards = [{**H100, "ecc_uncorrected": "1", "remapped": "2 1 1 0", "retired_pending": "0"}]
    scenario.card(retired_single="2", retired_double="1")
    (sample,) = nvml.sample()
    assert (sample.temp_memory, sample.temp_memory_max, sample.fan, sample.fan_rpm) == (66, 95, None, None)
    assert (sample.ecc, sample.ecc_corrected, sample.ecc_uncorrected) == (True, 0, 1)
    assert (sample.ecc_corrected_total, sample.ecc_uncorrected_total) == (3, 0)
    assert (sample.retired_pages, sample.retired_pending) == (3, False)
    assert (sample.retired_single, sample.retired_double) == (2, 1)
    assert (sample.remapped_corrected, sample.remapped_uncorrected) == (2, 1)
    assert (sample.remapped_rows, sample.remap_pending, sample.remap_failed) == (3, True, False)


def test_temperature_limits_from_margin(scenario: Scenario, nvml: NvmlMonitor) -> None:
    scenario.cards = [dict(RTX_4060_LAPTOP)]
    scenario.write()
    (sample,) = nvml.sample()
    assert (sample.temp, sample.temp_max, sample.temp_slow, sample.temp_shutdown) == (51, 87, 89, 92)
    assert (sample.fan, sample.power_limit_w, sample.throttle) == (None, None, ())


def test_threshold_that_moves_is_read_anew(scenario: Scenario, nvml: NvmlMonitor, clock: Clock) -> None:
    scenario.card(temp_max="83")
    assert nvml.sample()[0].temp_max == 83
    scenario.card(0, temp_max="75")
    assert nvml.sample()[0].temp_max == 83  # a few seconds old
    clock.now += SLOW_INTERVAL_S
    sample = nvml.sample()[0]
    assert (sample.temp_max, sample.temp_slow) == (75, 87)


def test_threshold_by_margin_moves_but_does_not_flicker(scenario: Scenario, nvml: NvmlMonitor, clock: Clock) -> None:
    scenario.cards = [dict(RTX_4060_LAPTOP)]
    scenario.write()
    limits = []
    for temp, margin in (("51", "36"), ("60", "28"), ("70", "16"), ("70", "10"), ("71", "10")):
        scenario.card(0, temp=temp, temp_margin=margin)
        limits.append(nvml.sample()[0].temp_max)
        clock.now += SLOW_INTERVAL_S
    assert limits == [87, 87, 87, 80, 80]


def test_gtx_1060_of_2016(scenario: Scenario, nvml: NvmlMonitor) -> None:
    scenario.cards = [dict(GTX_1060)]
    scenario.write()
    (sample,) = nvml.sample()
    assert (sample.name, sample.throttle, sample.energy_j, sample.pcie_gen_card) == (
        "NVIDIA GeForce GTX 1060 6GB", ("thermal",), None, 3,
    )  # fmt: skip


def test_xid_is_reported_until_library_reopens(scenario: Scenario, nvml: NvmlMonitor) -> None:
    scenario.card(0, xid="13 4")
    scenario.card(1, events=None)
    assert [sample.xid for sample in nvml.sample()] == [0, None]  # what was before is not told
    scenario.card(0, xid="79 6")
    before = time.time()
    sample = nvml.sample()[0]
    assert sample.xid == 79
    assert sample.xid_t is not None
    assert before <= sample.xid_t <= time.time()
    assert nvml.sample()[0] == sample
    scenario.card(0, util="!15")
    lost = nvml.sample()[0]
    assert (lost.state, lost.xid, lost.xid_t) == ("lost", 79, sample.xid_t)


def test_process_memory_from_system(scenario: Scenario, clock: Clock) -> None:
    """As on Windows under WDDM."""
    scenario.card(compute="4294900000:", graphics="4294900001: 4294900002:77")
    system = FakeSystem()
    system.memory_by_card = {"0000:01:00.0": {4294900000: 5, 4294900002: 6}, "0000:02:00.0": {4294900001: 7}}
    with NvmlMonitor(system, library=scenario.library, clock=clock) as nvml:
        (sample,) = nvml.sample()
    assert sample.processes is not None
    assert [(process.pid - 4294900000, process.mem_used) for process in sample.processes] == [
        (0, 5),
        (1, None),
        (2, 77),
    ]


def test_zero_and_idle_are_not_unknown(scenario: Scenario, nvml: NvmlMonitor) -> None:
    scenario.card(util="0", fan="0", enc="0", event_reasons="0x1", compute="", graphics="")
    (sample,) = nvml.sample()
    assert (sample.util, sample.fan, sample.enc) == (0, 0, 0)
    assert sample.throttle == ()
    assert sample.processes == ()


def test_unsupported_query_is_sent_once(scenario: Scenario, nvml: NvmlMonitor) -> None:
    scenario.card(
        capability="!13", fan=None, power="!3", enc="!4", mem_reserved=None, event_reasons=None, throttle_reasons="0x60"
    )
    for _ in range(4):
        (sample,) = nvml.sample()
    snapshot = nvml.snapshot()
    assert snapshot is not None
    assert snapshot.gpus[0].compute_capability is None
    assert (sample.fan, sample.power_w, sample.enc, sample.dec) == (None, None, None, 4)
    assert sample.mem_used == 2_000_000_000
    assert sample.throttle == ("thermal", "hardware-thermal")
    calls = Counter(scenario.calls())
    for function in (
        "nvmlDeviceGetFanSpeed",
        "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetEncoderUtilization",
        "nvmlDeviceGetMemoryInfo_v2",
        "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetComputeRunningProcesses_v3",
    ):
        assert calls[function] == 1, function
    assert calls["nvmlDeviceGetUtilizationRates"] == 4
    assert calls["nvmlDeviceGetMemoryInfo"] == 5  # and once for the snapshot
    assert calls["nvmlDeviceGetHandleByIndex_v2"] == calls["nvmlInitWithFlags"] == 1


def test_transient_error_is_retried(scenario: Scenario, nvml: NvmlMonitor) -> None:
    scenario.card(temp="!999")
    assert nvml.sample()[0].temp is None
    scenario.card(temp="52")
    assert nvml.sample()[0].temp == 52


def test_temperature_by_newer_function(scenario: Scenario, nvml: NvmlMonitor) -> None:
    scenario.card(temp="!13", temp_v="47")
    assert nvml.sample()[0].temp == 47


def test_expensive_queries_are_rare(scenario: Scenario, nvml: NvmlMonitor, clock: Clock) -> None:
    scenario.card(compute="1:5")
    nvml.sample()
    scenario.card(pcie_tx="500")
    clock.now += EXPENSIVE_INTERVAL_S / 2
    assert nvml.sample()[0].pcie_tx == 120_000
    assert Counter(scenario.calls())["nvmlDeviceGetPcieThroughput"] == 2  # sent and received, once
    clock.now += EXPENSIVE_INTERVAL_S
    assert nvml.sample()[0].pcie_tx == 500_000


def test_expensive_queries_only_when_detailed(scenario: Scenario, nvml: NvmlMonitor, clock: Clock) -> None:
    scenario.card(compute="1:5", ecc="0")
    for _ in range(3):
        clock.now += EXPENSIVE_INTERVAL_S
        assert nvml.sample(detailed=False)[0].processes is None
    calls = Counter(scenario.calls())
    assert not calls.keys() & {"nvmlDeviceGetPcieThroughput", "nvmlDeviceGetComputeRunningProcesses_v3"}
    assert nvml.sample(processes=False)[0].pcie_rx == 3_400_000
    assert "nvmlDeviceGetComputeRunningProcesses_v3" not in scenario.calls()
    looked = nvml.sample()[0]
    assert looked.processes == (GpuProcess(pid=1, name=looked.processes[0].name, mem_used=5, kind="compute"),)
    assert nvml.sample(detailed=False)[0].pcie_rx is None


def test_query_intervals(scenario: Scenario, nvml: NvmlMonitor, clock: Clock) -> None:
    scenario.card(ecc="1", ecc_corrected="0")
    for _ in range(120):
        nvml.sample(detailed=False)
        clock.now += 1
    calls = Counter(scenario.calls())
    assert calls["nvmlDeviceGetUtilizationRates"] == calls["nvmlDeviceGetTemperature"] == 120
    assert calls["nvmlDeviceGetFanSpeed"] == calls["nvmlDeviceGetCurrPcieLinkGeneration"] == 120 / SLOW_INTERVAL_S
    assert calls["nvmlDeviceGetEccMode"] == 120 / ERRORS_INTERVAL_S
    # Three each time; the fourth, that of the memory, the card does not have: it is asked for once.
    assert calls["nvmlDeviceGetTemperatureThreshold"] == 3 * 120 / SLOW_INTERVAL_S + 1
    assert calls["nvmlDeviceGetMaxClockInfo"] == 2
    assert calls["nvmlDeviceGetHandleByIndex_v2"] == calls["nvmlDeviceGetName"] == 1


def test_two_monitors_share_the_library(scenario: Scenario, nvml: NvmlMonitor, clock: Clock, tmp_path: Path) -> None:
    scenario.card()
    assert nvml.sample()[0].util == 37
    with NvmlMonitor(FakeSystem(), library=scenario.library, clock=clock) as other:
        assert other.snapshot() is not None
        assert other.sample()[0].util == 37
    # Closing the second does not take the library from the first.
    assert nvml.sample()[0].util == 37


def test_eight_gpus_keep_their_order(scenario: Scenario, nvml: NvmlMonitor) -> None:
    for index in range(8):
        scenario.card(index, name=f"NVIDIA H100 {index}", util=str(index))
    assert [(sample.index, sample.name, sample.util) for sample in nvml.sample()] == [
        (index, f"NVIDIA H100 {index}", index) for index in range(8)
    ]


def test_without_any_driver(tmp_path: Path) -> None:
    with NvmlMonitor(FakeSystem(), library=tmp_path / "not-there.so") as nvml:
        assert nvml.state == "untried"
        assert nvml.snapshot() is None
        assert nvml.sample() == ()
        assert nvml.state == "absent"


def test_implausible_value_is_none(scenario: Scenario, nvml: NvmlMonitor) -> None:
    most = str(2**32 - 1)
    scenario.card(util=most, mem_util="7", temp=most, power=most, fan=most, pcie_gen="0", mem_used="9000000000")
    scenario.card(1, fan="105", util="100")
    absurd, sound = nvml.sample()
    assert (absurd.util, absurd.temp, absurd.power_w, absurd.fan, absurd.pcie_gen) == (None,) * 5
    assert (absurd.mem_util, absurd.mem_used, absurd.mem_total) == (7, None, 8585740288)
    assert (sound.util, sound.fan, sound.temp, sound.mem_used) == (100, 105, 51, 2000000000)


def test_memory_lent_to_the_card_is_what_the_system_counts(scenario: Scenario, clock: Clock) -> None:
    scenario.card()
    system = FakeSystem()
    with NvmlMonitor(system, library=scenario.library, clock=clock) as nvml:
        first = nvml.sample()[0]
        assert first.address is not None
        assert first.mem_shared is None
        system.shared_memory[first.address] = 3 << 30
        clock.now += EXPENSIVE_INTERVAL_S
        assert nvml.sample()[0].mem_shared == 3 << 30
        assert nvml.sample(detailed=False)[0].mem_shared is None
