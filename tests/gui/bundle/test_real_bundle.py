"""A folder prepared in one window and installed from in another, with everything real and no way to the internet."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.app import App
from gpu_assistant.install.files import inventory
from tests.fixtures.torch_env import given_wheelhouse
from tests.gui.wizard.test_real_install import settle

pytestmark = [pytest.mark.gui, pytest.mark.real_install]

NOWHERE = "http://127.0.0.1:9"


def test_bundle_is_created_and_installed(open_wizard, qtbot, seen, tmp_path, monkeypatch):
    app = App(data_dir=str(tmp_path / "here"), wheelhouse=str(given_wheelhouse()), environ={})
    wizard = open_wizard(app)
    wizard.welcome.primary_button.click()
    qtbot.waitUntil(lambda: wizard.flow.state.plan is not None and not wizard.controller.busy, timeout=60_000)
    wizard.computer.primary_button.click()
    choice = settle(wizard, qtbot)
    wizard.recommendation.bundle_controls.create_button.click()
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick" / "pytorch")
    page.primary_button.click()
    qtbot.waitUntil(lambda: not wizard.side_pages.bundle_creator.is_running, timeout=600_000)
    assert wizard.side_pages.bundle_creator.state == "done", seen(page)
    assert "The folder is ready" in seen(page)

    # Another computer, whose every way out is closed.
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, NOWHERE)
        monkeypatch.setenv(name.upper(), NOWHERE)
    monkeypatch.setenv("UV_DEFAULT_INDEX", NOWHERE)
    there = App(data_dir=str(tmp_path / "there"), environ={})
    wizard = open_wizard(there)
    dialog = wizard.side_pages.load_page.create_folder_dialog()
    dialog.fileSelected.emit(str(tmp_path / "stick" / "pytorch"))
    dialog.deleteLater()
    qtbot.waitUntil(lambda: wizard.flow.state.plan is not None and not wizard.controller.busy, timeout=120_000)
    wizard.computer.primary_button.click()
    wizard.recommendation.use_folder(str(tmp_path / "e"))
    qtbot.waitUntil(
        lambda: not wizard.controller.busy and wizard.recommendation.primary_button.isEnabled(), timeout=60_000
    )
    wizard.recommendation.primary_button.click()
    qtbot.waitUntil(lambda: not wizard.flow.is_locked, timeout=600_000)
    assert wizard.flow.state.failure is None, seen(wizard.install)
    qtbot.waitUntil(lambda: wizard.flow.page == "done" and not wizard.controller.busy, timeout=120_000)
    assert wizard.done.hero.kind == "ok", seen(wizard.done)
    made = inventory.read_manifest(Path(wizard.controller.environment))
    assert made is not None
    assert made.torch == choice.version
