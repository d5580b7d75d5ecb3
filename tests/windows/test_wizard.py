"""The wizard on Windows: a simulated PC from first page to last, and a card that this Windows itself shows."""

from __future__ import annotations

import sys

import pytest

from gpu_assistant.app import App
from gpu_assistant.gui.wizard.wizard import Wizard
from gpu_assistant.install.jobs import check_sources

from .conftest import ROOT

if sys.platform != "win32":
    pytest.skip("the same on Linux is in tests/gui/wizard", allow_module_level=True)

from gpu_assistant.system.windows.system import WindowsSystem

pytestmark = [pytest.mark.gui, pytest.mark.windows]
NOBODY = "http://127.0.0.1:9"  # the discard port: nothing listens, and says so at once


@pytest.fixture
def at_recommendation(open_wizard, qtbot):
    """Opens a wizard on the real services and goes on to the recommendation."""

    def opened(app: App) -> Wizard:
        wizard: Wizard = open_wizard(app)
        wizard.welcome.primary_button.click()
        qtbot.waitUntil(lambda: wizard.flow.state.plan is not None and not wizard.controller.busy, timeout=60_000)
        wizard.computer.primary_button.click()
        assert wizard.flow.page == "recommendation"
        return wizard

    return opened


@pytest.fixture
def card():
    """The NVIDIA card of this computer."""
    nvidia_gpu = next((gpu for gpu in WindowsSystem().display_adapters() if gpu.vendor == "nvidia"), None)
    if nvidia_gpu is None:
        pytest.skip("no NVIDIA card in this computer (in the rig: run with -g)")
    return nvidia_gpu


@pytest.fixture
def nobody_answers(monkeypatch):
    """Every program that asks for an address hears at once that nobody is there, and has the time to say so: on a busy
    computer in Wine the asking program alone starts for longer than a person would be kept waiting.
    """
    monkeypatch.setattr(check_sources, "CHECK_SECONDS", 120.0)
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, NOBODY)
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_simulated_rtx_4060_first_to_last_page(
    at_recommendation,
    qtbot,
    tmp_path,
    seen,
    speak,
    code,
):
    machine = ROOT / "tests/machines/windows11-rtx4060-566.json"
    app = App(data_dir=str(tmp_path / "数据 1"), machine_file=str(machine), environ={})
    wizard: Wizard = at_recommendation(app)
    speak(code)
    assert wizard.banner.isVisible()
    page = wizard.recommendation
    assert "RTX 4060" in seen(page)
    choice = wizard.flow.state.recommendation
    assert choice.accelerator == "cuda"
    assert page.part_cards["torch"].planned_label.text() == choice.pytorch.version
    assert page.part_cards["driver"].planned_label.text() == choice.driver.recommended
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.flow.state.stage == "done", timeout=30_000)
    assert {wizard.install.step_list.state(step) for step in wizard.install.step_list.rows} == {"skipped"}
    for row in wizard.install.plan_list.rows:
        row.details_button.click()
    assert "uv pip compile" in seen(wizard.install)
    wizard.install.primary_button.click()
    assert {"en": "Nothing was installed", "zh_CN": "没有安装任何东西"}[code] in wizard.done.hero.title_label.text()
    assert not (tmp_path / "数据 1" / "environments").exists()


@pytest.mark.needs_card
def test_gpu_is_shown_and_gets_cuda_build(card, at_recommendation, tmp_path, seen):
    # No publisher is asked what it has.
    wizard: Wizard = at_recommendation(App(data_dir=str(tmp_path / "d"), environ={"UV_OFFLINE": "1"}))
    machine, chosen = wizard.flow.state.machine, wizard.flow.state.recommendation
    [gpu] = machine.gpus_of("nvidia")
    assert gpu.pci_id == card.pci_id
    assert gpu.memory_bytes
    assert machine.driver is not None, "NVML did not answer"
    assert machine.driver.version
    assert gpu.name is not None
    assert gpu.name.removeprefix("NVIDIA GeForce ") in seen(wizard.recommendation)
    assert chosen.accelerator == "cuda"
    assert chosen.pytorch.variant.startswith("cu")
    assert machine.driver.version in wizard.recommendation.part_cards["driver"].installed_label.text()


@pytest.mark.needs_card
def test_unreachable_pytorch_host_is_told_before_install(
    card, nobody_answers, at_recommendation, qtbot, tmp_path, seen
):
    wizard: Wizard = at_recommendation(App(data_dir=str(tmp_path / "d"), environ={}))
    page, chosen = wizard.recommendation, wizard.flow.state.recommendation.pytorch
    _wait_for_sources(wizard, qtbot)
    assert not page.primary_button.isEnabled()
    shown = seen(page)
    assert "cannot be downloaded right now" in shown
    assert chosen.version in shown
    assert "The CPU build would leave your card unused" in shown


@pytest.mark.needs_card
def test_own_wheel_is_planned_where_pytorch_host_is_unreachable(
    card, nobody_answers, at_recommendation, qtbot, tmp_path, seen
):
    app = App(data_dir=str(tmp_path / "d"), environ={})
    chosen = app.setup.recommend(app.setup.detect().run(_context())).pytorch
    wheels = tmp_path / "我的 轮子"
    wheels.mkdir()
    series = f"{sys.version_info.major}{sys.version_info.minor}"
    name = f"torch-2.14.0+{chosen.variant}-cp{series}-cp{series}-win_amd64.whl"
    (wheels / name).write_bytes(b"only its name is read")
    app = App(data_dir=str(tmp_path / "d"), wheelhouse=str(wheels), environ={})
    wizard: Wizard = at_recommendation(app)
    _wait_for_sources(wizard, qtbot)
    assert wizard.flow.state.recommendation.pytorch.version == "2.14.0"
    assert wizard.recommendation.part_cards["torch"].planned_label.text() == "2.14.0"


def _wait_for_sources(wizard, qtbot):
    controller = wizard.controller
    qtbot.waitUntil(lambda: not controller.busy and not controller.is_checking_sources, timeout=180_000)


def _context():
    from gpu_assistant.core.jobs import JobContext

    return JobContext()
