"""What explains the plots: the symbols of lines and events with their texts, and the line above the plots."""

from __future__ import annotations

import math
from collections.abc import Iterable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QWidget

from ... import theme
from ...widgets.base import Themed, draw_rounded_rect
from ...widgets.cards import Pill
from ...widgets.layouts import FlowLayout
from ...widgets.text import label
from .annotations import Event, Hatch, Tone
from .curves import LineStyle
from .overlay import TAG_GROUND, Limit, draw_shading, event_gravity
from .renderer import SIGN_WIDTH, dashed_pen, draw_line_sign

EVENT_WIDTH = 20  # pixels of an event's symbol
LEGEND_GAP, LEGEND_MARGIN = 5, 3  # pixels between symbol and text, and after the text
VALUE_GAP = 6  # pixels between text and value
TAG_PADDING = 3  # pixels beside a value at the cross-hair
MIN_READOUT_WIDTH = 440  # pixels that the line above the plots needs beside the key of the events

# (tone, hatch, whether it is an instant, text)
LegendKey = tuple[Tone, Hatch, bool, str]


class LegendRow(Themed, QWidget):
    """A symbol as the plots paint it, followed by its text; `width` is the symbol's width in pixels.

    `is_heading`: the text is that of what stands below.
    """

    def __init__(self, text: str, width: int, *, is_heading: bool = False) -> None:
        super().__init__()
        self._text, self._indent = text, width + LEGEND_GAP
        self._font_name, self._tone_of_text = ("strong", "text") if is_heading else ("caption", "soft")
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def draw(self, painter: QPainter) -> None:
        """Paint the symbol at the left edge, in the theme's colours."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Apply the theme's font."""
        self.setFont(theme.font(self._font_name))
        super().refresh()

    def sizeHint(self) -> QSize:
        """Symbol, gap and text."""
        metrics = self.fontMetrics()
        return QSize(self._indent + metrics.horizontalAdvance(self._text) + LEGEND_MARGIN, metrics.height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint symbol and text."""
        del event
        painter = QPainter(self)
        self.draw(painter)
        painter.setPen(theme.color(self._tone_of_text))
        painter.setFont(self.font())
        text_rect = QRectF(self._indent, 0, self.width() - self._indent, self.height())
        painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignVCenter), self._text)


class LineLegendRow(LegendRow):
    """A GPU's line, with its colour and dash pattern, its name, and its value where `show_value` gives one.

    The room for the value only grows, so that nothing beside it moves while values change.
    """

    def __init__(self, line: LineStyle, *, is_heading: bool = False) -> None:
        self.value = ""
        self.is_tagged = False
        self._value_width = 0
        super().__init__(line.name, SIGN_WIDTH, is_heading=is_heading)
        self.line = line

    def set_line(self, line: LineStyle) -> None:
        """Show the line as it is drawn now."""
        self.line = line
        self.update()

    def show_value(self, value: str, *, tagged: bool = False) -> None:
        """Show this value, in the line's unit, behind the name; one at the cross-hair `tagged` as its time is."""
        if (value, tagged) == (self.value, self.is_tagged):
            return
        self.value, self.is_tagged = value, tagged
        self.setAccessibleName(f"{self.line.name}: {value}")
        self._widen()
        self.update()

    def _widen(self) -> None:
        needed = math.ceil(theme.advance("caption-strong", self.value))
        if needed > self._value_width:
            self._value_width = needed
            self.updateGeometry()

    def refresh(self) -> None:
        super().refresh()
        self._value_width = 0
        self._widen()

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        return QSize(self._value_left + self._value_width + LEGEND_MARGIN, size.height()) if self._value_width else size

    @property
    def _value_left(self) -> int:
        """Where the value begins, behind the name."""
        return super().sizeHint().width() - LEGEND_MARGIN + VALUE_GAP

    def draw(self, painter: QPainter) -> None:
        """Paint a piece of the line, and the value."""
        draw_line_sign(painter, self.line, 0, round(self.height() / 2))
        if self.value:
            value_rect = QRectF(self._value_left, 0, theme.advance("caption-strong", self.value), self.height())
            if self.is_tagged:
                tag_rect = value_rect.adjusted(-TAG_PADDING, 1, TAG_PADDING, -1)
                draw_rounded_rect(painter, tag_rect, 3, theme.color(TAG_GROUND))
            painter.setPen(theme.color("soft" if self.line.is_thin and not self.is_tagged else "text"))
            painter.setFont(theme.font("caption-strong"))
            painter.drawText(value_rect, int(Qt.AlignmentFlag.AlignVCenter), self.value)


class LimitLegendRow(LegendRow):
    """The dashed line of a plot's limit and its words, which in the plot a curve could meet; hidden without a limit."""

    def __init__(self) -> None:
        super().__init__("", SIGN_WIDTH)
        self._tone: Tone = "error"
        self.hide()

    @property
    def text(self) -> str:
        """What the limit is: "slows at 87 °C"."""
        return self._text

    def show_limit(self, limit: Limit | None) -> None:
        """Show this limit, None for none."""
        text, tone = (limit.text, limit.tone) if limit is not None else ("", self._tone)
        if (text, tone) != (self._text, self._tone):
            self._text, self._tone = text, tone
            self.setAccessibleName(text)
            self.setVisible(bool(text))
            self.updateGeometry()
            self.update()

    def draw(self, painter: QPainter) -> None:
        """Paint a piece of the dashed line."""
        painter.setPen(dashed_pen(theme.color(self._tone), 1, 1))
        middle = round(self.height() / 2)
        painter.drawLine(0, middle, SIGN_WIDTH, middle)


class EventLegendRow(LegendRow):
    """An event's shading, or for an instant its dashed line, and its text."""

    def __init__(self, key: LegendKey) -> None:
        tone, hatch, is_instant, text = key
        super().__init__(text, EVENT_WIDTH)
        self._tone, self._hatch, self._is_instant = tone, hatch, is_instant

    def draw(self, painter: QPainter) -> None:
        """Paint shading or line."""
        if self._is_instant:
            painter.setPen(dashed_pen(theme.color(self._tone), 1, 2))
            painter.drawLine(EVENT_WIDTH // 2, 2, EVENT_WIDTH // 2, self.height() - 3)
            return
        rect = QRectF(0.5, 3.5, EVENT_WIDTH - 1, self.height() - 7)
        draw_shading(painter, rect, self._tone, self._hatch)
        painter.setPen(QPen(theme.color(self._tone, 0.6), 1))
        painter.drawRect(rect)


class Readout(QWidget):
    """The line above the plots: the shown time, or the time at the cross-hair with the events there; then the key of
    all events that are shown, below it where it has no room beside it. A pill in front of it says that the plots are
    paused.
    """

    def __init__(self) -> None:
        super().__init__()
        self._keys: tuple[LegendKey, ...] = ()
        self.pause_pill = Pill("neutral", icon="pause")
        self.pause_pill.hide()
        self.time_label, self.text_label = label("caption-strong"), label("caption")
        for each in (self.time_label, self.text_label):
            each.set_one_line(True)
        # The text has no width of its own: it gives way before the time does.
        self.text_label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.key, self._key_layout = QWidget(), FlowLayout(spacing=14)
        self.key.setLayout(self._key_layout)
        self.key.hide()
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.pause_pill)
        line.addWidget(self.time_label)
        line.addWidget(self.text_label, 1)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(4)
        self._row.addLayout(line, 1)
        self._row.addWidget(self.key, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_time(self, time: str, text: str) -> None:
        """Show a time or state, and what is said of it."""
        self.time_label.setText(time)
        self.time_label.setVisible(bool(time))
        self.text_label.setText(text)

    def show_pause(self, text: str) -> None:
        """Show this text in the pill, "" for none; the line is as high without it."""
        self.pause_pill.set("neutral", text)
        self.pause_pill.setVisible(bool(text))
        self.setMinimumHeight(self.pause_pill.sizeHint().height())

    def show_key(self, events: Iterable[Event]) -> None:
        """Show the symbol of each kind of event once, the gravest first."""
        ordered = sorted(events, key=lambda event: (*event_gravity(event), event.start))
        keys = tuple(
            dict.fromkeys((event.tone, event.hatch, event.is_instant, event.text) for event in ordered if event.text)
        )
        if keys == self._keys:
            return
        self._keys = keys
        while (item := self._key_layout.takeAt(0)) is not None:
            if (row := item.widget()) is not None:
                row.hide()
                row.deleteLater()
        for key in keys:
            self._key_layout.addWidget(EventLegendRow(key))
        self.key.setVisible(bool(keys))
        self._place_key()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_key()

    def _place_key(self) -> None:
        beside = self._key_layout.sizeHint().width() + theme.px(MIN_READOUT_WIDTH) <= self.width()
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._row.direction() != direction:
            self._row.setDirection(direction)
