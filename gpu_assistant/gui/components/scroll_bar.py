"""Slim scroll bars: a handle on whatever ground is below, without arrows."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractScrollArea, QScrollBar, QWidget

from .. import theme
from .base import Live, rounded

THICK, MARGIN, LEAST = 11, 3, 42
PAGE_AFTER_MS, PAGE_EVERY_MS = 500, 60


class ScrollBar(Live, QScrollBar):
    """Drag the handle; a press beside it goes a page, and on while it is held; the middle button goes there."""

    def __init__(self, orientation: Qt.Orientation, parent: QWidget | None = None) -> None:
        super().__init__(orientation, parent)
        self._held: float | None = None
        self._mouse = QPointF()
        # The ground below shines through.
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent, False)
        self.setMouseTracking(True)
        self.follow()

    def sizeHint(self) -> QSize:
        """Thin; as long as there is room."""
        return QSize(THICK, LEAST) if self._upright else QSize(LEAST, THICK)

    def handle(self) -> QRectF:
        """Where the handle is, margins included."""
        room, span = self._length(), self.maximum() - self.minimum()
        long = float(room)
        if span > 0:
            long = min(max(room * self.pageStep() / (span + self.pageStep()), LEAST), room)
        start = (self.sliderPosition() - self.minimum()) / max(span, 1) * (room - long)
        return QRectF(0, start, self.width(), long) if self._upright else QRectF(start, 0, long, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The handle; darker under the mouse and while it is held."""
        del event
        rect = self.handle()
        lit = self._held is not None or (self.underMouse() and rect.contains(self._mouse))
        rect.adjust(MARGIN, MARGIN, -MARGIN, -MARGIN)
        radius = (THICK - 2 * MARGIN) / 2
        if self.isEnabled():
            rounded(QPainter(self), rect, radius, theme.color("soft" if lit else "control"))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the handle, go a page, or go there."""
        self._mouse = event.position()
        rect, at = self.handle(), self._along(event.position())
        if event.button() == Qt.MouseButton.MiddleButton:
            self._hold((rect.height() if self._upright else rect.width()) / 2)
            self._drag_to(at)
        elif event.button() == Qt.MouseButton.LeftButton and rect.contains(event.position()):
            self._hold(at - self._start(rect))
        elif event.button() == Qt.MouseButton.LeftButton:
            action = QScrollBar.SliderAction
            way = action.SliderPageStepSub if at < self._start(rect) else action.SliderPageStepAdd
            self.triggerAction(way)
            self.setRepeatAction(way, PAGE_AFTER_MS, PAGE_EVERY_MS)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The handle follows."""
        self._mouse = event.position()
        if self._held is not None:
            self._drag_to(self._along(event.position()))
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go."""
        del event
        self._held = None
        self.setSliderDown(False)
        self.setRepeatAction(QScrollBar.SliderAction.SliderNoAction)
        self.update()

    def sliderChange(self, change: QScrollBar.SliderChange) -> None:
        """Pages go on until the handle has come to the mouse."""
        super().sliderChange(change)
        if self.repeatAction() != QScrollBar.SliderAction.SliderNoAction and self.handle().contains(self._mouse):
            self.setRepeatAction(QScrollBar.SliderAction.SliderNoAction)

    def _hold(self, at: float) -> None:
        self._held = at
        self.setSliderDown(True)
        self.update()

    def _drag_to(self, at: float) -> None:
        rect = self.handle()
        room = self._length() - (rect.height() if self._upright else rect.width())
        if room > 0 and self._held is not None:
            share = min(max((at - self._held) / room, 0.0), 1.0)
            self.setSliderPosition(self.minimum() + round(share * (self.maximum() - self.minimum())))

    @property
    def _upright(self) -> bool:
        return self.orientation() == Qt.Orientation.Vertical

    def _length(self) -> int:
        return self.height() if self._upright else self.width()

    def _along(self, point: QPointF) -> float:
        return point.y() if self._upright else point.x()

    def _start(self, rect: QRectF) -> float:
        return rect.y() if self._upright else rect.x()


def scroll_slim(area: QAbstractScrollArea) -> None:
    """Give a scrolling widget our scroll bars, and nothing where they meet."""
    area.setVerticalScrollBar(ScrollBar(Qt.Orientation.Vertical))
    area.setHorizontalScrollBar(ScrollBar(Qt.Orientation.Horizontal))
    area.setCornerWidget(QWidget())
