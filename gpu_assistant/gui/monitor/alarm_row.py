"""One alarm: what is not as it should be, the evidence, what to do, who says so, and its silence."""

from __future__ import annotations

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...core.health import Alarm
from .. import language
from ..components import Button, Icon, Live, label
from ..health.advised import ADVISED

ICONS = {"info": ("info", "accent_text"), "warn": ("warn", "warn"), "error": ("error", "error")}


class AlarmRow(Live, QWidget):
    """`silenced(Alarm, on)` comes when the user wants no notification for this alarm of this card, or one again;
    `test_wanted` asks for the health test that the advice names. What stands above it already it leaves out (`brief`).
    """

    silenced = Signal(object, bool)
    test_wanted = Signal()

    def __init__(self, alarm: Alarm, *, silent: bool) -> None:
        super().__init__()
        self.alarm, self.silent = alarm, silent
        self._ready = False
        self.icon_ = Icon("warn", "warn", 20)
        self.title, self.evidence = label("strong"), label("small", tone="soft")
        self.fix = label("body")
        self.test = Button(kind="ghost", icon="doctor", small=True)
        self.source = Button(kind="ghost", after="open", small=True)
        self.silence = Button(kind="ghost", small=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(14)
        words = QVBoxLayout()
        words.setSpacing(4)
        for each in (self.title, self.evidence, self.fix):
            words.addWidget(each)
        foot = QHBoxLayout()
        foot.setSpacing(12)
        foot.addWidget(self.test)
        foot.addWidget(self.source)
        foot.addWidget(self.silence)
        foot.addStretch(1)
        words.addLayout(foot)
        top = QVBoxLayout()
        top.addWidget(self.icon_)
        top.addStretch(1)
        row.addLayout(top)
        row.addLayout(words, 1)
        self.test.clicked.connect(self.test_wanted)
        self.source.clicked.connect(self._open)
        self.silence.clicked.connect(lambda: self.silenced.emit(self.alarm, not self.silent))
        self._ready = True
        self.follow()

    def set(self, alarm: Alarm, *, silent: bool) -> None:
        """The same alarm with the figures of now."""
        if (alarm.data, alarm.level, alarm.source, silent) != (
            self.alarm.data,
            self.alarm.level,
            self.alarm.source,
            self.silent,
        ):
            self.alarm, self.silent = alarm, silent
            self.retranslate()

    def be_brief(self, *, brief: bool) -> None:
        """Whether title and evidence stand above it already."""
        for words in (self.title, self.evidence):
            words.setVisible(not brief)

    def retranslate(self) -> None:
        """All words."""
        if not self._ready:
            return
        alarm, texts = self.alarm, language.texts()
        self.icon_.set(*ICONS[alarm.level])
        spoken = texts.alarm(alarm)
        said = {"title": spoken.title or "", "evidence": spoken.evidence or "", "fix": spoken.fix or ""}
        for what, shown in (("title", self.title), ("evidence", self.evidence), ("fix", self.fix)):
            if shown.text() != said[what]:
                shown.setText(said[what])
        self.test.setVisible(alarm.id in ADVISED)
        self.test.setText(self.tr("Run the health test"))
        self.source.setVisible(alarm.source is not None)
        self.source.setText(self.tr("Source"))
        self.source.setToolTip(alarm.source or "")
        self.source.setAccessibleDescription(alarm.source or "")
        self.silence.setVisible(alarm.level != "info")
        self.silence.setText(self.tr("Notify me again") if self.silent else self.tr("No notifications for this"))
        self.setAccessibleName(". ".join(said.values()))

    def _open(self) -> None:
        if self.alarm.source is not None:
            QDesktopServices.openUrl(QUrl(self.alarm.source))
