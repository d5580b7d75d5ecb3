"""What a training step needs in one variant: its sum, the largest batch that fits, a bar stacked of its parts and
what each of them is."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ...core.memory import MemoryFit
from .. import theme
from ..components import KeyboardFocus, Live, focus_ring, label
from . import fit_words

EDGE = 5  # room for the ring


class StackRow(KeyboardFocus, Live, QWidget):
    """The keyboard gets to it, so that it can be read out; it does nothing."""

    def __init__(self, fit: MemoryFit, plain: MemoryFit | None, scale: int) -> None:
        self._fit, self._plain = fit, plain
        self._ready = False
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.name, self.need = label("strong"), label("strong")
        self.detail, self.batch = label("small"), label("small")
        self.bar, self.parts = StackBar(), Parts()
        column = QVBoxLayout(self)
        column.setContentsMargins(EDGE, EDGE, EDGE, EDGE)
        column.setSpacing(4)
        for left, right in ((self.name, self.need), (self.detail, self.batch)):
            line = QHBoxLayout()
            line.setSpacing(16)
            line.addWidget(left, 1)
            right.setAlignment(Qt.AlignmentFlag.AlignRight)
            line.addWidget(right)
            column.addLayout(line)
        column.addWidget(self.bar)
        column.addWidget(self.parts)
        self._ready = True
        self.follow()
        self.show_fit(fit, plain, scale)

    def show_fit(self, fit: MemoryFit, plain: MemoryFit | None, scale: int) -> None:
        """Its figures, beside those without anything saved; `scale` in bytes is the whole width of the bar."""
        self._fit, self._plain = fit, plain
        self.bar.show_fit(fit, scale)
        self.retranslate()

    def retranslate(self) -> None:
        """All words, and what a screen reader says."""
        if not self._ready:
            return
        fit = self._fit
        self.name.setText(fit_words.variant_name(fit.variant))
        self.need.setText(fit_words.compared(fit, self._plain))
        self.detail.setText(fit_words.variant_detail(fit))
        self.batch.setText(fit_words.largest(fit))
        self.batch.set_tone(fit_words.largest_colour(fit))
        parts = [(fit_words.part_words(part, count), colour) for part, count, colour in fit_words.parts_of(fit)]
        self.parts.set_parts(tuple(parts))
        said = [self.need.text(), self.batch.text(), *(words for words, _ in parts)]
        self.setAccessibleName(f"{self.name.text()}: " + ", ".join(each for each in said if each))
        self.setAccessibleDescription(self.detail.text())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ring while the keyboard is here."""
        del event
        if self.ringed:
            focus_ring(QPainter(self), QRectF(self.rect()), 6)


class StackBar(Live, QWidget):
    """Painted. What may be planned with is a dashed line where it lies within."""

    def __init__(self) -> None:
        self._fit: MemoryFit | None = None
        self._scale = 1
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.follow()

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
        for _part, count, colour in fit_words.parts_of(self._fit):
            width = bar.width() * count / self._scale
            painter.fillRect(QRectF(x, bar.top(), max(width - 1, 1.0), bar.height()), theme.color(colour))
            x += width
        painter.restore()
        room = fit_words.planned(self._fit)
        if room is not None and room < self._scale:
            at = int(bar.left() + bar.width() * room / self._scale)
            # On a ground of its own: it must be seen on every colour of the bar.
            for pen in (QPen(theme.color("card"), 4), QPen(theme.color("error"), 2, Qt.PenStyle.DashLine)):
                painter.setPen(pen)
                painter.drawLine(at, 0, at, self.height())


class Parts(Live, QWidget):
    """Words, each with the colour of its part before it, wrapped into as many lines as they take."""

    def __init__(self) -> None:
        self._parts: tuple[tuple[str, str], ...] = ()
        super().__init__()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.follow()

    def set_parts(self, parts: tuple[tuple[str, str], ...]) -> None:
        """(words, colour) of each."""
        self._parts = parts
        self.setAccessibleName(", ".join(words for words, _ in parts))
        self.refresh()

    def _places(self, width: float) -> list[tuple[QRectF, str, str]]:
        metrics = QFontMetricsF(theme.font("small"))
        line, side, x, y, found = metrics.height() + 6, theme.px(12), 0.0, 0.0, []
        for words, colour in self._parts:
            wide = side + 8 + metrics.horizontalAdvance(words) + 2
            if x > 0 and x + wide > width:
                x, y = 0.0, y + line
            found.append((QRectF(x, y, wide, line), words, colour))
            x += wide + 18
        return found

    def hasHeightForWidth(self) -> bool:
        """It has."""
        return True

    def heightForWidth(self, width: int) -> int:
        """All lines."""
        places = self._places(width)
        return math.ceil(places[-1][0].bottom()) if places else 0

    def sizeHint(self) -> QSize:
        """One line."""
        return QSize(theme.px(240), self.heightForWidth(10_000))

    def paintEvent(self, event: QPaintEvent) -> None:
        """A square and its words each."""
        del event
        painter = QPainter(self)
        painter.setFont(theme.font("small"))
        side = theme.px(12)
        for place, words, colour in self._places(self.width()):
            square = QRectF(place.left(), place.top() + (place.height() - side) / 2, side, side)
            painter.fillRect(square, theme.color(colour))
            painter.setPen(theme.color("text"))
            painter.drawText(place.adjusted(side + 8, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), words)
