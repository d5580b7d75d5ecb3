"""Prepare for a computer without internet: what is asked, how it goes, how it is stopped, what it says at its end."""

from __future__ import annotations

import threading

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog

from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.machine import Machine
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog
from tests.fakes import bundles

pytestmark = pytest.mark.gui

BOTH = pytest.mark.parametrize("code", ["en", "zh_CN"])


@pytest.fixture
def at_prepare(at_recommendation, qtbot):
    """Opens a wizard on its way to a folder for another computer."""

    def opened(app):
        wizard = at_recommendation(app)
        wizard.recommendation.offline.make.click()
        qtbot.waitUntil(wizard.prepare.isVisible)
        return wizard

    return opened


@pytest.fixture
def yes(monkeypatch):
    """Answers questions with yes, and notes them."""
    asked: list[str] = []

    def ask(_parent, question, *_more, **_words):
        asked.append(question)
        return True

    monkeypatch.setattr(ConfirmDialog, "ask", ask)
    return asked


def test_folder_is_chosen_before_start(app, at_prepare, qtbot, tmp_path):
    page = at_prepare(app).prepare
    assert not page.primary.isEnabled()
    qtbot.waitUntil(page.place.choose.hasFocus, timeout=5000)
    page.use_folder(tmp_path / "stick")
    assert page.primary.isEnabled()
    qtbot.waitUntil(page.primary.hasFocus, timeout=5000)


def test_this_computer_uses_its_recommendation(app, at_prepare, qtbot, seen, tmp_path):
    wizard = at_prepare(app)
    wizard.prepare.use_folder(tmp_path / "stick")
    wizard.prepare.primary.click()
    qtbot.waitUntil(lambda: wizard.making.state == "done", timeout=5000)
    ((machine, recommendation, folder, channel, choice, pace),) = app.orders
    facts = wizard.flow.facts
    assert (machine, recommendation, folder) == (facts.machine, facts.recommendation, tmp_path / "stick")
    assert (channel, choice) == (facts.channel, facts.choice)
    assert pace is wizard.making.pace
    shown = seen(wizard.prepare)
    assert "The folder is ready: 2.6 GB" in shown
    assert "I have an offline folder" in shown
    assert bundles.mark(folder) in shown
    assert "gpu-assistant install --bundle stick" in shown
    wizard.prepare.primary.click()
    assert wizard.recommendation.isVisible()


def test_other_computer_uses_its_file(app, at_prepare, qtbot, machine_file, tmp_path):
    wizard = at_prepare(app)
    page = wizard.prepare
    page.which.segments.buttons[1].click()
    page.use_folder(tmp_path / "stick")
    assert not page.primary.isEnabled()
    qtbot.waitUntil(page.which.file.hasFocus, timeout=5000)
    page.use_file(machine_file)
    page.primary.click()
    qtbot.waitUntil(lambda: wizard.making.state == "done", timeout=5000)
    assert app.orders[0][0].os.system == "windows"


def test_file_without_a_machine_is_reported(app, at_prepare, qtbot, seen, tmp_path):
    wizard = at_prepare(app)
    page = wizard.prepare
    page.which.segments.buttons[1].click()
    page.use_folder(tmp_path / "stick")
    page.use_file(tmp_path / "no.json")
    (tmp_path / "no.json").write_text("{}", encoding="utf-8")
    page.primary.click()
    qtbot.waitUntil(lambda: wizard.making.state == "failed", timeout=5000)
    assert "no.json" in seen(page)
    assert not page.primary.isEnabled()  # the same file stays wrong
    assert app.orders == []


@pytest.fixture
def machine_file(machine_566, tmp_path):
    file = tmp_path / "lab.json"
    file.write_bytes(msgspec.json.encode(machine_566))
    return file


def test_saved_machine_file_can_be_read(app, at_prepare, qtbot, seen, tmp_path):
    wizard = at_prepare(app)
    wizard.prepare.save_machine(tmp_path / "computer.json")
    qtbot.waitUntil(lambda: "Saved: " in seen(wizard.prepare), timeout=5000)
    found = json.read_file(tmp_path / "computer.json", Machine, code="machine-file")
    assert found == wizard.flow.facts.machine


def test_download_is_paused_limited_and_resumed(app, at_prepare, qtbot, tmp_path):
    wizard = at_prepare(app)
    app.gate, app.news["bundle"] = threading.Event(), bundles.gathering(done=1_190_000_000)
    page = wizard.prepare
    page.use_folder(tmp_path / "stick")
    page.primary.click()
    qtbot.waitUntil(page.block.isVisible, timeout=5000)
    qtbot.waitUntil(lambda: page.block.bar.fraction() == pytest.approx(0.458, abs=0.01), timeout=5000)
    page.block.controls.hold.click()
    assert wizard.making.pace.paused
    page.block.controls.limit.chosen.emit(5_000_000)
    assert wizard.making.pace.limit == 5_000_000
    page.block.controls.hold.click()
    assert not wizard.making.pace.paused
    app.gate.set()
    qtbot.waitUntil(lambda: wizard.making.state == "done", timeout=5000)


def test_creation_is_stopped_after_confirmation_and_resumed(app, at_prepare, qtbot, yes, tmp_path):
    wizard = at_prepare(app)
    app.gate, app.news["bundle"] = threading.Event(), bundles.gathering(done=1_190_000_000)
    page = wizard.prepare
    page.use_folder(tmp_path / "stick")
    page.primary.click()
    qtbot.waitUntil(page.cancel.hasFocus, timeout=5000)
    qtbot.keyClick(page.cancel, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: wizard.making.state == "stopped", timeout=5000)
    assert yes == ["Stop here?"]
    assert page.primary.text() == "Go on"
    qtbot.waitUntil(page.primary.hasFocus, timeout=5000)
    app.gate.set()
    page.primary.click()
    qtbot.waitUntil(lambda: wizard.making.state == "done", timeout=5000)
    assert [order[2] for order in app.orders] == [tmp_path / "stick"] * 2


def test_creation_continues_while_page_is_hidden(app, at_prepare, qtbot, tmp_path):
    wizard = at_prepare(app)
    app.gate, app.news["bundle"] = threading.Event(), bundles.gathering(done=1_000)
    wizard.prepare.use_folder(tmp_path / "stick")
    wizard.prepare.primary.click()
    wizard.rail.chosen.emit(1)
    assert wizard.computer.isVisible()
    assert wizard.preparing
    app.gate.set()
    qtbot.waitUntil(lambda: wizard.making.state == "done", timeout=5000)
    wizard.road.next()
    wizard.recommendation.offline.make.click()
    assert wizard.prepare.after.isVisible()


def test_call_error_asks_for_another_folder(app, at_prepare, qtbot, seen, tmp_path):
    app.results["bundle"] = UsageError("bundle-folder-occupied", path=str(tmp_path))
    wizard = at_prepare(app)
    page = wizard.prepare
    page.use_folder(tmp_path)
    page.primary.click()
    qtbot.waitUntil(lambda: wizard.making.state == "failed", timeout=5000)
    assert "holds other files" in seen(page)
    assert not page.primary.isEnabled()
    page.use_folder(tmp_path / "new")
    assert page.primary.isEnabled()
    assert not page.verdict.isVisible()


def test_transient_error_can_be_retried(app, at_prepare, qtbot, tmp_path):
    app.results["bundle"] = AppError("disk-full", path=str(tmp_path))
    wizard = at_prepare(app)
    page = wizard.prepare
    page.use_folder(tmp_path / "stick")
    page.primary.click()
    qtbot.waitUntil(lambda: wizard.making.state == "failed", timeout=5000)
    assert page.primary.text() == "Try again"
    app.results["bundle"] = None
    page.primary.click()
    qtbot.waitUntil(lambda: wizard.making.state == "done", timeout=5000)


def test_dialogs_ask_for_right_kind_and_use_the_answer(app, at_prepare, tmp_path):
    page = at_prepare(app).prepare
    folder, file, save = page.folder_dialog(), page.file_dialog(), page.save_dialog()
    assert folder.fileMode() == QFileDialog.FileMode.Directory
    assert file.fileMode() == QFileDialog.FileMode.ExistingFile
    assert save.acceptMode() == QFileDialog.AcceptMode.AcceptSave
    folder.fileSelected.emit(str(tmp_path))
    assert page.order() is not None
    file.fileSelected.emit(str(tmp_path / "a.json"))
    page.which.segments.buttons[1].click()
    assert page.order().machine == tmp_path / "a.json"
    for dialog in (folder, file, save):
        dialog.deleteLater()


def test_back_returns_to_the_opening_page(app, at_prepare, qtbot):
    wizard = at_prepare(app)
    qtbot.keyClick(wizard.prepare, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert wizard.recommendation.isVisible()
    qtbot.keyClick(wizard.recommendation, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert wizard.computer.isVisible()


@BOTH
def test_tab_reaches_every_named_control(app, at_prepare, speak, qtbot, tmp_path, code):
    wizard = at_prepare(app)
    speak(code)
    page = wizard.prepare
    page.use_folder(tmp_path / "stick")
    qtbot.waitUntil(page.primary.hasFocus, timeout=5000)
    seen = set()
    while (here := QApplication.focusWidget()) not in seen:
        seen.add(here)
        assert here.accessibleName() or here.text(), here
        qtbot.keyClick(here, Qt.Key.Key_Tab)
    # Of a choice the one that holds is reached, and arrows move within.
    assert {page.which.save, page.place.choose, page.primary, page.back} <= seen
    assert set(page.which.segments.buttons) & seen
