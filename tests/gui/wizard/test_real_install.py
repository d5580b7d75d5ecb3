"""The wizard from its first page to the benchmark, with everything real behind it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu_assistant.app import App
from gpu_assistant.core.recommendation import PyTorchChoice
from gpu_assistant.install.packages.requirements import compatible_wheels
from tests.fixtures.torch_env import given_wheelhouse

pytestmark = [pytest.mark.gui, pytest.mark.real_install]


def settle(wizard, qtbot) -> PyTorchChoice:
    """Take a release that the wheelhouse has: the recommended one, else what is offered; skips without any."""
    page, chosen = wizard.recommendation, wizard.flow.state.recommendation.pytorch
    have = {
        (w.project, w.version) for w in compatible_wheels(given_wheelhouse(), wizard.flow.state.recommendation.python)
    }
    if ("torch", chosen.version) in have:
        return chosen
    offers = [button for button in page.alternatives_card.buttons if button.isVisible()]
    if not offers:
        pytest.skip("the wheelhouse holds no PyTorch that suits this machine")
    offers[0].click()
    # While the next answer is worked out, the button stays enabled, though busy.
    qtbot.waitUntil(lambda: not wizard.controller.busy and page.primary_button.isEnabled(), timeout=30_000)
    return wizard.flow.state.recommendation.pytorch


def test_welcome_to_benchmark(open_wizard, qtbot, tmp_path, seen):
    app = App(data_dir=str(tmp_path / "d"), wheelhouse=str(given_wheelhouse()), environ={})
    # The usual folder for environments belongs to whoever runs the tests.
    folder = tmp_path / "e"
    wizard = open_wizard(app)
    wizard.welcome.primary_button.click()
    qtbot.waitUntil(lambda: wizard.flow.state.plan is not None and not wizard.controller.busy, timeout=60_000)
    assert wizard.computer.hero.title_label.text()
    assert wizard.computer.rows["system"].value_label.text() not in ("", "—")

    wizard.computer.primary_button.click()
    page = wizard.recommendation
    page.use_folder(str(folder))
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=30_000)
    environment = folder / "pytorch"
    assert wizard.controller.environment == environment
    choice = settle(wizard, qtbot)
    assert page.part_cards["torch"].planned_label.text() == choice.version

    page.primary_button.click()
    assert wizard.flow.page == "install"
    qtbot.waitUntil(lambda: not wizard.flow.is_locked, timeout=600_000)
    assert wizard.flow.state.failure is None, seen(wizard.install)
    qtbot.waitUntil(lambda: wizard.flow.page == "done" and not wizard.controller.busy, timeout=120_000)
    lines = wizard.controller.log_lines
    assert lines
    assert any(one != other for one, other in zip(lines[::2], lines[1::2], strict=False)), "each line comes twice"
    assert {step.state for step in wizard.controller.progress.steps.values()} <= {"done", "skipped"}

    assert wizard.done.hero.kind == "ok", seen(wizard.done)
    assert re.search(rf"{re.escape(choice.version)}( \(|（)CPU", seen(wizard.done.verification_card))
    assert str(environment) in wizard.done.command_box.text_edit.toPlainText()
    assert (environment / "pylock.toml").is_file()

    wizard.done.benchmark_card.button.click()
    qtbot.waitUntil(lambda: not wizard.controller.is_benchmarking, timeout=300_000)
    benchmark = wizard.flow.state.benchmark
    assert benchmark is not None, seen(wizard.done)
    assert all(result.median > 0 for result in benchmark.results)
    assert wizard.done.benchmark_card.value_label.isVisible()
    with qtbot.waitSignal(wizard.finished):
        wizard.done.primary_button.click()
    qtbot.waitUntil(lambda: app.settings.environment == str(environment))
    [known] = app.setup.environments()
    assert Path(known.path) == environment


def test_stopped_install_resumes_at_next_start(open_wizard, qtbot, tmp_path):
    app = App(data_dir=str(tmp_path / "d"), wheelhouse=str(given_wheelhouse()), environ={})
    wizard = open_wizard(app)
    wizard.welcome.primary_button.click()
    qtbot.waitUntil(lambda: wizard.flow.state.plan is not None and not wizard.controller.busy, timeout=60_000)
    wizard.computer.primary_button.click()
    page = wizard.recommendation
    page.use_folder(str(tmp_path / "e"))
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=30_000)
    settle(wizard, qtbot)
    page.primary_button.click()
    steps = wizard.install.step_list
    qtbot.waitUntil(lambda: any(steps.state(step) == "done" for step in steps.rows), timeout=60_000)
    wizard.controller.stop()
    qtbot.waitUntil(lambda: not wizard.flow.is_locked, timeout=60_000)
    assert wizard.flow.state.stage == "cancelled"
    assert not (tmp_path / "e" / "pytorch").exists()

    second = open_wizard(App(data_dir=str(tmp_path / "d"), wheelhouse=str(given_wheelhouse()), environ={}))
    qtbot.waitUntil(second.welcome.resume_hero.isVisible, timeout=30_000)
    second.welcome.resume_hero.button.click()
    qtbot.waitUntil(lambda: second.flow.page == "done" and not second.controller.busy, timeout=600_000)
    assert second.done.hero.kind == "ok"
