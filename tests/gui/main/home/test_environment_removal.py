"""Taking an environment back: shown first, then done, then what stayed is said."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.plan import StepEvent
from gpu_assistant.gui.main.home.uninstall import UninstallDetails
from gpu_assistant.gui.main.main_area import HOME
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from tests.fakes.main_window import ENVIRONMENT

pytestmark = pytest.mark.gui


@pytest.fixture
def home(open_window, app, qtbot):
    app.known = (replace(ENVIRONMENT, path=str(app.folder / "pytorch")),)
    app.settings = replace(app.settings, setup_done=True)
    window = open_window(app)
    page = window.main_area.pages[HOME]
    qtbot.waitUntil(lambda: bool(page.environments_card.rows), timeout=5000)
    return page


def remove(home) -> None:
    entries = home.environments_card.rows[0].build_menu().actions()
    next(entry for entry in entries if entry.objectName() == "remove").trigger()


def ask_removal(qtbot) -> ConfirmDialog:
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), ConfirmDialog), timeout=5000)
    return QApplication.activeModalWidget()


def dialog_texts(dialog, seen) -> str:
    return dialog.accessibleName() + "\n" + seen(dialog)


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_removal_is_previewed_first(home, app, qtbot, seen, language, code):
    language.set(code)
    remove(home)
    dialog = ask_removal(qtbot)
    shown = dialog_texts(dialog, seen)
    assert {"en": "Remove “pytorch” (912 MB)?", "zh_CN": "移除“pytorch” (912 MB)？"}[code] in shown
    summary = {"en": "The environment pytorch, 912 MB", "zh_CN": "环境 pytorch，912 MB"}[code]
    assert summary in shown
    first = {"en": "1. Remove the environment", "zh_CN": "1. 移除环境"}[code]
    assert first not in shown
    dialog.findChild(UninstallDetails).toggle_button.click()
    shown = dialog_texts(dialog, seen)
    assert first in shown
    assert {"en": "2. Restore the variable CUDA_PATH", "zh_CN": "2. 恢复环境变量 CUDA_PATH"}[code] in shown
    assert dialog.reject_button.isDefault()
    dialog.reject_button.click()
    assert "removed" not in app.calls
    assert home.environments_card.rows


def test_removal_reports_what_stayed(home, app, qtbot):
    changed = StepEvent(id="back-2", state="done", code="progress.left-changed", data={"thing": "CUDA_PATH"})
    app.events["uninstall"] = (StepEvent(id="environment", state="done"), changed)
    remove(home)
    ask_removal(qtbot).accept_button.click()
    qtbot.waitUntil(lambda: "removed" in app.calls, timeout=5000)
    qtbot.waitUntil(lambda: not home.environments_card.rows and home.banner.isVisible(), timeout=5000)
    assert "Removed what was installed for" in home.banner.label.text()
    assert "CUDA_PATH has been changed since" in home.banner.label.text()
    assert str(app.folder / "pytorch") in home.banner.label.text()


def test_removal_error_has_no_command_line_options(home, app, qtbot):
    app.results["uninstall"] = AppError("rights-left-out", steps="back-2")
    remove(home)
    ask_removal(qtbot).accept_button.click()
    qtbot.waitUntil(home.banner.isVisible, timeout=5000)
    assert "administrator rights were not given" in home.banner.label.text()
    assert "--" not in home.banner.label.text()


@pytest.mark.parametrize("code", ["en", "zh_CN"])
def test_a_driver_of_ours_stays_unless_chosen(home, app, qtbot, seen, language, code):
    app.removable_driver = True
    language.set(code)
    remove(home)
    dialog = ask_removal(qtbot)
    details = dialog.findChild(UninstallDetails)
    assert (details.with_driver, details.driver_choice.current()) == (False, 0)
    assert {"en": "NVIDIA driver 580.95.05, installed with it", "zh_CN": "随它安装的 NVIDIA 驱动 580.95.05"}[
        code
    ] in seen(dialog)
    details.toggle_button.click()
    assert {"en": "The NVIDIA driver 580.95.05 stays", "zh_CN": "保留 NVIDIA 驱动 580.95.05"}[code] in seen(dialog)
    details.driver_choice.buttons[1].click()
    assert {"en": "Remove the NVIDIA driver 580.95.05", "zh_CN": "移除 NVIDIA 驱动 580.95.05"}[code] in seen(dialog)
    dialog.accept_button.click()
    qtbot.waitUntil(lambda: "removed-with-driver" in app.calls, timeout=5000)


def test_without_such_a_driver_nothing_is_asked(home, qtbot):
    remove(home)
    dialog = ask_removal(qtbot)
    assert dialog.findChild(UninstallDetails).driver_choice is None
    dialog.reject_button.click()
