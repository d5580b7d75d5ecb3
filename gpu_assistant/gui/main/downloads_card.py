"""Settings' card about downloads: when those who mirror the publishers' files are asked, and how fast at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from ...core.names import MirrorUse
from ..components import SegmentedControl, label
from ..wizard.pace_row import SpeedLimitPicker
from .choice_card import SettingsRowsCard
from .saving import SettingsSaver

if TYPE_CHECKING:
    from ...app import App


class DownloadsCard(SettingsRowsCard):
    """Each choice counts from the next download on."""

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self.mirror_segments, self.speed_picker = SegmentedControl([""] * len(get_args(MirrorUse))), SpeedLimitPicker()
        self._checksum_label = label("body", "", "soft")
        super().__init__(app, saver, (self.mirror_segments, self.speed_picker), self._checksum_label)
        self.mirror_segments.chosen.connect(self._choose_mirror_use)
        self.speed_picker.chosen.connect(lambda rate: saver.save(speed_limit=rate))

    def update_rows(self) -> None:
        """All words, and what holds."""
        self.set_title(self.tr("Downloads"))
        mirrors_label, speed_label = self.row_labels
        mirrors_label.setText(self.tr("Fetch from mirrors in China"))
        speed_label.setText(self.tr("How fast at most"))
        self._checksum_label.setText(
            self.tr("Every file is checked against the checksum of its publisher, wherever it comes from.")
        )
        names = {
            "when-slow": self.tr("When slow"),
            "first": self.tr("First"),
            "never": self.tr("Never"),
        }
        self.mirror_segments.set_options([names[use] for use in get_args(MirrorUse)])
        self.mirror_segments.set_current(get_args(MirrorUse).index(self._app.settings.mirrors))
        self.mirror_segments.setAccessibleName(mirrors_label.text())
        self.speed_picker.set_rate(self._app.settings.speed_limit)

    def _choose_mirror_use(self, index: int) -> None:
        self._saver.save(mirrors=get_args(MirrorUse)[index])
