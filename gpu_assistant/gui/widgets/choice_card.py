"""A choice among a few that need more than a word each: a radio button as large as a card."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QRadioButton, QSizePolicy, QVBoxLayout, QWidget

from .. import theme
from .base import KeyboardFocus, Themed, draw_focus_ring, draw_rounded_rect
from .cards import Pill
from .text import label

PADDING, INDICATOR_SIZE, CHOSEN_BORDER, RADIUS = 12, 18, 2, 10
INDICATOR_GAP = 12  # between the indicator, which grows with the text, and the texts
COST_GAP = 4  # above the line of what it costs, apart from the spacing of all lines


class ChoiceCard(KeyboardFocus, Themed, QRadioButton):
    """A title with an optional pill, what it is unless it is brief, what it costs. Arrow keys move in its group."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_brief = False
        self.title_label, self.pill = label("heading"), Pill("accent", on_tint=True)
        self.line_label = label("body")
        self.cost_label = label("small")
        # Titles stand at the same height, with a pill beside them or without.
        pill_policy = self.pill.sizePolicy()
        pill_policy.setRetainSizeWhenHidden(True)
        self.pill.setSizePolicy(pill_policy)
        title_row, self._column = QHBoxLayout(), QVBoxLayout(self)
        column = self._column
        title_row.setSpacing(10)
        title_row.addWidget(self.title_label, 1)
        title_row.addWidget(self.pill)
        column.setSpacing(2)
        column.addLayout(title_row)
        column.addWidget(self.line_label)
        column.addStretch(1)  # what the cards of a row cost stands at the same height
        column.addSpacing(COST_GAP)
        column.addWidget(self.cost_label)
        for widget in (self.title_label, self.pill, self.line_label, self.cost_label):
            widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        # The cards of a group are equally wide, whatever stands in them.
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.toggled.connect(self.update)
        self.apply_theme()

    def refresh(self) -> None:
        """The texts keep their distance from the indicator, however large it is."""
        indent = PADDING + theme.px(INDICATOR_SIZE) + INDICATOR_GAP
        self._column.setContentsMargins(indent, PADDING, PADDING, PADDING)
        super().refresh()

    def set_texts(self, title: str, line: str, cost: str, pill_text: str = "") -> None:
        """Set the texts; without `pill_text` there is no pill. A screen reader reads the card as one sentence."""
        self.title_label.setText(title)
        self.line_label.setText(line)
        self.cost_label.setText(cost)
        self.pill.set("accent", pill_text)
        self.pill.setVisible(bool(pill_text))
        self._update_tool_tip()
        self.setAccessibleName(". ".join(text for text in (title, pill_text, line, cost) if text))

    def set_brief(self, on: bool) -> None:
        """Leave out the line of what it is, which becomes the tool tip."""
        self._is_brief = on
        self.line_label.setHidden(on)
        self._update_tool_tip()

    def _update_tool_tip(self) -> None:
        self.setToolTip(self.line_label.text() if self._is_brief else "")

    def sizeHint(self) -> QSize:
        return self._column.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._column.minimumSize()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._column.heightForWidth(width)

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter, rect, chosen = QPainter(self), QRectF(self.rect()), self.isChecked()
        if self.shows_focus_ring:
            rect = draw_focus_ring(painter, rect, RADIUS)
        background = "accent_soft" if chosen else "hover" if self.underMouse() and self.isEnabled() else "card"
        width = max(CHOSEN_BORDER if chosen else 1, theme.current().line_width)
        tone = "accent" if chosen else "control"
        border = theme.color(tone if self.isEnabled() else "disabled")
        draw_rounded_rect(painter, rect, RADIUS, theme.color(background), border, width=width)
        size = theme.px(INDICATOR_SIZE)
        top = PADDING + (self.title_label.fontMetrics().height() - size) / 2
        indicator = QRectF(PADDING, max(top, 0.0), size, size)
        draw_rounded_rect(painter, indicator, size / 2, theme.color("card"), border, width=CHOSEN_BORDER)
        if chosen:
            dot = indicator.adjusted(size / 4, size / 4, -size / 4, -size / 4)
            draw_rounded_rect(painter, dot, dot.width() / 2, border)
