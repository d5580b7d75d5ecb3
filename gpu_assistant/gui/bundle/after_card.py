"""A folder that is whole: what to do with it on the other computer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QWidget

from ...texts import Texts
from ..components import Button, Card, CommandBox, Shape, label
from ..main.tasks import Task
from ..worker import JobRunner
from .making import Made

if TYPE_CHECKING:
    from ...system.base import System


class AfterCard(Card):
    """Numbered sentences, the same as a command, what is not in it, and what its list's checksum is."""

    def __init__(self) -> None:
        super().__init__(" ")
        self._lines = [label("body") for _ in range(3)]
        self._same, self.command = label("small-strong"), CommandBox()
        self._missing, self._mark = label("body", "", "warn"), label("small")
        self.open, self.another = Button(icon="folder"), Button(kind="ghost", icon="undo")
        for widget in (*self._lines, self._missing, self._same, self.command, self._mark):
            self.column.addWidget(widget)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(12)
        for button in (self.open, self.another):
            self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._row.addStretch(1)
        self.column.addSpacing(2)
        self.column.addLayout(self._row)
        self._shape = Shape(self)
        self._shape.changed.connect(self._fit)
        self._fit()
        self._runner = JobRunner(self)

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """What Tab reaches, in the order of reading."""
        return (self.command.text, self.command.copy, self.open, self.another)

    def set(self, made: Made, texts: Texts) -> None:
        """What was made."""
        contents = made.contents
        self.set_title(self.tr("On the other computer"))
        lines = (
            self.tr("1. Copy this folder and GPU Assistant's own setup file to a stick or disk, and take it there."),
            self.tr("2. Install GPU Assistant there. It needs no internet either."),
            self.tr("3. On its first page press “I have an offline folder” and choose this folder."),
        )
        for widget, line in zip(self._lines, lines, strict=True):
            widget.setText(line)
        gap = self.tr(", ")
        missing = gap.join(dict.fromkeys(texts.say(f"bundle.left-out.{code}") for code in contents.left_out))
        self._missing.setText(self.tr("Not in it: {parts}.").format(parts=missing))
        self._missing.setVisible(bool(missing))
        self._same.setText(self.tr("The same on the command line there"))
        self.command.set_text(f"gpu-assistant install --bundle {made.order.folder.name}")
        made_for = self.tr("{release} for {computer}, {count} files. Checksum of the list: {mark}")
        self._mark.setText(
            made_for.format(
                release=contents.wish.label,
                computer=contents.target.label,
                count=len(contents.files),
                mark=made.mark,
            )
        )
        self._mark.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.open.setText(self.tr("Open the folder"))
        self.another.setText(self.tr("Prepare another one"))

    def _fit(self) -> None:
        """Both buttons in one line, or one below the other."""
        way = QBoxLayout.Direction.TopToBottom if self._shape.tight else QBoxLayout.Direction.LeftToRight
        self._row.setDirection(way)

    def show_folder(self, system: System, folder: Path) -> None:
        """Open the folder; where there is no file manager, its path stands above."""
        if not self._runner.running:
            self._runner.start(Task(lambda: system.open_folder(folder)))
