"""A folder that was prepared elsewhere: checked, refused in plain sentences, or installed from."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import Qt

from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.plan import PlanEvent, StepEvent, StepSummary

pytestmark = pytest.mark.gui

CHECK = (
    PlanEvent(steps=(StepSummary(id="check", code="bundle-check", data={"path": "stick"}),)),
    StepEvent(id="check", state="running", done=10, total=20, unit="bytes", bottleneck="checking"),
)


def given(wizard, folder):
    """The folder as the dialog answers it."""
    dialog = wizard.side_pages.load_page.create_folder_dialog()
    dialog.fileSelected.emit(str(folder))
    dialog.deleteLater()


def test_intact_bundle_leads_to_plan_and_install(app, open_wizard, qtbot, seen, tmp_path):
    wizard = open_wizard(app)
    assert "Install from an offline folder" in seen(wizard.welcome)
    given(wizard, tmp_path / "stick")
    qtbot.waitUntil(lambda: wizard.flow.page == "computer" and not wizard.controller.busy, timeout=5000)
    assert app.orders == [(tmp_path / "stick", True)]
    wizard.computer.primary_button.click()
    page, facts = wizard.recommendation, wizard.flow.state
    assert facts.plan.bundle == facts.bundle == str(tmp_path / "stick")
    shown = seen(page)
    assert f"Everything comes from {tmp_path / 'stick'}; no internet is used." in shown
    assert "Nothing\nto download" in shown
    # There is nothing to choose, and nothing else is asked for a price.
    assert not page.options_bar.isVisible()
    assert not page.alternatives_card.isVisible()
    assert not page.bundle_controls.create_button.isVisible()
    page.use_folder(str(tmp_path / "elsewhere"))
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=5000)
    assert wizard.flow.state.plan.bundle == str(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.flow.page == "done" and not wizard.controller.busy, timeout=10_000)
    assert "install" in app.calls
    assert "recommend" not in app.calls


def test_back_to_the_internet(app, open_wizard, qtbot, tmp_path):
    wizard = open_wizard(app)
    given(wizard, tmp_path / "stick")
    qtbot.waitUntil(lambda: wizard.flow.page == "computer" and not wizard.controller.busy, timeout=5000)
    wizard.computer.primary_button.click()
    wizard.recommendation.bundle_controls.source_card.use_internet_button.click()
    qtbot.waitUntil(lambda: not wizard.controller.busy and wizard.flow.state.plan is not None, timeout=5000)
    assert wizard.flow.state.bundle is None
    assert wizard.flow.state.plan.bundle is None
    assert wizard.recommendation.options_bar.customize_button.isVisible()


REFUSALS = [
    (UsageError("bundle-missing", path="stick"), "is not a folder that GPU Assistant prepared", "不是 GPU 助手准备的"),
    (UsageError("bundle-unfinished", path="stick"), "is not finished yet", "还没有做完"),
    (
        UsageError("bundle-other-machine", path="stick", made_for="Windows x86_64", here="Linux x86_64, glibc 2.36"),
        "another kind of computer: it is for Windows x86_64",
        "是为另一类电脑准备的",
    ),
    (
        AppError("bundle-damaged", path="stick", files="wheels/a.whl"),
        "only these files are downloaded.\nwheels/a.whl",
        "缺失或损坏",
    ),
]


@pytest.mark.parametrize(("error", "english", "chinese"), REFUSALS, ids=[each[0].code for each in REFUSALS])
def test_unusable_bundle_is_reported_and_can_be_replaced(
    app, open_wizard, speak, qtbot, seen, tmp_path, error, english, chinese
):
    app.results["check"] = error
    wizard = open_wizard(app)
    given(wizard, tmp_path)
    qtbot.waitUntil(lambda: wizard.side_pages.load_page.error is not None, timeout=5000)
    assert english in seen(wizard.side_pages.load_page)
    assert "gpu-assistant" not in seen(wizard.side_pages.load_page)  # nobody is sent to a command line
    qtbot.waitUntil(wizard.side_pages.load_page.primary_button.hasFocus, timeout=5000)
    speak("zh_CN")
    qtbot.waitUntil(lambda: chinese in seen(wizard.side_pages.load_page), timeout=5000)
    app.results["check"] = None
    given(wizard, tmp_path / "stick")
    qtbot.waitUntil(lambda: wizard.flow.page == "computer" and not wizard.controller.busy, timeout=5000)


def test_running_check_is_cancelled(app, open_wizard, qtbot, seen, tmp_path):
    app.gate, app.events["check"] = threading.Event(), CHECK
    wizard = open_wizard(app)
    given(wizard, tmp_path / "stick")
    qtbot.waitUntil(wizard.side_pages.load_page.step_panel.isVisible, timeout=5000)
    assert "Checking the folder" in seen(wizard.side_pages.load_page)
    qtbot.waitUntil(wizard.side_pages.load_page.page.hasFocus, timeout=5000)
    qtbot.keyClick(wizard.side_pages.load_page.back_button, Qt.Key.Key_Space)
    assert wizard.welcome.isVisible()
    qtbot.waitUntil(lambda: not wizard.side_pages.load_page.is_checking, timeout=5000)
    assert wizard.flow.page == "welcome"
    assert wizard.flow.state.bundle is None


def test_missing_files_are_reported_before_install(app, open_wizard, qtbot, seen, tmp_path):
    def plan(folder, machine, recommendation, environment):
        raise AppError("bundle-lacks", name="617.42-driver.exe", path=str(folder))

    app.bundles.plan = plan
    wizard = open_wizard(app)
    given(wizard, tmp_path / "stick")
    qtbot.waitUntil(lambda: wizard.flow.page == "computer" and not wizard.controller.busy, timeout=5000)
    wizard.computer.primary_button.click()
    qtbot.waitUntil(lambda: not wizard.controller.busy, timeout=5000)
    assert "does not contain 617.42-driver.exe" in seen(wizard.recommendation)
    assert not wizard.recommendation.primary_button.isEnabled()


def test_simulated_machine_has_no_bundle(simulated, open_wizard, seen):
    wizard = open_wizard(simulated)
    assert "Install from an offline folder" not in seen(wizard.welcome)
