"""A card of Settings: a question at the left of each row, its control at the right; each choice is kept at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from ..components import Card, label
from .saving import SettingsSaver

if TYPE_CHECKING:
    from ...app import App


class SettingsRowsCard(Card):
    """`say` puts in the words and what holds; the parts that it uses are made before this card is."""

    def __init__(self, app: App, saver: SettingsSaver, controls: Sequence[QWidget], *below: QWidget) -> None:
        self._app, self._saver = app, saver
        self._is_built = False
        super().__init__(" ")
        self.row_labels = tuple(label("body") for _ in controls)
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(14)
        grid.setColumnStretch(0, 1)
        for row, (row_label, control) in enumerate(zip(self.row_labels, controls, strict=True)):
            grid.addWidget(row_label, row, 0, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(control, row, 1, Qt.AlignmentFlag.AlignRight)
        self.column.addLayout(grid)
        for widget in below:
            self.column.addWidget(widget)
        self._is_built = True
        self.retranslate()

    def update_rows(self) -> None:
        """All words, and what holds."""
        raise NotImplementedError

    def showEvent(self, event: QShowEvent) -> None:
        """What holds may have been changed on another page."""
        super().showEvent(event)
        self.retranslate()

    def retranslate(self) -> None:
        """All words again."""
        if self._is_built:
            self.update_rows()
