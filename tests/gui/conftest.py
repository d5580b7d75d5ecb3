"""What every test of the window shares: no Qt object ends in a worker's thread; what can be read on a widget."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPlainTextEdit, QWidget

from gpu_assistant.gui.garbage import Garbage


@pytest.fixture(autouse=True)
def garbage(qapp: QApplication) -> Iterator[Garbage]:
    made = Garbage(qapp)
    made.start()
    yield made
    made.stop()
    made.deleteLater()


def texts_of(widget: QWidget) -> str:
    """All words that are to be seen on a widget."""
    seen = [each.text() for kind in (QLabel, QAbstractButton) for each in widget.findChildren(kind) if each.isVisible()]
    seen += [each.toPlainText() for each in widget.findChildren(QPlainTextEdit) if each.isVisible()]
    return "\n".join(seen)


@pytest.fixture
def seen() -> Callable[[QWidget], str]:
    """What can be read on a widget."""
    return texts_of
