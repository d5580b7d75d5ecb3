"""Progress on the task bar, and a word when work ended while the window is behind others."""

from __future__ import annotations

import sys
import threading

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from gpu_assistant.bench.child_protocol import BenchmarkProgress
from gpu_assistant.core.errors import AppError, Cancelled, RebootRequired
from gpu_assistant.gui.main.main_area import BENCHMARK, HOME
from gpu_assistant.gui.main.tray import DesktopIntegration, is_own_window_active
from gpu_assistant.gui.worker import JobRunner
from gpu_assistant.system import current_system
from tests.fakes.main_window import FakeMain
from tests.fakes.system import FakeSystem

pytestmark = pytest.mark.gui


class Bar:
    """A task bar that remembers; only what differs from the last."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, float | None]] = []
        self.closed = False

    def show(self, state: str, fraction: float | None = None) -> bool:
        self.seen.append((state, fraction))
        return True

    def is_new_button(self, message: int) -> bool:
        return False

    def close(self) -> None:
        self.closed = True


class Job:
    """Tells `news`, waits for `gate`, ends with `error` or well."""

    def __init__(self, *events: object, error: AppError | None = None) -> None:
        self.events, self.error, self.gate = events, error, threading.Event()

    def run(self, context):
        for each in self.events:
            context.report(each)
        assert self.gate.wait(20)
        if self.error is not None:
            raise self.error


def step(n: int) -> BenchmarkProgress:
    return BenchmarkProgress(index=n, total=4, workload="matmul", device="cpu", dtype="fp32", size=(1024,))


class Stage:
    """A desktop with a window that is in front, or not."""

    def __init__(self, language) -> None:
        self.bar = Bar()
        self.front = False
        self.window = QWidget()
        self.desktop = DesktopIntegration(self.window, language, lambda _: self.bar, lambda: self.front)
        self.notifications = []
        self.desktop.notified.connect(self.notifications.append)
        self.runner = JobRunner(self.window)
        self.other = JobRunner(self.window)


@pytest.fixture
def stage(qtbot, language):
    made = Stage(language)
    qtbot.addWidget(made.window)
    made.desktop.watch_runner(made.other, "install", lambda _: 0.25)
    made.desktop.watch_benchmark(made.runner)
    yield made
    made.desktop.close()
    assert made.desktop.tray is None


def finish(qtbot, runner: JobRunner, job: Job) -> None:
    with qtbot.waitSignal(runner.finished, timeout=10_000):
        job.gate.set()


def test_progress_from_indeterminate_to_none(stage, qtbot):
    job = Job(step(1), "a result", step(3))
    stage.runner.start(job)
    assert stage.bar.seen == [("busy", None)]
    qtbot.waitUntil(lambda: stage.bar.seen[-1] == ("normal", 0.5), timeout=10_000)
    assert stage.bar.seen == [("busy", None), ("normal", 0.0), ("normal", 0.5)]
    finish(qtbot, stage.runner, job)
    assert stage.bar.seen[-1] == ("none", None)
    [word] = stage.notifications
    assert (word.title, word.is_error) == ("Benchmark finished", False)


def test_failure_is_red_until_window_is_active(stage, qtbot):
    job = Job(error=AppError("disk-full", path="D:\\"))
    stage.runner.start(job)
    finish(qtbot, stage.runner, job)
    assert stage.bar.seen[-1] == ("error", None)
    [word] = stage.notifications
    assert word.is_error
    assert "full" in word.text
    QApplication.instance().applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    assert stage.bar.seen[-1] == ("none", None)
    assert stage.desktop.tray is None


def test_awaited_driver_is_named_by_the_notification(stage, qtbot):
    for code in ("driver-awaited", "restart-needed"):
        job = Job(error=RebootRequired(code, commands="x"))
        stage.runner.start(job)
        finish(qtbot, stage.runner, job)
    assert [word.title for word in stage.notifications] == ["Now install the driver", "A restart is needed"]


def test_cancelled_work_sends_no_notification(stage, qtbot):
    job = Job(error=Cancelled())
    stage.runner.start(job)
    finish(qtbot, stage.runner, job)
    assert stage.bar.seen[-1] == ("none", None)
    assert not stage.notifications


@pytest.mark.parametrize("error", [None, AppError("disk-full", path="D:\\")])
def test_active_window_gets_no_notification(stage, qtbot, error):
    stage.front = True
    job = Job(error=error)
    stage.runner.start(job)
    finish(qtbot, stage.runner, job)
    assert not stage.notifications
    assert stage.desktop.tray is None


def test_first_of_two_jobs_shows_on_the_button(stage, qtbot):
    install, measure = Job("step"), Job(error=AppError("disk-full", path="D:\\"))
    stage.other.start(install)
    qtbot.waitUntil(lambda: stage.bar.seen[-1] == ("normal", 0.25), timeout=10_000)
    stage.runner.start(measure)
    finish(qtbot, stage.runner, measure)
    assert stage.bar.seen[-1] == ("normal", 0.25)
    finish(qtbot, stage.other, install)
    assert stage.bar.seen[-1] == ("none", None)
    assert [word.title for word in stage.notifications] == ["The benchmark stopped", "Installation finished"]


def test_notifications_in_chinese(stage, qtbot, language):
    language.set("zh_CN")
    job = Job()
    stage.other.start(job)
    finish(qtbot, stage.other, job)
    assert stage.notifications[0].title == "安装完成"


def test_notification_on_a_real_desktop(stage, qtbot):
    """Where there is a place for icons (Windows; Linux' test screen has none), one carries the message."""
    job = Job()
    stage.runner.start(job)
    finish(qtbot, stage.runner, job)
    there = QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()
    assert there or sys.platform != "win32"
    assert (stage.desktop.tray is not None and stage.desktop.tray.isVisible()) is there
    if stage.desktop.tray is not None:
        with qtbot.waitSignal(stage.desktop.window_requested, timeout=5000):
            stage.desktop.tray.messageClicked.emit()
    stage.desktop.close()
    assert stage.bar.closed
    assert stage.desktop.tray is None


def test_system_task_bar(qtbot, language):
    """On Windows the shell takes it; Linux has none, and nothing breaks."""
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    bars = []

    def create_taskbar(handle):
        bars.append(current_system().taskbar(handle))
        return bars[-1]

    desktop = DesktopIntegration(window, language, create_taskbar, lambda: True)
    runner = JobRunner(window)
    desktop.watch_benchmark(runner)
    job = Job(step(2))
    runner.start(job)
    finish(qtbot, runner, job)
    assert [bar is not None for bar in bars] == [sys.platform == "win32"]
    desktop.close()


@pytest.mark.skipif(sys.platform != "win32", reason="a message of Windows' shell")
def test_new_button_gets_what_the_last_one_showed(qtbot, language):
    """Explorer was restarted, or had no task bar yet: it sends the registered message once the button is there."""
    import ctypes
    from ctypes import wintypes

    window, other = QWidget(), QWidget()
    for each in (window, other):
        qtbot.addWidget(each)
        each.show()
        qtbot.waitExposed(each)
    bar = current_system().taskbar(int(window.winId()))

    class SeenBar(Bar):
        def is_new_button(self, message: int) -> bool:
            return bar.is_new_button(message)

    seen = SeenBar()
    desktop = DesktopIntegration(window, language, lambda _: seen, lambda: True)
    runner = JobRunner(window)
    desktop.watch_benchmark(runner)
    job = Job(step(3))
    runner.start(job)
    qtbot.waitUntil(lambda: seen.seen[-1] == ("normal", 0.5), timeout=10_000)
    shown = len(seen.seen)
    user32 = ctypes.WinDLL("user32")
    user32.PostMessageW.argtypes = (wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM)
    message = user32.RegisterWindowMessageW("TaskbarButtonCreated")
    user32.PostMessageW(int(other.winId()), message, 0, 0)
    user32.PostMessageW(int(window.winId()), message, 0, 0)
    try:
        qtbot.waitUntil(lambda: len(seen.seen) > shown, timeout=10_000)
        assert set(seen.seen[shown:]) == {("normal", 0.5)}  # Qt shows a posted message twice
    finally:
        finish(qtbot, runner, job)
        desktop.close()


def test_minimized_window_is_not_active(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(is_own_window_active, timeout=10_000)
    window.showMinimized()
    qtbot.waitUntil(lambda: not is_own_window_active(), timeout=10_000)


# In the window


def settled(window, qtbot) -> None:
    """The graphs' libraries cannot be stopped while they load, and a window may not go before they are there."""
    qtbot.waitUntil(lambda: window.main_area.pages[HOME].facts.machine is not None, timeout=20_000)
    qtbot.waitUntil(lambda: window.main_area.is_monitor_ready, timeout=60_000)


@pytest.fixture
def bar(app) -> Bar:
    made = Bar()
    app.system = FakeSystem(taskbar=lambda _: made)
    return made


def test_benchmark_page_shows_on_the_task_bar(open_window, app, bar, qtbot):
    window = open_window(app)
    settled(window, qtbot)
    assert not bar.seen
    window.main_area.open_page(BENCHMARK)
    page = window.main_area.pages[BENCHMARK]
    qtbot.waitUntil(lambda: page.can_measure, timeout=5000)
    page.measure()
    qtbot.waitUntil(lambda: not page.measuring, timeout=10_000)
    assert bar.seen[0] == ("busy", None)
    assert bar.seen[-1] == ("none", None)
    window.close()
    qtbot.waitUntil(lambda: bar.closed, timeout=20_000)


def test_install_shows_on_the_task_bar(open_window, app, bar, qtbot):
    window = open_window(app)
    settled(window, qtbot)
    window.show_wizard()
    road = window.wizard.controller
    road.go_to("computer")
    qtbot.waitUntil(lambda: not road.busy and road.flow.state.plan is not None, timeout=10_000)
    road.install()
    assert bar.seen[0] == ("busy", None)
    qtbot.waitUntil(lambda: not road.busy, timeout=10_000)
    assert bar.seen[-1] == ("none", None)


def test_simulated_install_shows_nothing(open_window, tmp_path, qtbot):
    app, bar = FakeMain(tmp_path, simulated=True), Bar()
    app.system = FakeSystem(taskbar=lambda _: bar)
    window = open_window(app)
    road = window.wizard.controller
    road.go_to("computer")
    qtbot.waitUntil(lambda: not road.busy and road.flow.state.plan is not None, timeout=10_000)
    road.install()
    qtbot.waitUntil(lambda: not road.busy, timeout=10_000)
    QCoreApplication.processEvents()
    assert not bar.seen
