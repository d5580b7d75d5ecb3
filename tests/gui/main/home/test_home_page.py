from __future__ import annotations

import time

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.results import Check
from gpu_assistant.gui.main.main_area import HOME, MONITOR, SETTINGS
from tests.fakes.examples import GIB, cpu_benchmark, good_checks, rtx4060
from tests.fakes.main_window import ENVIRONMENT, FakeMain, feed, gpu, sample

pytestmark = pytest.mark.gui


PROOF = (
    Check(id="torch-import", state="pass"),
    Check(id="tensor", state="pass"),
    Check(id="torch-cuda", state="skip"),
)

# Home


def test_home_without_nvidia_says_what_works(home, app):
    _, page = home(app)
    assert page.hero.title.text() == "No NVIDIA GPU. PyTorch works on the CPU."
    assert page.hero.kind == "neutral"
    assert page.subtitle.text() == "Debian GNU/Linux 12 · AMD EPYC 7B13"
    said = page.installed.accessibleName()
    for figure in ("2.13.0", "none: CPU build", "3.11.14", "912 MB"):
        assert figure in said
    assert page.fast.button.text() == "Measure"


def test_home_shows_newest_complete_benchmark(home, app):
    whole = replace(cpu_benchmark(), started=time.time() - 86_400)
    slow = replace(whole.results[0], median=whole.results[0].median / 4)
    killed = replace(whole, started=time.time(), results=(slow,), notes=("bench.note.killed",))
    app.kept = [whole, killed]
    _, page = home(app)
    assert page.fast.figure.text() == "141"
    app.kept = [killed]
    _, alone = home(app)
    assert alone.fast.figure.text() == "35.2"


def test_home_without_environment_leads_to_wizard(home, app, qtbot):
    app.known = ()
    window, page = home(app)
    assert page.hero.button.text() == "Set up PyTorch"
    assert not page.installed.isVisible()
    assert not page.ways.isVisible()
    with qtbot.waitSignal(page.setup_wanted):
        window.area.setup_wanted.disconnect()
        page.hero.button.click()


def test_home_with_healthy_gpu(home, app, qtbot):
    app.machine = rtx4060()
    app.results["detect"] = app.machine
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, page = home(app)
    feed(window, sample(gpu(temp=41, util=3)), sample(gpu(temp=41, util=3)))
    assert (page.hero.kind, page.hero.title.text()) == ("ok", "Your GPU is well")
    assert "41 °C" in page.hero.detail.text()
    assert [figure.figure.figure for figure in page.live.figures] == ["3", "5.6", "41", "112"]
    assert "13.0" in page.installed.accessibleName()


def test_home_with_several_gpus_names_the_shown_one(home, app, qtbot):
    app.results["detect"] = rtx4060()
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, page = home(app)
    cards = sample(gpu(0, temp=58, util=92), gpu(1, temp=57, util=99), gpu(2, temp=56, util=93))
    feed(window, cards, cards)
    assert page.hero.detail.text() == "hottest 58 °C, busiest 99 %"
    assert (page.live.others.isVisible(), page.live.others.text()) == (True, "2 more on Monitor")
    with qtbot.waitSignal(page.wanted) as wanted:
        page.live.others.click()
    assert wanted.args == [MONITOR]
    feed(window, sample(gpu(0)))
    assert not page.live.others.isVisible()


def test_home_with_hot_gpu(home, app):
    app.results["detect"] = rtx4060()
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, page = home(app)
    now = time.time()
    feed(window, *(sample(gpu(temp=87, throttle=("hardware-thermal",)), t=now - 8 + i) for i in range(8)))
    assert (page.hero.kind, page.hero.title.text()) == ("warn", "Your GPU is hot and slows itself down")
    assert "87 °C" in page.hero.detail.text()
    (row,) = page.alarms.rows.values()
    assert "dust" in row.fix.text()
    assert row.source.toolTip().startswith("https://")
    row.silence.click()
    assert app.settings.is_silent("slowed-by-heat", "gpu0")
    assert row.silence.text() == "Notify me again"


SICK = {"temp": 95, "temp_max": 83, "temp_slow": 90, "mem_used": 8 * GIB, "ecc_uncorrected": 3, "remap_pending": True}


def test_several_alarms_show_one_and_expand_the_rest(home, app, qtbot):
    app.results["detect"] = rtx4060()
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, page = home(app)
    now = time.time()
    feed(window, *(sample(gpu(**SICK), t=now - 12 + i) for i in range(12)))
    assert len(page.alarms.rows) >= 4
    first, *others = page.alarms.rows.values()
    assert page.hero.kind == "error"
    assert page.hero.title.text() == first.title.text()
    # Its sentence stands above: here is what to do.
    assert (first.title.isVisible(), first.evidence.isVisible(), first.fix.isVisible()) == (False, False, True)
    assert not any(row.isVisible() for row in others)
    assert page.alarms.more.text() == f"and {len(others)} more"
    page.alarms.more.click()
    assert all(row.isVisible() and row.title.isVisible() for row in others)
    page.alarms.more.click()
    assert not any(row.isVisible() for row in others)


def test_home_without_environment_shows_gpu_health(home, app, qtbot):
    app.results["detect"] = rtx4060()
    app.known = ()
    window, page = home(app)
    feed(window, *(sample(gpu(temp=41, util=3)) for _ in range(2)))
    said = "Your GPU is well: 41 °C, load 3 %. About 10 minutes."
    assert page.hero.detail.text().startswith(said)
    assert page.hero.title.text() == "Your GPU is not set up for deep learning yet"
    now = time.time()
    feed(window, *(sample(gpu(**SICK), t=now + i) for i in range(12)))
    assert page.hero.kind == "error"
    assert (page.hero.button.text(), page.setup.text()) == ("Health test", "Set up PyTorch")
    with qtbot.waitSignal(page.setup_wanted):
        window.area.setup_wanted.disconnect()
        page.setup.click()


def test_home_with_gpu_unused_by_pytorch(home, app, qtbot):
    app.results["detect"] = rtx4060()
    window, page = home(app)
    assert page.hero.kind == "warn"
    assert "this build has no CUDA" in page.hero.title.text()
    with qtbot.waitSignal(page.setup_wanted):
        window.area.setup_wanted.disconnect()
        page.hero.button.click()


def test_home_of_simulated_machine(open_area, tmp_path):
    area = open_area(FakeMain(tmp_path, rtx4060(), simulated=True))
    assert area.banner.isVisible()
    assert "NVIDIA GeForce RTX 4060" in area.banner.label.text()
    assert "simulated" in area.pages[HOME].hero.title.text()
    assert area.pages[HOME].live._who.text() == "The real computer you sit at"


def test_monitor_of_simulated_machine_names_the_real_gpu(open_area, tmp_path, qtbot):
    area = open_area(FakeMain(tmp_path, rtx4060(), simulated=True))
    area.open(MONITOR)
    qtbot.waitUntil(lambda: area.current == MONITOR, timeout=20_000)
    assert area.pages[MONITOR].subtitle.text().startswith("Figures of the real computer")


def test_missing_terminal_shows_command_until_page_changes(home, app, qtbot):
    window, page = home(app)

    def no_terminal(environment):
        raise AppError("no-terminal", path=str(environment))

    app.system.open_terminal = no_terminal
    page.ways.terminal.click()
    qtbot.waitUntil(page.ways.news.isVisible, timeout=5000)
    assert app.system.activation(page.facts.installed.folder) in page.ways.news.label.text()
    window.area.open(SETTINGS)
    window.area.open(HOME)
    assert not page.ways.news.isVisible()


def test_home_keeps_facts_when_detection_fails(open_window, app, qtbot):
    app.results["detect"] = AppError("internal", detail="probe")
    window = open_window(app)
    page = window.area.pages[HOME]
    qtbot.waitUntil(page.trouble.isVisible, timeout=5000)
    assert "probe" in page.trouble.label.text()
    assert page.installed.isVisible()


def test_verify_again_shows_passed_count(home, app, qtbot):
    app.results["verify"] = replace(good_checks(), checks=PROOF)
    _, page = home(app)
    page.installed.verify.click()
    qtbot.waitUntil(page.installed.proof.isVisible, timeout=5000)
    assert page.installed.proof.kind == "ok"
    assert page.installed.proof.label.text() == "2 of 2 checks passed"


def test_verify_again_shows_failed_check(home, app, qtbot):
    bad = Check(id="torch-import", state="fail", data={"reason": "ImportError"})
    app.results["verify"] = replace(good_checks(), verdict="fail", checks=(bad, *PROOF[1:]))
    _, page = home(app)
    page.installed.verify.click()
    qtbot.waitUntil(page.installed.proof.isVisible, timeout=5000)
    assert page.installed.proof.kind == "error"
    assert page.installed.proof.label.text() == "PyTorch does not load: ImportError"


def test_actions_open_and_copy(home, app, qtbot):
    _, page = home(app)
    page.ways.terminal.click()
    qtbot.waitUntil(lambda: len(app.system.opened) == 1, timeout=5000)
    qtbot.waitUntil(lambda: not page.ways._doing.running, timeout=5000)
    page.ways.folder.click()
    qtbot.waitUntil(lambda: [what for what, _ in app.system.opened] == ["terminal", "folder"], timeout=5000)
    page.ways.command.click()
    assert QApplication.clipboard().text() == app.system.activation(app.system.opened[0][1])
    qtbot.waitUntil(lambda: not page.ways._doing.running, timeout=5000)


def test_home_samples_only_while_visible(home, app):
    app.settings = replace(app.settings, alarms=False, tray=False)
    window, _ = home(app)
    assert window.area.sampling.running
    window.area.open(SETTINGS)
    assert not window.area.sampling.running
    window.area.open(HOME)
    assert window.area.sampling.running


def test_page_shortcuts_move_focus(home, app, qtbot):
    window, _ = home(app)
    window.area.rail.buttons[MONITOR].setFocus()
    qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    assert window.area.rail.buttons[SETTINGS].hasFocus()


# What was wrong once


def test_units_follow_language(home, app, language, qtbot):
    app.results["detect"] = rtx4060()
    window, page = home(app)
    feed(window, sample(gpu()))
    assert page.live.figures[1].figure.unit == "of 8.0 GB"
    language.set("zh_CN")
    qtbot.waitUntil(lambda: page.live.figures[1].figure.unit == "/ 8.0 GB", timeout=5000)
