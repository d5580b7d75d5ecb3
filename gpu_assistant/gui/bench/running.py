"""While it measures: what runs, how far it is, and Cancel."""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...bench.parent import BenchProgress
from ...texts.format import duration
from .. import language
from ..components import Button, Card, Live, ProgressBar, label
from . import scores

TICK_MS = 1000


class RunningView(Live, QWidget):
    """`cancel` is its only button. `begin`, then `show_progress` with each news; the clock goes on by itself."""

    def __init__(self) -> None:
        self._at: BenchProgress | None = None
        self._stopping = False
        self._began, self._usual = 0.0, ""
        self._ready = False
        super().__init__()
        card = Card()
        self.what, self.count = label("heading"), label("small")
        self.bar = ProgressBar()
        self.cancel = Button(icon="cross")
        self._note = label("small")
        foot = QHBoxLayout()
        foot.addWidget(self._note, 1)
        foot.addWidget(self.cancel)
        for widget in (self.what, self.count, self.bar):
            card.column.addWidget(widget)
        card.column.addLayout(foot)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(card)
        column.addStretch(1)
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

    def begin(self, usual: str) -> None:
        """A new run: nothing is known of it yet but how long such a one takes."""
        self._at, self._stopping, self._began = None, False, time.monotonic()
        self._usual = usual
        self.retranslate()

    def show_progress(self, at: BenchProgress) -> None:
        """What it does now."""
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
        other = self.tr("Other programs that work meanwhile make the figures lower.")
        self._note.setText("\n".join(each for each in (self._usual, other) if each))
        now = self._at
        if now is None:
            self.what.setText(self.tr("Starting PyTorch…"))
            self.bar.set_fraction(None)
        else:
            self.what.setText(f"{scores.workload(now.workload, now.dtype)} · {scores.device_label(now.device)}")
            self.bar.set_fraction((now.n - 1) / max(now.of, 1))
        self._show_count()

    def _show_count(self) -> None:
        """How far it is, and for how long it has run by now."""
        now, texts = self._at, language.texts()
        since = duration(max(time.monotonic() - self._began, 1.0), texts.language)
        parts = [self.tr("running for {time}").format(time=since)]
        if now is not None:
            size = scores.extent(now.size) if now.workload == "matmul" else ""
            parts = [self.tr("{n} of {of}").format(n=now.n, of=now.of), size, *parts]
        self.count.setText(" · ".join(part for part in parts if part))
