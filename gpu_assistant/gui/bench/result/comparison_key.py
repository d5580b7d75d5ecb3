"""The key of a comparison: what the colours of its bars and the bracket mean, each with a sample of it."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from ....reports.messages import MEASURED_TOKEN, REFERENCE_TOKEN
from ... import theme
from ...widgets.base import Themed, draw_rounded_rect
from ...widgets.layouts import FlowLayout
from ...widgets.text import label
from .comparison_row import BELOW_TOKEN

SWATCH_WIDTH, SWATCH_HEIGHT, GAP = 18, 10, 8  # pixels at 100 % text
RANGE_TOKEN = "ok"


class Swatch(Themed, QWidget):
    """A short bar in a colour, or for RANGE_TOKEN a bracket."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(SWATCH_WIDTH), theme.px(SWATCH_HEIGHT) + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, area = QPainter(self), QRectF(self.rect())
        if self._token != RANGE_TOKEN:
            draw_rounded_rect(painter, area.adjusted(0, 2, 0, -2), 3, theme.color(self._token))
            return
        painter.fillRect(area.adjusted(0, 1, 0, -1), theme.color(RANGE_TOKEN, 0.16))
        for x in (0.0, area.width() - 2):
            painter.fillRect(QRectF(x, 0, 2, area.height()), theme.color(RANGE_TOKEN))


class ComparisonKey(Themed, QWidget):
    """One entry for each kind of bar that a comparison has, and for the bracket; hidden without any."""

    def __init__(self) -> None:
        super().__init__()
        self._card = self._previous_date = ""
        self._flow = FlowLayout(self, spacing=16)
        self.entries = {name: _Entry(token) for name, token in ENTRY_TOKENS.items()}
        for entry in self.entries.values():
            self._flow.addWidget(entry)
        self.apply_theme()

    def show_entries(
        self, tokens: Collection[str], *, card: str, has_gpus: bool, previous_date: str, expected: bool
    ) -> None:
        """What the comparison shows: bars of these colours, an earlier test with its date ("" for none), usual ranges;
        `card` is the name of all of its GPUs, "" where their names differ.
        """
        self._card, self._previous_date = card, previous_date
        self.retranslate()
        shown = {
            "gpu": has_gpus and MEASURED_TOKEN in tokens,
            "cpu": has_gpus and REFERENCE_TOKEN in tokens,
            "now": bool(previous_date),
            "previous": bool(previous_date),
            "below": BELOW_TOKEN in tokens,
            "usual": expected,
        }
        for name, entry in self.entries.items():
            entry.setVisible(shown[name])
        self.setVisible(any(shown.values()))

    def retranslate(self) -> None:
        texts = {
            "gpu": "GPU",
            "cpu": "CPU",
            "now": self.tr("This test"),
            "previous": self.tr("Your previous test ({date})").format(date=self._previous_date),
            "below": self.tr("Your {card}, below its usual range").format(card=self._card)
            if self._card
            else self.tr("Below its usual range"),
            "usual": self.tr("Usual range of healthy cards of this model"),
        }
        for name, entry in self.entries.items():
            entry.text_label.setText(texts[name])


ENTRY_TOKENS = {
    "gpu": MEASURED_TOKEN,
    "below": BELOW_TOKEN,
    "cpu": REFERENCE_TOKEN,
    "now": MEASURED_TOKEN,
    "previous": REFERENCE_TOKEN,
    "usual": RANGE_TOKEN,
}


class _Entry(QWidget):
    def __init__(self, token: str) -> None:
        super().__init__()
        self.text_label = label("small")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.px(GAP))
        row.addWidget(Swatch(token))
        row.addWidget(self.text_label)
