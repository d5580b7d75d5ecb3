"""A folder that is whole: what to do with it on the other computer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QWidget

from ...texts import Texts
from ..components import Button, Card, CommandBox, Breakpoints, label
from ..main.tasks import FunctionJob
from ..worker import JobRunner
from .making import CreatedBundle

if TYPE_CHECKING:
    from ...system.base import System


class BundleReadyCard(Card):
    """Numbered sentences, the same as a command, what is not in it, and what its list's checksum is."""

    def __init__(self) -> None:
        super().__init__(" ")
        self._line_labels = [label("body") for _ in range(3)]
        self._command_label, self.command_box = label("small-strong"), CommandBox()
        self._missing_label, self._checksum_label = label("body", "", "warn"), label("small")
        self.open_button, self.another_button = Button(icon_name="folder"), Button(kind="ghost", icon_name="undo")
        for widget in (*self._line_labels, self._missing_label, self._command_label, self.command_box, self._checksum_label):
            self.column.addWidget(widget)
        self._buttons_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._buttons_layout.setSpacing(12)
        for button in (self.open_button, self.another_button):
            self._buttons_layout.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._buttons_layout.addStretch(1)
        self.column.addSpacing(2)
        self.column.addLayout(self._buttons_layout)
        self._shape = Breakpoints(self)
        self._shape.changed.connect(self._update_layout)
        self._update_layout()
        self._runner = JobRunner(self)

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """What Tab reaches, in the order of reading."""
        return (self.command_box.text_edit, self.command_box.copy_button, self.open_button, self.another_button)

    def set_bundle(self, bundle: CreatedBundle, texts: Texts) -> None:
        """What was made."""
        contents = bundle.contents
        self.set_title(self.tr("On the other computer"))
        lines = (
            self.tr("1. Copy this folder and GPU Assistant's own setup file to a stick or disk, and take it there."),
            self.tr("2. Install GPU Assistant there. It needs no internet either."),
            self.tr("3. On its first page press “I have an offline folder” and choose this folder."),
        )
        for widget, line in zip(self._line_labels, lines, strict=True):
            widget.setText(line)
        separator = self.tr(", ")
        missing = separator.join(dict.fromkeys(texts.translate(f"bundle.left-out.{code}") for code in contents.left_out))
        self._missing_label.setText(self.tr("Not in it: {parts}.").format(parts=missing))
        self._missing_label.setVisible(bool(missing))
        self._command_label.setText(self.tr("The same on the command line there"))
        self.command_box.set_text(f"gpu-assistant install --bundle {bundle.order.folder.name}")
        template = self.tr("{release} for {computer}, {count} files. Checksum of the list: {mark}")
        self._checksum_label.setText(
            template.format(
                release=contents.wish.label,
                computer=contents.target.label,
                count=len(contents.files),
                mark=bundle.checksum,
            )
        )
        self._checksum_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.open_button.setText(self.tr("Open the folder"))
        self.another_button.setText(self.tr("Prepare another one"))

    def _update_layout(self) -> None:
        """Both buttons in one line, or one below the other."""
        direction = QBoxLayout.Direction.TopToBottom if self._shape.is_tight else QBoxLayout.Direction.LeftToRight
        self._buttons_layout.setDirection(direction)

    def show_folder(self, system: System, folder: Path) -> None:
        """Open the folder; where there is no file manager, its path stands above."""
        if not self._runner.running:
            self._runner.start(FunctionJob(lambda: system.open_folder(folder)))
