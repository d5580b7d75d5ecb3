"""The real nvidia-ml-py on our own library: healthy cards, sick ones, and a driver that comes and goes."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_assistant.core.machine import Gpu
from gpu_assistant.core.results import GpuSample
from gpu_assistant.system.nvml import RETRY_S, Nvml
from gpu_assistant.system.nvml_card import DEAR_S
from gpu_assistant.texts import Texts

from ..fakes.system import FakeSystem
from .conftest import Scenario


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def nvml(scenario: Scenario, clock: Clock, tmp_path: Path) -> Iterator[Nvml]:
    adapters = (Gpu(vendor="intel"), Gpu(vendor="nvidia", name="GeForce RTX 4060 Laptop"))
    system = FakeSystem(display_adapters=adapters, pci_root=tmp_path / "pci")
    with Nvml(system, library=scenario.library, clock=clock) as nvml:
        yield nvml


def bus(tmp_path: Path, address: str, status: str, *, vendor: str = "0x10de") -> None:
    device = tmp_path / "pci" / address
    (device / "power").mkdir(parents=True, exist_ok=True)
    (device / "vendor").write_text(vendor + "\n", encoding="ascii")
    (device / "class").write_text("0x030000\n", encoding="ascii")
    (device / "power" / "runtime_status").write_text(status + "\n", encoding="ascii")


def test_a_healthy_card_is_described(scenario: Scenario, nvml: Nvml) -> None:
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


def test_a_snapshot_leaves_nothing_open(scenario: Scenario, nvml: Nvml) -> None:
    scenario.card()
    assert nvml.snapshot() is not None
    calls = Counter(scenario.calls())
    assert calls["nvmlShutdown"] == calls["nvmlInitWithFlags"] == 1
    assert str(scenario.library) not in Path("/proc/self/maps").read_text(encoding="utf-8")


def test_a_driver_without_cards_is_still_a_driver(nvml: Nvml) -> None:
    snapshot = nvml.snapshot()
    assert snapshot is not None
    assert snapshot.gpus == ()
    assert snapshot.driver.model is None
    assert nvml.sample() == ()


def test_every_figure_in_its_unit(scenario: Scenario, nvml: Nvml) -> None:
    scenario.card(compute=f"{os.getpid()}:1048576", graphics=f"{os.getpid()}:1048576 4294900000:")
    (sample,) = nvml.sample()
    assert sample.processes is not None
    by_pid = {process.pid: process for process in sample.processes}
    assert by_pid[os.getpid()].mem_used == 1048576
    assert by_pid[os.getpid()].name
    assert by_pid[4294900000] == type(by_pid[4294900000])(pid=4294900000)
    assert len(sample.processes) == 2
    assert sample == GpuSample(
        index=0,
        name="NVIDIA GeForce RTX 4060",
        util=37,
        mem_util=12,
        mem_used=2_000_000_000,
        mem_total=8585740288,
        temp=51,
        power_w=63.2,
        power_limit_w=115.0,
        clock_sm=2460,
        clock_mem=8501,
        fan=30,
        pcie_gen=4,
        pcie_width=8,
        pcie_tx=120_000,
        pcie_rx=3_400_000,
        throttle=("power-cap",),
        enc=3,
        dec=4,
        processes=sample.processes,
    )


def test_zero_and_idle_are_not_unknown(scenario: Scenario, nvml: Nvml) -> None:
    scenario.card(util="0", fan="0", enc="0", event_reasons="0x1", compute="", graphics="")
    (sample,) = nvml.sample()
    assert (sample.util, sample.fan, sample.enc) == (0, 0, 0)
    assert sample.throttle == ()
    assert sample.processes == ()


def test_what_a_card_does_not_support_is_asked_once(scenario: Scenario, nvml: Nvml) -> None:
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


def test_a_passing_error_is_asked_again(scenario: Scenario, nvml: Nvml) -> None:
    scenario.card(temp="!999")
    assert nvml.sample()[0].temp is None
    scenario.card(temp="52")
    assert nvml.sample()[0].temp == 52


def test_the_temperature_under_its_newer_name(scenario: Scenario, nvml: Nvml) -> None:
    scenario.card(temp="!13", temp_v="47")
    assert nvml.sample()[0].temp == 47


def test_dear_questions_are_asked_rarely(scenario: Scenario, nvml: Nvml, clock: Clock) -> None:
    scenario.card(compute="1:5")
    nvml.sample()
    scenario.card(pcie_tx="500")
    clock.now += DEAR_S / 2
    assert nvml.sample()[0].pcie_tx == 120_000
    assert Counter(scenario.calls())["nvmlDeviceGetPcieThroughput"] == 2  # sent and received, once
    clock.now += DEAR_S
    assert nvml.sample()[0].pcie_tx == 500_000


@pytest.mark.parametrize(
    ("code", "state"),
    [("!9", "not-loaded"), ("!18", "version-mismatch"), ("!4", "no-permission"), ("!999", "failed"), ("!15", "lost")],
)
def test_a_driver_that_does_not_start_has_a_name(scenario: Scenario, nvml: Nvml, code: str, state: str) -> None:
    scenario.set(init=code)
    assert nvml.snapshot() is None
    assert nvml.sample() == ()
    assert nvml.state == state
    for language in ("en", "zh_CN"):
        assert Texts(language).say(f"monitor.nvml.{nvml.state}")


def test_a_silent_driver_is_asked_again_after_a_while_only(scenario: Scenario, nvml: Nvml, clock: Clock) -> None:
    scenario.card()
    scenario.set(init="!9")
    for _ in range(5):
        assert nvml.sample() == ()
        clock.now += RETRY_S / 10
    assert Counter(scenario.calls())["nvmlInitWithFlags"] == 1
    scenario.set(init="0")
    clock.now += RETRY_S
    assert nvml.sample()[0].util == 37
    assert nvml.state == "ready"


def test_a_driver_installed_while_we_run_is_found(scenario: Scenario, clock: Clock, tmp_path: Path) -> None:
    scenario.card()
    later = tmp_path / "later.so"
    with Nvml(FakeSystem(), library=later, clock=clock) as nvml:
        assert nvml.sample() == ()
        assert nvml.state == "absent"
        shutil.copy(scenario.library, later)
        clock.now += RETRY_S
        assert nvml.sample()[0].name == "NVIDIA GeForce RTX 4060"


def test_a_driver_updated_while_we_run(scenario: Scenario, nvml: Nvml, clock: Clock) -> None:
    scenario.card()
    assert len(nvml.sample()) == 1
    scenario.card(util="!18")
    assert nvml.sample() == ()
    assert nvml.state == "version-mismatch"
    # The old library is let go of, else the new one could never be loaded.
    assert str(scenario.library) not in Path("/proc/self/maps").read_text(encoding="utf-8")
    scenario.card(util="5")
    clock.now += RETRY_S
    assert nvml.sample()[0].util == 5


def test_a_lost_card_is_named_and_hides_no_other(scenario: Scenario, nvml: Nvml, clock: Clock) -> None:
    scenario.card(0)
    scenario.card(1, name="NVIDIA GeForce GTX 1060 6GB", util="80")
    assert [sample.util for sample in nvml.sample()] == [37, 80]
    scenario.card(0, util="!15", temp="!15", handle="!15", name="!15")
    for _ in range(3):
        lost, other = nvml.sample()
        assert lost == GpuSample(index=0, name="NVIDIA GeForce RTX 4060")
        assert other.util == 80
        assert nvml.state == "lost"
        clock.now += RETRY_S / 2  # also over a new session, which does not get the card's handle
    scenario.card(0, util="1", temp="40", handle=None, name="NVIDIA GeForce RTX 4060")
    clock.now += RETRY_S
    assert nvml.sample()[0].util == 1
    assert nvml.state == "ready"


def test_a_sleeping_laptop_is_left_asleep(scenario: Scenario, nvml: Nvml, tmp_path: Path) -> None:
    scenario.card()
    bus(tmp_path, "0000:01:00.0", "suspended")
    bus(tmp_path, "0000:00:02.0", "active", vendor="0x8086")
    assert nvml.sample() == (GpuSample(index=0, name="GeForce RTX 4060 Laptop"),)
    assert nvml.state == "asleep"
    assert scenario.calls() == []
    bus(tmp_path, "0000:01:00.0", "active")
    assert nvml.sample()[0].util == 37
    assert nvml.state == "ready"


def test_a_card_that_fell_asleep_is_not_asked(scenario: Scenario, nvml: Nvml, tmp_path: Path) -> None:
    scenario.card(0)
    scenario.card(1, address="00000000:02:00.0")
    bus(tmp_path, "0000:01:00.0", "active")
    bus(tmp_path, "0000:02:00.0", "suspended")
    awake, sleeping = nvml.sample()
    assert awake.util == 37
    assert sleeping == GpuSample(index=1, name="NVIDIA GeForce RTX 4060")
    assert Counter(scenario.calls())["nvmlDeviceGetUtilizationRates"] == 1


def test_two_askers_share_the_library(scenario: Scenario, nvml: Nvml, clock: Clock, tmp_path: Path) -> None:
    scenario.card()
    assert nvml.sample()[0].util == 37
    with Nvml(FakeSystem(), library=scenario.library, clock=clock) as other:
        assert other.snapshot() is not None
        assert other.sample()[0].util == 37
    # Closing the second does not take the library from the first.
    assert nvml.sample()[0].util == 37


def test_eight_cards_keep_their_order(scenario: Scenario, nvml: Nvml) -> None:
    for index in range(8):
        scenario.card(index, name=f"NVIDIA H100 {index}", util=str(index))
    assert [(sample.index, sample.name, sample.util) for sample in nvml.sample()] == [
        (index, f"NVIDIA H100 {index}", index) for index in range(8)
    ]


def test_without_any_driver(tmp_path: Path) -> None:
    with Nvml(FakeSystem(), library=tmp_path / "not-there.so") as nvml:
        assert nvml.state == "untried"
        assert nvml.snapshot() is None
        assert nvml.sample() == ()
        assert nvml.state == "absent"
