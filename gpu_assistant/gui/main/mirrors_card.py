"""Settings' card about downloads: when those who mirror the publishers' files are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout

from ...core.names import MirrorUse
from ..components import Card, Segments, label
from .saving import SettingsSaver

if TYPE_CHECKING:
    from ...app import App


class MirrorsCard(Card):
    """One choice, which counts from the next download on."""

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self._app, self._saver = app, saver
        self._ready = False
        super().__init__(" ")
        self.choice = Segments([""] * len(get_args(MirrorUse)))
        self._question, self._why = label("body"), label("body", "", "soft")
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setColumnStretch(0, 1)
        grid.addWidget(self._question, 0, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self.choice, 0, 1, Qt.AlignmentFlag.AlignRight)
        self.column.addLayout(grid)
        self.column.addWidget(self._why)
        self.choice.chosen.connect(self._choose)
        self._ready = True
        self.retranslate()

    def retranslate(self) -> None:
        """All words, and what holds."""
        if not self._ready:
            return
        self.set_title(self.tr("Downloads"))
        self._question.setText(self.tr("Fetch from mirrors in China"))
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

    def _choose(self, index: int) -> None:
        self._saver.keep(mirrors=get_args(MirrorUse)[index])
