"""One alarm: what is not as it should be, the evidence, what to do, who says so, and its silence."""

from __future__ import annotations

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...core.health import Alarm
from .. import language
from ..components import Button, IconWidget, Themed, label
from ..health.advised import ALARMS_ADVISING_TEST

ALARM_ICONS = {"info": ("info", "accent_text"), "warn": ("warn", "warn"), "error": ("error", "error")}


class AlarmRow(Themed, QWidget):
    """`silenced(Alarm, on)` comes when the user wants no notification for this alarm of this card, or one again;
    `test_wanted` asks for the health test that the advice names. What stands above it already it leaves out (`brief`).
    """

    alarm_muted = Signal(object, bool)
    health_test_requested = Signal()

    def __init__(self, alarm: Alarm, *, muted: bool) -> None:
        super().__init__()
        self.alarm, self.muted = alarm, muted
        self._ready = False
        self.icon_widget = IconWidget("warn", "warn", 20)
        self.title_label, self.evidence_label = label("strong"), label("small", tone="soft")
        self.fix_label = label("body")
        self.test_button = Button(kind="ghost", icon_name="doctor", small=True)
        self.source_button = Button(kind="ghost", trailing_icon="open", small=True)
        self.mute_button = Button(kind="ghost", small=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(14)
        text_layout = QVBoxLayout()
        text_layout.setSpacing(4)
        for each in (self.title_label, self.evidence_label, self.fix_label):
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

    def set_alarm(self, alarm: Alarm, *, muted: bool) -> None:
        """The same alarm with the figures of now."""
        if (alarm.data, alarm.level, alarm.source, muted) != (
            self.alarm.data,
            self.alarm.level,
            self.alarm.source,
            self.muted,
        ):
            self.alarm, self.muted = alarm, muted
            self.retranslate()

    def set_brief(self, *, brief: bool) -> None:
        """Whether title and evidence stand above it already."""
        for widget in (self.title_label, self.evidence_label):
            widget.setVisible(not brief)

    def retranslate(self) -> None:
        """All words."""
        if not self._ready:
            return
        alarm, texts = self.alarm, language.texts()
        self.icon_widget.set(*ALARM_ICONS[alarm.level])
        alarm_text = texts.localize_alarm(alarm)
        texts_by_part = {"title": alarm_text.title or "", "evidence": alarm_text.evidence or "", "fix": alarm_text.fix or ""}
        for part, widget in (("title", self.title_label), ("evidence", self.evidence_label), ("fix", self.fix_label)):
            if widget.text() != texts_by_part[part]:
                widget.setText(texts_by_part[part])
        self.test_button.setVisible(alarm.id in ALARMS_ADVISING_TEST)
        self.test_button.setText(self.tr("Run the health test"))
        self.source_button.setVisible(alarm.source is not None)
        self.source_button.setText(self.tr("Source"))
        self.source_button.setToolTip(alarm.source or "")
        self.source_button.setAccessibleDescription(alarm.source or "")
        self.mute_button.setVisible(alarm.level != "info")
        self.mute_button.setText(self.tr("Notify me again") if self.muted else self.tr("No notifications for this"))
        self.setAccessibleName(". ".join(texts_by_part.values()))

    def _open_source(self) -> None:
        if self.alarm.source is not None:
            QDesktopServices.openUrl(QUrl(self.alarm.source))
