from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import PySide6
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QRect, QSize, Qt, QTimer
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMainWindow, QScrollArea

from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.settings import Settings
from gpu_assistant.gui import theme
from gpu_assistant.gui.app import DesktopApplication, ExceptionHooks, SingleInstance
from gpu_assistant.gui.help import HelpDialog
from gpu_assistant.gui.language import texts
from gpu_assistant.gui.main import window as window_module
from gpu_assistant.gui.main.main_area import BENCHMARK, HOME, MONITOR, SETTINGS
from gpu_assistant.gui.main.window import DEFAULT_SIZE, FRAME_SIZE, MainWindow
from gpu_assistant.gui.qt_classes import QtClassLoader
from gpu_assistant.gui.widgets.cards import Banner, EmptyState
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from gpu_assistant.gui.worker import FunctionJob, JobRunner
from tests.fakes.main_window import FakeMain, feed, gpu, sample
from tests.gui.keyboard import tab_stops, wait_until_loaded

pytestmark = pytest.mark.gui


@pytest.fixture
def window(open_window, app, qtbot):
    made = open_window(app)
    qtbot.waitUntil(lambda: made.main_area.pages[HOME].facts.machine is not None, timeout=5000)
    qtbot.waitUntil(lambda: made.main_area.is_monitor_ready, timeout=20_000)
    return made


# Which face opens


def test_first_start_opens_wizard_and_later_ones_home(open_window, app, qtbot):
    app.settings = replace(app.settings, setup_done=False)
    window = open_window(app)
    assert window.wizard.isVisible()
    assert window.main_area is None
    window.wizard.finished.emit()
    assert window.wizard.isVisible(), "until Home is made, in a turn of its own"
    assert not window.main_area.pages
    qtbot.waitUntil(window.main_area.isVisible, timeout=5000)
    assert window.main_area.current_page == HOME
    qtbot.waitUntil(lambda: app.settings.setup_done, timeout=5000)


def test_only_look_is_remembered_and_is_no_setup(open_window, app, qtbot):
    app.settings = replace(app.settings, setup_done=False)
    window = open_window(app)
    window.wizard.main_area_requested.emit()
    qtbot.waitUntil(window.main_area.isVisible, timeout=5000)
    assert not app.settings.setup_done
    # The next start opens on Home, which leads to the setup.
    qtbot.waitUntil(lambda: app.settings.setup_skipped, timeout=5000)
    assert open_window(app).wizard is None


def test_simulated_machine_opens_wizard(open_window, tmp_path):
    window = open_window(FakeMain(tmp_path, simulated=True))
    assert window.wizard.isVisible()
    assert window.wizard.banner.isVisible()


def test_pages_open_a_new_wizard(window):
    window.main_area.setup_requested.emit()
    first = window.wizard
    assert first.isVisible()
    window.show_main()
    assert window.main_area.isVisible()
    window.main_area.setup_requested.emit()
    assert window.wizard is not first
    assert window.wizard.isVisible()


def test_new_environment_begins_at_this_computer_not_at_the_welcome(window, app, qtbot):
    window.main_area.environment_requested.emit("/home/mei/ai/second")
    assert window.wizard.isVisible()
    assert window.wizard.flow.page == "computer"
    assert window.wizard.flow.state.environment == "/home/mei/ai/second"
    qtbot.waitUntil(lambda: not window.wizard.controller.busy, timeout=20_000)


def module_loader(area) -> JobRunner:
    (runner,) = area.findChildren(JobRunner, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return runner


def test_monitor_opens_once_its_modules_are_loaded(open_area, app, qtbot, monkeypatch):
    area = open_area(app)
    loaded = False
    monkeypatch.setattr(area, "is_monitor_loaded", lambda: loaded and not module_loader(area).running)
    area.open_page(MONITOR)
    assert area.findChild(EmptyState, "loadingPage").isVisible()
    assert area.rail.current() == MONITOR
    loaded = True
    qtbot.waitUntil(lambda: area.current_page == MONITOR, timeout=20_000)


def test_modules_load_after_qt_classes(open_area, app, qtbot, monkeypatch):
    area = open_area(app)
    made = []
    area.findChild(QtClassLoader).loaded.connect(lambda: made.append(True))
    loads = []
    monkeypatch.setattr(module_loader(area), "start", lambda job: loads.append((job, list(made))))
    monkeypatch.setattr(area, "is_monitor_loaded", lambda: False)
    area.preload_monitor()
    area.preload_monitor()
    assert loads == []
    qtbot.waitUntil(lambda: bool(made), timeout=20_000)
    assert len(loads) == len(made) == 1


def test_other_page_chosen_during_loading_stays(open_area, app, qtbot, monkeypatch):
    area = open_area(app)
    monkeypatch.setattr(area, "is_monitor_loaded", lambda: not module_loader(area).running)
    module_loader(area).start(FunctionJob(lambda: None))
    area.open_page(MONITOR)
    area.open_page(SETTINGS)
    qtbot.waitUntil(lambda: not module_loader(area).running, timeout=20_000)
    assert area.current_page == SETTINGS


@pytest.mark.parametrize("size", [(880, 520), (1180, 620), (1180, 760)])
def test_home_keeps_its_title_in_a_low_window(window, qtbot, size):
    window.resize(*size)
    home = window.main_area.pages[HOME]
    qtbot.waitUntil(lambda: home.subtitle_label.isVisible() == (home.viewport().height() >= 700), timeout=5000)
    assert home.title_label.isVisible()


# Keys


def test_shortcuts_open_pages_and_go_back(window, qtbot):
    for key, page in ((Qt.Key.Key_2, MONITOR), (Qt.Key.Key_4, BENCHMARK), (Qt.Key.Key_1, HOME)):
        qtbot.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)
        assert window.main_area.current_page == page == window.main_area.rail.current()
    qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    assert window.main_area.current_page == SETTINGS
    qtbot.keyClick(window, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert window.main_area.current_page == HOME
    qtbot.keyClick(window, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert window.main_area.current_page == BENCHMARK


def test_rail_opens_pages(window, qtbot):
    qtbot.mouseClick(window.main_area.rail.buttons[MONITOR], Qt.MouseButton.LeftButton)
    assert window.main_area.current_page == MONITOR
    assert window.main_area.pages[MONITOR].isVisible()


def test_f1_opens_help_and_escape_closes_it(window, qtbot):
    qtbot.keyClick(window, Qt.Key.Key_F1)
    dialog = window.findChild(HelpDialog)
    assert dialog.topic == "home"
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_help_in_rail_keeps_the_page(window, qtbot):
    qtbot.mouseClick(window.main_area.rail.buttons[-1], Qt.MouseButton.LeftButton)
    assert window.main_area.rail.current() == HOME == window.main_area.current_page
    window.findChild(HelpDialog).close()


def test_f5_refreshes(window, app, qtbot):
    detections = app.calls.count("detect")
    qtbot.keyClick(window, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: app.calls.count("detect") == detections + 1, timeout=5000)


@pytest.mark.parametrize("page", [HOME, MONITOR, BENCHMARK, SETTINGS])
def test_tab_reaches_every_named_control(window, qtbot, page):
    window.main_area.open_page(page)
    feed(window, sample(gpu()))
    wait_until_loaded(qtbot, window)
    reached = tab_stops(qtbot, window)
    controls = [
        button
        for button in window.main_area.findChildren(QAbstractButton)
        if button.isVisible() and button.isEnabled() and not button.autoExclusive()
    ]
    assert controls
    for control in controls:
        name = control.accessibleName() or control.text()
        assert name, type(control).__name__
        assert control in reached, name


# Language, theme, size


@pytest.mark.parametrize("page", [HOME, MONITOR, BENCHMARK, SETTINGS])
def test_language_changes_on_an_open_page(window, language, qtbot, page):
    window.main_area.open_page(page)
    title = window.main_area.pages[page].title_label
    english, chinese = title.text(), {HOME: "首页", MONITOR: "监控", BENCHMARK: "测速", SETTINGS: "设置"}[page]
    language.set("zh_CN")
    qtbot.waitUntil(lambda: title.text() == chinese, timeout=5000)
    assert window.windowTitle() == "GPU 助手"
    language.set("en")
    qtbot.waitUntil(lambda: title.text() == english, timeout=5000)


def test_settings_apply_at_once_and_are_saved(window, app, language, qtbot):
    window.main_area.open_page(SETTINGS)
    page = window.main_area.pages[SETTINGS]
    page.theme_segments.buttons[2].click()
    page.language_segments.buttons[1].click()
    page.scale_segments.buttons[1].click()
    page.downloads_card.speed_picker.choose(page.downloads_card.speed_picker.entries[1])
    page.downloads_card.mirror_segments.buttons[1].click()
    assert (theme.choice(), language.current, theme.text_scale()) == ("dark", "zh_CN", 1.25)
    wanted = Settings(
        language="zh_CN", theme="dark", text_scale=1.25, setup_done=True, speed_limit=20_000_000, mirrors="first"
    )
    qtbot.waitUntil(lambda: app.settings == wanted, timeout=5000)


def test_settings_save_error_is_shown(window, app, qtbot, monkeypatch):
    window.main_area.open_page(SETTINGS)
    page = window.main_area.pages[SETTINGS]

    def full(new):
        raise AppError("disk-full", path="settings.json")

    app.save_settings = full
    page.theme_segments.buttons[1].click()
    qtbot.waitUntil(page.error_banner.isVisible, timeout=5000)
    assert "full" in page.error_banner.label.text()
    del app.save_settings


@pytest.mark.parametrize("size", [(880, 520), (1024, 640), (1180, 760)])
@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_no_horizontal_scrolling(window, language, qtbot, size, code):
    language.set(code)
    window.resize(*size)
    feed(window, sample(gpu()))
    for page in (HOME, MONITOR, BENCHMARK, SETTINGS):
        window.main_area.open_page(page)
        qtbot.wait(20)
        area = window.main_area.pages[page]
        assert isinstance(area, QScrollArea)
        assert area.widget().minimumSizeHint().width() <= area.viewport().width(), page


def closed_at(app, rect: QRect) -> None:
    """Writes where a window was closed last."""
    window = QMainWindow()
    window.setGeometry(rect)
    json.write_file(app.data.state / "window.geometry", bytes(window.saveGeometry().data()))


def test_window_geometry_is_restored(open_window, app, qtbot):
    window = open_window(app)
    window.resize(880, 640)
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=5000)
    again = MainWindow(app)
    assert again.height() == 640
    again.deleteLater()


def test_damaged_geometry_gives_default_size(app):
    app.data.state.mkdir(parents=True)
    (app.data.state / "window.geometry").write_bytes(b"{}")
    window = MainWindow(app)
    assert window.height() == min(DEFAULT_SIZE[1], window.screen().availableSize().height() - FRAME_SIZE.height())
    window.deleteLater()


def test_filled_window_has_the_themes_background(app, language, qtbot):
    window = MainWindow(app, "#123456")
    qtbot.addWidget(window)
    assert window.palette().window().color().name() == "#123456"
    window.build(language)
    assert window.palette().window().color() == QApplication.palette().window().color()


def test_theme_change_replaces_every_background(qapp, app, language, qtbot):
    window = MainWindow(app, "#ff00ff")
    window.show()
    qtbot.waitExposed(window)
    assert window.grab().toImage().pixelColor(3, 3).name() == "#ff00ff"
    theme.set_theme(qapp, "light")
    window.build(language)
    theme.set_theme(qapp, "dark")
    assert window.palette().window().color().name() == theme.color("window").name()
    window.close()
    window.wait_for_jobs()
    window.deleteLater()


def test_window_returns_onto_a_screen_that_is_there(app):
    free = QApplication.primaryScreen().availableGeometry()
    closed_at(app, QRect(free.right() + 500, free.bottom() + 500, 900, 600))
    window = MainWindow(app)
    window.show()
    assert free.intersects(window.frameGeometry())
    window.deleteLater()


def test_window_fits_a_screen_that_is_lower_than_its_usual_minimum(app, monkeypatch):
    # Full HD at 200 %, with a taskbar.
    class Screen:
        def availableSize(self) -> QSize:
            return QSize(960, 492)

    monkeypatch.setattr(MainWindow, "screen", lambda _: Screen())
    window = MainWindow(app)
    assert window.width() + FRAME_SIZE.width() <= 960
    assert window.height() + FRAME_SIZE.height() <= 492
    assert window.minimumHeight() <= window.height()
    window.deleteLater()


def test_first_size_shows_the_whole_navigation_rail(open_window, app):
    window = open_window(app)
    window.show_main()
    window.resize(*DEFAULT_SIZE)
    rail = window.main_area.rail
    assert not any(button.stacked for button in rail.buttons)
    window.resize(DEFAULT_SIZE[0] - 40, DEFAULT_SIZE[1])
    assert all(button.stacked for button in rail.buttons)


def test_window_is_no_larger_than_the_screen(app):
    free = QApplication.primaryScreen().availableGeometry()
    closed_at(app, QRect(free.topLeft(), free.size() * 2))
    window = MainWindow(app)
    window.show()
    assert window.height() <= free.height()
    assert window.width() <= max(free.width(), window.minimumWidth())
    window.deleteLater()


def test_maximized_window_opens_maximized(app, qtbot):
    window = MainWindow(app)
    window.showMaximized()
    window.close()
    again = MainWindow(app)
    assert again.isMaximized()
    again.deleteLater()


@pytest.mark.parametrize("height", [728, 1040])
def test_first_window_leaves_room_for_a_frame(app, monkeypatch, height):
    screen = SimpleNamespace(availableSize=lambda: QSize(1366, height))
    monkeypatch.setattr(MainWindow, "screen", lambda _: screen)
    window = MainWindow(app)
    # A title of a window takes some 25 to 40 pixels.
    assert window.height() == min(760, height - 48)
    assert window.width() == 1180
    window.deleteLater()


# Closing while work runs


@pytest.fixture
def measuring(window, app, qtbot):
    app.gate = threading.Event()
    window.main_area.open_page(BENCHMARK)
    page = window.main_area.pages[BENCHMARK]
    qtbot.waitUntil(lambda: page.is_loaded, timeout=5000)
    page.measure()
    yield page
    app.gate.set()
    qtbot.waitUntil(lambda: not page.measuring, timeout=5000)


def test_closing_during_benchmark_asks_first(window, measuring, monkeypatch):
    questions = []
    monkeypatch.setattr(ConfirmDialog, "ask", lambda *given, **verbs: questions.append(given[1]) or False)
    window.close()
    assert questions == ["Stop the benchmark?"]
    assert window.isVisible()
    assert measuring.measuring


def test_closing_while_an_install_stops_asks_nothing_and_closes(open_window, app, qtbot, monkeypatch):
    app.settings = replace(app.settings, setup_done=False)
    window, gate, questions = open_window(app), threading.Event(), []
    monkeypatch.setattr(ConfirmDialog, "ask", lambda *given, **_: questions.append(given[1]) or False)
    flow = window.wizard.flow
    flow.state = replace(flow.state, stage="stopping")
    window.wizard.controller.runners.install.start(FunctionJob(lambda: gate.wait(30)))
    window.close()
    gate.set()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=20_000)
    assert questions == []


def test_job_that_starts_while_the_window_closes_is_waited_for(open_window, app, qtbot):
    """Qt aborts a process whose thread still runs when its object is destroyed."""
    window, gate, ended = open_window(app), threading.Event(), []
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=20_000)
    runner = JobRunner(window)
    runner.finished.connect(lambda: ended.append(True))
    runner.start(FunctionJob(lambda: gate.wait(30)))
    opening = threading.Timer(0.2, gate.set)
    opening.start()
    window.wait_for_jobs()
    opening.join()
    assert ended == [True]
    assert not window.jobs_abandoned


def test_job_that_a_jobs_end_starts_after_the_close_is_waited_for(open_window, app, qtbot):
    window = open_window(app)
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=20_000)
    first, second = JobRunner(window), JobRunner(window)
    first.finished.connect(lambda: second.start(FunctionJob(lambda: None)))
    first.start(FunctionJob(lambda: None))
    window.wait_for_jobs()
    assert not first.running
    assert not second.running
    assert not window.jobs_abandoned


def test_job_that_does_not_end_after_the_close_is_abandoned(open_window, app, qtbot, monkeypatch):
    window, begun, gate = open_window(app), threading.Event(), threading.Event()
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=20_000)
    runner = JobRunner(window)
    runner.start(FunctionJob(lambda: begun.set() or gate.wait(30)))
    assert begun.wait(30)
    monkeypatch.setattr(window_module, "STOP_TIMEOUT_MS", 1)
    window.wait_for_jobs()
    assert window.jobs_abandoned
    gate.set()
    qtbot.waitUntil(lambda: not runner.running, timeout=5000)


def test_closed_area_starts_to_load_nothing(open_area, app, qtbot, monkeypatch):
    area = open_area(app)
    loads = []
    monkeypatch.setattr(module_loader(area), "start", loads.append)
    monkeypatch.setattr(area, "is_monitor_loaded", lambda: False)
    area.preload_monitor()
    area.stop()
    qtbot.wait(200)
    assert loads == []


def test_closing_stops_jobs_and_waits(window, measuring, monkeypatch, qtbot):
    monkeypatch.setattr(ConfirmDialog, "ask", lambda *_, **__: True)
    window.close()
    assert window.isVisible()
    assert "Stopping" in window.findChild(Banner, "statusBanner").label.text()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=5000)
    assert not measuring.measuring


def test_job_that_does_not_stop_is_abandoned(open_window, app, monkeypatch, qtbot):
    monkeypatch.setattr(window_module, "STOP_TIMEOUT_MS", 50)
    window = open_window(app)
    let_go = threading.Event()

    class Deaf:
        def run(self, context):
            let_go.wait(10)

    runner = JobRunner(window)
    runner.start(Deaf())
    window.close()
    assert window.isVisible()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=5000)
    let_go.set()
    runner.wait(5000)


# One instance, hooks


def test_second_instance_activates_the_first(tmp_path, qapp, qtbot):
    first = SingleInstance(tmp_path)
    assert first.try_lock()
    called = []
    first.listen(lambda: called.append(True))
    code = (
        "import sys, pathlib\n"
        "from PySide6.QtCore import QCoreApplication\n"
        "from gpu_assistant.gui.app import SingleInstance\n"
        "app = QCoreApplication([])\n"
        "second = SingleInstance(pathlib.Path(sys.argv[1]))\n"
        "allowed = []\n"
        "is_shown = not second.try_lock() and second.activate_running(allowed.append)\n"
        "sys.exit(0 if is_shown and allowed == [int(sys.argv[2])] else 1)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(os.getpid())]) as process:
        qtbot.waitUntil(lambda: process.poll() is not None, timeout=30_000)
        assert process.returncode == 0
    assert called
    first.release()
    again = SingleInstance(tmp_path)
    assert again.try_lock()
    again.release()


def test_programs_that_the_window_starts_do_not_find_its_qt(app, qapp, monkeypatch):
    """PySide puts its folder at the head of PATH on Windows, with Qt and a C++ runtime in it."""
    folder = str(Path(PySide6.__file__).resolve().parent)
    monkeypatch.setenv("PATH", os.pathsep.join([folder, "first", "second"]))
    DesktopApplication(app, language="en")
    assert os.environ["PATH"] == os.pathsep.join(["first", "second"])


def test_second_start_reports_in_the_terminal(app, qapp, capsys, monkeypatch):
    first = SingleInstance(app.data.state)
    assert first.try_lock()
    monkeypatch.setattr(SingleInstance, "activate_running", lambda *_: True)
    second = DesktopApplication(app, language="en")
    assert not second.acquire_instance()
    assert capsys.readouterr().err == "GPU Assistant is already open; its window was brought to the front.\n"
    monkeypatch.setattr(SingleInstance, "activate_running", lambda *_: False)
    shown = []

    def close() -> None:
        dialog = QApplication.activeModalWidget()
        if dialog is None:
            return
        shown.extend(label.text() for label in dialog.findChildren(QLabel))
        dialog.reject()

    # Not the hooks and the collector of a whole program.
    monkeypatch.setattr(second, "initialize", lambda: SimpleNamespace(texts=texts))
    closing = QTimer(interval=20)
    closing.timeout.connect(close)
    closing.start()
    assert not second.acquire_instance()
    assert "does not respond" in capsys.readouterr().err
    assert any("does not respond" in text for text in shown)
    first.release()


def test_data_folder_that_is_a_file_is_reported(tmp_path, qapp):
    (tmp_path / "state").write_text("", encoding="utf-8")
    with pytest.raises(AppError):
        SingleInstance(tmp_path / "state")


def test_unexpected_error_is_logged_and_shown_once(qapp, qtbot, caplog):
    shown = []
    hooks = ExceptionHooks(lambda: shown.append(True))
    hooks.install()
    try:
        error = ZeroDivisionError("first")
        sys.excepthook(ZeroDivisionError, error, None)
        thread = threading.Thread(target=lambda: 1 // 0, name="worker")
        thread.start()
        thread.join()
        qtbot.waitUntil(lambda: bool(shown), timeout=5000)
        qtbot.wait(20)
    finally:
        hooks.uninstall()
    assert shown == [True]
    assert "unhandled exception in thread worker" in caplog.text
    assert "first" in caplog.text


def test_minimized_window_is_filled_without_a_first_paint(app, qtbot, language):
    window = MainWindow(app)
    qtbot.addWidget(window)
    with qtbot.waitSignal(window.painted):
        window.show_minimized()
    assert window.isMinimized()


@pytest.mark.skipif(sys.platform != "win32", reason="elsewhere the tests have no screen")
def test_windows_own_platform_draws_the_tests(qapp):
    # Nothing that a test imports may ask for another one: fonts and windows would not be Windows'.
    assert qapp.platformName() == "windows"
