"""Prepare for a computer without internet: what is asked, how it goes, how it is stopped, what it says at its end."""

from __future__ import annotations

import threading

import msgspec
import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog

from gpu_assistant.app.available_plan import AvailableSetup
from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.recommendation import RecommendationWarning
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from tests.fakes import bundles
from tests.fakes.examples import cpu_recommendation, make_plan

pytestmark = pytest.mark.gui

BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


@pytest.fixture
def at_prepare(at_recommendation, qtbot):
    """Opens a wizard on its way to a folder for another computer."""

    def opened(app):
        wizard = at_recommendation(app)
        wizard.recommendation.bundle_controls.create_button.click()
        qtbot.waitUntil(wizard.side_pages.create_page.isVisible)
        return wizard

    return opened


@pytest.fixture
def yes(monkeypatch):
    """Answers questions with yes, and notes them."""
    questions: list[str] = []

    def ask(_parent, question, *_more, **_words):
        questions.append(question)
        return True

    monkeypatch.setattr(ConfirmDialog, "ask", ask)
    return questions


def test_folder_is_chosen_before_start(app, at_prepare, qtbot, tmp_path):
    page = at_prepare(app).side_pages.create_page
    assert not page.primary_button.isEnabled()
    qtbot.waitUntil(page.folder_card.choose_button.hasFocus, timeout=5000)
    page.use_folder(tmp_path / "stick")
    assert page.primary_button.isEnabled()
    qtbot.waitUntil(page.primary_button.hasFocus, timeout=5000)


def test_this_computer_uses_its_recommendation(app, at_prepare, qtbot, seen, tmp_path):
    wizard = at_prepare(app)
    wizard.side_pages.create_page.use_folder(tmp_path / "stick")
    wizard.side_pages.create_page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    ((machine, recommendation, folder, channel, choice, pace),) = app.orders
    facts = wizard.flow.state
    assert (machine, recommendation, folder) == (facts.machine, facts.recommendation, tmp_path / "stick")
    assert (channel, choice) == (facts.channel, facts.choice)
    assert pace is wizard.side_pages.bundle_creator.rate_limiter
    shown = seen(wizard.side_pages.create_page)
    assert "The folder is ready: 2.6 GB" in shown
    assert "Install from an offline folder" in shown
    assert bundles.mark(folder) in shown
    assert "gpu-assistant install --bundle stick" in shown
    wizard.side_pages.create_page.primary_button.click()
    assert wizard.recommendation.isVisible()


def test_other_computer_uses_its_file(app, at_prepare, qtbot, machine_file, tmp_path):
    wizard = at_prepare(app)
    page = wizard.side_pages.create_page
    page.target_card.target_segments.buttons[1].click()
    page.use_folder(tmp_path / "stick")
    assert not page.primary_button.isEnabled()
    qtbot.waitUntil(page.target_card.file_button.hasFocus, timeout=5000)
    page.use_machine_file(machine_file)
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    assert app.orders[0][0].os.system == "windows"


def test_file_without_a_machine_is_reported(app, at_prepare, qtbot, seen, tmp_path):
    wizard = at_prepare(app)
    page = wizard.side_pages.create_page
    page.target_card.target_segments.buttons[1].click()
    page.use_folder(tmp_path / "stick")
    page.use_machine_file(tmp_path / "no.json")
    (tmp_path / "no.json").write_text("{}", encoding="utf-8")
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "failed", timeout=5000)
    assert "no.json" in seen(page)
    assert not page.primary_button.isEnabled()  # the same file stays wrong
    assert app.orders == []


@pytest.fixture
def machine_file(machine_566, tmp_path):
    file = tmp_path / "lab.json"
    file.write_bytes(msgspec.json.encode(machine_566))
    return file


def test_saved_machine_file_can_be_read(app, at_prepare, qtbot, seen, tmp_path):
    wizard = at_prepare(app)
    wizard.side_pages.create_page.save_machine(tmp_path / "computer.json")
    qtbot.waitUntil(lambda: "Saved: " in seen(wizard.side_pages.create_page), timeout=5000)
    machine = json.read_file(tmp_path / "computer.json", Machine, code="machine-file")
    assert machine == wizard.flow.state.machine


def test_download_is_paused_limited_and_resumed(app, at_prepare, qtbot, tmp_path):
    wizard = at_prepare(app)
    app.gate, app.events["bundle"] = threading.Event(), bundles.gathering(done=1_190_000_000)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(page.step_panel.isVisible, timeout=5000)
    qtbot.waitUntil(lambda: page.step_panel.progress_bar.fraction() == pytest.approx(0.458, abs=0.01), timeout=5000)
    page.step_panel.download_controls.pause_button.click()
    assert wizard.side_pages.bundle_creator.rate_limiter.paused
    page.step_panel.download_controls.limit_picker.chosen.emit(5_000_000)
    assert wizard.side_pages.bundle_creator.rate_limiter.limit == 5_000_000
    page.step_panel.download_controls.pause_button.click()
    assert not wizard.side_pages.bundle_creator.rate_limiter.paused
    app.gate.set()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)


def test_creation_is_stopped_after_confirmation_and_resumed(app, at_prepare, qtbot, yes, tmp_path):
    wizard = at_prepare(app)
    app.gate, app.events["bundle"] = threading.Event(), bundles.gathering(done=1_190_000_000)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(page.page.hasFocus, timeout=5000)
    qtbot.keyClick(page.cancel_button, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "stopped", timeout=5000)
    assert yes == ["Stop here?"]
    assert page.primary_button.text() == "Continue"
    qtbot.waitUntil(page.primary_button.hasFocus, timeout=5000)
    app.gate.set()
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    assert [order[2] for order in app.orders] == [tmp_path / "stick"] * 2


def test_creation_continues_while_page_is_hidden(app, at_prepare, qtbot, tmp_path):
    wizard = at_prepare(app)
    app.gate, app.events["bundle"] = threading.Event(), bundles.gathering(done=1_000)
    wizard.side_pages.create_page.use_folder(tmp_path / "stick")
    wizard.side_pages.create_page.primary_button.click()
    wizard.rail.chosen.emit(1)
    assert wizard.computer.isVisible()
    assert wizard.side_pages.is_creating_bundle
    app.gate.set()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    wizard.controller.go_next()
    wizard.recommendation.bundle_controls.create_button.click()
    assert wizard.side_pages.create_page.ready_card.isVisible()


def test_call_error_asks_for_another_folder(app, at_prepare, qtbot, seen, tmp_path):
    app.results["bundle"] = UsageError("bundle-folder-occupied", path=str(tmp_path))
    wizard = at_prepare(app)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path)
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "failed", timeout=5000)
    assert "contains other files" in seen(page)
    assert not page.primary_button.isEnabled()
    page.use_folder(tmp_path / "new")
    assert page.primary_button.isEnabled()
    assert not page.verdict_hero.isVisible()


def test_transient_error_can_be_retried(app, at_prepare, qtbot, tmp_path):
    app.results["bundle"] = AppError("disk-full", path=str(tmp_path))
    wizard = at_prepare(app)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "failed", timeout=5000)
    assert page.primary_button.text() == "Try again"
    app.results["bundle"] = None
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)


@pytest.fixture
def asking(app):
    """Services whose sources answer; of another computer they have what stands in for its build."""
    stands_in = RecommendationWarning(
        code="source-on-cpu",
        data={
            "site": "@site.pytorch-wheels",
            "index": "@answer.absent",
            "version": "2.15.0",
            "download_bytes": 3_000_000_000,
        },
    )
    recommendation = replace(cpu_recommendation(None), warnings=(stands_in,))
    plan = make_plan(recommendation, str(app.folder / "env"))
    app.results["sources"] = AvailableSetup(recommendation=recommendation, plan=plan, files={})
    app.may_ask_sources = True
    return app


def test_sources_are_asked_for_what_was_shown_before_the_folder_is_made(asking, at_prepare, qtbot, tmp_path):
    wizard = at_prepare(asking)
    qtbot.waitUntil(lambda: not wizard.controller.is_checking_sources and not wizard.controller.busy, timeout=5000)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    shown = wizard.flow.state.recommendation.pytorch
    assert f"ask for a folder: {shown.version}+{shown.variant}" in asking.calls


def test_file_that_is_gone_has_the_recommendation_made_anew(asking, at_prepare, qtbot, seen, tmp_path):
    wizard = at_prepare(asking)
    qtbot.waitUntil(lambda: not wizard.controller.is_checking_sources and not wizard.controller.busy, timeout=5000)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    asking.unavailable = AppError("file-gone", name="torch.whl", host="example.org")
    asking.calls.clear()
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "failed", timeout=5000)
    assert "torch.whl" in seen(page)
    assert asking.orders == []
    # Once for the folder, then once for the recommendation.
    qtbot.waitUntil(lambda: asking.calls.count("check sources") == 2, timeout=5000)
    qtbot.waitUntil(lambda: not wizard.controller.is_checking_sources and not wizard.controller.busy, timeout=5000)
    asking.unavailable = None
    qtbot.waitUntil(page.primary_button.isEnabled, timeout=5000)
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)


@BOTH
def test_what_stands_in_for_another_computers_build_is_said(
    asking, at_prepare, qtbot, seen, speak, machine_file, tmp_path, code
):
    wizard = at_prepare(asking)
    page = wizard.side_pages.create_page
    page.target_card.target_segments.buttons[1].click()
    page.use_folder(tmp_path / "stick")
    page.use_machine_file(machine_file)
    page.primary_button.click()
    qtbot.waitUntil(lambda: wizard.side_pages.bundle_creator.state == "done", timeout=5000)
    speak(code)
    assert {"en": "comes from the general package index instead", "zh_CN": "改从通用软件包源下载"}[code] in seen(page)
    assert "ask for a folder: what suits" in asking.calls
    assert asking.orders[0][1] == asking.results["sources"].recommendation


def test_dialogs_ask_for_right_kind_and_use_the_answer(app, at_prepare, tmp_path):
    page = at_prepare(app).side_pages.create_page
    folder, file, save = page.create_folder_dialog(), page.create_file_dialog(), page.create_save_dialog()
    assert folder.fileMode() == QFileDialog.FileMode.Directory
    assert file.fileMode() == QFileDialog.FileMode.ExistingFile
    assert save.acceptMode() == QFileDialog.AcceptMode.AcceptSave
    folder.fileSelected.emit(str(tmp_path))
    assert page.current_order() is not None
    file.fileSelected.emit(str(tmp_path / "a.json"))
    page.target_card.target_segments.buttons[1].click()
    assert page.current_order().machine == tmp_path / "a.json"
    for dialog in (folder, file, save):
        dialog.deleteLater()


def test_back_returns_to_the_opening_page(app, at_prepare, qtbot):
    wizard = at_prepare(app)
    qtbot.keyClick(wizard.side_pages.create_page, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert wizard.recommendation.isVisible()
    qtbot.keyClick(wizard.recommendation, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert wizard.computer.isVisible()


@BOTH
def test_tab_reaches_every_named_control(app, at_prepare, speak, qtbot, tmp_path, code):
    wizard = at_prepare(app)
    speak(code)
    page = wizard.side_pages.create_page
    page.use_folder(tmp_path / "stick")
    qtbot.waitUntil(page.primary_button.hasFocus, timeout=5000)
    seen = set()
    while (here := QApplication.focusWidget()) not in seen:
        seen.add(here)
        assert here.accessibleName() or here.text(), here
        qtbot.keyClick(here, Qt.Key.Key_Tab)
    # Of a choice the one that holds is reached, and arrows move within.
    assert {page.target_card.save_button, page.folder_card.choose_button, page.primary_button, page.back_button} <= seen
    assert set(page.target_card.target_segments.buttons) & seen
