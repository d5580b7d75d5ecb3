"""Two ways side by side where a driver update is needed: the newest release, or what works with the present driver."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QButtonGroup, QWidget

from .....core.recommendation import Recommendation, Way
from .....core.types import WayName
from .....texts.localized import Texts, way_cost_texts, way_summary_text
from .... import theme
from ....widgets.choice_card import ChoiceCard
from .part_card import is_slim

# Below this width, times the text scale, the second card stands below the first.
ROW_MIN_WIDTH = 600
CARD_SPACING = 12


class WayCards(QWidget):
    """`way_chosen` brings the name of the way that the user chose, None for the recommended one. `cards` are the two,
    the recommended one first, which says so unless the choice is blocked.
    """

    way_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._is_low = self._is_slim = self._is_blocked = False
        self._shown: tuple[Recommendation, Texts] | None = None
        self.cards = (WayCard(), WayCard())
        self._group = QButtonGroup(self)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(CARD_SPACING)
        for card in self.cards:
            self._group.addButton(card)
            self._layout.addWidget(card, 1)
        self._group.buttonToggled.connect(self._choose)

    def draw(self, recommendation: Recommendation, texts: Texts, *, customizing: bool) -> None:
        """Show the ways of a recommendation; hidden where there are none, or while the user is `customizing`: the lists
        of the versions then choose the driver.
        """
        self._shown = recommendation, texts
        self.setVisible(bool(recommendation.ways) and not customizing)
        self._draw_cards(recommendation, texts)

    def _draw_cards(self, recommendation: Recommendation, texts: Texts) -> None:
        # Only the user's own choice is announced.
        self._group.blockSignals(True)
        for card, way in zip(self.cards, recommendation.ways, strict=False):
            pill_text = self.tr("Recommended") if card is self.cards[0] and not self._is_blocked else ""
            card.set_way(way, texts, pill_text, compact=self._is_low or self._is_slim)
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
        if is_slim(available_width) != self._is_slim:
            self._is_slim = not self._is_slim
            if self._shown is not None:
                self._draw_cards(*self._shown)

    def set_low(self, low: bool) -> None:
        """Take less height, in a low window."""
        if low != self._is_low:
            self._is_low = low
            if self._shown is not None:
                self._draw_cards(*self._shown)

    def set_blocked(self, blocked: bool) -> None:
        """Recommend nothing while it cannot be installed."""
        if blocked != self._is_blocked:
            self._is_blocked = blocked
            if self._shown is not None:
                self._draw_cards(*self._shown)

    @property
    def controls(self) -> tuple[WayCard, ...]:
        """The card that the tab key reaches: the arrow keys move to the other one."""
        return tuple(card for card in self.cards if card.isChecked()) or self.cards[:1]

    def _choose(self, card: WayCard, is_checked: bool) -> None:
        if is_checked:
            self.way_chosen.emit(None if card is self.cards[0] else card.name)


class WayCard(ChoiceCard):
    """One way as a radio button: what it is, and what it costs."""

    def __init__(self) -> None:
        self.name: WayName | None = None
        super().__init__()

    def set_way(self, way: Way, texts: Texts, pill_text: str, *, compact: bool = False) -> None:
        """Show a way; `pill_text` is empty for the one that is not recommended. A `compact` card leaves out what speaks
        for the way, and says what it costs in shorter words.
        """
        self.name = way.id
        title, line = texts.way_texts(way)
        costs = way_cost_texts(way.cost, texts)
        benefit, summary = texts.way_benefit(way), way_summary_text(way.cost, texts, brief=compact)
        self.set_texts(title, line, summary if compact else f"{benefit}\n{summary}", pill_text)
        self.setToolTip("\n".join((benefit, *costs)))
        # A screen reader reads the card as one sentence.
        parts = (title, pill_text, line, benefit.rstrip(".。"), *costs)
        self.setAccessibleName(". ".join(text for text in parts if text))
