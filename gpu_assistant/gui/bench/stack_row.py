"""What a training step needs in one variant: its sum, the largest batch that fits, a bar stacked of its parts and
what each of them is."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ...core.memory import MemoryFit
from .. import theme
from ..components import KeyboardFocus, Themed, draw_focus_ring, label
from . import fit_words

FOCUS_MARGIN = 5  # room for the ring


class StackedBarRow(KeyboardFocus, Themed, QWidget):
    """The keyboard gets to it, so that it can be read out; it does nothing."""

    def __init__(self, fit: MemoryFit, baseline: MemoryFit | None, scale: int) -> None:
        self._fit, self._baseline = fit, baseline
        self._ready = False
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.name_label, self.peak_label = label("strong"), label("strong")
        self.detail_label, self.batch_label = label("small"), label("small")
        self.bar, self.legend = StackedBar(), MemoryPartsLegend()
        column = QVBoxLayout(self)
        column.setContentsMargins(FOCUS_MARGIN, FOCUS_MARGIN, FOCUS_MARGIN, FOCUS_MARGIN)
        column.setSpacing(4)
        for left, right in ((self.name_label, self.peak_label), (self.detail_label, self.batch_label)):
            row = QHBoxLayout()
            row.setSpacing(16)
            row.addWidget(left, 1)
            right.setAlignment(Qt.AlignmentFlag.AlignRight)
            row.addWidget(right)
            column.addLayout(row)
        column.addWidget(self.bar)
        column.addWidget(self.legend)
        self._ready = True
        self.apply_theme()
        self.show_fit(fit, baseline, scale)

    def show_fit(self, fit: MemoryFit, baseline: MemoryFit | None, scale: int) -> None:
        """Its figures, beside those without anything saved; `scale` in bytes is the whole width of the bar."""
        self._fit, self._baseline = fit, baseline
        self.bar.show_fit(fit, scale)
        self.retranslate()

    def retranslate(self) -> None:
        """All words, and what a screen reader says."""
        if not self._ready:
            return
        fit = self._fit
        self.name_label.setText(fit_words.variant_name(fit.variant))
        self.peak_label.setText(fit_words.peak_text(fit, self._baseline))
        self.detail_label.setText(fit_words.variant_detail(fit))
        self.batch_label.setText(fit_words.max_batch_text(fit))
        self.batch_label.set_tone(fit_words.fit_colour(fit))
        parts = [(fit_words.memory_part_text(part, count), colour) for part, count, colour in fit_words.memory_parts(fit)]
        self.legend.set_parts(tuple(parts))
        texts = [self.peak_label.text(), self.batch_label.text(), *(text for text, _ in parts)]
        self.setAccessibleName(f"{self.name_label.text()}: " + ", ".join(each for each in texts if each))
        self.setAccessibleDescription(self.detail_label.text())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ring while the keyboard is here."""
        del event
        if self.shows_focus_ring:
            draw_focus_ring(QPainter(self), QRectF(self.rect()), 6)


class StackedBar(Themed, QWidget):
    """Painted. What may be planned with is a dashed line where it lies within."""

    def __init__(self) -> None:
        self._fit: MemoryFit | None = None
        self._scale = 1
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def show_fit(self, fit: MemoryFit, scale: int) -> None:
        """Another bar."""
        self._fit, self._scale = fit, max(scale, 1)
        self.update()

    def sizeHint(self) -> QSize:
        """A bar, and room for the line that stands out of it."""
        return QSize(theme.px(240), theme.px(20) + 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The parts from the left."""
        del event
        if self._fit is None:
            return
        painter, bar = QPainter(self), QRectF(self.rect()).adjusted(0, 3, 0, -3)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        clip = QPainterPath()
        clip.addRoundedRect(bar, 4, 4)
        painter.save()
        painter.setClipPath(clip)
        painter.fillRect(bar, theme.color("sunken"))
        x = bar.left()
        for _part, count, colour in fit_words.memory_parts(self._fit):
            width = bar.width() * count / self._scale
            painter.fillRect(QRectF(x, bar.top(), max(width - 1, 1.0), bar.height()), theme.color(colour))
            x += width
        painter.restore()
        usable = fit_words.usable_memory(self._fit)
        if usable is not None and usable < self._scale:
            limit_x = int(bar.left() + bar.width() * usable / self._scale)
            # On a ground of its own: it must be seen on every colour of the bar.
            for pen in (QPen(theme.color("card"), 4), QPen(theme.color("error"), 2, Qt.PenStyle.DashLine)):
                painter.setPen(pen)
                painter.drawLine(limit_x, 0, limit_x, self.height())


class MemoryPartsLegend(Themed, QWidget):
    """Words, each with the colour of its part before it, wrapped into as many lines as they take."""

    def __init__(self) -> None:
        self._parts: tuple[tuple[str, str], ...] = ()
        super().__init__()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.apply_theme()

    def set_parts(self, parts: tuple[tuple[str, str], ...]) -> None:
        """(words, colour) of each."""
        self._parts = parts
        self.setAccessibleName(", ".join(text for text, _ in parts))
        self.refresh()

    def _item_rects(self, width: float) -> list[tuple[QRectF, str, str]]:
        metrics = QFontMetricsF(theme.font("small"))
        line_height, side, x, y, items = metrics.height() + 6, theme.px(12), 0.0, 0.0, []
        for text, colour in self._parts:
            item_width = side + 8 + metrics.horizontalAdvance(text) + 2
            if x > 0 and x + item_width > width:
                x, y = 0.0, y + line_height
            items.append((QRectF(x, y, item_width, line_height), text, colour))
            x += item_width + 18
        return items

    def hasHeightForWidth(self) -> bool:
        """It has."""
        return True

    def heightForWidth(self, width: int) -> int:
        """All lines."""
        items = self._item_rects(width)
        return math.ceil(items[-1][0].bottom()) if items else 0

    def sizeHint(self) -> QSize:
        """One line."""
        return QSize(theme.px(240), self.heightForWidth(10_000))

    def paintEvent(self, event: QPaintEvent) -> None:
        """A square and its words each."""
        del event
        painter = QPainter(self)
        painter.setFont(theme.font("small"))
        side = theme.px(12)
        for rect, text, colour in self._item_rects(self.width()):
            square = QRectF(rect.left(), rect.top() + (rect.height() - side) / 2, side, side)
            painter.fillRect(square, theme.color(colour))
            painter.setPen(theme.color("text"))
            painter.drawText(rect.adjusted(side + 8, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), text)
