"""The health test's dialog, from the alarm and from Monitor to the verdict."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from gpu_assistant.app import App
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.results import Check
from gpu_assistant.gui.health.dialog import HealthDialog
from gpu_assistant.gui.health.job import CardTestJob
from gpu_assistant.gui.main.area import HOME, MONITOR
from tests.fakes.health_found import PROGRESS, found
from tests.fakes.main_window import ENVIRONMENT, FakeMain, feed, gpu, sample

pytestmark = pytest.mark.gui


@pytest.fixture
def services(tmp_path):
    made = FakeMain(tmp_path)
    made.results["health"] = found()
    made.news["health"] = (PROGRESS, *found().checks[:2])
    return made


@pytest.fixture
def opened(services, qtbot, language):
    def opened(**named) -> HealthDialog:
        dialog = HealthDialog(services, None, **named)
        qtbot.addWidget(dialog)
        dialog.open()
        qtbot.waitUntil(lambda: not dialog.reader.running, timeout=5000)
        return dialog

    return opened


def test_how_long_it_takes_is_said_before_and_the_verdict_says_what_it_covers(opened, services, qtbot, seen):
    dialog = opened(level=2)
    assert "Some minutes" in dialog.about.text()
    assert "30 minutes at the latest" in dialog.about.text()
    dialog.levels.buttons[2].click()
    assert "10 minutes of full load" in dialog.about.text()
    dialog.levels.buttons[1].click()
    with qtbot.waitSignal(dialog.runner.finished, timeout=5000):
        dialog.start.click()
    assert services.asked[-1] == f"health 2 {Path(ENVIRONMENT.path)}"
    assert [row.check.state for row in dialog.found.rows] == ["pass", "pass", "pass", "warn", "skip"]
    qtbot.waitUntil(lambda: "Look whether all fans turn" in seen(dialog), timeout=5000)
    assert dialog.found.verdict.kind == "warn"
    assert "It does not cover: " in dialog.found.scope.text()


def test_progress_in_words_then_cancel_keeps_what_was_tested(opened, services, qtbot, seen):
    services.gate = threading.Event()
    dialog = opened(level=2)
    dialog.start.click()
    qtbot.waitUntil(lambda: len(dialog.found.rows) == 2, timeout=5000)
    assert dialog.now.text() == "The free memory, bit by bit · GPU 0 · 42 % · 61 °C · 104 W"
    assert not dialog.levels.isEnabled()
    with qtbot.waitSignal(dialog.runner.finished, timeout=5000):
        dialog.cancel.click()
    assert "without a verdict" in seen(dialog)
    assert len(dialog.found.rows) == 2
    assert dialog.start.isVisible()


def test_a_device_is_called_as_the_window_calls_it(opened):
    dialog = opened()
    dialog.found.add(Check(id="matmul-bits", state="pass", data={"device": "cpu", "dtype": "float32", "runs": 3}))
    dialog.found.add(Check(id="device-compute", state="pass", data={"device": "cuda:1"}))
    assert [row.accessibleName().split()[1:3] for row in dialog.found.rows] == [["CPU", "computed"], ["GPU", "1"]]


def test_closing_stops_the_test_first(opened, services, qtbot):
    services.gate = threading.Event()
    dialog = opened()
    dialog.start.click()
    qtbot.waitUntil(lambda: dialog.runner.running, timeout=5000)
    dialog.reject()
    qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=5000)
    assert not dialog.runner.running


def test_without_an_environment_level_1_alone_goes(opened, services):
    services.known = ()
    dialog = opened(level=2)
    assert not dialog.start.isEnabled()
    assert "Level 1 works without it" in dialog.about.text()
    dialog.levels.buttons[0].click()
    assert dialog.start.isEnabled()
    assert "computes nothing" in dialog.about.text()


def test_the_benchmark_keeps_the_card_to_itself(opened):
    dialog = opened(busy=True)
    assert not dialog.start.isEnabled()
    assert "benchmark" in dialog.about.text()


def test_an_alarm_that_names_the_test_opens_it_at_level_2(home, services, qtbot):
    window, page = home(services)
    for _ in range(3):
        feed(window, sample(gpu(ecc_uncorrected=5)))
    row = next(iter(page.alarms.rows.values()))
    assert row.test.isVisible()
    row.test.click()
    dialog = window.findChild(HealthDialog)
    assert dialog.level == 2
    dialog.reject()
    assert window.area.current == HOME


def test_monitor_has_a_button_for_it(home, services, qtbot):
    window, _ = home(services)
    window.area.open(MONITOR)
    qtbot.waitUntil(lambda: window.area.current == MONITOR, timeout=20_000)
    window.area.pages[MONITOR].controls.test.click()
    dialog = window.findChild(HealthDialog)
    assert dialog.level == 1
    dialog.reject()


def test_the_real_job_runs_without_an_environment(tmp_path):
    """On this computer as it is, with the window's own way of calling it."""
    app = App(data_dir=str(tmp_path / "d"), environ={})
    checks = CardTestJob(app, None, 1).run(JobContext())
    assert checks.level == 1
    assert "cpu-compute" in checks.leaves_out
