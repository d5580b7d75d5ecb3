"""Slim scroll bars: a handle on whatever ground is below, without arrows."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractScrollArea, QScrollBar, QWidget

from .. import theme
from .base import Themed, draw_rounded_rect

BAR_WIDTH, HANDLE_MARGIN, MIN_HANDLE_LENGTH = 11, 3, 42
PAGE_REPEAT_DELAY_MS, PAGE_REPEAT_INTERVAL_MS = 500, 60


class ScrollBar(Themed, QScrollBar):
    """Drag the handle; a press beside it goes a page, and on while it is held; the middle button goes there."""

    def __init__(self, orientation: Qt.Orientation, parent: QWidget | None = None) -> None:
        super().__init__(orientation, parent)
        self._drag_offset: float | None = None
        self._mouse_pos = QPointF()
        # The ground below shines through.
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent, False)
        self.setMouseTracking(True)
        self.apply_theme()

    def sizeHint(self) -> QSize:
        """Thin; as long as there is room."""
        return QSize(BAR_WIDTH, MIN_HANDLE_LENGTH) if self._is_vertical else QSize(MIN_HANDLE_LENGTH, BAR_WIDTH)

    def handle_rect(self) -> QRectF:
        """Where the handle is, margins included."""
        track_length, span = self._track_length(), self.maximum() - self.minimum()
        handle_length = float(track_length)
        if span > 0:
            handle_length = min(max(track_length * self.pageStep() / (span + self.pageStep()), MIN_HANDLE_LENGTH), track_length)
        start = (self.sliderPosition() - self.minimum()) / max(span, 1) * (track_length - handle_length)
        return QRectF(0, start, self.width(), handle_length) if self._is_vertical else QRectF(start, 0, handle_length, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The handle; darker under the mouse and while it is held."""
        del event
        rect = self.handle_rect()
        highlighted = self._drag_offset is not None or (self.underMouse() and rect.contains(self._mouse_pos))
        rect.adjust(HANDLE_MARGIN, HANDLE_MARGIN, -HANDLE_MARGIN, -HANDLE_MARGIN)
        radius = (BAR_WIDTH - 2 * HANDLE_MARGIN) / 2
        if self.isEnabled():
            draw_rounded_rect(QPainter(self), rect, radius, theme.color("soft" if highlighted else "control"))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the handle, go a page, or go there."""
        self._mouse_pos = event.position()
        rect, position = self.handle_rect(), self._position_along(event.position())
        if event.button() == Qt.MouseButton.MiddleButton:
            self._start_drag((rect.height() if self._is_vertical else rect.width()) / 2)
            self._drag_to(position)
        elif event.button() == Qt.MouseButton.LeftButton and rect.contains(event.position()):
            self._start_drag(position - self._handle_start(rect))
        elif event.button() == Qt.MouseButton.LeftButton:
            action = QScrollBar.SliderAction
            page_action = action.SliderPageStepSub if position < self._handle_start(rect) else action.SliderPageStepAdd
            self.triggerAction(page_action)
            self.setRepeatAction(page_action, PAGE_REPEAT_DELAY_MS, PAGE_REPEAT_INTERVAL_MS)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The handle follows."""
        self._mouse_pos = event.position()
        if self._drag_offset is not None:
            self._drag_to(self._position_along(event.position()))
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go."""
        del event
        self._drag_offset = None
        self.setSliderDown(False)
        self.setRepeatAction(QScrollBar.SliderAction.SliderNoAction)
        self.update()

    def sliderChange(self, change: QScrollBar.SliderChange) -> None:
        """Pages go on until the handle has come to the mouse."""
        super().sliderChange(change)
        if self.repeatAction() != QScrollBar.SliderAction.SliderNoAction and self.handle_rect().contains(self._mouse_pos):
            self.setRepeatAction(QScrollBar.SliderAction.SliderNoAction)

    def _start_drag(self, offset: float) -> None:
        self._drag_offset = offset
        self.setSliderDown(True)
        self.update()

    def _drag_to(self, position: float) -> None:
        rect = self.handle_rect()
        free_length = self._track_length() - (rect.height() if self._is_vertical else rect.width())
        if free_length > 0 and self._drag_offset is not None:
            fraction = min(max((position - self._drag_offset) / free_length, 0.0), 1.0)
            self.setSliderPosition(self.minimum() + round(fraction * (self.maximum() - self.minimum())))

    @property
    def _is_vertical(self) -> bool:
        return self.orientation() == Qt.Orientation.Vertical

    def _track_length(self) -> int:
        return self.height() if self._is_vertical else self.width()

    def _position_along(self, point: QPointF) -> float:
        return point.y() if self._is_vertical else point.x()

    def _handle_start(self, rect: QRectF) -> float:
        return rect.y() if self._is_vertical else rect.x()


def use_slim_scroll_bars(area: QAbstractScrollArea) -> None:
    """Give a scrolling widget our scroll bars, and nothing where they meet."""
    area.setVerticalScrollBar(ScrollBar(Qt.Orientation.Vertical))
    area.setHorizontalScrollBar(ScrollBar(Qt.Orientation.Horizontal))
    area.setCornerWidget(QWidget())
