"""The page with the real PyTorch: a verdict, cancelled, with a broken environment."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from gpu_assistant.app import App
from gpu_assistant.core.paths import DataDir
from gpu_assistant.gui.health.page import HealthPage, HealthTestEnvironment
from gpu_assistant.gui.monitor.sampling import SamplingService
from gpu_assistant.health.job import CHILD_PROGRAM
from gpu_assistant.system import current_system

pytestmark = [pytest.mark.gui, pytest.mark.real_install]

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
def open_page(app: App, torch_environment: Path, qtbot, language):
    """Opens the page at a level with the real PyTorch, or with another environment."""
    pages: list[HealthPage] = []
    services: list[SamplingService] = []

    def opened(level: int, environment: Path = torch_environment) -> HealthPage:
        sampling = SamplingService(app.monitoring.sampler, app.monitoring.history)
        services.append(sampling)
        page = HealthPage(app, sampling, lambda: False)
        pages.append(page)
        qtbot.addWidget(page)
        page.show()
        page.choose(level, None)
        qtbot.waitUntil(lambda: not page.environment_runner.running, timeout=60_000)
        page.set_environment(HealthTestEnvironment(environment=environment, cpu_only=True))
        return page

    yield opened
    for page in pages:
        page.stop_test()
        qtbot.waitUntil(lambda page=page: not page.testing, timeout=60_000)
    for service in services:
        service.stop()


def child_processes() -> list[psutil.Process]:
    """The child processes that run the test."""
    processes = []
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if any(Path(argument) == CHILD_PROGRAM for argument in each.cmdline()):
                processes.append(each)
    return processes


@pytest.mark.parametrize("level", [1, 2])
def test_health_test_reaches_verdict(open_page, qtbot, level):
    page = open_page(level)
    with qtbot.waitSignal(page.test_runner.finished, timeout=LONG_MS):
        page.start_button.click()
    states = {row.check.id: row.check.state for row in page.result_view.rows}
    assert states["torch-import"] == states["cpu-compute"] == "pass"
    assert ("matmul-bits" in states, "memory-test" in states) == (level == 2, level == 2)
    assert page.result_view.verdict.isVisible()
    assert not child_processes()


def test_cancel_leaves_no_process(open_page, qtbot):
    page = open_page(2)
    page.start_button.click()
    qtbot.waitUntil(lambda: bool(child_processes()), timeout=60_000)
    with qtbot.waitSignal(page.test_runner.finished, timeout=5000):
        page.cancel_button.click()
    assert "Stopped." in page.message_banner.label.text()
    assert not child_processes()
    assert not page.result_view.verdict.isVisible()


def test_crashed_child_does_not_fail_gpu(open_page, qtbot):
    page = open_page(2)
    with qtbot.waitSignal(page.test_runner.finished, timeout=LONG_MS):
        page.start_button.click()
        qtbot.waitUntil(
            lambda: bool(child_processes()) and page.progress_label.text() == "Testing now: loading PyTorch",
            timeout=60_000,
        )
        for each in child_processes():
            each.kill()
    assert [row.check.id for row in page.result_view.rows if row.check.state == "fail"] == ["test-end"]
    assert page.result_view.verdict.kind == "warn"


def test_missing_torch_fails_and_missing_environment_shown(open_page, qtbot, torch_environment, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(torch_environment, broken, symlinks=True, ignore=shutil.ignore_patterns("torch", "torchgen"))
    page = open_page(1, broken)
    with qtbot.waitSignal(page.test_runner.finished, timeout=LONG_MS):
        page.start_button.click()
    failed = [row.accessibleName() for row in page.result_view.rows if row.check.state == "fail"]
    assert len(failed) == 1
    assert "No module named 'torch'" in failed[0]
    current_system().environment_python(broken).unlink()
    with qtbot.waitSignal(page.test_runner.finished, timeout=60_000):
        page.start_button.click()
    assert "There is no environment at" in page.message_banner.label.text()
    assert not page.result_view.verdict.isVisible()
