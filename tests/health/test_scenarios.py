"""Whole computers, healthy and sick, from the library in NVML's place through the real binding to the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from gpu_assistant.core.results import Health
from gpu_assistant.health.monitor import HealthMonitor
from gpu_assistant.monitor.sampler import Sampler
from gpu_assistant.system.nvml.monitor import NvmlMonitor
from gpu_assistant.texts.localized import Texts

from ..fakes.system import FakeSystem
from ..nvml.machines import GTX_1060, H100, RTX_4060, RTX_4060_LAPTOP, Card, eight_h100
from ..nvml.scenario import Scenario
from .samples import RULES, START


class Computer:
    """Samples of it, every other second; every figure is asked anew each time."""

    def __init__(self, scenario: Scenario) -> None:
        self.seconds = 0
        nvml = NvmlMonitor(
            FakeSystem(),
            library=scenario.library,
            drop_after_s=100.0 * RULES.forget_seconds,
            clock=lambda: 100.0 * self.seconds,
        )
        # No driver is called slow because the tests' computer is.
        self.sampler = Sampler(nvml, lambda: START + self.seconds, wait_s=60.0, hung_s=120.0)
        self.watch = HealthMonitor(RULES)

    def passes(self, seconds: int) -> Health:
        health = None
        for _ in range(0, seconds, 2):
            self.seconds += 2
            health = self.watch.update(self.sampler.sample())
        assert health is not None
        for language in ("en", "zh_CN"):
            spoken = Texts(language).localize_health(health)
            assert spoken.text
            assert all(alarm.title and alarm.evidence and alarm.fix for alarm in spoken.alarms)
        return Texts("en").localize_health(health)


@pytest.fixture
def computer(scenario: Scenario) -> Iterator[Computer]:
    made = Computer(scenario)
    with closing(made.sampler):
        yield made


def put(scenario: Scenario, *cards: Card) -> None:
    scenario.cards = [dict(card) for card in cards]
    scenario.write()


@pytest.mark.parametrize(
    "cards", [(RTX_4060,), (RTX_4060_LAPTOP,), eight_h100()], ids=["desktop", "laptop", "eight of a data centre"]
)
def test_healthy_computers_have_no_alarm(scenario: Scenario, computer: Computer, cards: tuple[Card, ...]) -> None:
    put(scenario, *cards)
    health = computer.passes(40)
    assert (health.state, health.text) == (
        "well",
        "Your GPUs are running normally" if len(cards) > 1 else "Your GPU is running normally",
    )
    assert all(alarm.level == "info" for alarm in health.alarms)


def test_old_gpu_at_its_limit(scenario: Scenario, computer: Computer) -> None:
    put(scenario, GTX_1060)
    health = computer.passes(20)
    assert [alarm.id for alarm in health.alarms] == ["slowed-by-heat"]
    assert "83 °C" in " ".join(alarm.evidence or "" for alarm in health.alarms)


def test_one_of_eight_is_lost_and_returns(scenario: Scenario, computer: Computer) -> None:
    put(scenario, *eight_h100())
    assert computer.passes(5).state == "well"
    scenario.card(4, **dict.fromkeys(H100, "!15"))
    health = computer.passes(4)
    assert (health.state, health.text) == ("error", "The GPU no longer responds")
    assert [alarm.gpu for alarm in health.alarms if alarm.id == "lost"] == [4]
    scenario.cards[4] = dict(eight_h100()[4])
    scenario.write()
    assert computer.passes(20).state == "well"


def test_removed_gpus_are_reported_for_a_while(scenario: Scenario, computer: Computer) -> None:
    put(scenario, *eight_h100())
    assert computer.passes(5).state == "well"
    put(scenario, eight_h100()[0])
    health = computer.passes(6)
    assert (health.state, health.text) == ("warn", "The GPU is no longer there")
    assert [(alarm.id, alarm.gpu) for alarm in health.alarms] == [("gone", index) for index in range(1, 8)]
    assert "fell off" not in " ".join(alarm.evidence or "" for alarm in health.alarms)
    health = computer.passes(round(RULES.forget_seconds) - 60)
    assert len(health.alarms) == 7
    health = computer.passes(80)
    assert (health.state, health.text, health.alarms) == ("well", "Your GPU is running normally", ())


@pytest.mark.parametrize(
    ("code", "alarm"), [("!18", "driver-updated"), ("!9", "driver-broken"), ("!4", "driver-forbidden")]
)
def test_unresponsive_driver(scenario: Scenario, computer: Computer, code: str, alarm: str) -> None:
    put(scenario, RTX_4060)
    scenario.set(init=code)
    assert [one.id for one in computer.passes(5).alarms] == [alarm]
    scenario.set(init="0")
    assert computer.passes(20).state == "well"


def test_no_card_is_no_alarm(scenario: Scenario, computer: Computer) -> None:
    scenario.set(init="!12")
    health = computer.passes(5)
    assert (health.state, health.alarms) == ("no-card", ())


@pytest.mark.parametrize(
    ("card", "changes", "alarm"),
    [
        (H100, {"ecc_uncorrected": "7"}, "memory-errors"),
        (H100, {"remapped": "1 0 1 0"}, "rows-pending"),
        (H100, {"temp_memory": "95"}, "memory-hot"),
        (RTX_4060, {"util": "99", "pcie_width": "4"}, "pcie-narrow"),
        (RTX_4060, {"event_reasons": "0x88"}, "power-supply"),
        (RTX_4060, {"fan_rpm": "0", "temp": "75"}, "fan-stopped"),
        (RTX_4060, {"mem_used": "8500000000", "mem_reserved": "0"}, "memory-full"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_faulty_gpus(scenario: Scenario, computer: Computer, card: Card, changes: dict[str, str], alarm: str) -> None:
    put(scenario, card)
    computer.passes(5)
    scenario.card(0, **changes)
    health = computer.passes(25)
    assert alarm in {one.id for one in health.alarms}
    put(scenario, card)
    if alarm != "memory-errors":  # that one rings for an hour
        assert computer.passes(20).state == "well"
