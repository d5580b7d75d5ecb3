"""Drivers that do not start, break, hang or lie, and cards that fall off the bus, come back or sleep."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from gpu_assistant.core.results import GpuSample
from gpu_assistant.system.nvml.monitor import (
    FIRST_RETRY_S,
    IDLE_SAMPLES,
    MAX_RETRY_S,
    RECOUNT_INTERVAL_S,
    RELEASE_S,
    RETRY_AFTER_S,
    NvmlMonitor,
)
from gpu_assistant.texts.localized import Texts

from ..fakes.system import FakeSystem
from .conftest import Clock
from .machines import RTX_4060_LAPTOP
from .scenario import Scenario


def bus(tmp_path: Path, address: str, status: str, *, vendor: str = "0x10de") -> None:
    device = tmp_path / "pci" / address
    (device / "power").mkdir(parents=True, exist_ok=True)
    (device / "vendor").write_text(vendor + "\n", encoding="ascii")
    (device / "class").write_text("0x030000\n", encoding="ascii")
    (device / "power" / "runtime_status").write_text(status + "\n", encoding="ascii")
    (device / "power" / "control").write_text("auto\n", encoding="ascii")


@pytest.mark.parametrize(
    ("code", "state"),
    [("!9", "not-loaded"), ("!18", "version-mismatch"), ("!4", "no-permission"), ("!999", "failed"), ("!15", "lost")],
)
def test_init_failure_has_a_state(scenario: Scenario, nvml: NvmlMonitor, code: str, state: str) -> None:
    scenario.set(init=code)
    assert nvml.snapshot() is None
    assert nvml.sample() == ()
    assert nvml.state == state
    for language in ("en", "zh_CN"):
        assert Texts(language).translate(f"monitor.nvml.{nvml.state}")


def test_silent_driver_is_retried_after_delay(scenario: Scenario, nvml: NvmlMonitor, clock: Clock) -> None:
    scenario.card()
    scenario.set(init="!9")
    for _ in range(5):
        assert nvml.sample() == ()
        clock.now += FIRST_RETRY_S / 10
    assert Counter(scenario.calls())["nvmlInitWithFlags"] == 1
    scenario.set(init="0")
    clock.now += FIRST_RETRY_S
    assert nvml.sample()[0].util == 37
    assert nvml.state == "ready"


def test_driver_installed_while_running_is_found(scenario: Scenario, clock: Clock, tmp_path: Path) -> None:
    scenario.card()
    later = tmp_path / "later.so"
    with NvmlMonitor(FakeSystem(), library=later, clock=clock) as nvml:
        assert nvml.sample() == ()
        assert nvml.state == "absent"
        shutil.copy(scenario.library, later)
        clock.now += FIRST_RETRY_S
        assert nvml.sample()[0].name == "NVIDIA GeForce RTX 4060"


def test_driver_updated_while_running(scenario: Scenario, nvml: NvmlMonitor, clock: Clock) -> None:
    scenario.card()
    assert len(nvml.sample()) == 1
    scenario.card(util="!18")
    (silent,) = nvml.sample()
    assert (silent.state, silent.name, silent.util) == ("silent", "NVIDIA GeForce RTX 4060", None)
    assert nvml.state == "version-mismatch"
    # The old library is let go of, else the new one could never be loaded.
    assert not scenario.loaded()
    scenario.card(util="5")
    scenario.set(driver="570.01")
    clock.now += FIRST_RETRY_S
    assert nvml.sample()[0].util == 5
    assert (nvml.state, nvml.driver) == ("ready", "570.01")


def test_lost_gpu_is_named_and_hides_no_other(scenario: Scenario, nvml: NvmlMonitor, clock: Clock) -> None:
    lost_at_5 = {f"{key}@5": "!15" for key in ("util", "temp", "handle", "name", "uuid", "address")}
    scenario.card(0, **lost_at_5)
    scenario.card(1, name="NVIDIA GeForce GTX 1060 6GB", util="80")
    scenario.set(second="0")
    before = nvml.sample()
    assert [sample.util for sample in before] == [37, 80]
    scenario.set(second="5")
    for _ in range(3):
        lost, other = nvml.sample()
        assert lost == GpuSample(
            index=0, name=before[0].name, uuid=before[0].uuid, address="0000:01:00.0", state="lost", xid=lost.xid
        )
        assert (other.util, other.name) == (80, "NVIDIA GeForce GTX 1060 6GB")
        assert nvml.state == "lost"
        clock.now += FIRST_RETRY_S / 2  # also over a new session, which does not get the card's handle
    scenario.set(second="4")
    clock.now += 4 * FIRST_RETRY_S
    assert nvml.sample()[0].util == 37
    assert nvml.state == "ready"


def test_plugged_in_gpu_is_found(scenario: Scenario, nvml: NvmlMonitor, clock: Clock) -> None:
    scenario.card(0)
    assert len(nvml.sample()) == 1
    scenario.card(1)
    assert len(nvml.sample()) == 1
    clock.now += RECOUNT_INTERVAL_S
    assert [sample.index for sample in nvml.sample()] == [0, 1]


def test_lost_gpu_retries_back_off(scenario: Scenario, nvml: NvmlMonitor, clock: Clock) -> None:
    scenario.card(util="!15")
    for _ in range(600):
        nvml.sample()
        clock.now += 1
    opened = Counter(scenario.calls())["nvmlInitWithFlags"]
    assert 600 / MAX_RETRY_S < opened < 20


def test_sleeping_laptop_gpu_is_not_woken(scenario: Scenario, nvml: NvmlMonitor, tmp_path: Path) -> None:
    scenario.card()
    bus(tmp_path, "0000:01:00.0", "suspended")
    bus(tmp_path, "0000:00:02.0", "active", vendor="0x8086")
    assert nvml.sample() == (GpuSample(index=0, name="GeForce RTX 4060 Laptop", state="asleep"),)
    assert nvml.state == "asleep"
    assert scenario.calls() == []
    bus(tmp_path, "0000:01:00.0", "active")
    assert nvml.sample()[0].util == 37
    assert nvml.state == "ready"


def test_sleeping_gpu_is_not_queried(scenario: Scenario, nvml: NvmlMonitor, tmp_path: Path) -> None:
    scenario.card(0)
    scenario.card(1, address="00000000:02:00.0")
    bus(tmp_path, "0000:01:00.0", "active")
    bus(tmp_path, "0000:02:00.0", "suspended")
    awake, sleeping = nvml.sample()
    assert awake.util == 37
    assert (sleeping.index, sleeping.state, sleeping.util, sleeping.temp) == (1, "asleep", None, None)
    assert Counter(scenario.calls())["nvmlDeviceGetUtilizationRates"] == 1


def idle_laptop(scenario: Scenario, tmp_path: Path) -> None:
    scenario.cards = [dict(RTX_4060_LAPTOP)]
    scenario.write()
    bus(tmp_path, "0000:01:00.0", "active")


def test_idle_laptop_gpu_is_released_and_sleeps(
    scenario: Scenario, nvml: NvmlMonitor, clock: Clock, tmp_path: Path
) -> None:
    idle_laptop(scenario, tmp_path)
    for _ in range(IDLE_SAMPLES):
        assert nvml.sample()[0].state == "ready"
        clock.now += 1
    scenario.calls()
    (resting,) = nvml.sample()
    assert (resting.state, resting.name, resting.util) == ("resting", "NVIDIA GeForce RTX 4060 Laptop GPU", None)
    assert nvml.state == "resting"
    bus(tmp_path, "0000:01:00.0", "suspended")
    for _ in range(3600):
        assert nvml.sample()[0].state == "asleep"
        clock.now += 1
    assert scenario.calls() == []
    bus(tmp_path, "0000:01:00.0", "active")
    assert nvml.sample()[0].util == 0


def test_gpu_that_stays_awake_is_sampled_again(
    scenario: Scenario, nvml: NvmlMonitor, clock: Clock, tmp_path: Path
) -> None:
    idle_laptop(scenario, tmp_path)
    unseen = 0
    for _ in range(int(RETRY_AFTER_S)):
        unseen += nvml.sample()[0].state == "resting"
        clock.now += 1
    assert 0 < unseen <= RELEASE_S
    scenario.card(util="50")
    assert nvml.sample()[0].util == 50


def test_busy_or_desktop_gpu_is_never_released(
    scenario: Scenario, nvml: NvmlMonitor, clock: Clock, tmp_path: Path
) -> None:
    idle_laptop(scenario, tmp_path)
    scenario.card(util="3")
    for _ in range(3 * IDLE_SAMPLES):
        assert nvml.sample()[0].util == 3
        clock.now += 1
    nvml.close()
    scenario.card(util="0")
    (tmp_path / "pci" / "0000:01:00.0" / "power" / "control").write_text("on\n", encoding="ascii")
    for _ in range(3 * IDLE_SAMPLES):
        assert nvml.sample()[0].util == 0
        clock.now += 1
