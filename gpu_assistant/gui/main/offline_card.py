"""Settings' card for computers without internet: make a folder with all files for one, or set up from such one."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout

from ..components import Button, Card, label

Way = Literal["prepare", "given"]


class OfflineCard(Card):
    """`wanted` brings the page that is asked for."""

    wanted = Signal(str)

    def __init__(self) -> None:
        self.prepare, self.given = Button(icon="net"), Button(icon="folder")
        self._lines = (label("body"), label("body"))
        super().__init__(" ")
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(14)
        grid.setColumnStretch(0, 1)
        ways: tuple[tuple[Way, Button], ...] = (("prepare", self.prepare), ("given", self.given))
        for row, (way, button) in enumerate(ways):
            grid.addWidget(self._lines[row], row, 0, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(button, row, 1, Qt.AlignmentFlag.AlignRight)
            button.clicked.connect(lambda _checked=False, way=way: self.wanted.emit(way))
        self.column.addLayout(grid)
        self._ready = True
        self.retranslate()

    def retranslate(self) -> None:
        """All words."""
        if not hasattr(self, "_ready"):
            return
        self.set_title(self.tr("Without internet"))
        self._lines[0].setText(
            self.tr("Put all files that a setup needs into one folder, for a computer without internet.")
        )
        self._lines[1].setText(self.tr("Set this computer up from a folder that was prepared where there is internet."))
        self.prepare.setText(self.tr("Prepare a folder…"))
        self.given.setText(self.tr("Set up from a folder…"))
