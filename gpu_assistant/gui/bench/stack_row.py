"""What a training step needs in one variant: a bar stacked of its parts, its sum, the largest batch that fits."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from ...core.results import MemoryFit
from ...texts.format import memory
from .. import theme
from ..components import Live
from . import fit_words


class StackRow(Live, QWidget):
    """Painted. `scale` in bytes is the whole width; the free memory is a dashed line where it lies within."""

    def __init__(self, fit: MemoryFit, plain: MemoryFit | None, scale: int) -> None:
        super().__init__()
        self._fit, self._plain, self._scale = fit, plain, max(scale, 1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.follow()

    def retranslate(self) -> None:
        """What a screen reader says, and what is shown on hover."""
        fit = self._fit
        parts = [
            self.tr("{part} {size}").format(part=fit_words.part_name(part), size=memory(count))
            for part, count, _ in fit_words.parts_of(fit)
        ]
        said = [fit_words.compared(fit, self._plain), fit_words.largest(fit), *parts]
        name = fit_words.variant_name(fit.variant)
        self.setAccessibleName(f"{name}: " + ", ".join(each for each in said if each))
        self.setToolTip("\n".join([name, *parts]))

    def sizeHint(self) -> QSize:
        """Name and detail above the bar."""
        strong, small = QFontMetricsF(theme.font("strong")), QFontMetricsF(theme.font("small"))
        return QSize(theme.px(360), math.ceil(strong.height() + small.height()) + theme.px(20) + 18)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Words above, the bar below."""
        del event
        painter, fit = QPainter(self), self._fit
        strong, small = QFontMetricsF(theme.font("strong")), QFontMetricsF(theme.font("small"))
        right = fit_words.compared(fit, self._plain)
        batch = fit_words.largest(fit)
        taken = max(strong.horizontalAdvance(right), small.horizontalAdvance(batch)) + 16
        room, elide = max(self.width() - taken, 40.0), Qt.TextElideMode.ElideRight
        aligned = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        upper, lower = strong.height(), small.height()
        painter.setFont(theme.font("strong"))
        painter.setPen(theme.color("text"))
        name = strong.elidedText(fit_words.variant_name(fit.variant), elide, room)
        painter.drawText(QRectF(0, 0, room, upper), int(Qt.AlignmentFlag.AlignVCenter), name)
        painter.drawText(QRectF(0, 0, self.width(), upper), aligned, right)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("soft"))
        detail = small.elidedText(fit_words.variant_detail(fit.variant), elide, room)
        painter.drawText(QRectF(0, upper, room, lower), int(Qt.AlignmentFlag.AlignVCenter), detail)
        painter.drawText(QRectF(0, upper, self.width(), lower), aligned, batch)
        self._paint_bar(painter, QRectF(0, upper + lower + 5, self.width(), theme.px(20)))

    def _paint_bar(self, painter: QPainter, bar: QRectF) -> None:
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
        free = self._fit.capacity
        if free is not None and free < self._scale:
            pen = QPen(theme.color("error"), 2, Qt.PenStyle.DashLine)
            painter.setPen(pen)
            at = bar.left() + bar.width() * free / self._scale
            painter.drawLine(int(at), int(bar.top()) - 3, int(at), int(bar.bottom()) + 3)


class Legend(Live, QWidget):
    """The parts' colours with their names, wrapped into as many lines as they take."""

    def __init__(self) -> None:
        self._parts: tuple[tuple[str, str], ...] = ()
        super().__init__()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.follow()

    def set_parts(self, parts: tuple[tuple[str, str], ...]) -> None:
        """(part, colour) of each."""
        self._parts = parts
        self.setAccessibleName(", ".join(fit_words.part_name(part) for part, _ in parts))
        self.refresh()

    def _places(self, width: float) -> list[tuple[QRectF, str, str]]:
        metrics = QFontMetricsF(theme.font("small"))
        line, side, x, y, found = metrics.height() + 6, theme.px(12), 0.0, 0.0, []
        for part, colour in self._parts:
            text = fit_words.part_name(part)
            wide = side + 8 + metrics.horizontalAdvance(text) + 2
            if x > 0 and x + wide > width:
                x, y = 0.0, y + line
            found.append((QRectF(x, y, wide, line), text, colour))
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
        return QSize(theme.px(360), self.heightForWidth(10_000))

    def paintEvent(self, event: QPaintEvent) -> None:
        """A square and a name each."""
        del event
        painter = QPainter(self)
        painter.setFont(theme.font("small"))
        side = theme.px(12)
        for place, text, colour in self._places(self.width()):
            square = QRectF(place.left(), place.top() + (place.height() - side) / 2, side, side)
            painter.fillRect(square, theme.color(colour))
            painter.setPen(theme.color("soft"))
            painter.drawText(place.adjusted(side + 8, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), text)
