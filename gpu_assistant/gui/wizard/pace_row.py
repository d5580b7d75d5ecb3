"""Under a running download: hold it, go on, and how fast at most."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ..components import Button, announce
from ..components.base import Live
from ..components.picker import Entry, Picker

# What a line is often shared with: a call, a film, somebody else's download.
MEGABYTE = 1_000_000
LIMITS = (None, *(count * MEGABYTE for count in (20, 10, 5, 2, 1)))


class SpeedLimit(Picker):
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
        entries = [Entry(value=each, text=self._said(each)) for each in LIMITS]
        self.set(entries, self.rate, self._said(self.rate), self.tr("Download speed"))

    def _said(self, rate: int | None) -> str:
        if rate is None:
            return self.tr("As fast as it goes")
        return self.tr("At most {count} MB/s").format(count=f"{rate / MEGABYTE:g}")


class PaceRow(Live, QWidget):
    """`held(bool)` when the user holds the download or lets it go on; `limit.chosen` with another limit."""

    held = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.holding = False
        self.hold, self.limit = Button(kind="ghost", icon="pause"), SpeedLimit()
        self.all = (self.hold, self.limit)
        self.hold.clicked.connect(self._turn)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(self.hold)
        row.addStretch(1)
        row.addWidget(self.limit)
        self.follow()

    def set(self, *, holding: bool, rate: int | None) -> None:
        """How it stands, without telling."""
        if holding != self.holding:
            self.holding = holding
            self.retranslate()
        if rate != self.limit.rate:
            self.limit.set_rate(rate)

    def retranslate(self) -> None:
        """Our own words."""
        self.hold.setText(self.tr("Go on") if self.holding else self.tr("Pause"))
        self.hold.set_icon("play" if self.holding else "pause")

    def _turn(self) -> None:
        self.holding = not self.holding
        self.retranslate()
        announce(self.hold, self.tr("The download is held.") if self.holding else self.tr("The download goes on."))
        self.held.emit(self.holding)
