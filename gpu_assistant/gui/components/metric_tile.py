"""One figure of the machine."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ...texts.format import UNKNOWN_VALUE
from .. import theme
from .base import Themed
from .card import Card
from .picture import IconWidget
from .progress_bar import ProgressBar
from .text import label


class MetricValue(Themed, QWidget):
    """A figure with its unit behind it on the same base line; None is a dash without a unit."""

    def __init__(self, kind: str = "figure", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kind, self.figure, self.unit, self.tone = kind, UNKNOWN_VALUE, "", "text"
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def set(self, figure: str | None, unit: str = "") -> None:
        """Another figure; the same one costs nothing."""
        value = (UNKNOWN_VALUE, "") if figure is None else (figure, unit)
        if value == (self.figure, self.unit):
            return
        old_size = self.sizeHint()
        self.figure, self.unit = value
        self.setAccessibleName(f"{self.figure} {self.unit}".strip())
        if self.sizeHint() != old_size:
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Both, with 5 px between."""
        large, small = QFontMetricsF(theme.font(self.kind)), QFontMetricsF(theme.font("small"))
        unit = small.horizontalAdvance(self.unit) + 5 if self.unit else 0.0
        return QSize(ceil(large.horizontalAdvance(self.figure) + unit) + 1, ceil(large.height()))

    def minimumSizeHint(self) -> QSize:
        """Never cut."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Figure, then unit."""
        del event
        painter, large = QPainter(self), QFontMetricsF(theme.font(self.kind))
        base = (self.height() - large.height()) / 2 + large.ascent()
        painter.setFont(theme.font(self.kind))
        painter.setPen(theme.color(self.tone))
        painter.drawText(QPointF(0, base), self.figure)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("soft"))
        painter.drawText(QPointF(large.horizontalAdvance(self.figure) + 5, base), self.unit)


class MetricTile(Card):
    """Icon, label, figure, unit, a bar of 4 px in the series' colour. Unknown is a dash, its reason on hover."""

    def __init__(
        self,
        icon: str,
        text: str = "",
        *,
        token: str = "s1",
        parent: QWidget | None = None,
    ) -> None:
        self._state: tuple[str | None, str, float | None, str] | None = None
        super().__init__(padding=14, parent=parent)
        self.icon_widget = IconWidget(icon, "soft", 16)
        self.name_label = label("small", text)
        self.value_widget = MetricValue()
        self.progress_bar = ProgressBar(height=4)
        self.progress_bar.token = token
        header = QHBoxLayout()
        header.setSpacing(8)
        header.addWidget(self.icon_widget)
        header.addWidget(self.name_label, 1)
        column = QVBoxLayout()
        column.setSpacing(6)
        column.addLayout(header)
        column.addWidget(self.value_widget)
        column.addWidget(self.progress_bar)
        self.column.addLayout(column)
        self.set_value(None, "", None)

    def set_label(self, text: str) -> None:
        """The label, in another language."""
        self.name_label.setText(text)
        self._update_accessible_text()

    def set_value(self, figure: str | None, unit: str, fraction: float | None, reason: str = "") -> None:
        """`figure` as text, or None with the reason; `fraction` of the bar from 0 to 1, None hides it."""
        state = (figure, unit, fraction, reason)
        if state == self._state:
            return
        self._state = state
        self.value_widget.set(figure, unit)
        self.progress_bar.set_fraction(fraction or 0.0)
        policy = self.progress_bar.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.progress_bar.setSizePolicy(policy)
        self.progress_bar.setVisible(fraction is not None)
        self.setToolTip(reason)
        self._update_accessible_text()

    def _update_accessible_text(self) -> None:
        figure, unit = self.value_widget.figure, self.value_widget.unit
        self.setAccessibleName(f"{self.name_label.text()}: {figure} {unit}".strip())
        self.setAccessibleDescription(self.toolTip())
