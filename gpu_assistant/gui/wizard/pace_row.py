"""Under a running download: hold it, go on, and how fast at most."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ..components import Button, announce
from ..components.base import Themed
from ..components.picker import DropdownEntry, Dropdown

# What a line is often shared with: a call, a film, somebody else's download.
MEGABYTE = 1_000_000
SPEED_LIMITS = (None, *(count * MEGABYTE for count in (20, 10, 5, 2, 1)))


class SpeedLimitPicker(Dropdown):
    """How fast downloads may go at most; `chosen` comes with bytes per second, None for as fast as it goes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.rate: int | None = None
        super().__init__(parent)
        self.chosen.connect(self.set_rate)

    def set_rate(self, rate: int | None) -> None:
        """Another limit, without telling."""
        self.rate = rate
        self.retranslate()

    def retranslate(self) -> None:
        """All words."""
        entries = [DropdownEntry(value=each, text=self._rate_text(each)) for each in SPEED_LIMITS]
        self.set_entries(entries, self.rate, self._rate_text(self.rate), self.tr("Download speed"))

    def _rate_text(self, rate: int | None) -> str:
        if rate is None:
            return self.tr("As fast as it goes")
        return self.tr("At most {count} MB/s").format(count=f"{rate / MEGABYTE:g}")


class DownloadControls(Themed, QWidget):
    """`held(bool)` when the user holds the download or lets it go on; `limit.chosen` with another limit."""

    pause_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.paused = False
        self.pause_button, self.limit_picker = Button(kind="ghost", icon_name="pause"), SpeedLimitPicker()
        self.controls = (self.pause_button, self.limit_picker)
        self.pause_button.clicked.connect(self._toggle_pause)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(self.pause_button)
        row.addStretch(1)
        row.addWidget(self.limit_picker)
        self.apply_theme()

    def set(self, *, paused: bool, rate: int | None) -> None:
        """How it stands, without telling."""
        if paused != self.paused:
            self.paused = paused
            self.retranslate()
        if rate != self.limit_picker.rate:
            self.limit_picker.set_rate(rate)

    def retranslate(self) -> None:
        """Our own words."""
        self.pause_button.setText(self.tr("Go on") if self.paused else self.tr("Pause"))
        self.pause_button.set_icon("play" if self.paused else "pause")

    def _toggle_pause(self) -> None:
        self.paused = not self.paused
        self.retranslate()
        announce(self.pause_button, self.tr("The download is held.") if self.paused else self.tr("The download goes on."))
        self.pause_toggled.emit(self.paused)
