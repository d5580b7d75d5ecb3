"""What to do, one step below the other: a number in a disc, a short sentence, and what belongs to it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from .. import theme
from .base import Themed, draw_rounded_rect, tint_border
from .console import CommandBox
from .text import label

DISC_SIZE = 24  # pixels at 100 %


class NumberedSteps(QWidget):
    """Steps below a heading. One without a text is hidden and has no number."""

    def __init__(self, steps: Sequence[NumberedStep]) -> None:
        super().__init__()
        self.steps = tuple(steps)
        self._heading_label = label("heading")
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


class Instruction(QWidget):
    """What to do, a note, and a command to copy. `add_widget` puts more below them."""

    def __init__(self, text_style: str = "body") -> None:
        super().__init__()
        self.text = ""
        self.command_box: CommandBox | None = None  # from the first command on
        self._added: list[QWidget] = []
        self._text_label, self._note_label = label(text_style), label("small")
        # The note may name a file to search for.
        self._note_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._column = QVBoxLayout()
        self._column.setSpacing(3)
        for part in (self._text_label, self._note_label):
            self._column.addWidget(part)
        self._column.addStretch(0)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(12)
        self._row.addLayout(self._column, 1)

    def set_texts(self, text: str, note: str = "", command: str = "") -> None:
        """Set what to do and what is said below it."""
        self.text = text
        for part, words in ((self._text_label, text), (self._note_label, note)):
            part.setText(words)
            part.setVisible(bool(words))
        if command and self.command_box is None:
            self.command_box = CommandBox()
            self._column.insertWidget(self._column.indexOf(self._note_label) + 1, self.command_box)
        if self.command_box is not None:
            self.command_box.set_text(command)
            self.command_box.setVisible(bool(command))
        self._update_name()

    def _update_name(self) -> None:
        command = self.command_box.text_edit.toPlainText() if self.command_box is not None else ""
        parts = (self._text_label.text(), self._note_label.text(), command)
        self.setAccessibleName(" ".join(part for part in parts if part))

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """What Tab reaches: the command, and below it what was added."""
        box = self.command_box
        return (*((box.text_edit, box.copy_button) if box is not None else ()), *self._added)

    def add_widget(self, widget: QWidget) -> None:
        """Put a widget below the texts, at the left."""
        self._added.append(widget)
        self._column.insertWidget(self._column.count() - 1, widget, 0, Qt.AlignmentFlag.AlignLeft)

    def remove_widget(self, widget: QWidget) -> None:
        """Take a widget out again."""
        if widget in self._added:
            self._added.remove(widget)
            self._column.removeWidget(widget)


class NumberedStep(Themed, Instruction):
    """An instruction beside its number."""

    def __init__(self) -> None:
        self.number = 0
        super().__init__()
        self._disc = _NumberDisc()
        self._row.insertWidget(0, self._disc, 0, Qt.AlignmentFlag.AlignTop)
        self.apply_theme()

    def refresh(self) -> None:
        super().refresh()
        self._text_label.setMinimumHeight(self._disc.sizeHint().height())  # its one line stands in the disc's middle

    def set_number(self, number: int) -> None:
        self.number = number
        self._disc.set_number(number)
        self._update_name()

    def _update_name(self) -> None:
        super()._update_name()
        self.setAccessibleName(f"{self.number}. {self.accessibleName()}")


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
