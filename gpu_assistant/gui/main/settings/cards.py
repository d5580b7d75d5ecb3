"""The cards of Settings: downloads, GPU alarms, bundles for computers without internet, updates. Choices are saved at
once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from ....core.types import MirrorUse
from ... import language
from ...language import texts
from ...saving import SettingsSaver
from ...widgets.base import Themed
from ...widgets.buttons import Button, SegmentedControl
from ...widgets.cards import Card, Divider
from ...widgets.layouts import WrappingRow
from ...widgets.switch import Switch
from ...widgets.text import TextLabel, label
from ...wizard.pages.install.progress_panel import SpeedLimitPicker
from ..updates import UpdateController, UpdatePanel

if TYPE_CHECKING:
    from ....app import App
    from ...wizard.wizard import SidePageName


def control_rows(rows: Iterable[tuple[QWidget, QWidget]]) -> QVBoxLayout:
    """Labels at the left, their controls at the right, or below where there is no room."""
    column = QVBoxLayout()
    column.setSpacing(14)
    column.setContentsMargins(0, 4, 0, 0)
    for row_label, control in rows:
        column.addLayout(WrappingRow(row_label, control))
    return column


class RowText(QWidget):
    """What a row sets, and below it what for."""

    def __init__(self) -> None:
        super().__init__()
        self.name_label, self.hint_label = label("body"), label("small")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        column.addWidget(self.name_label)
        column.addWidget(self.hint_label)

    def set(self, name: str, hint: str) -> None:
        self.name_label.setText(name)
        self.hint_label.setText(hint)
        self.hint_label.setVisible(bool(hint))


class SettingsRowsCard(Card):
    """A card of labels with controls.

    Subclasses create what `update_rows` uses before they call `__init__`.
    """

    def __init__(self, app: App, saver: SettingsSaver, controls: Sequence[QWidget], *below: QWidget) -> None:
        self._app, self._saver = app, saver
        self._is_built = False
        super().__init__(" ")
        self.row_labels = tuple(RowText() for _ in controls)
        self.column.addLayout(control_rows(zip(self.row_labels, controls, strict=True)))
        for widget in below:
            self.column.addWidget(widget)
        self._is_built = True
        self.retranslate()

    def update_rows(self) -> None:
        """Set all texts, and the controls as the settings say."""
        raise NotImplementedError

    def showEvent(self, event: QShowEvent) -> None:
        """The settings may have changed on another page."""
        super().showEvent(event)
        self.retranslate()

    def retranslate(self) -> None:
        if self._is_built:
            self.update_rows()


class DownloadsCard(SettingsRowsCard):
    """Use of mirrors and the speed limit; both apply from the next download on."""

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self.mirror_segments = SegmentedControl([""] * len(get_args(MirrorUse)))
        self.speed_picker = SpeedLimitPicker(is_labelled=True)
        super().__init__(app, saver, (self.mirror_segments, self.speed_picker))
        self.mirror_segments.chosen.connect(self._choose_mirror_use)
        self.speed_picker.chosen.connect(lambda rate: saver.save(speed_limit=rate))

    def update_rows(self) -> None:
        self.set_title(self.tr("Downloads"))
        mirrors_label, speed_label = self.row_labels
        mirrors_label.set(
            self.tr("Use mirrors in China"),
            self.tr("Every file is checked against a checksum, wherever it comes from."),
        )
        speed_label.set(self.tr("Speed limit"), self.tr("Leaves some of your connection for other programs."))
        names = {
            "when-slow": self.tr("When slow"),
            "first": self.tr("Try first"),
            "never": self.tr("Never"),
        }
        self.mirror_segments.set_options([names[use] for use in get_args(MirrorUse)])
        self.mirror_segments.set_current(get_args(MirrorUse).index(self._app.settings.mirrors))
        self.mirror_segments.setAccessibleName(mirrors_label.name_label.text())
        self.speed_picker.set_rate(self._app.settings.speed_limit)

    def _choose_mirror_use(self, index: int) -> None:
        self._saver.save(mirrors=get_args(MirrorUse)[index])


AlarmKey = tuple[str, str | None]  # the rule's id, the card or None


class MutedAlarmsList(Themed, QWidget):
    """The muted alarms, each with a button that unmutes it; `settings_changed` brings the settings' fields."""

    settings_changed = Signal(dict)

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app
        self.rows: dict[AlarmKey, tuple[TextLabel, Button]] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(0, 1)
        self._heading = label("body")
        self._grid.addWidget(self._heading, 0, 0)
        self.apply_theme()

    def retranslate(self) -> None:
        muted = self._muted_alarms()
        if list(muted) != list(self.rows):
            self._build_rows(muted)
        self._heading.setText(self.tr("No notifications for:"))
        for key, title in muted.items():
            title_label, unmute_button = self.rows[key]
            title_label.setText(title)
            unmute_button.setText(self.tr("Notify me again"))
            unmute_button.setAccessibleDescription(title)
        self.setVisible(bool(muted))

    def _muted_alarms(self) -> dict[AlarmKey, str]:
        """Titles by key; an alarm of one GPU names it, older entries and those of the computer have no GPU."""
        settings, texts = self._app.settings, language.texts()
        muted: dict[AlarmKey, str] = {}
        for alarm in settings.muted_alarms:
            if texts.has_text(f"health.{alarm}.title"):
                muted[alarm, None] = texts.translate(f"health.{alarm}.title")
        for each in settings.muted_gpu_alarms:
            if texts.has_text(f"health.{each.alarm}.title"):
                title = texts.translate(f"health.{each.alarm}.title")
                muted[each.alarm, each.card] = f"{title} · {each.name or each.card}"
        return muted

    def _build_rows(self, muted: dict[AlarmKey, str]) -> None:
        for row in self.rows.values():
            for widget in row:
                widget.hide()
                self._grid.removeWidget(widget)
                widget.deleteLater()
        self.rows = {}
        for index, key in enumerate(muted, 1):
            title_label, unmute_button = label("body", tone="soft"), Button(small=True)
            unmute_button.clicked.connect(lambda _=False, which=key: self._unmute(which))
            self._grid.addWidget(title_label, index, 0, Qt.AlignmentFlag.AlignVCenter)
            self._grid.addWidget(unmute_button, index, 1, Qt.AlignmentFlag.AlignRight)
            self.rows[key] = title_label, unmute_button

    def _unmute(self, key: AlarmKey) -> None:
        settings = self._app.settings
        changes: dict[str, Any] = {
            "muted_alarms": tuple(each for each in settings.muted_alarms if (each, None) != key),
            "muted_gpu_alarms": tuple(each for each in settings.muted_gpu_alarms if (each.alarm, each.card) != key),
        }
        self.settings_changed.emit(changes)
        # Keyboard focus stays in the list.
        for _, unmute_button in list(self.rows.values())[:1]:
            unmute_button.setFocus()


class GpuSettingsCard(SettingsRowsCard):
    """Alarms, tray icon and muted alarms; `changed` follows each choice."""

    changed = Signal()

    def __init__(self, app: App, saver: SettingsSaver) -> None:
        self.alarms_switch, self.tray_switch = Switch(), Switch()
        self.muted_alarms_list = MutedAlarmsList(app)
        super().__init__(app, saver, (self.alarms_switch, self.tray_switch), self.muted_alarms_list)
        self.alarms_switch.switched.connect(lambda is_on: self._save(alarms=is_on))
        self.tray_switch.switched.connect(lambda is_on: self._save(tray=is_on))
        self.muted_alarms_list.settings_changed.connect(lambda changes: self._save(**changes))

    def update_rows(self) -> None:
        settings = self._app.settings
        self.set_title(self.tr("Your graphics card"))
        questions = (
            (
                self.tr("Notify me of problems with the card, even in the background"),
                self.tr("For example when it gets too hot or has a fault."),
            ),
            (
                self.tr("Show its temperature next to the clock"),
                self.tr("On a laptop, this never wakes a card that sleeps to save power."),
            ),
        )
        for row_label, control, (text, hint), is_on in zip(
            self.row_labels,
            (self.alarms_switch, self.tray_switch),
            questions,
            (settings.alarms, settings.tray),
            strict=True,
        ):
            row_label.set(text, hint)
            control.set_on(is_on)
            control.setAccessibleName(text)
        self.muted_alarms_list.retranslate()

    def _save(self, **changes: object) -> None:
        self._saver.save(**changes)
        self.retranslate()
        self.changed.emit()


class OfflineCard(Card):
    """Creating and using a folder for a computer without internet; `side_page_requested` brings the page's name."""

    side_page_requested = Signal(str)

    def __init__(self) -> None:
        self._is_built = False
        self.create_bundle_button, self.load_bundle_button = Button(icon_name="net"), Button(icon_name="folder")
        self._line_labels = (label("body"), label("body"))
        super().__init__(" ")
        buttons: tuple[tuple[SidePageName, Button], ...] = (
            ("create-bundle", self.create_bundle_button),
            ("load-bundle", self.load_bundle_button),
        )
        for page, button in buttons:
            button.clicked.connect(lambda _checked=False, page=page: self.side_page_requested.emit(page))
        self.column.addLayout(
            control_rows(zip(self._line_labels, (self.create_bundle_button, self.load_bundle_button), strict=True))
        )
        self._is_built = True
        self.retranslate()

    def retranslate(self) -> None:
        if not self._is_built:
            return
        self.set_title(self.tr("Without internet"))
        self._line_labels[0].setText(
            self.tr("Put all files that a setup needs into one folder, for a computer without internet.")
        )
        self._line_labels[1].setText(
            self.tr("Set up this computer from a folder that was prepared on a computer with internet.")
        )
        self.create_bundle_button.setText(self.tr("Prepare a folder…"))
        self.load_bundle_button.setText(self.tr("Install from an offline folder…"))


class UpdateSettingsCard(Card):
    """Checks for updates; a build without a publisher says that it has none."""

    def __init__(self, updates: UpdateController, app: App, saver: SettingsSaver) -> None:
        self._updates, self._app, self._saver = updates, app, saver
        self._is_built = False
        self.unsupported_label = label("body", "", "soft")
        self.daily_check_label, self.last_check_label = label("body"), label("body", "", "soft")
        self.daily_check_switch = Switch()
        self.check_button = Button()
        self.divider, self.update_panel = Divider(), UpdatePanel(updates)
        self.error_label = label("small", tone="error")
        super().__init__(" ")
        rows = control_rows(
            ((self.daily_check_label, self.daily_check_switch), (self.last_check_label, self.check_button))
        )
        self.column.addWidget(self.unsupported_label)
        self.column.addLayout(rows)
        for part in (self.error_label, self.divider, self.update_panel):
            self.column.addWidget(part)
        self.daily_check_switch.switched.connect(self._choose_daily_check)
        self.check_button.clicked.connect(lambda: updates.check("now"))
        updates.changed.connect(self.retranslate)
        self._is_built = True
        if updates.check_result is None:
            updates.check("never")
        self.retranslate()

    def retranslate(self) -> None:
        if not self._is_built:
            return
        updates, is_supported = self._updates, self._updates.is_supported
        self.set_title(self.tr("Updates"))
        self.unsupported_label.setText(
            self.tr(
                "This copy cannot check for updates, because it has no update source. Install new versions yourself."
            )
        )
        self.unsupported_label.setVisible(not is_supported)
        for part in (self.daily_check_label, self.daily_check_switch, self.last_check_label, self.check_button):
            part.setVisible(is_supported)
        has_newer = updates.newer_version is not None
        self.divider.setVisible(has_newer)
        self.update_panel.setVisible(has_newer)
        error = updates.error if not has_newer else None
        self.error_label.setText(texts().error_text(error) if error is not None else "")
        self.error_label.setVisible(error is not None)
        self.daily_check_label.setText(self.tr("Check for a new version once a day"))
        self.daily_check_switch.set_on(self._app.settings.look_for_updates)
        self.daily_check_switch.setAccessibleName(self.daily_check_label.text())
        self.check_button.setText(self.tr("Check now"))
        self.check_button.set_busy(updates.is_checking)
        self.check_button.setEnabled(updates.stage in ("found", "ready"))
        self.last_check_label.setText(self._last_check_text())

    def _last_check_text(self) -> str:
        last_check = self._updates.last_check
        if self._updates.is_checking:
            return self.tr("Checking…")
        if last_check is None or last_check.asked is None or last_check.outcome is None:
            return self.tr("Not checked yet.")
        checked_at = datetime.fromtimestamp(last_check.asked, UTC).astimezone()
        outcome = texts().translate(f"update.outcome.{last_check.outcome}")
        return self.tr("Last checked {when}: {outcome}").format(when=f"{checked_at:%Y-%m-%d %H:%M}", outcome=outcome)

    def _choose_daily_check(self, is_on: bool) -> None:
        self._saver.save(look_for_updates=is_on)
        self._updates.changed.emit()
