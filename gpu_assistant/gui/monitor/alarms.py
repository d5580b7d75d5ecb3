"""The alarms of the GPUs: what is wrong, the evidence, what to do, the source, and muting of notifications.

`AlarmAdvicePanel` is the collapsed panel of Monitor, `AlarmsCard` the card of Home; an `AlarmRow` is one alarm.
Texts are from `resources/texts/health.json`. `gpu_state` says in short how one of several GPUs is.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from PySide6.QtCore import QCoreApplication, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...core.results import Alarm, GpuSample, Health
from ...texts.format import join_unit, uncapitalize
from .. import language
from ..widgets.base import Themed
from ..widgets.buttons import Button
from ..widgets.cards import Card, Divider, PillKind
from ..widgets.icons import IconWidget
from ..widgets.text import label

ALARM_ICONS = {"info": ("info", "accent_text"), "warn": ("warn", "warn"), "error": ("error", "error")}
ADVISED_TEST_LEVEL = 2
# The alarms whose advice names the health test; a test compares this with resources/texts/health.json.
ALARMS_ADVISING_TEST = frozenset(
    {"memory-errors", "memory-errors-before", "memory-mended", "xid-card", "xid-memory", "xid-program"}
)
AlarmKey = tuple[str, int | None]  # rule and GPU


def gpu_state(index: int, gpu: GpuSample | None, health: Health | None) -> tuple[PillKind, str] | None:
    """(kind, text) of one of several GPUs: its worst alarm in short, else its state; None while that is unknown."""
    translate, texts = QCoreApplication.translate, language.texts()
    alarm = next((each for each in (health.alarms if health else ()) if each.gpu == index), None)
    if alarm is not None and alarm.level != "info":
        return "error" if alarm.level == "error" else "warn", texts.alarm_state(alarm)
    state = gpu.state if gpu is not None else "silent"
    if state != "ready":
        return "neutral", texts.translate(f"monitor.gpu.{state}")
    if health is None or health.state == "unknown":
        return None
    if index in health.watching:
        return "neutral", translate("GpuHeader", "Watching")
    if index in health.untold:
        return "neutral", translate("GpuHeader", "Unknown")
    return "ok", translate("GpuHeader", "Normal")


class AlarmAdvicePanel(Themed, QWidget):
    """The alarms; `toggle_button`, which the page places, shows and hides them. Both are hidden without an alarm.

    With a new alarm that is more than information the panel opens by itself where `set_opening` allows it. `toggled` is
    emitted when it opened or closed.
    """

    toggled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._may_open, self._opened_itself = True, False
        self._is_open = self._shows_action = False
        self._announced: set[AlarmKey] = set()  # the alarms for which it has opened
        self.toggle_button = Button(kind="ghost", small=True)
        self.alarms_card = AlarmsCard(include_info=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.alarms_card)
        self.toggle_button.clicked.connect(self._toggle)
        for widget in (self, self.toggle_button):
            widget.hide()
        self.apply_theme()

    def show_health(self, health: Health | None, is_muted: Callable[[Alarm], bool]) -> None:
        self.alarms_card.show_health(health, is_muted)
        has_alarms = bool(self.alarms_card.rows)
        grave = {key for key, row in self.alarms_card.rows.items() if row.alarm.level != "info"}
        is_new, self._announced = bool(grave - self._announced), grave
        if self._is_open and not has_alarms:
            self._toggle()
        elif is_new and self._may_open and not self._is_open:
            self._toggle(by_itself=True)
        self.toggle_button.setVisible(has_alarms)
        if self._shows_action != self.needs_action:
            self.retranslate()

    @property
    def is_open(self) -> bool:
        """Whether the alarms are shown."""
        return self._is_open

    def set_opening(self, *, allowed: bool) -> None:
        """Whether it may open by itself; it closes where it has done so and may no longer."""
        self._may_open = allowed
        if not allowed and self._is_open and self._opened_itself:
            self._toggle()

    @property
    def needs_action(self) -> bool:
        """Whether one of the alarms is more than information."""
        return any(row.alarm.level != "info" for row in self.alarms_card.rows.values())

    def retranslate(self) -> None:
        self._shows_action = self.needs_action
        self.toggle_button.setText(self.tr("What to do") if self._shows_action else self.tr("What this means"))
        self.toggle_button.set_icon(trailing_icon="up" if self._is_open else "down")

    def _toggle(self, *, by_itself: bool = False) -> None:
        self._is_open = not self._is_open
        self._opened_itself = by_itself
        self.setVisible(self._is_open)
        self.retranslate()
        self.toggled.emit()


class AlarmsCard(Card):
    """The most severe alarm, the others once expanded; hidden without an alarm. Signals as in `AlarmRow`.

    Without `include_info` alarms of level "info" are left out.
    """

    alarm_muted = Signal(object, bool)
    health_test_requested = Signal()

    def __init__(self, *, include_info: bool) -> None:
        self.rows: dict[AlarmKey, AlarmRow] = {}
        self._dividers: list[Divider] = []
        self._include_info, self._is_short = include_info, False
        self._expanded = False
        self.expand_button = Button(kind="ghost", small=True)
        super().__init__(padding=16)
        self.column.addWidget(self.expand_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.expand_button.clicked.connect(self._toggle_expanded)
        self.hide()

    def show_health(
        self, health: Health | None, is_muted: Callable[[Alarm], bool], *, first_brief: bool = False
    ) -> None:
        """Show the current alarms; rows of alarms that stay are kept, and with them the focus.

        `first_brief`: title and evidence of the most severe alarm are shown above the card already.
        """
        alarms = [alarm for alarm in (health.alarms if health else ()) if self._include_info or alarm.level != "info"]
        alarms_by_key: dict[AlarmKey, Alarm] = {(alarm.id, alarm.gpu): alarm for alarm in alarms}
        if list(alarms_by_key) != list(self.rows):
            self._rebuild_rows(alarms_by_key, is_muted)
        for index, (key, alarm) in enumerate(alarms_by_key.items()):
            self.rows[key].set_alarm(alarm, muted=is_muted(alarm), names_gpu=health is not None and health.cards > 1)
            self.rows[key].set_brief(brief=first_brief and index == 0)
        worst = next(iter(alarms), None)
        tint = worst.level if worst is not None and worst.level != "info" else ""
        if tint != self.tint:
            self.tint = tint
            self.update()
        self.setVisible(bool(alarms_by_key))

    def set_short(self, *, short: bool) -> None:
        """In a short window, show only title and advice of each alarm."""
        if short != self._is_short:
            self._is_short = short
            for row in self.rows.values():
                row.set_short(short=short)

    def retranslate(self) -> None:
        count = len(self.rows) - 1
        if count >= 0:
            expand_text = self.tr("and {count} more").format(count=count)
            self.expand_button.setText(self.tr("Most serious only") if self._expanded else expand_text)

    def _rebuild_rows(self, alarms_by_key: dict[AlarmKey, Alarm], is_muted: Callable[[Alarm], bool]) -> None:
        existing_rows = {key: self.rows.pop(key, None) for key in alarms_by_key}
        for widget in (*self.rows.values(), *self._dividers):
            widget.hide()
            self.column.removeWidget(widget)
            widget.deleteLater()
        self.rows, self._dividers = {}, []
        for key, alarm in alarms_by_key.items():
            existing = existing_rows[key]
            row = existing if existing is not None else AlarmRow(alarm, muted=is_muted(alarm))
            row.set_short(short=self._is_short)
            if existing is None:
                row.alarm_muted.connect(self.alarm_muted)
                row.health_test_requested.connect(self.health_test_requested)
            else:
                self.column.removeWidget(row)
            if self.rows:
                divider = Divider()
                self._dividers.append(divider)
                self.column.insertWidget(self.column.indexOf(self.expand_button), divider)
            self.column.insertWidget(self.column.indexOf(self.expand_button), row)
            self.rows[key] = row
        self._expanded = self._expanded and len(alarms_by_key) > 1
        self._update_expanded()

    def _toggle_expanded(self) -> None:
        self._expanded = not self._expanded
        self._update_expanded()

    def _update_expanded(self) -> None:
        """Show the first row, and the others if expanded."""
        for widget in (*self._dividers, *list(self.rows.values())[1:]):
            widget.setVisible(self._expanded)
        for first in list(self.rows.values())[:1]:
            first.show()
        self.expand_button.setVisible(len(self.rows) > 1)
        self.expand_button.set_icon(trailing_icon="up" if self._expanded else "down")
        self.retranslate()


class AlarmRow(Themed, QWidget):
    """`alarm_muted(Alarm, muted)` is emitted when the user turns notifications for this alarm off or on;
    `health_test_requested` asks for the health test that the advice names.
    """

    alarm_muted = Signal(object, bool)
    health_test_requested = Signal()

    def __init__(self, alarm: Alarm, *, muted: bool) -> None:
        super().__init__()
        self.alarm, self.muted = alarm, muted
        self._ready = self._is_brief = self._is_short = self._names_gpu = False
        self.icon_widget = IconWidget("warn", "warn", 20)
        self.title_label, self.evidence_label = label("strong"), label("small", tone="soft")
        self.fix_label = label("body")
        self.test_button = Button(kind="ghost", icon_name="doctor", small=True, flush="left")
        self.source_button = Button(kind="ghost", trailing_icon="open", small=True, flush="left")
        self.mute_button = Button(kind="ghost", small=True, flush="left")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(14)
        text_layout = QVBoxLayout()
        text_layout.setSpacing(4)
        for each in (self.title_label, self.fix_label, self.evidence_label):
            text_layout.addWidget(each)
        buttons_layout = QHBoxLayout()
        buttons_layout.setSpacing(12)
        buttons_layout.addWidget(self.test_button)
        buttons_layout.addWidget(self.source_button)
        buttons_layout.addWidget(self.mute_button)
        buttons_layout.addStretch(1)
        text_layout.addLayout(buttons_layout)
        icon_layout = QVBoxLayout()
        icon_layout.addWidget(self.icon_widget)
        icon_layout.addStretch(1)
        row.addLayout(icon_layout)
        row.addLayout(text_layout, 1)
        self.test_button.clicked.connect(self.health_test_requested)
        self.source_button.clicked.connect(self._open_source)
        self.mute_button.clicked.connect(lambda: self.alarm_muted.emit(self.alarm, not self.muted))
        self._ready = True
        self.apply_theme()

    def set_alarm(self, alarm: Alarm, *, muted: bool, names_gpu: bool = False) -> None:
        """Show the same alarm with its current data; with `names_gpu` the title says which GPU has it."""
        shown = (self.alarm.data, self.alarm.level, self.alarm.source, self.muted, self._names_gpu)
        if (alarm.data, alarm.level, alarm.source, muted, names_gpu) != shown:
            self.alarm, self.muted, self._names_gpu = alarm, muted, names_gpu
            self.retranslate()

    def set_brief(self, *, brief: bool) -> None:
        """Hide title and evidence where they are shown above the card already."""
        self._is_brief = brief
        self._update_parts()

    def set_short(self, *, short: bool) -> None:
        """Hide evidence and what is rarely needed, where the window has little room."""
        if short != self._is_short:
            self._is_short = short
            self.retranslate()

    def _readings_text(self) -> str:
        """The figures that the alarm is about: "89 °C · 1,650 MHz"."""
        units = (("temp", "°C"), ("clock", "MHz"))
        figures = ((self.alarm.data.get(name), unit) for name, unit in units)
        return " · ".join(join_unit(f"{value:,}", unit) for value, unit in figures if isinstance(value, int))

    def _update_parts(self) -> None:
        self.title_label.setVisible(not self._is_brief)
        self.evidence_label.setVisible(not self._is_brief and not self._is_short)
        alarm = self.alarm
        self.test_button.setVisible(alarm.id in ALARMS_ADVISING_TEST)
        self.source_button.setVisible(alarm.source is not None and not self._is_short)
        self.mute_button.setVisible(alarm.level != "info" and not self._is_short)

    def retranslate(self) -> None:
        if not self._ready:
            return
        alarm, texts = self.alarm, language.texts()
        self.icon_widget.set(*ALARM_ICONS[alarm.level])
        alarm_text = texts.localize_alarm(alarm)
        parts = (alarm_text.title or "", alarm_text.evidence or "", alarm_text.fix or "")
        title, evidence, fix = parts
        if self._names_gpu and alarm.gpu is not None:
            title = texts.title_of_gpus((alarm.gpu,), uncapitalize(texts.alarm_state(alarm)))
        if self._is_short and (readings := self._readings_text()):
            # The evidence has no room, its figures have.
            title = f"{title} · {readings}"
        for text, widget in zip(
            (title, evidence, fix), (self.title_label, self.evidence_label, self.fix_label), strict=True
        ):
            if widget.text() != text:
                widget.setText(text)
        self._update_parts()
        self.test_button.setText(self.tr("Run the health test"))
        publisher = urlsplit(alarm.source or "").hostname or ""
        self.source_button.setText(self.tr("Source: {publisher}").format(publisher=publisher))
        self.source_button.setToolTip(alarm.source or "")
        self.source_button.setAccessibleDescription(alarm.source or "")
        self.mute_button.setText(self.tr("Notify me again") if self.muted else self.tr("No notifications for this"))
        self.setAccessibleName(". ".join(parts))

    def _open_source(self) -> None:
        if self.alarm.source is not None:
            QDesktopServices.openUrl(QUrl(self.alarm.source))
