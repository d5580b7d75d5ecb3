"""What a test says of cards that are hot, lost, at work for others, or alone without an environment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.core.errors import UsageError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import Cpu, Gpu
from gpu_assistant.core.results import Check, Checks, GpuSample
from gpu_assistant.health.checks import check_gpu, check_response
from gpu_assistant.health.headline import select_headline
from gpu_assistant.health.job import HealthJob
from gpu_assistant.monitor.sampler import NonBlockingSampler, Sampler
from gpu_assistant.system.nvml.monitor import NvmlMonitor
from gpu_assistant.texts.localized import Texts

from ..fakes.system import FakeSystem
from ..nvml.scenario import Scenario
from .conftest import Play
from .job_fixture import CARD, END, PASSED, RULES, START, CountingSampler, Run, one, release_after_samples, states
from .samples import BUSY

BROKEN = Check(id="torch-import", state="fail")  # PyTorch does not load


class SlowSampler(CountingSampler):
    """Waits for the driver less long than it takes."""

    def __init__(self, system: FakeSystem, library: Path, before_sample: Callable[[int], None]) -> None:
        super().__init__(system, library, before_sample)
        self._driver = NonBlockingSampler(NvmlMonitor(system, library=library), wait_s=0.1, hung_s=60.0)


def checks_of(check: Check) -> Checks:
    return Checks(schema="gpu-assistant/checks/1", verdict="pass", checks=(check,))


def test_thermal_throttling(scenario: Scenario, play: Play, tmp_path: Path) -> None:
    scenario.card(util="99", event_reasons="0x20")
    seen = tmp_path / "seen"
    environment = play(START, PASSED, {"until": str(seen)}, END)
    check = one(
        Run(environment, scenario, level=2, before_sample=release_after_samples(2, seen)).go(), "card-held-back"
    )
    assert (check.state, check.value) == ("warn", 100)
    assert "heat" in (check.text or "").lower()


def test_level_1_sees_throttling_under_load(scenario: Scenario, play: Play, tmp_path: Path) -> None:
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
    checks = Run(environment, scenario, before_sample=release_after_samples(2, seen)).go()
    ill = ("card-link", "card-memory", "card-heat", "card-held-back")
    assert {check_id: states(checks)[check_id] for check_id in ill} == dict.fromkeys(ill, "warn")
    assert one(checks, "card-link").value == "PCIe 4 x1"
    assert "over 1 lane;" in (one(checks, "card-link").text or "")
    assert (one(checks, "card-heat").value, one(checks, "card-heat").data["limit"]) == (83, 84)
    assert checks.verdict == "warn"


@pytest.mark.parametrize(
    ("changes", "check_id", "rule"),
    [
        ({"temp": "80", "fan": "0", "fan_rpm": "0"}, "card-fan", "fan-stopped"),
        ({"util": "20", "event_reasons": "0x88"}, "card-held-back", "power-supply"),
        ({"util": "99", "event_reasons": "0x88"}, "card-held-back", "power-supply"),
        ({"remapped": "1 2 1 1"}, "card-errors", "remap-failed"),
        ({"remapped": "1 0 1 0"}, "card-errors", "rows-pending"),
        ({"ecc": "1", "ecc_corrected": "0", "ecc_uncorrected": "7"}, "card-errors", "memory-errors-before"),
        ({"temp": "83"}, "card-heat", "hot"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_grade_and_advice_match_monitor(
    scenario: Scenario, tmp_path: Path, changes: dict[str, str], check_id: str, rule: str
) -> None:
    """Also where it has to last longer than the test would have taken."""
    scenario.card(**{"util": "0", "pcie_gen": "4", **changes})
    run = Run(tmp_path, scenario)
    run.test(None)
    check = one(run.go(), check_id)
    (same,) = [each for each in RULES.rules if each.id == rule]
    assert check.state == {"error": "fail", "warn": "warn"}[same.level]
    english = Texts("en")
    assert (check.text or "").startswith(english.translate(f"health.{rule}.title"))
    assert check.fix == english.translate(f"health.{rule}.fix", check.data)


@pytest.mark.parametrize(
    ("code", "rule"), [("!4", "driver-forbidden"), ("!18", "driver-updated"), ("!9", "driver-broken")]
)
def test_unresponsive_driver_grade_and_advice(scenario: Scenario, tmp_path: Path, code: str, rule: str) -> None:
    scenario.card()
    scenario.set(init=code)
    run = Run(tmp_path, scenario)
    run.test(None)
    check = one(run.go(), "driver")
    (same,) = [each for each in RULES.rules if each.id == rule]
    assert (check.state, same.level) == ("fail", "error")
    assert check.fix == Texts("en").translate(f"health.{rule}.fix")
    if rule != "driver-broken":  # what mends these is no new driver
        assert "install" not in (check.fix or "")


def test_short_power_brake_is_graded_as_long(tmp_path: Path) -> None:
    brake = replace(BUSY, throttle=("hardware-slowdown", "power-brake"))
    seen = [(float(second), brake if second in (3, 6) else BUSY) for second in range(10)]
    given = {
        "was_loaded": True,
        "xids": {},
        "max_temperature": lambda _: None,
        "has_several": False,
        "form_factor": "desktop",
    }
    (check,) = [check for check in check_gpu(seen, RULES, 89.0, **given) if check.id == "card-held-back"]
    assert check.state == "fail"
    assert "power supply" in (Texts("en").localize_checks(checks_of(check)).checks[0].fix or "")


@pytest.mark.parametrize(
    ("form_factor", "throttle", "state"),
    [
        ("desktop", ("hardware-slowdown", "power-brake"), "fail"),
        ("laptop", ("hardware-slowdown", "power-brake"), "pass"),
        ("laptop", ("hardware-slowdown", "power-brake", "hardware-thermal"), "warn"),
        ("laptop", ("thermal",), "warn"),
    ],
)
def test_weak_charger_of_a_laptop_is_no_fault(form_factor: str, throttle: tuple[str, ...], state: str) -> None:
    seen = [(float(second), replace(BUSY, throttle=throttle)) for second in range(10)]
    given = {"was_loaded": True, "xids": {}, "max_temperature": lambda _: None, "has_several": False}
    (check,) = [
        check
        for check in check_gpu(seen, RULES, 89.0, **given, form_factor=form_factor)
        if check.id == "card-held-back"
    ]
    assert check.state == state
    text = Texts("en").localize_checks(checks_of(check)).checks[0].text or ""
    assert ("charger" in text) == (state == "pass")
    assert "neither" not in text


def test_desktop_drawing_is_fine_at_level_1(scenario: Scenario, play: Play) -> None:
    scenario.card(util="12")
    assert one(Run(play(START, PASSED, END), scenario).go(), "card-memory").state == "pass"


@pytest.mark.parametrize("others", [0, 1], ids=["the only card", "one of two"])
def test_gpu_lost_before_test(scenario: Scenario, play: Play, others: int) -> None:
    for index in range(others):
        scenario.card(index, util="0")
    scenario.card(others, name="!15", util="!15", temp="!15", mem_used="!15", power="!15")
    cpu = {"start": {"torch": "2.13.0", "devices": [CARD if others else {"id": "cpu"}]}}
    checks = Run(play(cpu, PASSED, END), scenario).go()
    (lost,) = [check for check in checks.checks if check.id == "card-answers" and check.state == "fail"]
    assert "no longer responds" in (lost.text or "")
    assert f"GPU {others}" in (lost.text or "")
    assert one(checks, "driver").state == "pass"
    assert checks.verdict == "fail"


@pytest.mark.parametrize(("language", "expected"), [("en", "no longer lists it"), ("zh_CN", "不再列出")])
def test_removed_gpu_is_not_called_lost(language: str, expected: str) -> None:
    check = check_response(GpuSample(index=0, name=BUSY.name, state="gone"), has_several=False, form_factor="desktop")
    (localized,) = Texts(language).localize_checks(checks_of(check)).checks
    assert localized.state == "fail"
    assert expected in (localized.text or "")
    assert localized.fix


def test_without_environment_uses_driver(scenario: Scenario, tmp_path: Path) -> None:
    scenario.card(util="0", pcie_gen="4")
    run = Run(tmp_path, scenario)
    run.test(None)
    checks = run.go()
    results = states(checks)
    assert results["driver"] == results["card-answers"] == results["card-link"] == results["card-heat"] == "pass"
    assert results["torch-import"] == "skip"
    assert "wizard" in (one(checks, "torch-import").text or "")
    assert checks.verdict == "pass"
    assert "a small calculation on the card" in checks.leaves_out
    with pytest.raises(ValueError, match="environment"):
        HealthJob(None, run.system, RULES, run.sampler, level=2)


def test_without_environment_requested_gpu(scenario: Scenario, tmp_path: Path) -> None:
    scenario.card(util="0", pcie_gen="4")
    scenario.card(1, name="!15", util="!15", temp="!15", mem_used="!15", power="!15")
    for device, verdict in (("cuda:0", "pass"), ("cuda:1", "fail")):
        run = Run(tmp_path, scenario)
        run.test(None, device=device)
        checks = run.go()
        (answers,) = [check for check in checks.checks if check.id == "card-answers"]
        assert (checks.verdict, answers.state) == (verdict, verdict)
    run = Run(tmp_path, scenario)
    run.test(None, device="cuda:9")
    with pytest.raises(UsageError) as caught:
        run.go()
    assert caught.value.data["have"] == "cpu, cuda:0, cuda:1"


def test_cpu_build_is_named(scenario: Scenario, play: Play) -> None:
    scenario.card(util="0")
    cpu = {"start": {"torch": "2.13.0+cpu", "devices": [{"id": "cpu"}], "for_cards": False}}
    environment = play(cpu, PASSED, END)
    checks = Run(environment, scenario).go()
    check = one(checks, "torch-build")
    assert check.state == "fail"
    assert "2.13.0 (CPU build)" in (check.text or "")
    assert "wizard" in (check.fix or "")
    assert "torch-cuda" not in states(checks)
    # The card is not accused of it, nor where PyTorch does not load at all; what the card itself has still counts.
    assert select_headline(checks) == "unused"
    assert (
        select_headline(replace(checks, checks=(*(one for one in checks.checks if one.id != "torch-build"), BROKEN)))
        == "unused"
    )
    scenario.card(mem_used=str(8 * 10**9), util="99")
    assert select_headline(Run(environment, scenario).go()) == "unused-warn"
    scenario.card(util="!15", temp="!15", name="!15", mem_used="!15", power="!15")
    assert select_headline(Run(environment, scenario).go()) == "fail"


def test_verdict_without_gpu(tmp_path: Path, play: Play) -> None:
    def run(environment: Path | None) -> Checks:
        system = FakeSystem(cpu=Cpu(cores=2))
        with closing(Sampler(NvmlMonitor(system, library=tmp_path / "none.so"))) as driver:
            return HealthJob(environment, system, RULES, driver, time_limit=60.0).run(JobContext())

    cpu = {"start": {"torch": "2.13.0+cpu", "devices": [{"id": "cpu"}]}}
    compute = {"check": {"id": "cpu-compute", "state": "pass", "data": {"device": "cpu"}}}
    checks = run(play(cpu, PASSED, compute, END))
    assert (checks.verdict, select_headline(checks)) == ("pass", "besides-no-card")
    assert select_headline(replace(checks, verdict="fail", checks=(*checks.checks, BROKEN))) == "no-torch"
    nothing = run(None)
    assert (nothing.verdict, select_headline(nothing)) == ("warn", "nothing")


def test_hot_start_blames_nothing_else(scenario: Scenario, play: Play) -> None:
    scenario.card(util="99", temp="107")
    environment = play({"hang": True})
    checks = Run(environment, scenario).go()
    assert {check.id for check in checks.checks if check.state == "fail"} == {"card-heat"}
    assert states(checks)["torch-import"] == "skip"
    # Also where another device was asked for: it is why the test was stopped.
    checks = Run(environment, scenario, device="cuda:0").go()
    assert {check.id for check in checks.checks if check.state == "fail"} == {"card-heat"}


def test_gpu_name_is_independent_of_torch(scenario: Scenario, play: Play) -> None:
    """Torch numbers the fastest first, the driver by the slots."""
    scenario.card(0, util="0", uuid="GPU-00000000-1111-2222-3333-999999999999")
    scenario.card(1, util="0", uuid=CARD["uuid"])
    compute = [
        {"check": {"id": "device-compute", "state": "pass", "data": {"device": name}}} for name in ("cuda:0", "cpu")
    ]
    checks = Run(play(START, PASSED, *compute, END), scenario).go()
    texts = [check.text for check in checks.checks if check.id == "device-compute"]
    assert texts == [
        "GPU 1 (NVIDIA GeForce RTX 4060) gives the same results as the CPU.",
        "CPU gives the same results as the CPU.",
    ]
    answers = [check.text for check in checks.checks if check.id == "card-answers"]
    assert answers == [f"GPU {index} (NVIDIA GeForce RTX 4060) responds." for index in (0, 1)]


@pytest.mark.parametrize("temp", ["107", "86"])
def test_stopped_fan_fails_when_heat_ends_test(scenario: Scenario, play: Play, temp: str) -> None:
    scenario.card(util="99", temp=temp, fan="0", fan_rpm="0")
    fan = one(Run(play({"hang": True}), scenario).go(), "card-fan")
    assert fan.state == "fail"
    assert (fan.text or "").startswith("Your GPU is hot and its fan is not turning")
    assert "the fan" in (fan.fix or "")


def test_driver_without_gpu_is_no_pass(scenario: Scenario, tmp_path: Path, play: Play) -> None:
    run = Run(tmp_path, scenario)
    run.test(None)
    checks = run.go()
    assert (one(checks, "driver").state, checks.verdict, select_headline(checks)) == ("warn", "warn", "no-card")
    assert "finds no card" in (one(checks, "driver").text or "")
    # Also where the processor was tested.
    cpu = {"start": {"torch": "2.13.0+cpu", "devices": [{"id": "cpu"}]}}
    assert select_headline(Run(play(cpu, PASSED, END), scenario).go()) == "no-card"
    # A card that the system sees and the driver does not is a fault.
    run = Run(tmp_path, scenario)
    run.system = FakeSystem(cpu=Cpu(cores=2), display_adapters=(Gpu(vendor="nvidia", name="GeForce RTX 4060"),))
    run.test(None)
    checks = run.go()
    assert (checks.verdict, select_headline(checks)) == ("fail", "fail")
    assert "does not find it" in (one(checks, "driver").text or "")


def test_silent_driver_has_test_wording(scenario: Scenario, tmp_path: Path) -> None:
    scenario.card()
    scenario.set(hang="nvmlInitWithFlags")
    run = Run(tmp_path, scenario)
    run.sampler = Sampler(
        NvmlMonitor(run.system, library=scenario.library), wait_s=0.1, hung_s=3.5
    )  # longer than the test samples
    run.test(None)
    check = one(run.go(), "driver")
    scenario.set(hang=None)
    assert (check.state, check.text) == ("fail", "The NVIDIA driver is not responding.")
    assert (check.fix or "").startswith("Restart")


def test_slow_driver_is_awaited(scenario: Scenario, tmp_path: Path) -> None:
    scenario.card()
    scenario.set(hang="nvmlInitWithFlags")
    run = Run(tmp_path, scenario)

    def answer(count: int) -> None:
        if count == 4:  # it has looked for as long as a healthy driver wants
            scenario.set(hang=None)

    run.sampler = SlowSampler(run.system, scenario.library, answer)
    run.test(None)
    checks = run.go()
    assert one(checks, "driver").state == one(checks, "card-answers").state == "pass"


def test_driver_silent_during_test_is_no_pass(scenario: Scenario, play: Play, tmp_path: Path) -> None:
    scenario.card(util="0")
    seen = tmp_path / "seen"

    def silent(count: int) -> None:
        if count == 2:
            scenario.card(util="!18")
        release_after_samples(3, seen)(count)

    checks = Run(play(START, PASSED, {"until": str(seen)}, END), scenario, before_sample=silent).go()
    assert [check.state for check in checks.checks if check.id == "driver"] == ["pass", "fail"]


def test_verdict_without_pytorch(scenario: Scenario, tmp_path: Path) -> None:
    scenario.card(util="0", pcie_gen="4")
    run = Run(tmp_path, scenario)
    run.test(None)
    checks = run.go()
    for language, expected in (("en", "No calculations were run"), ("zh_CN", "没有在显卡上做计算")):
        assert expected in Texts(language).translate(f"health.verdict.{select_headline(checks)}")
    computed = replace(checks, covers=(*checks.covers, "device-compute"))
    assert select_headline(computed) == "pass"
    assert select_headline(replace(checks, verdict="warn")) == "asked-warn"


def test_remapped_row_is_no_fault(scenario: Scenario, play: Play, tmp_path: Path) -> None:
    scenario.card(util="0", xid="13 4")
    seen = tmp_path / "seen"

    def before_sample(count: int) -> None:
        if count == 2:
            scenario.card(xid="63 5")
        release_after_samples(3, seen)(count)

    environment = play(START, PASSED, {"until": str(seen)}, END)
    check = one(Run(environment, scenario, before_sample=before_sample).go(), "card-xid")
    assert (check.state, check.value) == ("warn", 63)
    assert "firmly" not in (check.fix or "")


def test_silent_gpu_is_not_a_pass(scenario: Scenario, tmp_path: Path) -> None:
    """It names itself, and supports nothing else."""
    scenario.card()
    scenario.cards = [{key: scenario.cards[0][key] for key in ("name", "uuid", "bus") if key in scenario.cards[0]}]
    scenario.write()
    run = Run(tmp_path, scenario)
    run.test(None)
    checks = run.go()
    assert (checks.verdict, one(checks, "card-heat").state, select_headline(checks)) == ("pass", "skip", "untold")
    assert select_headline(replace(checks, covers=(*checks.covers, "card-heat"))) == "asked"
