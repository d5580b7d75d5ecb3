"""Settings' card about downloads: when those who mirror the publishers' files are asked, and how fast at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout

from ...core.names import MirrorUse
from ..components import Card, Segments, label
from ..wizard.pace_row import SpeedLimit
from .saving import SettingsSaver

if TYPE_CHECKING:
    from ...app import App


class DownloadsCard(Card):
    """Each choice counts from the next download on."""

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self._app, self._saver = app, saver
        self._ready = False
        super().__init__(" ")
        self.choice, self.speed = Segments([""] * len(get_args(MirrorUse))), SpeedLimit()
        self._question, self._why = label("body"), label("body", "", "soft")
        self._fast = label("body")
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(14)
        grid.setColumnStretch(0, 1)
        grid.addWidget(self._question, 0, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self.choice, 0, 1, Qt.AlignmentFlag.AlignRight)
        grid.addWidget(self._fast, 1, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self.speed, 1, 1, Qt.AlignmentFlag.AlignRight)
        self.column.addLayout(grid)
        self.column.addWidget(self._why)
        self.choice.chosen.connect(self._choose)
        self.speed.chosen.connect(lambda rate: saver.keep(speed_limit=rate))
        self._ready = True
        self.retranslate()

    def showEvent(self, event: QShowEvent) -> None:
        """The speed can be changed where a download runs, too."""
        super().showEvent(event)
        self.retranslate()

    def retranslate(self) -> None:
        """All words, and what holds."""
        if not self._ready:
            return
        self.set_title(self.tr("Downloads"))
        self._question.setText(self.tr("Fetch from mirrors in China"))
        self._fast.setText(self.tr("How fast at most"))
        self._why.setText(
            self.tr("Every file is checked against the checksum of its publisher, wherever it comes from.")
        )
        names = {
            "when-slow": self.tr("When slow"),
            "first": self.tr("First"),
            "never": self.tr("Never"),
        }
        self.choice.set_options([names[use] for use in get_args(MirrorUse)])
        self.choice.set_current(get_args(MirrorUse).index(self._app.settings.mirrors))
        self.choice.setAccessibleName(self._question.text())
        self.speed.set_rate(self._app.settings.speed_limit)

    def _choose(self, index: int) -> None:
        self._saver.keep(mirrors=get_args(MirrorUse)[index])
