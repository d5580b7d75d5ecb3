"""One part of a recommendation on a card, its columns in line with the other cards'."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ...core.recommendation import Alternative
from ...core.recommendation import Warning as Caution
from ...texts import Texts
from ...texts.format import UNKNOWN
from .. import theme
from ..components import Button, Card, Icon, Pill, Why, label
from ..components.base import Live
from ..components.why import Claim
from .cards import Part
from .choosers import Choosers

if TYPE_CHECKING:
    from ...advise.options import PartOptions
    from .option_notes import OptionNotes

translate = QCoreApplication.translate

ICONS = {"driver": "driver", "cuda": "cuda", "cudnn": "cudnn", "torch": "torch", "tensorflow": "tensorflow"}
NOW, AFTER, PILL, WHY = 120, 184, 104, 78
NOW_SLIM, AFTER_SLIM, PILL_SLIM = 112, 158, 100
# Below these widths, times the text scale, columns are slimmer; now and after stand on a line of their own; the pill
# does, too.
SLIM, FOLDED, TIGHT = 960, 740, 350
GAP, SIDE, DISC = 12, 16, 38
UNBOUNDED = 16_777_215
Form = Literal["line", "folded", "tight"]


def widths(available: int) -> tuple[int, int, int] | None:
    """The columns now, after, pill in pixels for a card of this width; None where they do not fit in one line."""
    if available < theme.px(FOLDED):
        return None
    slim = available < theme.px(SLIM)
    columns = (NOW_SLIM, AFTER_SLIM, PILL_SLIM) if slim else (NOW, AFTER, PILL)
    now, after, pill = (theme.px(column) for column in columns)
    return now, after, pill


class PartCard(Card):
    """Icon, title and meaning; now → after; pill; Why; below it the drop-downs of who chooses by hand.

    `offered` brings the alternative that was taken, `picked` a part's name and the value chosen for it, `alone` the
    same where all that was picked before shall be let go.
    """

    offered = Signal(object)
    picked = Signal(str, object)
    alone = Signal(str, object)

    def __init__(self, name: str) -> None:
        self._part: Part | None = None
        self._offer: tuple[str, str] | None = None
        self._cells: list[QWidget] = []
        self._form: Form | None = None
        self._room = 0
        self.choosers: Choosers | None = None
        super().__init__(padding=16)
        self.column.setContentsMargins(SIDE, 8, SIDE, 8)
        self.icon_ = Icon(ICONS[name], size=20, ground="square", side=DISC)
        self.part_title, self.meaning = label("heading"), label("small")
        self.now, self.now_line = label("heading", tone="soft"), label("small")
        self.after, self.after_line = label("heading"), label("small")
        self.arrow = Icon("long", "soft", 18)
        self.pill = Pill()
        self.why = Why()
        self.why.alternative_chosen.connect(self._take)
        # Hidden it takes no room, not even the grid's spacing.
        self.why.toggled.connect(self.why.setVisible)
        self.why.hide()
        self.heads = (label("caption-strong", tone="soft"), label("caption-strong", tone="soft"))
        self._names = _stack(self.part_title, self.meaning)
        self._before = _stack(self.heads[0], self.now, self.now_line)
        self._then = _stack(self.heads[1], self.after, self.after_line)
        self._pill_cell = _cell(self.pill)
        self._line = QWidget()
        self._line_row = QHBoxLayout(self._line)
        self._line_row.setContentsMargins(0, 0, 0, 0)
        self._line_row.setSpacing(14)
        self._line_row.addStretch(1)
        self.grid = QGridLayout()
        self.grid.setHorizontalSpacing(GAP)
        self.grid.setVerticalSpacing(8)
        self.column.addLayout(self.grid)
        self._place("line")

    def set_part(self, part: Part, choose: str, sentence: str) -> None:
        """Other words; `sentence` and `choose` are the alternative's, where the part has one."""
        self._part = part
        self.part_title.setText(part.title)
        self.meaning.setText(part.meaning)
        self.now.setText(part.now or UNKNOWN)
        self.after.setText(part.after or UNKNOWN)
        for widget, text in ((self.now_line, part.now_line), (self.after_line, part.after_line)):
            widget.setText(text)
            widget.setVisible(bool(text))
        self.pill.set(*part.pill)
        self._offer = (sentence, choose) if part.offer is not None else None
        self.why.toggle.setVisible(bool(part.why))
        words = translate("RecommendationPage", "{part}: now {now}, after {after}, {what}")
        now, after = part.now or UNKNOWN, part.after or UNKNOWN
        # The card read as one sentence.
        self.setAccessibleName(words.format(part=part.title, now=now, after=after, what=part.pill[1]))
        self.why.toggle.setAccessibleName(f"{self.why.toggle.text()}: {part.title}")

    def explain(self, told: tuple[str, ...]) -> tuple[str, ...]:
        """Why, with the words in it that were not `told` before; says what has been told then."""
        part = self._part
        if part is None or self.isHidden():
            return told
        new = tuple(term for term in part.terms if term not in told)
        explained = (Claim(text="\n".join(new)),) if new else ()
        self.why.set(*part.why, *explained, alternative=self._offer)
        return (*told, *new) if self.why.is_open() else told

    def set_heads(self, now: str, after: str) -> None:
        """The words above the two columns, where these do not stand below common ones."""
        for head, words in zip(self.heads, (now, after), strict=True):
            head.setText(words)

    def set_choices(
        self,
        parts: tuple[PartOptions, ...],
        notes: OptionNotes,
        texts: Texts,
        along: str,
        cautions: tuple[Caution, ...] = (),
    ) -> None:
        """What can be chosen by hand, what changed along with the last pick, and the warnings about this part; nothing
        hides the drop-downs.
        """
        if self.choosers is None:
            if not parts:
                return
            self.choosers = Choosers()
            self.choosers.picked.connect(self.picked)
            self.choosers.alone.connect(self.alone)
            self.column.addWidget(self.choosers)
        self.choosers.setVisible(bool(parts))
        if parts:
            self.choosers.set(parts, notes, texts, cautions)
            self.choosers.set_along(along)
            self._fit()

    @property
    def controls(self) -> tuple[Button, ...]:
        """What can be pressed, in the order of reading."""
        choosers = self.choosers
        mine = (*choosers.pickers.values(), choosers.way) if choosers is not None else ()
        return (self.why.toggle, *self.why.sources, self.why.choose, *mine)

    @property
    def noted(self) -> tuple[str, ...]:
        """The codes of the warnings that stand beside a pick."""
        return self.choosers.noted if self.choosers is not None and not self.choosers.isHidden() else ()

    def refresh(self) -> None:
        """Fonts and columns of now."""
        super().refresh()
        if self._form is not None:
            self._fit()

    def set_room(self, room: int) -> None:
        """How wide the card may be; its own width would be held up by its columns."""
        self._room = room
        self._fit()

    def _fit(self) -> None:
        columns = widths(self._room)
        form: Form = "line" if columns is not None else "folded" if self._room >= theme.px(TIGHT) else "tight"
        if form != self._form:
            self._place(form)
        if columns is not None:
            for cell, width in zip((self._before, self._then, self._pill_cell), columns, strict=True):
                cell.setFixedWidth(width)
        else:
            # No wider than in one line, but narrower where large text leaves no room.
            for cell, width in ((self._before, NOW), (self._then, AFTER)):
                cell.setMinimumWidth(0)
                cell.setMaximumWidth(theme.px(width))
            self._pill_cell.setMinimumWidth(0)
            self._pill_cell.setMaximumWidth(UNBOUNDED)
        self.why.toggle.setMinimumWidth(theme.px(WHY))
        beside = self.icon_.sizeHint().width() + GAP
        self.why.set_room(self._room - 2 * SIDE - (beside if form == "line" else 0))
        if self.choosers is not None:
            # In line with the title.
            self.choosers.setContentsMargins(0 if form == "tight" else beside, 0, 0, 0)
            self.choosers.set_room(self._room)

    def _place(self, form: Form) -> None:
        self._form = form
        grid, folded, tight = self.grid, form != "line", form == "tight"
        parts = (self.icon_, self._names, self._before, self.arrow, self._then, self._pill_cell, self.why.toggle)
        for widget in (*parts, self.why, self._line):
            # Never by taking the layout's item: that one would live on and keep the height of other words.
            grid.removeWidget(widget)
            self._line_row.removeWidget(widget)
        self._line.setVisible(folded)
        for head in self.heads:
            head.setVisible(folded)
        middle = Qt.AlignmentFlag.AlignVCenter
        grid.addWidget(self.icon_, 0, 0, middle)
        if folded:
            top = Qt.AlignmentFlag.AlignTop
            for place, (widget, way) in enumerate(((self._before, top), (self.arrow, middle), (self._then, top))):
                self._line_row.insertWidget(place, widget, 0, way)
            grid.addWidget(self._names, 0, 1, 1, 5 if tight else 4, middle)
            grid.addWidget(self._pill_cell, 1 if tight else 0, 1 if tight else 5, middle)
            grid.addWidget(self.why.toggle, 0, 6, middle)
            grid.addWidget(self._line, 2, 1, 1, 6)
            grid.addWidget(self.why, 3, 0, 1, 7)
        else:
            grid.addWidget(self.arrow, 0, 3, middle)
            # As high as the row, in whose middle their words stand: an aligned cell keeps the height of other words.
            for column, widget in ((1, self._names), (2, self._before), (4, self._then), (5, self._pill_cell)):
                grid.addWidget(widget, 0, column)
            grid.addWidget(self.why.toggle, 0, 6, middle)
            grid.addWidget(self.why, 1, 1, 1, 6)
        grid.setColumnStretch(1, 1)
        # A widget that went from one parent to another is hidden until somebody shows it.
        for widget in (self._before, self.arrow, self._then):
            widget.show()

    def _take(self) -> None:
        offer: Alternative | None = self._part.offer if self._part is not None else None
        if offer is not None:
            self.offered.emit(offer)


class Heads(Live, QWidget):
    """ "Now" and "After" above the cards, in line with their columns."""

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(GAP)
        self.now, self.after = label("caption-strong", tone="soft"), label("caption-strong", tone="soft")
        self._gap, self._pill, self._why = QWidget(), QWidget(), QWidget()
        row.addStretch(1)
        for widget in (self.now, self._gap, self.after, self._pill, self._why):
            row.addWidget(widget)
        self.follow()

    def set_words(self, now: str, after: str) -> None:
        """The two words."""
        self.now.setText(now)
        self.after.setText(after)

    def fit(self, card: PartCard | None, room: int) -> None:
        """The columns of a card that may be as wide as this; without a card there is nothing to stand above."""
        columns = widths(room)
        self.setVisible(columns is not None and card is not None)
        if columns is None or card is None:
            return
        for widget, width in zip((self.now, self.after, self._pill), columns, strict=True):
            widget.setFixedWidth(width)
        self._gap.setFixedWidth(theme.px(18))
        self._why.setFixedWidth(card.why.toggle.width())


def _stack(*rows: QWidget) -> QWidget:
    cell = QWidget()
    column = QVBoxLayout(cell)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(1)
    column.addStretch(1)
    for text in rows:
        # Chinese is one long word: its least width would count as more than the column has.
        text.setMinimumWidth(1)
        column.addWidget(text)
    column.addStretch(1)
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    cell.setSizePolicy(policy)
    return cell


def _cell(widget: QWidget) -> QWidget:
    cell = QWidget()
    row = QHBoxLayout(cell)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(widget, 0, Qt.AlignmentFlag.AlignLeft)
    return cell
