"""Settings' card about updates: whether to look, when that was done last, what came of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout

from ..components import Button, Card, Divider, SegmentedControl, label
from ..language import texts
from .saving import SettingsSaver
from .updates import UpdateController
from .updates_offer import UpdatePanel

if TYPE_CHECKING:
    from ...app import App

ON, OFF = range(2)


class UpdateSettingsCard(Card):
    """A build that knows no publisher says so, and nothing else."""

    def __init__(self, updates: UpdateController, app: App, saver: SettingsSaver) -> None:
        self._updates, self._app, self._saver = updates, app, saver
        self._is_built = False
        self.unsupported_label = label("body", "", "soft")
        self.daily_check_label, self.last_check_label = label("body"), label("body", "", "soft")
        self.daily_check_segments = SegmentedControl(["", ""])
        self.check_button = Button()
        self.divider, self.update_panel = Divider(), UpdatePanel(updates)
        self.error_label = label("small", tone="error")
        super().__init__(" ")
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(14)
        grid.setColumnStretch(0, 1)
        for row, (row_label, control) in enumerate(((self.daily_check_label, self.daily_check_segments), (self.last_check_label, self.check_button))):
            grid.addWidget(row_label, row, 0, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(control, row, 1, Qt.AlignmentFlag.AlignRight)
        self.column.addWidget(self.unsupported_label)
        self.column.addLayout(grid)
        for part in (self.error_label, self.divider, self.update_panel):
            self.column.addWidget(part)
        self.daily_check_segments.chosen.connect(self._choose_daily_check)
        self.check_button.clicked.connect(lambda: updates.check("now"))
        updates.changed.connect(self.retranslate)
        self._is_built = True
        if updates.check_result is None:
            updates.check("never")
        self.retranslate()

    def retranslate(self) -> None:
        """All words and all states."""
        if not self._is_built:
            return
        updates, is_supported = self._updates, self._updates.is_supported
        self.set_title(self.tr("Updates"))
        self.unsupported_label.setText(
            self.tr(
                "This build looks for no updates: it knows no publisher to ask. New versions are installed by hand."
            )
        )
        self.unsupported_label.setVisible(not is_supported)
        for part in (self.daily_check_label, self.daily_check_segments, self.last_check_label, self.check_button):
            part.setVisible(is_supported)
        has_newer = updates.newer_version is not None
        self.divider.setVisible(has_newer)
        self.update_panel.setVisible(has_newer)
        error = updates.error if not has_newer else None
        self.error_label.setText(texts().error_text(error) if error is not None else "")
        self.error_label.setVisible(error is not None)
        self.daily_check_label.setText(self.tr("Look for a newer version once a day"))
        self.daily_check_segments.set_options([self.tr("On"), self.tr("Off")])
        self.daily_check_segments.set_current(ON if self._app.settings.look_for_updates else OFF)
        self.daily_check_segments.setAccessibleName(self.daily_check_label.text())
        self.check_button.setText(self.tr("Check now"))
        self.check_button.set_busy(updates.is_checking)
        self.check_button.setEnabled(updates.stage in ("found", "ready"))
        self.last_check_label.setText(self._last_check_text())

    def _last_check_text(self) -> str:
        last_check = self._updates.last_check
        if self._updates.is_checking:
            return self.tr("Asking…")
        if last_check is None or last_check.asked is None or last_check.outcome is None:
            return self.tr("Not checked yet.")
        # As the clock on this computer's wall says it.
        checked_at = datetime.fromtimestamp(last_check.asked, UTC).astimezone()
        outcome = texts().translate(f"update.outcome.{last_check.outcome}")
        return self.tr("Last check {when}: {outcome}").format(when=f"{checked_at:%Y-%m-%d %H:%M}", outcome=outcome)

    def _choose_daily_check(self, index: int) -> None:
        self._saver.save(look_for_updates=index == ON)
        self._updates.changed.emit()
