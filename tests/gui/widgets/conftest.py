"""A dressed application for the components' tests; every test starts English, light, 100 %."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui import theme
from gpu_assistant.gui.language import Language


@pytest.fixture
def language(qapp: QApplication) -> Iterator[Language]:
    language = Language(qapp)
    yield language
    if language.current != "en":
        language.set("en")
    language.deleteLater()


@pytest.fixture(autouse=True)
def dressed(qapp: QApplication) -> Iterator[QApplication]:
    # Dressing takes a while under Wine: only what a test changed is put back.
    if theme.choice() != "light":
        theme.set_theme(qapp, "light")
    yield qapp
    if theme.text_scale() != 1.0:
        theme.set_text_scale(qapp, 1.0)
    if theme.choice() != "light":
        theme.set_theme(qapp, "light")


@pytest.fixture
def show(qtbot: QtBot):
    """Shows a widget in a window of its own."""
    windows = []

    def shown(widget: QWidget, width: int = 700, height: int = 420) -> QWidget:
        window = QWidget()
        windows.append(window)  # qtbot holds only weak references
        qtbot.addWidget(window)
        QVBoxLayout(window).addWidget(widget)
        window.resize(width, height)
        window.show()
        qtbot.waitExposed(window)
        window.activateWindow()
        return widget

    return shown
