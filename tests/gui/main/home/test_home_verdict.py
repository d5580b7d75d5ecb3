"""Home's verdict says nothing before it is known."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace

from gpu_assistant.core.results import Alarm, Health, HealthState
from gpu_assistant.gui.machine_facts import MachineFacts
from gpu_assistant.gui.main.home.verdict import home_verdict, last_test_text
from gpu_assistant.gui.monitor.gpu_summary import status_pill
from gpu_assistant.gui.monitor.gpu_summary import status_text as sentence_of
from gpu_assistant.health.last_tests import CardTest
from tests.fakes.examples import rtx4060, rtx4060_recommendation
from tests.fakes.main_window import ENVIRONMENT, feed, gpu, sample

pytestmark = pytest.mark.gui


def title(facts: MachineFacts, seen) -> str:
    return home_verdict(facts, seen, Health(t=0.0, state="unknown"), simulated=False).title


@pytest.mark.parametrize("seen", [None, sample()])
def test_no_gpu_is_claimed_only_after_detection(qapp, seen):
    assert title(MachineFacts(loaded=True), seen) == "Checking this computer…"


def test_answering_gpu_is_enough(qapp):
    assert title(MachineFacts(loaded=True), sample(gpu())) == "Your GPU is not set up for deep learning yet"


@pytest.mark.parametrize(("state", "kind"), [("well", "ok"), ("watching", "neutral")])
def test_gpu_under_observation_is_not_called_healthy(qapp, state: HealthState, kind: str):
    installed = MachineFacts(loaded=True, installed=replace(ENVIRONMENT, variant="cu130"))
    verdict = home_verdict(installed, sample(gpu(temp=89)), Health(t=0.0, state=state), simulated=False)
    assert verdict.kind == kind
    assert ("89 °C" in verdict.detail) == (state == "watching")  # a healthy card's values are beside it
    assert ("watching" in verdict.title) == (state == "watching")


def test_gpu_without_readings_is_explained(qapp):
    """An idle laptop's card that is let go of, and one that sleeps."""
    installed = MachineFacts(loaded=True, installed=replace(ENVIRONMENT, variant="cu130"))
    nothing = gpu(temp=None, util=None, state="resting")
    verdict = home_verdict(
        installed, replace(sample(nothing), nvml="resting"), Health(t=0.0, state="well"), simulated=False
    )
    assert (verdict.kind, verdict.detail.split(",")[0]) == (
        "ok",
        "The graphics card is idle. Readings pause for a moment",
    )
    asleep = replace(sample(replace(nothing, state="asleep")), nvml="asleep")
    verdict = home_verdict(installed, asleep, Health(t=0.0, state="asleep"), simulated=False)
    assert "a program uses it" in verdict.detail


def test_gpu_with_few_readings_is_not_called_healthy(qapp):
    installed = MachineFacts(loaded=True, installed=replace(ENVIRONMENT, variant="cu130"))
    health = Health(t=0.0, state="untold", untold=(0,))
    verdict = home_verdict(installed, sample(gpu(temp=None)), health, simulated=False)
    assert (verdict.kind, verdict.title) == ("neutral", "Your GPU reports too little to tell whether it is healthy")
    assert status_pill(health) == ("neutral", "Unknown")


@pytest.mark.parametrize("installed", [None, replace(ENVIRONMENT, variant="cu130")])
def test_silent_driver_is_reported_and_not_called_healthy(qapp, installed):
    health = Health(t=0.0, state="slow")
    verdict = home_verdict(
        MachineFacts(loaded=True, installed=installed), sample(gpu(state="silent")), health, simulated=False
    )
    assert verdict.kind != "ok"
    assert "well" not in verdict.title + verdict.detail
    assert status_pill(health) == ("neutral", "no response")
    if installed is not None:
        assert (verdict.kind, verdict.title) == ("neutral", "The graphics driver is not responding right now")
        assert "restart the computer" in verdict.detail


ALARMED = Health(
    t=0.0, state="error", alarms=(Alarm(id="lost", level="error", gpu=0, since=0.0, data={"name": "NVIDIA H100"}),)
)
HOT = Health(
    t=0.0,
    state="warn",
    alarms=(
        Alarm(
            id="hot",
            level="warn",
            gpu=0,
            since=0.0,
            data={"name": "A", "temp": 90, "limit": 87, "air": "@health.air.desktop"},
        ),
    ),
)
UNUSED = MachineFacts(loaded=True, installed=ENVIRONMENT, machine=rtx4060())


def test_worst_alarm_comes_before_setup_advice(qapp):
    assert UNUSED.is_gpu_unused()
    lost = home_verdict(UNUSED, sample(gpu()), ALARMED, simulated=False)
    assert (lost.kind, lost.shows_alarm, lost.target) == ("error", True, "advice")
    hot = home_verdict(UNUSED, sample(gpu()), HOT, simulated=False)
    assert (hot.kind, hot.shows_alarm, hot.target) == ("warn", True, "advice")
    assert hot.detail == "A is at 90 °C; it slows down at 87 °C."
    well = home_verdict(UNUSED, sample(gpu()), None, simulated=False)
    assert (well.kind, well.shows_alarm, well.target) == ("warn", False, "setup")


@pytest.mark.parametrize("health", [ALARMED, HOT])
def test_unhealthy_gpu_gets_no_setup_offer(qapp, health: Health):
    verdict = home_verdict(MachineFacts(loaded=True), sample(gpu()), health, simulated=False)
    assert (verdict.shows_alarm, verdict.target, verdict.action) == (True, "advice", "What to do")


def test_evidence_of_an_alarm_that_several_gpus_have_names_its_gpu(qapp):
    hot = HOT.alarms[0]
    health = replace(HOT, alarms=(replace(hot, gpu=3), hot), cards=4)
    verdict = home_verdict(UNUSED, sample(gpu()), health, simulated=False)
    assert verdict.detail == "GPU 3 · A is at 90 °C; it slows down at 87 °C."


@pytest.mark.parametrize("cards", [1, 8])
def test_unhealthy_gpu_of_several_is_named(qapp, cards: int):
    health = replace(ALARMED, alarms=(replace(ALARMED.alarms[0], gpu=6),), cards=cards)
    seen = sample(*(gpu(index) for index in range(cards)))
    for verdict in (
        home_verdict(UNUSED, seen, health, simulated=False).title,
        sentence_of(replace(seen, nvml="ready"), health, simulated=False),
    ):
        assert verdict.endswith("GPU 6: no longer responds" if cards > 1 else "The GPU no longer responds")


def test_setup_stays_reachable_beside_an_alarm(home, app, qtbot):
    app.known = ()
    window, page = home(app)
    assert not page.setup_button.isVisible()
    for _ in range(3):
        feed(window, sample(gpu(state="lost")))
    assert page.hero.button.text() == "What to do"
    with qtbot.waitSignal(page.setup_requested, timeout=5000):
        page.setup_button.click()


def test_only_look_shows_gpu_health_first(qapp):
    facts, well = MachineFacts(loaded=True), Health(t=0.0, state="well")
    assert home_verdict(facts, sample(gpu(temp=50)), well, simulated=False).target == "setup"
    verdict = home_verdict(facts, sample(gpu(temp=50)), well, simulated=False, setup_skipped=True)
    assert (verdict.kind, verdict.title, verdict.target) == ("ok", "Your GPU is running normally", "graphs")
    assert home_verdict(facts, sample(), None, simulated=False, setup_skipped=True).kind in ("neutral", "accent")


def test_computer_text_counts_gpus():
    machine = rtx4060()
    card = machine.gpus[0]
    assert (
        MachineFacts(machine=replace(machine, gpus=(card,) * 8))
        .computer_text()
        .startswith("8 × NVIDIA GeForce RTX 4060 · ")
    )
    two = MachineFacts(machine=replace(machine, gpus=(card, replace(card, name="NVIDIA H100")))).computer_text()
    assert two.startswith("NVIDIA GeForce RTX 4060 + NVIDIA H100 · ")


def test_home_says_when_the_last_health_test_was_and_what_it_found(qapp):
    cards = (gpu(0, uuid="GPU-a"), gpu(1, uuid="GPU-b"))
    passed = CardTest(ended=time.mktime((2026, 11, 20, 12, 0, 0, 0, 0, -1)), level=2, verdict="pass")

    def text(**tests: CardTest) -> str:
        by_key = {f"GPU-{name}": test for name, test in tests.items()}
        return last_test_text(MachineFacts(loaded=True, health_tests=by_key), cards)

    assert text() == "Health test: not run yet"
    assert text(a=passed) == "Health test: 1 of 2 cards passed"
    assert text(a=passed, b=passed) == "Health test passed on 2026-11-20 (thorough check)"
    assert text(a=passed, b=replace(passed, verdict="fail")) == "Health test failed on 2026-11-20"
    assert text(a=replace(passed, verdict="warn")) == "Health test gave warnings on 2026-11-20"


def test_failed_health_test_is_not_called_normal(qapp):
    failed = CardTest(ended=time.mktime((2026, 11, 20, 12, 0, 0, 0, 0, -1)), level=1, verdict="fail")
    installed = replace(ENVIRONMENT, variant="cu130")
    facts = MachineFacts(loaded=True, installed=installed, health_tests={"GPU-a": failed})
    well = Health(t=0.0, state="well")
    verdict = home_verdict(facts, sample(gpu(uuid="GPU-a", temp=50)), well, simulated=False)
    assert (verdict.kind, verdict.target, verdict.action) == ("warn", "test", "Run health test")
    assert "2026-11-20, quick check. " in verdict.detail
    other = home_verdict(facts, sample(gpu(uuid="GPU-c", temp=50)), well, simulated=False)
    assert (other.kind, other.title) == ("ok", "Your GPU is running normally")


def test_updates_that_wait_are_counted_in_the_verdict(qapp):
    advice = rtx4060_recommendation()
    facts = MachineFacts(
        loaded=True,
        machine=rtx4060(),
        installed=replace(ENVIRONMENT, variant="cu130", torch="2.13.0"),
        recommendation=replace(advice, driver=replace(advice.driver, action="update")),
    )
    well, readings = Health(t=0.0, state="well"), sample(gpu(temp=50, temp_max=87))
    assert home_verdict(facts, readings, well, simulated=False).detail == (
        "37 °C below its slowdown temperature · 2 optional updates"
    )
    newest = replace(facts, installed=replace(facts.installed, torch="2.15.0"))
    assert home_verdict(newest, readings, well, simulated=False).detail.endswith(" · 1 optional update")
