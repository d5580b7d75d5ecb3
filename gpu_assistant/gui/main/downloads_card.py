"""Settings' card about downloads: when those who mirror the publishers' files are asked, and how fast at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from ...core.names import MirrorUse
from ..components import Segments, label
from ..wizard.pace_row import SpeedLimit
from .choice_card import ChoiceCard
from .saving import SettingsSaver

if TYPE_CHECKING:
    from ...app import App


class DownloadsCard(ChoiceCard):
    """Each choice counts from the next download on."""

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self.choice, self.speed = Segments([""] * len(get_args(MirrorUse))), SpeedLimit()
        self._why = label("body", "", "soft")
        super().__init__(app, saver, (self.choice, self.speed), self._why)
        self.choice.chosen.connect(self._choose)
        self.speed.chosen.connect(lambda rate: saver.keep(speed_limit=rate))

    def say(self) -> None:
        """All words, and what holds."""
        self.set_title(self.tr("Downloads"))
        mirrors, fast = self.questions
        mirrors.setText(self.tr("Fetch from mirrors in China"))
        fast.setText(self.tr("How fast at most"))
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
        self.choice.setAccessibleName(mirrors.text())
        self.speed.set_rate(self._app.settings.speed_limit)

    def _choose(self, index: int) -> None:
        self._saver.keep(mirrors=get_args(MirrorUse)[index])
