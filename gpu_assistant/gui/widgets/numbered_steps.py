"""What to do, one step below the other: a number in a disc, a short sentence, and what belongs to it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from .. import theme
from .base import Themed, draw_rounded_rect, tint_border
from .text import label

DISC_SIZE = 24  # pixels at 100 %


class NumberedSteps(QWidget):
    """Steps below a heading. One without a text is hidden and has no number."""

    def __init__(self, steps: Sequence[NumberedStep]) -> None:
        super().__init__()
        self.steps = tuple(steps)
        self._heading_label = label("strong")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(self._heading_label)
        for step in steps:
            column.addWidget(step)

    def set_heading(self, text: str) -> None:
        self._heading_label.setText(text)
        self.setAccessibleName(text)

    def number_from(self, first: int) -> int:
        """Number the steps; returns the number after the last one, with which another list can go on."""
        shown = [step for step in self.steps if step.text]
        for number, step in enumerate(shown, first):
            step.set_number(number)
        for step in self.steps:
            step.setVisible(bool(step.text))
        return first + len(shown)


class NumberedStep(Themed, QWidget):
    """One step: what to do, a note, and a file's name or a command in the fixed-width font, which can be selected.

    `add_widget` puts more below them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.number, self.text = 0, ""
        self._disc = _NumberDisc()
        self._text_label, self._note_label, self._code_label = label("body"), label("small"), label("mono")
        self._code_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._column = QVBoxLayout()
        self._column.setSpacing(3)
        for part in (self._text_label, self._note_label, self._code_label):
            self._column.addWidget(part)
        self._column.addStretch(0)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._disc, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(self._column, 1)
        self.apply_theme()

    def refresh(self) -> None:
        super().refresh()
        self._text_label.setMinimumHeight(self._disc.sizeHint().height())  # its one line stands in the disc's middle

    def set_texts(self, text: str, note: str = "", code: str = "") -> None:
        """Set what to do and what is said below it."""
        self.text = text
        for part, words in ((self._text_label, text), (self._note_label, note), (self._code_label, code)):
            part.setText(words)
            part.setVisible(bool(words))
        self._update_name()

    def set_number(self, number: int) -> None:
        self.number = number
        self._disc.set_number(number)
        self._update_name()

    def _update_name(self) -> None:
        parts = (self._text_label.text(), self._note_label.text(), self._code_label.text())
        self.setAccessibleName(f"{self.number}. {' '.join(part for part in parts if part)}")

    def add_widget(self, widget: QWidget) -> None:
        """Put a widget below the texts."""
        self._column.insertWidget(self._column.count() - 1, widget)

    def remove_widget(self, widget: QWidget) -> None:
        """Take a widget out again."""
        self._column.removeWidget(widget)


class _NumberDisc(Themed, QWidget):
    """As high as the first line of the text beside it, or higher."""

    def __init__(self) -> None:
        super().__init__()
        self._number = 0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def set_number(self, number: int) -> None:
        self._number = number
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(DISC_SIZE), theme.px(DISC_SIZE))

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, rect = QPainter(self), QRectF(self.rect())
        border = tint_border("accent")
        background, colour = theme.color("accent_soft"), theme.color(border) if border else None
        draw_rounded_rect(painter, rect, rect.height() / 2, background, colour, width=1.5)
        painter.setPen(theme.color("accent_text"))
        painter.setFont(theme.font("caption-strong"))
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter), str(self._number))
