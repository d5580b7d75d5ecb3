"""While it works out what fits in memory: which way of training, how far it is, for how long it has run; Cancel."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...bench.lines import FitProgress
from ...texts.format import duration
from .. import language
from ..components import Button, Live, ProgressBar, label
from . import fit_words

TICK_MS = 1000


class FitRunning(Live, QWidget):
    """`cancel` is its only button. `begin`, then `show_progress` with each news; the clock goes on by itself."""

    def __init__(self) -> None:
        self._at: FitProgress | None = None
        self._stopping = self._ready = False
        self._began = 0.0
        super().__init__()
        self.what, self.count = label("strong"), label("small")
        self.bar, self.cancel = ProgressBar(), Button(icon="cross")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for widget in (self.what, self.count, self.bar):
            column.addWidget(widget)
        column.addWidget(self.cancel, 0, Qt.AlignmentFlag.AlignLeft)
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._show_count)
        self._ready = True
        self.follow()

    def showEvent(self, event: QShowEvent) -> None:
        """The clock goes while it is seen."""
        super().showEvent(event)
        self._clock.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody reads it."""
        super().hideEvent(event)
        self._clock.stop()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def begin(self) -> None:
        """A new run."""
        self._at, self._stopping, self._began = None, False, time.monotonic()
        self.retranslate()

    def show_progress(self, at: FitProgress) -> None:
        """What it works out now."""
        self._at = at
        self.retranslate()

    def set_stopping(self) -> None:
        """It was told to stop."""
        self._stopping = True
        self.retranslate()

    def retranslate(self) -> None:
        """All words."""
        if not self._ready:
            return
        self.cancel.setText(self.tr("Stopping…") if self._stopping else self.tr("Cancel"))
        self.cancel.setEnabled(not self._stopping)
        at = self._at
        if at is None:
            self.what.setText(self.tr("Starting PyTorch…"))
            self.bar.set_fraction(None)
        else:
            name = fit_words.variant_name(at.variant)
            self.what.setText(self.tr("Measuring small steps: {way}").format(way=name))
            self.bar.set_fraction((at.n - 1) / max(at.of, 1))
        self._show_count()

    def _show_count(self) -> None:
        since = duration(max(self.seconds, 1.0), language.texts().language)
        parts = [self.tr("running for {time}").format(time=since)]
        if self._at is not None:
            parts = [self.tr("{n} of {of}").format(n=self._at.n, of=self._at.of), *parts]
        self.count.setText(" · ".join(parts))
