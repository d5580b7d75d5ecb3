"""Settings' card about the cards: notifications, the icon, what was silenced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from ..components import SegmentedControl, label
from .choice_card import SettingsRowsCard
from .saving import SettingsSaver
from .silenced_list import MutedAlarmsList

if TYPE_CHECKING:
    from ...app import App

ON, OFF = range(2)


class GpuSettingsCard(SettingsRowsCard):
    """`changed` comes after each choice."""

    changed = Signal()

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self.alarms_segments, self.tray_segments = SegmentedControl(["", ""]), SegmentedControl(["", ""])
        self.muted_alarms_list = MutedAlarmsList(app)
        self.sleep_label = label("small")
        super().__init__(app, saver, (self.alarms_segments, self.tray_segments), self.sleep_label, self.muted_alarms_list)
        self.alarms_segments.chosen.connect(lambda index: self._save(alarms=index == ON))
        self.tray_segments.chosen.connect(lambda index: self._save(tray=index == ON))
        self.muted_alarms_list.settings_changed.connect(lambda changes: self._save(**changes))

    def update_rows(self) -> None:
        """All words, and what holds."""
        settings = self._app.settings
        self.set_title(self.tr("Your graphics card"))
        questions = (
            self.tr("Tell me when something is wrong with it, also while I look elsewhere"),
            self.tr("Show its temperature as an icon beside the clock"),
        )
        for row_label, control, text, is_on in zip(
            self.row_labels, (self.alarms_segments, self.tray_segments), questions, (settings.alarms, settings.tray), strict=True
        ):
            row_label.setText(text)
            control.set_options([self.tr("On"), self.tr("Off")])
            control.set_current(ON if is_on else OFF)
            control.setAccessibleName(text)
        self.sleep_label.setText(self.tr("A laptop's card that sleeps to save power is never woken for this."))
        self.muted_alarms_list.retranslate()

    def _save(self, **changes: object) -> None:
        self._saver.save(**changes)
        self.retranslate()
        self.changed.emit()
