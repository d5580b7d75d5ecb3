"""The dialog with the real PyTorch: a verdict, cancelled, closed, with a broken environment."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QTimer

from gpu_assistant.app import App
from gpu_assistant.core.paths import DataDir
from gpu_assistant.gui.health.dialog import HealthDialog, HealthDialogOptions, HealthTestEnvironment
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from gpu_assistant.health.job import CHILD_PROGRAM
from gpu_assistant.system import current_system

pytestmark = [pytest.mark.gui, pytest.mark.real_install, pytest.mark.timeout(900)]

LONG_MS = 600_000  # loading PyTorch from a slow disk takes most of it


@pytest.fixture
def app(tmp_path: Path) -> App:
    """The real services; matrix products take a second instead of five."""
    app = App(data_dir=str(DataDir(tmp_path / "data").root), environ={})
    rules = app.monitoring.health_rules
    app.monitoring.health_rules = replace(
        rules, tests=replace(rules.tests, product_seconds=1.0, cpu_memory_bytes=64 * 2**20)
    )
    return app


@pytest.fixture
def open_dialog(app: App, torch_environment: Path, qtbot, language):
    """Opens the dialog at a level with the real PyTorch, or with another environment."""
    dialogs: list[HealthDialog] = []

    def opened(level: int, environment: Path = torch_environment) -> HealthDialog:
        dialog = HealthDialog(app, None, HealthDialogOptions(level=level))
        dialogs.append(dialog)
        qtbot.addWidget(dialog)
        dialog.open()
        qtbot.waitUntil(lambda: not dialog.environment_runner.running, timeout=60_000)
        tests = app.monitoring.health_rules.tests
        dialog.set_environment(
            HealthTestEnvironment(environment=environment, cpu_only=True, limits=tests.limits_seconds)
        )
        return dialog

    yield opened
    for dialog in dialogs:
        dialog.reject()
        qtbot.waitUntil(lambda dialog=dialog: not dialog.isVisible(), timeout=60_000)


def child_processes() -> list[psutil.Process]:
    """The child processes that run the test."""
    processes = []
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if any(Path(argument) == CHILD_PROGRAM for argument in each.cmdline()):
                processes.append(each)
    return processes


@pytest.mark.parametrize("level", [1, 2])
def test_health_test_reaches_verdict(open_dialog, qtbot, level):
    dialog = open_dialog(level)
    with qtbot.waitSignal(dialog.test_runner.finished, timeout=LONG_MS):
        dialog.start_button.click()
    states = {row.check.id: row.check.state for row in dialog.result_view.rows}
    assert states["torch-import"] == states["cpu-compute"] == "pass"
    assert ("matmul-bits" in states, "memory-test" in states) == (level == 2, level == 2)
    assert dialog.result_view.verdict.isVisible()
    assert not child_processes()


def test_cancel_leaves_no_process(open_dialog, qtbot):
    dialog = open_dialog(2)
    dialog.start_button.click()
    qtbot.waitUntil(lambda: bool(child_processes()), timeout=60_000)
    with qtbot.waitSignal(dialog.test_runner.finished, timeout=5000):
        dialog.cancel_button.click()
    assert "Stopped." in dialog.message_banner.label.text()
    assert not child_processes()
    assert not dialog.result_view.verdict.isVisible()


def test_closing_leaves_no_process(open_dialog, qtbot):
    dialog = open_dialog(2)
    dialog.start_button.click()
    qtbot.waitUntil(lambda: bool(child_processes()), timeout=60_000)
    QTimer.singleShot(0, lambda: dialog.findChild(ConfirmDialog).accept())  # the dialog runs an event loop of its own
    dialog.reject()
    qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=5000)
    assert not child_processes()


def test_crashed_child_does_not_fail_gpu(open_dialog, qtbot):
    dialog = open_dialog(2)
    with qtbot.waitSignal(dialog.test_runner.finished, timeout=LONG_MS):
        dialog.start_button.click()
        qtbot.waitUntil(
            lambda: bool(child_processes()) and dialog.progress_label.text() == "Loading PyTorch", timeout=60_000
        )
        for each in child_processes():
            each.kill()
    assert [row.check.id for row in dialog.result_view.rows if row.check.state == "fail"] == ["test-end"]
    assert dialog.result_view.verdict.kind == "warn"


def test_missing_torch_fails_and_missing_environment_shown(open_dialog, qtbot, torch_environment, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(torch_environment, broken, symlinks=True, ignore=shutil.ignore_patterns("torch", "torchgen"))
    dialog = open_dialog(1, broken)
    with qtbot.waitSignal(dialog.test_runner.finished, timeout=LONG_MS):
        dialog.start_button.click()
    failed = [row.accessibleName() for row in dialog.result_view.rows if row.check.state == "fail"]
    assert len(failed) == 1
    assert "No module named 'torch'" in failed[0]
    current_system().environment_python(broken).unlink()
    with qtbot.waitSignal(dialog.test_runner.finished, timeout=60_000):
        dialog.start_button.click()
    assert "There is no environment at" in dialog.message_banner.label.text()
    assert not dialog.result_view.verdict.isVisible()
