"""The health test's dialog with the real PyTorch: to its verdict, stopped, closed, with an environment that breaks."""

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
def own(tmp_path: Path) -> App:
    """The program itself; products take a second instead of five."""
    app = App(data_dir=str(DataDir(tmp_path / "data").root), environ={})
    rules = app.monitoring.health_rules
    app.monitoring.health_rules = replace(
        rules, tests=replace(rules.tests, product_seconds=1.0, cpu_memory_bytes=64 * 2**20)
    )
    return app


@pytest.fixture
def opened(own: App, torch_environment: Path, qtbot, language):
    """A dialog at a level, whose ground is the environment with the real PyTorch, or another one."""
    made: list[HealthDialog] = []

    def opened(level: int, environment: Path = torch_environment) -> HealthDialog:
        dialog = HealthDialog(own, None, HealthDialogOptions(level=level))
        made.append(dialog)
        qtbot.addWidget(dialog)
        dialog.open()
        qtbot.waitUntil(lambda: not dialog.environment_runner.running, timeout=60_000)
        tests = own.monitoring.health_rules.tests
        dialog._on_environment_read(
            HealthTestEnvironment(environment=environment, cpu_only=True, limits=tests.limits_seconds)
        )
        return dialog

    yield opened
    for dialog in made:
        dialog.reject()
        qtbot.waitUntil(lambda dialog=dialog: not dialog.isVisible(), timeout=60_000)


def children() -> list[psutil.Process]:
    """The programs below this one that test."""
    found = []
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if any(Path(word) == CHILD_PROGRAM for word in each.cmdline()):
                found.append(each)
    return found


@pytest.mark.parametrize("level", [1, 2])
def test_health_test_reaches_verdict(opened, qtbot, level):
    dialog = opened(level)
    with qtbot.waitSignal(dialog.test_runner.finished, timeout=LONG_MS):
        dialog.start_button.click()
    states = {row.check.id: row.check.state for row in dialog.result_view.rows}
    assert states["torch-import"] == states["cpu-compute"] == "pass"
    assert ("matmul-bits" in states, "memory-test" in states) == (level == 2, level == 2)
    assert dialog.result_view.verdict.isVisible()
    assert not children()


def test_cancel_leaves_no_process(opened, qtbot):
    dialog = opened(2)
    dialog.start_button.click()
    qtbot.waitUntil(lambda: bool(children()), timeout=60_000)
    with qtbot.waitSignal(dialog.test_runner.finished, timeout=5000):
        dialog.cancel_button.click()
    assert "Stopped." in dialog.message_banner.label.text()
    assert not children()
    assert not dialog.result_view.verdict.isVisible()


def test_closing_leaves_no_process(opened, qtbot):
    dialog = opened(2)
    dialog.start_button.click()
    qtbot.waitUntil(lambda: bool(children()), timeout=60_000)
    QTimer.singleShot(0, lambda: dialog.findChild(ConfirmDialog).accept())  # the question has a loop of its own
    dialog.reject()
    qtbot.waitUntil(lambda: not dialog.isVisible(), timeout=5000)
    assert not children()


def test_crashed_child_does_not_fail_gpu(opened, qtbot):
    dialog = opened(2)
    with qtbot.waitSignal(dialog.test_runner.finished, timeout=LONG_MS):
        dialog.start_button.click()
        qtbot.waitUntil(lambda: bool(children()) and dialog.progress_label.text() == "Loading PyTorch", timeout=60_000)
        for each in children():
            each.kill()
    assert [row.check.id for row in dialog.result_view.rows if row.check.state == "fail"] == ["test-end"]
    assert dialog.result_view.verdict.kind == "warn"


def test_missing_torch_fails_and_missing_environment_shown(opened, qtbot, torch_environment, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(torch_environment, broken, symlinks=True, ignore=shutil.ignore_patterns("torch", "torchgen"))
    dialog = opened(1, broken)
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
