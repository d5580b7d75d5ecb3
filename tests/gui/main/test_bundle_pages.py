"""From Settings and Home to folders for computers without internet, and back; what the task bar shows of making one."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import Qt

from gpu_assistant.core.errors import AppError
from gpu_assistant.gui.main.main_area import HOME, SETTINGS
from gpu_assistant.gui.main.tray import DesktopIntegration
from tests.fakes import bundles

pytestmark = pytest.mark.gui
LANGUAGES = ("en", "zh_CN")


class Bar:
    def __init__(self) -> None:
        self.seen: list[tuple[str, float | None]] = []

    def show(self, state: str, fraction: float | None = None) -> bool:
        self.seen.append((state, fraction))
        return True

    def is_new_button(self, message: int) -> bool:
        return False

    def close(self) -> None:
        """Nothing to let go."""


@pytest.fixture
def settings(open_window, app, qtbot):
    """A window on its settings."""
    window = open_window(app)
    window.main_area.open_page(SETTINGS)
    qtbot.waitUntil(window.main_area.pages[SETTINGS].isVisible)
    return window


@pytest.mark.parametrize("code", LANGUAGES)
def test_settings_open_create_bundle_and_return(settings, language, qtbot, seen, code) -> None:
    language.set(code)
    card = settings.main_area.pages[SETTINGS].offline_card
    qtbot.waitUntil(lambda: code == "en" or card.create_bundle_button.text() != "Prepare a folder…", timeout=5000)
    assert card.create_bundle_button.text() == {"en": "Prepare a folder…", "zh_CN": "准备文件夹…"}[code]
    card.create_bundle_button.setFocus()
    qtbot.keyClick(card.create_bundle_button, Qt.Key.Key_Space)
    page = settings.wizard.side_pages.create_page
    assert page.isVisible()
    # What this computer is, is looked up at once: nobody has to walk the wizard for it.
    qtbot.waitUntil(lambda: settings.wizard.flow.state.recommendation is not None, timeout=10_000)
    qtbot.waitUntil(lambda: "PyTorch" in seen(page.target_card), timeout=5000)
    page.back_button.click()
    assert settings.main_area.isVisible()
    assert settings.main_area.current_page == SETTINGS


def test_settings_open_load_bundle(settings, qtbot) -> None:
    settings.main_area.pages[SETTINGS].offline_card.load_bundle_button.click()
    page = settings.wizard.side_pages.load_page
    assert page.isVisible()
    assert page.primary_button.text() == "Choose the folder…"
    settings.wizard.go_back()  # Alt+Left
    assert settings.main_area.isVisible()


def test_intact_bundle_continues_the_setup(settings, app, qtbot) -> None:
    settings.main_area.pages[SETTINGS].offline_card.load_bundle_button.click()
    settings.wizard.side_pages.load_page.check_folder(app.folder / "stick")
    wizard = settings.wizard
    qtbot.waitUntil(lambda: wizard.flow.page == "computer" and not wizard.controller.busy, timeout=10_000)
    assert wizard.computer.isVisible()
    assert wizard.flow.state.bundle == str(app.folder / "stick")


@pytest.mark.parametrize("code", LANGUAGES)
def test_home_offers_bundle_without_environment(open_window, app, language, qtbot, code) -> None:
    app.known = ()
    language.set(code)
    window = open_window(app)
    home = window.main_area.pages[HOME]
    qtbot.waitUntil(home.environments_card.offline_button.isVisible, timeout=10_000)
    assert (
        home.environments_card.offline_button.text()
        == {"en": "Install from an offline folder", "zh_CN": "从离线文件夹安装"}[code]
    )
    home.environments_card.offline_button.click()
    assert window.wizard.side_pages.load_page.isVisible()
    window.wizard.side_pages.load_page.back_button.click()
    assert window.main_area.isVisible()


def test_home_hides_bundle_with_environment(settings, qtbot) -> None:
    home = settings.main_area.pages[HOME]
    settings.main_area.open_page(HOME)
    qtbot.waitUntil(lambda: bool(home.environments_card.rows), timeout=10_000)
    assert not home.environments_card.offline_button.isVisible()


@pytest.mark.parametrize("error", [None, AppError("disk-full", path="D:\\")])
def test_task_bar_shows_bundle_progress(settings, app, language, qtbot, error) -> None:
    bar, notifications = Bar(), []
    settings.desktop_integration = DesktopIntegration(settings, language, lambda _: bar, lambda: False)
    settings.desktop_integration.notified.connect(notifications.append)
    folder = app.folder / "stick"
    app.gate = None
    settings.main_area.pages[SETTINGS].offline_card.create_bundle_button.click()
    page = settings.wizard.side_pages.create_page
    qtbot.waitUntil(lambda: settings.wizard.flow.state.recommendation is not None, timeout=10_000)
    app.gate = threading.Event()
    app.events["bundle"] = bundles.gathering(done=1_300_000_000)
    app.results["bundle"] = error if error is not None else lambda: bundles.write(folder, bundles.contents())
    page.use_folder(folder)
    page.primary_button.click()
    assert bar.seen[0] == ("busy", None)
    qtbot.waitUntil(lambda: bar.seen[-1] == ("normal", pytest.approx(0.5, abs=0.01)), timeout=10_000)
    app.gate.set()
    qtbot.waitUntil(lambda: page.creator.state in ("done", "failed") and bool(notifications), timeout=10_000)
    assert bar.seen[-1] == (("none" if error is None else "error"), None)
    (word,) = notifications
    assert (word.title, word.is_error) == (
        ("The offline folder is ready", False) if error is None else ("The offline folder is not ready", True)
    )
