"""Cards that the driver no longer lists: an eGPU pulled out is not one that fell off the bus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from gpu_assistant.core.results import GpuState
from gpu_assistant.system.nvml.monitor import FIRST_RETRY_S, RECOUNT_INTERVAL_S, NvmlMonitor
from gpu_assistant.texts.localized import Texts

from ..fakes.system import FakeSystem
from .conftest import Clock
from .machines import eight_h100
from .scenario import Scenario

FORGET_S = 600.0


@pytest.fixture
def forgetful(scenario: Scenario, clock: Clock, tmp_path: Path) -> Iterator[NvmlMonitor]:
    system = FakeSystem(pci_root=tmp_path / "pci")
    with NvmlMonitor(system, library=scenario.library, drop_after_s=FORGET_S, clock=clock) as nvml:
        yield nvml


def seats(nvml: NvmlMonitor) -> list[tuple[int, str | None, str]]:
    return [(gpu.index, gpu.uuid and gpu.uuid[-1], gpu.state) for gpu in nvml.sample()]


def test_removed_gpu_is_dropped_and_index_reused(scenario: Scenario, forgetful: NvmlMonitor, clock: Clock) -> None:
    scenario.card(0, util="10", uuid="GPU-a")
    scenario.card(1, util="80", uuid="GPU-b")
    _, second = scenario.cards
    assert seats(forgetful) == [(0, "a", "ready"), (1, "b", "ready")]
    scenario.cards = [second]  # the driver counts anew: the second is its first now
    scenario.write()
    clock.now += RECOUNT_INTERVAL_S
    other, gone = forgetful.sample()
    assert (other.index, other.uuid, other.util) == (0, "GPU-b", 80)
    assert (gone.index, gone.uuid, gone.state, gone.name, gone.util) == (
        1, "GPU-a", "gone", "NVIDIA GeForce RTX 4060", None,
    )  # fmt: skip
    assert forgetful.state == "ready"  # the driver is as it should be, and is not opened anew for it
    clock.now += FORGET_S - 1
    assert seats(forgetful) == [(0, "b", "ready"), (1, "a", "gone")]
    clock.now += 1
    assert seats(forgetful) == [(0, "b", "ready")]


def test_returning_gpu_gets_its_index_back(scenario: Scenario, forgetful: NvmlMonitor, clock: Clock) -> None:
    scenario.card(0, util="10", uuid="GPU-a")
    scenario.card(1, util="80", uuid="GPU-b")
    both = list(scenario.cards)
    forgetful.sample()
    scenario.cards = both[1:]
    scenario.write()
    clock.now += RECOUNT_INTERVAL_S
    assert seats(forgetful) == [(0, "b", "ready"), (1, "a", "gone")]
    scenario.cards = both
    scenario.write()
    clock.now += RECOUNT_INTERVAL_S
    assert [(gpu.index, gpu.uuid, gpu.util) for gpu in forgetful.sample()] == [(0, "GPU-a", 10), (1, "GPU-b", 80)]


def test_new_gpu_has_driver_index(scenario: Scenario, forgetful: NvmlMonitor, clock: Clock) -> None:
    """Also where one that is gone had it before."""
    scenario.cards = [dict(card) for card in eight_h100()]
    scenario.write()
    forgetful.sample()
    uuids = [card["uuid"] for card in scenario.cards]
    scenario.cards = scenario.cards[:1]
    scenario.write()
    clock.now += RECOUNT_INTERVAL_S
    assert [(gpu.index, gpu.uuid, gpu.state) for gpu in forgetful.sample()] == [
        (index, uuid, "gone" if index else "ready") for index, uuid in enumerate(uuids)
    ]
    scenario.card(1, uuid="GPU-new")
    clock.now += RECOUNT_INTERVAL_S
    sample = forgetful.sample()
    assert [(gpu.index, gpu.uuid) for gpu in sample if gpu.state == "ready"] == [(0, uuids[0]), (1, "GPU-new")]
    assert {gpu.uuid for gpu in sample if gpu.state == "gone"} == set(uuids[1:])
    assert len({gpu.index for gpu in sample}) == len(sample) == 9


def test_all_removed_gpus_are_dropped(scenario: Scenario, forgetful: NvmlMonitor, clock: Clock) -> None:
    scenario.card()
    forgetful.sample()
    scenario.cards = []
    scenario.write()
    clock.now += RECOUNT_INTERVAL_S
    assert [gpu.state for gpu in forgetful.sample()] == ["gone"]
    clock.now += FORGET_S
    assert forgetful.sample() == ()
    assert forgetful.state == "ready"


def test_lost_gpu_stays_lost_while_listed(scenario: Scenario, forgetful: NvmlMonitor, clock: Clock) -> None:
    scenario.card(0, uuid="GPU-a")
    scenario.card(1, uuid="GPU-b")
    forgetful.sample()
    scenario.card(0, **dict.fromkeys(("util", "temp", "handle", "name", "uuid", "address"), "!15"))
    for _ in range(5):
        assert seats(forgetful) == [(0, "a", "lost"), (1, "b", "ready")]
        assert forgetful.state == "lost"
        clock.now += FORGET_S  # over new sessions, which do not get its names


def test_lost_gpu_then_removed_is_gone(scenario: Scenario, forgetful: NvmlMonitor, clock: Clock) -> None:
    scenario.card(0, uuid="GPU-a")
    scenario.card(1, uuid="GPU-b")
    forgetful.sample()
    scenario.card(1, util="!15")
    assert seats(forgetful) == [(0, "a", "ready"), (1, "b", "lost")]
    scenario.cards = scenario.cards[:1]
    scenario.write()
    clock.now += FIRST_RETRY_S
    assert seats(forgetful) == [(0, "a", "ready"), (1, "b", "gone")]
    assert forgetful.state == "ready"


def test_removed_gpu_stays_gone_while_driver_is_silent(
    scenario: Scenario, forgetful: NvmlMonitor, clock: Clock
) -> None:
    scenario.card(0, uuid="GPU-a")
    scenario.card(1, uuid="GPU-b")
    forgetful.sample()
    scenario.cards = scenario.cards[:1]
    scenario.write()
    clock.now += RECOUNT_INTERVAL_S
    forgetful.sample()
    scenario.card(0, util="!18")
    assert seats(forgetful) == [(0, "a", "silent"), (1, "b", "gone")]


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_gpu_state_has_a_text(language: str) -> None:
    texts = {
        state: Texts(language).translate(f"monitor.gpu.{state}") for state in get_args(GpuState) if state != "ready"
    }
    assert len(set(texts.values())) == len(texts)
