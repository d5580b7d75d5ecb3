"""What all widgets share: they follow theme, text size and language, and the size of their window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui import theme
from gpu_assistant.gui.widgets import base
from gpu_assistant.gui.widgets.base import Breakpoints, Themed


class Heard(Themed, QWidget):
    """Writes down what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[str] = []
        self.apply_theme()
        self.changes.clear()

    def retranslate(self) -> None:
        self.changes.append("words")

    def refresh(self) -> None:
        self.changes.append("sizes")
        super().refresh()

    def update_colours(self) -> None:
        self.changes.append("colours")
        super().update_colours()


@pytest.fixture
def pair(qtbot: QtBot) -> Iterator[tuple[Heard, Heard, QStackedWidget]]:
    window = QWidget()
    stack = QStackedWidget()
    QVBoxLayout(window).addWidget(stack)
    seen, unseen = Heard(), Heard()
    stack.addWidget(seen)
    stack.addWidget(unseen)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    yield seen, unseen, stack
    window.close()


def test_visible_widget_updates_at_once(pair: tuple[Heard, Heard, QStackedWidget], qapp: QApplication) -> None:
    seen, unseen, _stack = pair
    theme.set_theme(qapp, "dark")
    assert seen.changes == ["colours"]
    assert unseen.changes == []
    theme.set_text_scale(qapp, 1.5)
    assert seen.changes == ["colours", "sizes"]
    QApplication.sendEvent(seen.window(), QEvent(QEvent.Type.LanguageChange))
    assert seen.changes == ["colours", "sizes", "words", "sizes"]


def test_hidden_widget_updates_once_later(
    pair: tuple[Heard, Heard, QStackedWidget], qapp: QApplication, qtbot: QtBot
) -> None:
    _seen, unseen, _stack = pair
    theme.set_theme(qapp, "dark")
    theme.set_text_scale(qapp, 1.5)
    QApplication.sendEvent(unseen.window(), QEvent(QEvent.Type.LanguageChange))
    assert unseen.changes == []
    qtbot.waitUntil(lambda: unseen.changes == ["words", "sizes"])


def test_shown_widget_updates_at_once(pair: tuple[Heard, Heard, QStackedWidget], qapp: QApplication) -> None:
    _seen, unseen, stack = pair
    theme.set_theme(qapp, "contrast")
    assert unseen.changes == []
    stack.setCurrentWidget(unseen)
    assert unseen.changes == ["sizes"], "lines are thicker in this theme"


def test_deleted_widget_is_skipped(qapp: QApplication, qtbot: QtBot) -> None:
    gone, alive = Heard(), Heard()
    qtbot.addWidget(alive)
    theme.set_theme(qapp, "dark")
    with qtbot.waitSignal(gone.destroyed):
        gone.deleteLater()
        qapp.sendPostedEvents(gone, QEvent.Type.DeferredDelete)
    qtbot.waitUntil(lambda: alive.changes == ["colours"])
    assert gone.changes == []


def test_event_loop_runs_between_batches(qapp: QApplication, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "REFRESH_SLICE_S", 1e-9)
    many = [Heard() for _ in range(20)]
    for each in many:
        qtbot.addWidget(each)
    theme.set_theme(qapp, "dark")
    qtbot.waitUntil(lambda: any(each.changes for each in many))
    assert not all(each.changes for each in many)
    qtbot.waitUntil(lambda: all(each.changes == ["colours"] for each in many))


def test_text_scale_is_painted_after_layout(
    pair: tuple[Heard, Heard, QStackedWidget], qapp: QApplication, qtbot: QtBot
) -> None:
    seen, _unseen, _stack = pair
    window = seen.window()
    theme.set_text_scale(qapp, 1.5)
    assert not window.updatesEnabled(), "nothing is painted half way"
    qtbot.waitUntil(window.updatesEnabled)
    assert seen.updatesEnabled()
    theme.set_theme(qapp, "dark")
    assert window.updatesEnabled(), "colours move nothing"


def test_double_text_scale_halves_width(qtbot, qapp):
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(1300, 700)
    shape = Breakpoints(widget)
    assert (shape.is_narrow, shape.is_tight, shape.is_small) == (False, False, False)
    with qtbot.waitSignal(shape.changed, timeout=5000):
        theme.set_text_scale(qapp, 2.0)
    assert (shape.is_narrow, shape.is_tight, shape.is_small) == (True, True, True)
    widget.resize(2000, 700)
    assert (shape.is_narrow, shape.is_tight, shape.is_small) == (True, True, False)
