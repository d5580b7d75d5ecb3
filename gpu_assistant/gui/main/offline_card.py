"""Settings' card for computers without internet: make a folder with all files for one, or set up from such one."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout

from ..components import Button, Card, label

SidePage = Literal["prepare", "given"]


class OfflineCard(Card):
    """`wanted` brings the page that is asked for."""

    side_page_requested = Signal(str)

    def __init__(self) -> None:
        self.create_bundle_button, self.load_bundle_button = Button(icon_name="net"), Button(icon_name="folder")
        self._line_labels = (label("body"), label("body"))
        super().__init__(" ")
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(14)
        grid.setColumnStretch(0, 1)
        buttons: tuple[tuple[SidePage, Button], ...] = (("prepare", self.create_bundle_button), ("given", self.load_bundle_button))
        for row, (page, button) in enumerate(buttons):
            grid.addWidget(self._line_labels[row], row, 0, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(button, row, 1, Qt.AlignmentFlag.AlignRight)
            button.clicked.connect(lambda _checked=False, way=page: self.side_page_requested.emit(way))
        self.column.addLayout(grid)
        self._is_built = True
        self.retranslate()

    def retranslate(self) -> None:
        """All words."""
        if not hasattr(self, "_ready"):
            return
        self.set_title(self.tr("Without internet"))
        self._line_labels[0].setText(
            self.tr("Put all files that a setup needs into one folder, for a computer without internet.")
        )
        self._line_labels[1].setText(self.tr("Set this computer up from a folder that was prepared where there is internet."))
        self.create_bundle_button.setText(self.tr("Prepare a folder…"))
        self.load_bundle_button.setText(self.tr("Set up from a folder…"))
