"""What stands on the time line: from when on there is history, and each mark with its word, once for all plots."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from .. import theme
from ..widgets.layouts import FlowLayout
from ..widgets.text import label
from . import strokes
from .events import Event, Tone
from .sign import Sign

SWATCH = 18  # pixels wide

Mark = tuple[Tone, bool, str]


class Swatch(Sign):
    """A ground, or a line where it has no length, and its word."""

    def __init__(self, mark: Mark) -> None:
        tone, moment, word = mark
        super().__init__(word, SWATCH)
        self._tone, self._moment = tone, moment

    def draw(self, painter: QPainter) -> None:
        """As the plots paint it."""
        if not self._moment:
            painter.fillRect(0, 3, SWATCH, self.height() - 6, theme.color(self._tone, 0.3))
        painter.setPen(strokes.pen(theme.color(self._tone), 1, 2))
        painter.drawLine(0, 2, 0, self.height() - 3)


class Legend(QWidget):
    """To be seen while anything is marked, or less is kept than is shown."""

    def __init__(self) -> None:
        super().__init__()
        self._marks: tuple[Mark, ...] = ()
        self._row = FlowLayout(self, spacing=14)
        self.since = label("caption")
        self.since.hide()
        self._row.addWidget(self.since)
        self.hide()

    def say_since(self, words: str) -> None:
        """From when on there is anything to be seen; "" where that is before what is shown."""
        if words != self.since.text():
            self.since.setText(words)
            self.since.setVisible(bool(words))
            self._show()

    def show_events(self, events: Iterable[Event]) -> None:
        """Each kind once, in the order of their beginning."""
        ordered = sorted(events, key=lambda event: event.start)
        marks = tuple(dict.fromkeys((event.tone, event.moment, event.text) for event in ordered if event.text))
        if marks == self._marks:
            return
        self._marks = marks
        while (item := self._row.takeAt(1)) is not None:
            if (swatch := item.widget()) is not None:
                swatch.hide()
                swatch.deleteLater()
        for mark in marks:
            self._row.addWidget(Swatch(mark))
        self._show()

    def _show(self) -> None:
        self.setVisible(bool(self._marks or self.since.text()))
