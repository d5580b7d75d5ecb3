"""What a test says of cards that are hot, lost, at work for others, or alone without an environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.core.errors import CallError
from gpu_assistant.health.job import HealthJob

from ..nvml.scenario import Scenario
from .conftest import Play
from .trial import CARD, END, PASSED, RULES, START, Run, looks, one, states


def test_heat_that_slows_it_down(scenario: Scenario, play: Play, tmp_path: Path) -> None:
    scenario.card(util="99", event_reasons="0x20")
    seen = tmp_path / "seen"
    environment = play(START, PASSED, {"until": str(seen)}, END)
    check = one(Run(environment, scenario, level=2, before_look=looks(2, seen)).go(), "card-held-back")
    assert (check.state, check.value) == ("warn", 100)
    assert "heat" in (check.text or "").lower()


def test_the_first_level_sees_what_a_card_at_work_suffers(scenario: Scenario, play: Play, tmp_path: Path) -> None:
    """Others keep it busy: it does not rest, whatever the level."""
    scenario.card(
        util="99",
        temp="83",
        event_reasons="0x60",
        pcie_gen="4",
        pcie_width="1",
        mem_used="8400000000",
        mem_reserved="0",
    )
    seen = tmp_path / "seen"
    environment = play(START, PASSED, {"until": str(seen)}, END)
    checks = Run(environment, scenario, before_look=looks(2, seen)).go()
    ill = ("card-link", "card-memory", "card-heat", "card-held-back")
    assert {check_id: states(checks)[check_id] for check_id in ill} == dict.fromkeys(ill, "warn")
    assert one(checks, "card-link").value == "PCIe 4 x1"
    assert (one(checks, "card-heat").value, one(checks, "card-heat").data["limit"]) == (83, 84)
    assert checks.verdict == "warn"


def test_a_desktop_that_draws_is_no_worry_at_the_first_level(scenario: Scenario, play: Play) -> None:
    scenario.card(util="12")
    assert one(Run(play(START, PASSED, END), scenario).go(), "card-memory").state == "pass"


@pytest.mark.parametrize("others", [0, 1], ids=["the only card", "one of two"])
def test_a_card_that_was_lost_before(scenario: Scenario, play: Play, others: int) -> None:
    for index in range(others):
        scenario.card(index, util="0")
    scenario.card(others, name="!15", util="!15", temp="!15", mem_used="!15", power="!15")
    cpu = {"start": {"torch": "2.13.0", "devices": [CARD if others else {"id": "cpu"}]}}
    checks = Run(play(cpu, PASSED, END), scenario).go()
    (lost,) = [check for check in checks.checks if check.id == "card-answers" and check.state == "fail"]
    assert "no longer answers" in (lost.text or "")
    assert f"GPU {others}" in (lost.text or "")
    assert one(checks, "driver").state == "pass"
    assert checks.verdict == "fail"


def test_without_an_environment_the_driver_is_asked(scenario: Scenario, tmp_path: Path) -> None:
    scenario.card(util="0", pcie_gen="4")
    run = Run(tmp_path, scenario)
    run.job = HealthJob(None, run.system, RULES, run.looks)
    checks = run.go()
    told = states(checks)
    assert told["driver"] == told["card-answers"] == told["card-link"] == told["card-heat"] == "pass"
    assert told["torch-import"] == "skip"
    assert "wizard" in (one(checks, "torch-import").text or "")
    assert checks.verdict == "pass"
    assert "a small computation on the card" in checks.leaves_out
    with pytest.raises(ValueError, match="environment"):
        HealthJob(None, run.system, RULES, run.looks, level=2)


def test_without_an_environment_the_card_that_is_asked_for(scenario: Scenario, tmp_path: Path) -> None:
    scenario.card(util="0", pcie_gen="4")
    scenario.card(1, name="!15", util="!15", temp="!15", mem_used="!15", power="!15")
    for device, verdict in (("cuda:0", "pass"), ("cuda:1", "fail")):
        run = Run(tmp_path, scenario)
        run.job = HealthJob(None, run.system, RULES, run.looks, device=device)
        checks = run.go()
        (answers,) = [check for check in checks.checks if check.id == "card-answers"]
        assert (checks.verdict, answers.state) == (verdict, verdict)
    run = Run(tmp_path, scenario)
    run.job = HealthJob(None, run.system, RULES, run.looks, device="cuda:9")
    with pytest.raises(CallError) as caught:
        run.go()
    assert caught.value.data["have"] == "cpu, cuda:0, cuda:1"


def test_a_build_for_the_processor_alone_is_called_that(scenario: Scenario, play: Play) -> None:
    scenario.card(util="0")
    cpu = {"start": {"torch": "2.13.0+cpu", "devices": [{"id": "cpu"}], "for_cards": False}}
    checks = Run(play(cpu, PASSED, END), scenario).go()
    check = one(checks, "torch-build")
    assert check.state == "fail"
    assert "2.13.0+cpu" in (check.text or "")
    assert "wizard" in (check.fix or "")
    assert "torch-cuda" not in states(checks)


def test_a_card_that_is_too_hot_from_the_start_blames_nothing_else(scenario: Scenario, play: Play) -> None:
    scenario.card(util="99", temp="107")
    environment = play({"hang": True})
    checks = Run(environment, scenario).go()
    assert {check.id for check in checks.checks if check.state == "fail"} == {"card-heat"}
    assert states(checks)["torch-import"] == "skip"
    # Also where another device was asked for: it is why the test was stopped.
    checks = Run(environment, scenario, device="cuda:0").go()
    assert {check.id for check in checks.checks if check.state == "fail"} == {"card-heat"}


def test_a_bad_piece_that_was_replaced_is_no_fault(scenario: Scenario, play: Play, tmp_path: Path) -> None:
    scenario.card(util="0", xid="13 4")
    seen = tmp_path / "seen"

    def before_look(count: int) -> None:
        if count == 2:
            scenario.card(xid="63 5")
        looks(3, seen)(count)

    environment = play(START, PASSED, {"until": str(seen)}, END)
    check = one(Run(environment, scenario, before_look=before_look).go(), "card-xid")
    assert (check.state, check.value) == ("warn", 63)
    assert "firmly" not in (check.fix or "")
