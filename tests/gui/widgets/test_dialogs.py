"""Questions for files and folders, where Qt draws them itself."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from PySide6.QtCore import QStandardPaths, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui.language import Language
from gpu_assistant.gui.widgets import dialogs
from gpu_assistant.gui.widgets.dialogs import ConfirmDialog, folder_dialog, open_dialog, save_dialog


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A home with folders for documents and pictures."""
    for name in ("Documents", "Pictures"):
        (tmp_path / name).mkdir()
    paths = {
        QStandardPaths.StandardLocation.DocumentsLocation: str(tmp_path / "Documents"),
        QStandardPaths.StandardLocation.PicturesLocation: str(tmp_path / "Pictures"),
    }
    monkeypatch.setattr(dialogs.QStandardPaths, "writableLocation", paths.__getitem__)
    monkeypatch.setattr(dialogs, "_last_folders", {})
    return tmp_path


# Our fonts are in pixels; on Windows Qt's own dialog asks one for its points.
@pytest.mark.qt_log_ignore("QFont::setPointSize", extend=True)
def test_file_dialogs_are_fully_chinese(qtbot: QtBot, qapp) -> None:
    language = Language(qapp)
    language.set("zh_CN")
    try:
        parent = QWidget()
        qtbot.addWidget(parent)
        dialogs_ = (
            save_dialog(parent, "保存到哪里？", "PNG (*.png)", "a.png"),
            open_dialog(parent, "哪个文件？", "JSON (*.json)"),
            folder_dialog(parent, "哪个文件夹？"),
        )
        for dialog in dialogs_:
            dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
            dialog.show()
            texts = [each.text() for kind in (QLabel, QAbstractButton) for each in dialog.findChildren(kind)]
            texts += [each.toolTip() for each in dialog.findChildren(QAbstractButton)]
            filled = [text for text in texts if text]
            assert len(filled) > 5
            assert [text for text in filled if not any("\u4e00" <= letter <= "\u9fff" for letter in text)] == []
            dialog.close()
    finally:
        language.set("en")


def test_save_starts_in_pictures_or_documents(qtbot: QtBot, places) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    picture = save_dialog(parent, "Where?", "PNG (*.png)", "a.png")
    report = save_dialog(parent, "Where?", "HTML (*.html)", "a.html")
    assert picture.directory().path() == (places / "Pictures").as_posix()
    assert report.directory().path() == (places / "Documents").as_posix()
    (places / "elsewhere").mkdir()
    report.fileSelected.emit(str(places / "elsewhere" / "a.html"))
    again = save_dialog(parent, "Where?", "HTML (*.html)", "b.html")
    assert again.directory().path() == (places / "elsewhere").as_posix()


def test_missing_folder_falls_back_to_home(qtbot: QtBot, places, monkeypatch) -> None:
    (places / "Pictures").rmdir()
    monkeypatch.setattr(dialogs.Path, "home", lambda: places)
    parent = QWidget()
    qtbot.addWidget(parent)
    assert save_dialog(parent, "Where?", "PNG (*.png)", "a.png").directory().path() == places.as_posix()


@pytest.mark.parametrize(
    ("keys", "answer"),
    [([Qt.Key.Key_Escape], False), ([Qt.Key.Key_Return], False), ([Qt.Key.Key_Backtab, Qt.Key.Key_Space], True)],
)
def test_confirm_dialog_accepts_only_by_button(qtbot: QtBot, keys: Sequence[Qt.Key], answer: bool) -> None:
    from PySide6.QtCore import QTimer

    def press() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, ConfirmDialog)
        assert dialog.focusWidget() is dialog.reject_button
        for key in keys:
            qtbot.keyClick(dialog.focusWidget(), key)

    QTimer.singleShot(50, press)
    assert ConfirmDialog.ask(None, "Stop here?", "Your download is kept.", "Stop", "Go on") is answer
