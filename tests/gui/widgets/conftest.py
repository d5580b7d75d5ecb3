"""What the components' tests share: a widget in a window of its own."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot


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
