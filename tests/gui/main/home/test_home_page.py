from __future__ import annotations

import time

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.results import Check
from gpu_assistant.gui.main.main_area import HOME, MONITOR, SETTINGS
from gpu_assistant.gui.worker import JobRunner
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
    assert page.hero.title_label.text() == "No NVIDIA GPU: PyTorch works on the CPU"
    assert page.hero.kind == "neutral"
    assert page.subtitle_label.text() == "Debian GNU/Linux 12 · AMD EPYC 7B13"
    text = page.environments_card.rows[0].accessibleName()
    for figure in ("2.13.0", "for the CPU", "3.11.14", "912 MB"):
        assert figure in text
    assert (page.hero.button.text(), page.benchmark_card.run_button.text()) == ("Run my first program", "Run benchmark")
    assert not page.prospect_card.isVisible()


def test_home_shows_newest_complete_benchmark(home, app):
    whole = replace(cpu_benchmark(), started=time.time() - 86_400)
    slow = replace(whole.results[0], median=whole.results[0].median / 4)
    killed = replace(whole, started=time.time(), results=(slow,), notes=("bench.note.killed",))
    app.stored = [whole, killed]
    _, page = home(app)
    assert page.benchmark_card.value_label.text() == "141"
    app.stored = [killed]
    _, alone = home(app)
    assert alone.benchmark_card.value_label.text() == "35.2"


def test_home_without_environment_leads_to_wizard(home, app, qtbot):
    app.known = ()
    window, page = home(app)
    assert page.hero.button.text() == "Set up PyTorch"
    assert not page.environments_card.rows
    assert not page.actions_panel.isVisible()
    # Nothing is there that could be changed, and one button is enough to begin.
    assert not page.software_card.isVisible()
    assert not page.environments_card.new_button.isVisible()
    assert page.prospect_card.isVisible()
    with qtbot.waitSignal(page.setup_requested):
        window.main_area.setup_requested.disconnect()
        page.hero.button.click()


def test_home_with_healthy_gpu(home, app, qtbot):
    app.machine = rtx4060()
    app.results["detect"] = app.machine
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, page = home(app)
    feed(window, sample(gpu(temp=41, util=3)), sample(gpu(temp=41, util=3)))
    assert (page.hero.kind, page.hero.title_label.text()) == ("ok", "Your GPU is running normally")
    # The values are in the card below; the hero says what they mean.
    assert page.hero.detail_label.text() == "Temperature, power and memory are all fine · 1 optional update"
    feed(window, sample(gpu(temp=41, util=3, temp_max=87)))
    assert page.hero.detail_label.text() == "46 °C below its slowdown temperature · 1 optional update"
    assert [figure.value_widget.figure for figure in page.live_card.metrics] == ["3", "5.6", "41", "112"]
    assert "13.0" in page.environments_card.rows[0].accessibleName()


def test_home_with_several_gpus_has_a_row_for_each(home, app, qtbot):
    app.results["detect"] = rtx4060()
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, page = home(app)
    cards = sample(gpu(0, temp=58, util=92), gpu(1, temp=57, util=99), gpu(2, temp=56, util=93))
    feed(window, cards, cards)
    assert page.hero.detail_label.text() == "Temperature, power and memory are all fine · 1 optional update"
    feed(window, sample(*(gpu(index, temp=58 - index, temp_max=87) for index in range(3))))
    assert page.hero.detail_label.text() == "The hottest is 29 °C below its slowdown temperature · 1 optional update"
    rows = page.live_card.gpu_rows.rows
    assert [row.name_label.text() for row in rows] == ["GPU 0", "GPU 1", "GPU 2"]
    assert [row.values[2].figure for row in rows] == ["58", "57", "56"]
    assert [row.state_pill.text for row in rows] == ["Normal"] * 3
    assert not page.live_card.others_button.isVisible()
    feed(window, sample(*(gpu(index, temp=58 - index, temp_max=87) for index in range(8))))
    assert len(page.live_card.gpu_rows.rows) == 4
    assert (page.live_card.others_button.isVisible(), page.live_card.others_button.text()) == (
        True,
        "Show all 8 GPUs",
    )
    with qtbot.waitSignal(page.page_requested) as wanted:
        page.live_card.others_button.click()
    assert wanted.args == [MONITOR]
    feed(window, sample(gpu(0)))
    assert not page.live_card.others_button.isVisible()


def test_home_with_hot_gpu(home, app, qtbot):
    app.results["detect"] = rtx4060()
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, page = home(app)
    now = time.time()
    feed(window, *(sample(gpu(temp=87, throttle=("hardware-thermal",)), t=now - 8 + i) for i in range(8)))
    assert (page.hero.kind, page.hero.title_label.text()) == ("warn", "Your GPU is hot and slowing itself down")
    assert page.hero.detail_label.text().startswith("7 seconds so far · clock ")
    (row,) = page.alarms_card.rows.values()
    # What to do is asked for by the hero's button, which is the page's primary one until then.
    assert not page.alarms_card.isVisible()
    assert (page.hero.button.text(), page.hero.button.kind) == ("What to do", "primary")
    button = page.hero.button
    button.click()
    assert row.fix_label.isVisible()
    assert button.kind == "secondary"
    # It stays where it is: what it unfolds goes below.
    qtbot.waitUntil(lambda: button.geometry().bottom() < page.alarms_card.y(), timeout=5000)
    assert "dust" in row.fix_label.text()
    # Title and clock stand above.
    assert not row.title_label.isVisible()
    assert "at 87 °C" in row.evidence_label.text()
    assert "MHz" not in row.evidence_label.text()
    assert row.source_button.toolTip().startswith("https://")
    row.mute_button.click()
    assert app.settings.is_muted("slowed-by-heat", "gpu0")
    assert row.mute_button.text() == "Notify me again"
    with qtbot.waitSignal(page.page_requested) as wanted:
        row.graphs_button.click()
    assert wanted.args == [MONITOR]
    window.main_area.open_page(HOME)
    row.programs_button.click()
    qtbot.waitUntil(lambda: window.main_area.current_page == MONITOR, timeout=20_000)
    feed(window, sample(gpu()))
    card = window.main_area.pages[MONITOR].gpu_details.processes_card
    qtbot.waitUntil(lambda: card.isVisible() and not card.visibleRegion().isEmpty(), timeout=5000)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "20 seconds so far · clock down 40%: 2,700 → 1,620 MHz"),
        ("zh_CN", "已持续 20 秒 · 频率从 2,700 降到 1,620 MHz（−40%）"),
    ],
)
def test_slowdown_is_told_by_the_clock_under_load_before(home, app, language, qtbot, code, text):
    app.results["detect"] = rtx4060()
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    language.set(code)
    window, page = home(app)
    window.main_area.sampling.load_now()
    now = time.time()
    idle, busy = gpu(temp=40, util=2, clock_sm=210), gpu(temp=80, util=99, clock_sm=2700)
    hot = gpu(temp=87, util=99, clock_sm=1620, throttle=("thermal",))
    steps = (
        *((idle, 80 - i) for i in range(30)),
        *((busy, 50 - i) for i in range(29)),
        *((hot, 20 - i) for i in range(21)),
    )
    feed(window, *(sample(state, t=now - ago) for state, ago in steps))
    assert page.hero.detail_label.text() == text
    # Without work the clock is low anyway, for a moment in which the alarm goes on.
    feed(window, sample(gpu(temp=86, util=0, clock_sm=210, throttle=("thermal",)), t=now))
    assert page.hero.detail_label.text() == text.split(" · ")[0]


def test_evidence_that_the_verdict_tells_is_not_repeated(home, app):
    app.results["detect"] = rtx4060()
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, page = home(app)
    now = time.time()
    hot = gpu(temp=87, throttle=("hardware-thermal",), clock_sm=None)
    feed(window, *(sample(hot, t=now - 8 + i) for i in range(8)))
    assert "at 87 °C" in page.hero.detail_label.text()
    assert "MHz" not in page.hero.detail_label.text()
    (row,) = page.alarms_card.rows.values()
    page.hero.button.click()
    assert not row.evidence_label.isVisible()
    feed(window, sample(replace(hot, clock_sm=1620), t=now))
    assert "at 87 °C" in row.evidence_label.text()
    assert row.evidence_label.isVisible()


def test_button_for_advice_tells_whether_it_is_shown(home, app):
    app.results["detect"] = rtx4060()
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, page = home(app)
    now = time.time()
    hot = gpu(temp=87, throttle=("hardware-thermal",))
    feed(window, *(sample(hot, t=now - 60 + i) for i in range(8)))
    states = [page.hero.button.accessibleDescription()]
    page.hero.button.click()
    states.append(page.hero.button.accessibleDescription())
    feed(window, *(sample(gpu(temp=50), t=now - 50 + i) for i in range(30)))
    assert (page.hero.kind, [*states, page.hero.button.accessibleDescription()]) == (
        "ok",
        ["collapsed", "expanded", ""],
    )


def test_advice_stays_as_it_was_left_until_another_alarm(home, app, qtbot):
    app.results["detect"] = rtx4060()
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, page = home(app)
    now = time.time()
    hot = gpu(temp=87, throttle=("hardware-thermal",))
    feed(window, *(sample(hot, t=now - 60 + i) for i in range(8)))
    page.hero.button.click()
    feed(window, sample(hot, t=now - 51))
    assert page.alarms_card.isVisible()
    page.hero.button.click()
    feed(window, sample(hot, t=now - 50))
    assert not page.alarms_card.isVisible()
    # An error does not wait to be asked.
    feed(window, *(sample(gpu(state="lost"), t=now - 40 + i) for i in range(3)))
    assert page.hero.kind == "error"
    assert page.alarms_card.isVisible()


def test_readings_with_the_limit_follow_an_alarm(home, app, qtbot):
    app.results["detect"] = rtx4060()
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, page = home(app)
    now = time.time()

    def order() -> tuple[bool, bool]:
        readings, actions = (page.column.indexOf(widget) for widget in (page.live_card, page.actions_panel))
        return page.column.indexOf(page.hero) < readings, readings < actions

    feed(window, sample(gpu(temp=50, temp_max=83), t=now - 30))
    assert order() == (True, False)
    hot = gpu(temp=87, temp_max=83, throttle=("hardware-thermal",))
    feed(window, *(sample(hot, t=now - 20 + i) for i in range(8)))
    assert page.hero.kind == "warn"
    assert order() == (True, True)
    temperature = page.live_card.metrics[2].value_widget
    assert (temperature.figure, temperature.unit) == ("87", "°C (slows at 83 °C)")
    feed(window, *(sample(gpu(temp=50, temp_max=83), t=now + i) for i in range(20)))
    assert order() == (True, False)


SICK = {"temp": 95, "temp_max": 83, "temp_slow": 90, "mem_used": 8 * GIB, "ecc_uncorrected": 3, "remap_pending": True}


def test_several_alarms_show_one_and_expand_the_rest(home, app, qtbot):
    app.results["detect"] = rtx4060()
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, page = home(app)
    now = time.time()
    feed(window, *(sample(gpu(**SICK), t=now - 12 + i) for i in range(12)))
    assert len(page.alarms_card.rows) >= 4
    first, *others = page.alarms_card.rows.values()
    assert page.hero.kind == "error"
    assert page.hero.title_label.text() == first.title_label.text()
    assert "3 memory errors" in page.hero.detail_label.text()
    # Title and evidence stand above: here is what to do.
    assert not first.title_label.isVisible()
    assert first.fix_label.isVisible()
    assert "3 memory errors" not in first.evidence_label.text()
    assert not any(row.isVisible() for row in others)
    assert page.alarms_card.expand_button.text() == "Show all"
    assert page.alarms_card.others_label.text().startswith("Also ")
    page.alarms_card.expand_button.click()
    assert all(row.isVisible() and row.title_label.isVisible() for row in others)
    page.alarms_card.expand_button.click()
    assert not any(row.isVisible() for row in others)
    # Folded, it names the other alarms still.
    page.hero.button.click()
    assert not first.isVisible()
    assert page.alarms_card.others_label.isVisible()


def test_alarm_of_several_gpus_is_named_once(home, app, qtbot):
    app.results["detect"] = rtx4060()
    app.known = (replace(ENVIRONMENT, variant="cu130"),)
    window, page = home(app)
    now, hot = time.time(), {"temp": 87, "throttle": ("thermal",)}
    full = gpu(1, **hot, mem_used=8 * GIB)
    feed(window, *(sample(gpu(**hot), full, t=now - 12 + i) for i in range(12)))
    assert page.hero.title_label.text() == "GPU 0 and 1: slowed by heat"
    assert page.hero.detail_label.text().startswith("GPU 0 · ")
    assert page.alarms_card.others_label.text() == "Also GPU 1: memory nearly full"


def test_home_without_environment_shows_gpu_health(home, app, qtbot):
    app.results["detect"] = rtx4060()
    app.known = ()
    window, page = home(app)
    feed(window, *(sample(gpu(temp=41, util=3)) for _ in range(2)))
    text = "Your GPU is running normally. About 10 minutes."
    assert page.hero.detail_label.text().startswith(text)
    assert page.hero.title_label.text() == "Your GPU is not set up for deep learning yet"
    now = time.time()
    feed(window, *(sample(gpu(**SICK), t=now + i) for i in range(12)))
    assert page.hero.kind == "error"
    assert (page.hero.button.text(), page.setup_button.text()) == ("What to do", "Set up PyTorch")
    with qtbot.waitSignal(page.setup_requested):
        window.main_area.setup_requested.disconnect()
        page.setup_button.click()


def test_home_with_gpu_unused_by_pytorch(home, app, qtbot):
    app.results["detect"] = rtx4060()
    window, page = home(app)
    assert page.hero.kind == "warn"
    assert "this build has no CUDA" in page.hero.title_label.text()
    with qtbot.waitSignal(page.setup_requested):
        window.main_area.setup_requested.disconnect()
        page.hero.button.click()


def test_home_of_simulated_machine(open_area, tmp_path, seen):
    area = open_area(FakeMain(tmp_path, rtx4060(), simulated=True))
    assert area.banner.isVisible()
    assert "NVIDIA GeForce RTX 4060" in area.banner.label.text()
    assert "simulated" in area.pages[HOME].hero.title_label.text()
    assert "The real computer in front of you" in seen(area.pages[HOME].live_card)


def test_monitor_of_simulated_machine_names_the_real_gpu(open_area, tmp_path, qtbot):
    area = open_area(FakeMain(tmp_path, rtx4060(), simulated=True))
    area.open_page(MONITOR)
    qtbot.waitUntil(lambda: area.current_page == MONITOR, timeout=20_000)
    assert area.pages[MONITOR].subtitle_label.text().startswith("Readings from the real computer")


def test_missing_terminal_shows_command_until_page_changes(home, app, qtbot):
    window, page = home(app)

    def no_terminal(environment):
        raise AppError("no-terminal", path=str(environment))

    app.system.open_terminal = no_terminal
    page.actions_panel.terminal_card.click()
    qtbot.waitUntil(page.actions_panel.result_banner.isVisible, timeout=5000)
    assert app.system.activation_command(page.facts.installed.folder) in page.actions_panel.result_banner.label.text()
    window.main_area.open_page(SETTINGS)
    window.main_area.open_page(HOME)
    assert not page.actions_panel.result_banner.isVisible()


def test_home_keeps_facts_when_detection_fails(open_window, app, qtbot):
    app.results["detect"] = AppError("internal", detail="probe")
    window = open_window(app)
    page = window.main_area.pages[HOME]
    qtbot.waitUntil(page.banner.isVisible, timeout=5000)
    assert "probe" in page.banner.label.text()
    assert page.environments_card.rows


def test_verify_again_shows_passed_count(home, app, qtbot):
    app.results["verify"] = replace(good_checks(), checks=PROOF)
    _, page = home(app)
    page.run_environment_action("verify", page.facts.environments[0])
    banner = page.environments_card.banner
    qtbot.waitUntil(banner.isVisible, timeout=5000)
    assert banner.kind == "ok"
    assert banner.label.text() == "pytorch: 2 of 2 checks passed"


def test_verify_again_shows_failed_check(home, app, qtbot):
    bad = Check(id="torch-import", state="fail", data={"reason": "ImportError"})
    app.results["verify"] = replace(good_checks(), verdict="fail", checks=(bad, *PROOF[1:]))
    _, page = home(app)
    page.run_environment_action("verify", page.facts.environments[0])
    banner = page.environments_card.banner
    qtbot.waitUntil(banner.isVisible, timeout=5000)
    assert banner.kind == "error"
    assert banner.label.text() == "pytorch: PyTorch does not load: ImportError"


def test_actions_open_and_copy(home, app, qtbot):
    _, page = home(app)
    page.actions_panel.terminal_card.click()
    qtbot.waitUntil(lambda: len(app.system.opened) == 1, timeout=5000)
    qtbot.waitUntil(
        lambda: not any(runner.running for runner in page.actions_panel.findChildren(JobRunner)), timeout=5000
    )
    page.run_environment_action("folder", page.facts.environments[0])
    qtbot.waitUntil(lambda: [what for what, _ in app.system.opened] == ["terminal", "folder"], timeout=5000)
    page.actions_panel.command_button.click()
    assert QApplication.clipboard().text() == app.system.activation_command(app.system.opened[0][1])
    qtbot.waitUntil(
        lambda: not any(runner.running for runner in page.actions_panel.findChildren(JobRunner)), timeout=5000
    )


def test_home_samples_only_while_visible(home, app):
    app.settings = replace(app.settings, alarms=False, tray=False)
    window, _ = home(app)
    assert window.main_area.sampling.running
    window.main_area.open_page(SETTINGS)
    assert not window.main_area.sampling.running
    window.main_area.open_page(HOME)
    assert window.main_area.sampling.running


def test_page_shortcuts_move_focus(home, app, qtbot):
    window, _ = home(app)
    window.main_area.rail.buttons[MONITOR].setFocus()
    qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    assert window.main_area.rail.buttons[SETTINGS].hasFocus()


# What was wrong once


def test_units_follow_language(home, app, language, qtbot):
    app.results["detect"] = rtx4060()
    window, page = home(app)
    feed(window, sample(gpu()))
    assert page.live_card.metrics[1].value_widget.unit == "of 8.0 GB"
    language.set("zh_CN")
    qtbot.waitUntil(lambda: page.live_card.metrics[1].value_widget.unit == "/ 8.0 GB", timeout=5000)
