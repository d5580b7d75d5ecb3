"""The buttons beside the steps for a slow card."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.bench.expected_ranges import LAST_STEPS, STEPS_BY_CAUSE, repair_steps
from gpu_assistant.core.errors import AppError
from gpu_assistant.gui.bench.result.repair_steps import STEP_REMEDIES
from gpu_assistant.gui.main.main_area import HEALTH, MONITOR
from gpu_assistant.gui.monitor.alarms import ADVISED_TEST_LEVEL
from gpu_assistant.gui.widgets.buttons import Button
from gpu_assistant.gui.worker import JobRunner
from tests.fakes.benchmarks import card_benchmark, slow_benchmark
from tests.fakes.main_window import feed, gpu, sample

pytestmark = pytest.mark.gui


def click(page, remedy: str) -> None:
    page.findChild(Button, remedy).click()


@pytest.mark.parametrize(
    ("cause", "texts"),
    [
        ("unknown", ["Open power settings", "Check for a driver update"]),
        ("power-plan", ["Open power settings"]),
        ("heat", ["Watch temperature"]),
        ("clocks", ["Check for a driver update"]),
        ("busy", ["Show programs"]),
        ("link", []),  # the card was idle: there is nothing to close
        ("slot", []),
    ],
)
def test_steps_that_the_program_can_help_with_have_buttons(open_result, cause, texts):
    page = open_result(slow_benchmark(cause))
    buttons = page.result_view.repair_steps.buttons.values()
    assert [each.text() for each in buttons] == [*texts, "Measure again", "Run health test"]
    # The one to begin with is the page's primary button.
    assert [each.kind for each in buttons] == ["primary", *["secondary"] * (len(texts) + 1)]
    assert not page.measure_button.isVisible()


@pytest.mark.parametrize(("load", "is_asked"), [(1, False), (40, True), (None, True)])
def test_slow_copies_ask_to_close_programs_unless_the_card_was_idle(load, is_asked):
    slow = slow_benchmark("link")
    slow = replace(slow, watched=tuple(replace(log, util_before=load) for log in slow.watched))
    assert ("bench.step.close-programs" in repair_steps(slow)) == is_asked


def test_buttons_end_at_one_edge(open_result, qtbot):
    buttons = list(open_result(slow_benchmark()).result_view.repair_steps.buttons.values())
    qtbot.waitUntil(lambda: len({each.geometry().right() for each in buttons}) == 1, timeout=5000)


def test_a_normal_result_after_a_slow_one_offers_to_measure_again(open_result, app, qtbot):
    page = open_result(slow_benchmark())
    assert not page.measure_button.isVisible()
    app.stored = [replace(card_benchmark(), started=time.time())]
    page.reload()
    qtbot.waitUntil(page.measure_button.isVisible, timeout=5000)
    assert page.measure_button.kind == "primary"


def test_every_remedy_belongs_to_a_step():
    assert set(STEP_REMEDIES) <= {step for steps in (*STEPS_BY_CAUSE.values(), LAST_STEPS) for step in steps}


def test_programs_are_shown_on_monitor(open_result, qtbot):
    page = open_result(slow_benchmark("busy"))
    area = page.window().main_area
    click(page, "show-programs")
    qtbot.waitUntil(lambda: area.current_page == MONITOR, timeout=20_000)
    feed(page.window(), sample(gpu()))
    card = area.pages[MONITOR].gpu_details.processes_card
    qtbot.waitUntil(lambda: card.isVisible() and not card.visibleRegion().isEmpty(), timeout=5000)


def test_temperature_is_watched_on_monitor(open_result, qtbot):
    page = open_result(slow_benchmark("heat"))
    area = page.window().main_area
    click(page, "watch-temperature")
    qtbot.waitUntil(lambda: area.current_page == MONITOR, timeout=20_000)
    assert not area.pages[MONITOR].gpu_details.is_open


def test_driver_update_begins_in_the_wizard(open_result, qtbot):
    page = open_result(slow_benchmark("clocks"))
    with qtbot.waitSignal(page.window().main_area.setup_requested, timeout=5000):
        click(page, "update-driver")


def test_measuring_again_is_a_step_that_starts_a_run(open_result, app, qtbot):
    page = open_result(slow_benchmark())
    app.gate = threading.Event()
    click(page, "measure-again")
    qtbot.waitUntil(lambda: page.measuring, timeout=5000)
    app.gate.set()
    qtbot.waitUntil(lambda: not page.measuring, timeout=5000)


def test_where_nothing_can_be_measured_the_next_step_is_the_primary_one(open_result, qtbot):
    page = open_result(slow_benchmark("slot"))
    again, health = page.result_view.repair_steps.buttons.values()
    page.take_focus()
    assert again.hasFocus()
    page.result_view.repair_steps.set_measurable(enabled=False, tool_tip="")
    assert (again.kind, health.kind) == ("secondary", "primary")
    page.take_focus()
    assert health.hasFocus()
    page.result_view.repair_steps.set_measurable(enabled=True, tool_tip="")
    assert (again.kind, health.kind) == ("primary", "secondary")


def test_no_run_is_offered_while_the_health_test_computes(open_result, app, qtbot):
    page = open_result(slow_benchmark())
    area = page.window().main_area
    click(page, "health-test")
    qtbot.waitUntil(lambda: area.current_page == HEALTH, timeout=20_000)
    health = area.pages[HEALTH]
    assert health.level == ADVISED_TEST_LEVEL
    button = page.findChild(Button, "measure-again")
    assert button.isEnabled()
    assert "About 1 minute" in button.toolTip()
    app.gate = threading.Event()
    qtbot.waitUntil(health.start_button.isEnabled, timeout=5000)
    health.start_button.click()
    qtbot.waitUntil(lambda: not button.isEnabled(), timeout=5000)
    assert button.toolTip() == "The health test is running on the card. Measure when it is done."
    app.gate.set()
    qtbot.waitUntil(button.isEnabled, timeout=5000)


def test_power_settings_open_and_a_failure_is_said(open_result, app, qtbot, monkeypatch, seen):
    page = open_result(slow_benchmark("power-plan"))
    click(page, "open-power-settings")
    qtbot.waitUntil(lambda: ("settings", Path("power")) in app.system.opened, timeout=5000)
    assert not page.message_banner.isVisible()
    # A click while they are still being opened opens nothing.
    qtbot.waitUntil(lambda: not any(runner.running for runner in page.findChildren(JobRunner)), timeout=5000)

    def refuse() -> None:
        raise AppError("no-power-settings")

    monkeypatch.setattr(app.system, "open_power_settings", refuse)
    click(page, "open-power-settings")
    qtbot.waitUntil(page.message_banner.isVisible, timeout=5000)
    assert "could not be opened" in seen(page.message_banner)
