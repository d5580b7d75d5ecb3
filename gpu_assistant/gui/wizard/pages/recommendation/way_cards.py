"""Two ways side by side where a driver update is needed: the newest release, or what works with the present driver."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QButtonGroup, QHBoxLayout, QRadioButton, QSizePolicy, QVBoxLayout, QWidget

from .....core.recommendation import Recommendation, Way
from .....core.types import WayName
from .....texts.localized import Texts, way_cost_texts, way_summary_text
from .... import theme
from ....widgets.base import KeyboardFocus, Themed, draw_focus_ring, draw_rounded_rect
from ....widgets.cards import Pill
from ....widgets.text import label

# Below this width, times the text scale, the second card stands below the first.
ROW_MIN_WIDTH = 600
CARD_SPACING, PADDING, INDICATOR_SIZE, CHOSEN_BORDER, RADIUS = 12, 12, 18, 2, 10
TEXT_INDENT = PADDING + INDICATOR_SIZE + 12


class WayCards(QWidget):
    """`way_chosen` brings the name of the way that the user chose, None for the recommended one. `cards` are the two,
    the recommended one first.
    """

    way_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.cards = (WayCard(), WayCard())
        self._group = QButtonGroup(self)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(CARD_SPACING)
        for card in self.cards:
            self._group.addButton(card)
            self._layout.addWidget(card, 1)
        self._group.buttonToggled.connect(self._choose)

    def draw(self, recommendation: Recommendation, texts: Texts) -> None:
        """Show the ways of a recommendation; hidden where there are none."""
        self.setVisible(bool(recommendation.ways))
        # Only the user's own choice is announced.
        self._group.blockSignals(True)
        for card, way in zip(self.cards, recommendation.ways, strict=False):
            card.set_way(way, texts, self.tr("Recommended") if card is self.cards[0] else "")
            card.setChecked(recommendation.way is not None and way.id == recommendation.way.id)
        self._group.blockSignals(False)
        for card in self.cards:
            # Qt moves the Tab stop only with the focus, not with a check from here.
            card.setFocusPolicy(Qt.FocusPolicy.StrongFocus if card in self.controls else Qt.FocusPolicy.ClickFocus)
        self.setAccessibleName(self.tr("Two ways to set this up"))

    def set_available_width(self, available_width: int) -> None:
        """Lay out for this width in pixels."""
        in_row = available_width >= theme.px(ROW_MIN_WIDTH)
        self._layout.setDirection(QBoxLayout.Direction.LeftToRight if in_row else QBoxLayout.Direction.TopToBottom)

    @property
    def controls(self) -> tuple[WayCard, ...]:
        """The card that the tab key reaches: the arrow keys move to the other one."""
        return tuple(card for card in self.cards if card.isChecked()) or self.cards[:1]

    def _choose(self, card: WayCard, is_checked: bool) -> None:
        if is_checked:
            self.way_chosen.emit(None if card is self.cards[0] else card.name)


class WayCard(KeyboardFocus, Themed, QRadioButton):
    """One way as a radio button: what it is, and what it costs."""

    def __init__(self) -> None:
        super().__init__()
        self.name: WayName | None = None
        self.title_label, self.pill = label("heading"), Pill("accent", on_tint=True)
        self.line_label = label("body")
        self.cost_label = label("small")
        # Both titles stand at the same height, with a pill beside them or without.
        pill_policy = self.pill.sizePolicy()
        pill_policy.setRetainSizeWhenHidden(True)
        self.pill.setSizePolicy(pill_policy)
        title_row, self._column = QHBoxLayout(), QVBoxLayout(self)
        column = self._column
        title_row.setSpacing(10)
        title_row.addWidget(self.title_label, 1)
        title_row.addWidget(self.pill)
        column.setContentsMargins(TEXT_INDENT, PADDING, PADDING, PADDING)
        column.setSpacing(2)
        column.addLayout(title_row)
        column.addWidget(self.line_label)
        column.addWidget(self.cost_label)
        column.addStretch(1)
        for widget in (self.title_label, self.pill, self.line_label, self.cost_label):
            widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        # Both cards are equally wide, whatever stands in them.
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.toggled.connect(self.update)
        self.apply_theme()

    def set_way(self, way: Way, texts: Texts, pill_text: str) -> None:
        """Show a way; `pill_text` is empty for the one that is not recommended."""
        self.name = way.id
        title, line = texts.way_texts(way)
        self.title_label.setText(title)
        self.line_label.setText(line)
        self.pill.set("accent", pill_text)
        self.pill.setVisible(bool(pill_text))
        costs = way_cost_texts(way.cost, texts)
        self.cost_label.setText(way_summary_text(way.cost, texts))
        self.setToolTip("\n".join(costs))
        # A screen reader reads the card as one sentence.
        self.setAccessibleName(". ".join(text for text in (title, pill_text, line, *costs) if text))

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
        border = theme.color("accent" if chosen else "control")
        draw_rounded_rect(painter, rect, RADIUS, theme.color(background), border, width=width)
        size = theme.px(INDICATOR_SIZE)
        top = PADDING + (self.title_label.fontMetrics().height() - size) / 2
        indicator = QRectF(PADDING, max(top, 0.0), size, size)
        draw_rounded_rect(painter, indicator, size / 2, theme.color("card"), border, width=CHOSEN_BORDER)
        if chosen:
            dot = indicator.adjusted(size / 4, size / 4, -size / 4, -size / 4)
            draw_rounded_rect(painter, dot, dot.width() / 2, theme.color("accent"))
