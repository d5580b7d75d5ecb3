"""One part of a recommendation on a card, its columns in line with the other cards'."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ...core.recommendation import Alternative
from ...texts.format import UNKNOWN
from .. import theme
from ..components import Card, Icon, Pill, Why, label
from ..components.base import Live
from .cards import Part

ICONS = {"driver": "driver", "cuda": "cuda", "cudnn": "cudnn", "torch": "torch"}
NOW, AFTER, PILL, WHY = 120, 166, 104, 78
NOW_SLIM, AFTER_SLIM, PILL_SLIM = 102, 158, 88
# Below these widths, times the text scale, columns are slimmer; now and after stand on a line of their own.
SLIM, FOLDED = 960, 740
GAP = 12
UNBOUNDED = 16_777_215


def widths(available: int) -> tuple[int, int, int] | None:
    """The columns now, after, pill in pixels for a card of this width; None where they do not fit in one line."""
    if available < theme.px(FOLDED):
        return None
    slim = available < theme.px(SLIM)
    columns = (NOW_SLIM, AFTER_SLIM, PILL_SLIM) if slim else (NOW, AFTER, PILL)
    now, after, pill = (theme.px(column) for column in columns)
    return now, after, pill


class PartCard(Card):
    """Icon, title and meaning; now → after; pill; Why. `offered` brings the alternative that was taken."""

    offered = Signal(object)

    def __init__(self, name: str) -> None:
        self._part: Part | None = None
        self._cells: list[QWidget] = []
        self._folded: bool | None = None
        self._room = 0
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 10, 16, 10)
        self.icon_ = Icon(ICONS[name], size=20, ground="square", side=38)
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
        self._names, self._before, self._then = (_stack(*pair) for pair in self._pairs())
        self._pill_cell = _cell(self.pill)
        self._line = QWidget()
        self._line_row = QHBoxLayout(self._line)
        self._line_row.setContentsMargins(0, 0, 0, 0)
        self._line_row.setSpacing(14)
        self.grid = QGridLayout()
        self.grid.setHorizontalSpacing(GAP)
        self.grid.setVerticalSpacing(8)
        self.column.addLayout(self.grid)
        self._place(folded=False)

    def _pairs(self) -> tuple[tuple[QWidget, QWidget], ...]:
        return (self.part_title, self.meaning), (self.now, self.now_line), (self.after, self.after_line)

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
        self.why.set(part.why, alternative=(sentence, choose) if part.offer is not None else None, source=part.source)
        self.why.toggle.setVisible(bool(part.why))
        self.why.toggle.setAccessibleName(f"{self.why.toggle.text()}: {part.title}")

    def say(self, sentence: str) -> None:
        """The card read as one sentence."""
        self.setAccessibleName(sentence)

    def refresh(self) -> None:
        """Fonts and columns of now."""
        super().refresh()
        if self._folded is not None:
            self._fit()

    def set_room(self, room: int) -> None:
        """How wide the card may be; its own width would be held up by its columns."""
        self._room = room
        self._fit()

    def _fit(self) -> None:
        columns = widths(self._room)
        if (columns is None) != self._folded:
            self._place(folded=columns is None)
        if columns is not None:
            for cell, width in zip((self._before, self._then, self._pill_cell), columns, strict=True):
                cell.setFixedWidth(width)
        else:
            for cell, width in ((self._before, NOW), (self._then, AFTER)):
                cell.setFixedWidth(theme.px(width))
            self._pill_cell.setMinimumWidth(0)
            self._pill_cell.setMaximumWidth(UNBOUNDED)
        self.why.toggle.setMinimumWidth(theme.px(WHY))

    def _place(self, *, folded: bool) -> None:
        self._folded = folded
        grid = self.grid
        parts = (self.icon_, self._names, self._before, self.arrow, self._then, self._pill_cell, self.why.toggle)
        for widget in (*parts, self.why, self._line):
            grid.removeWidget(widget)
        while self._line_row.count():
            self._line_row.takeAt(0)
        self._line.setVisible(folded)
        middle = Qt.AlignmentFlag.AlignVCenter
        grid.addWidget(self.icon_, 0, 0, middle)
        if folded:
            for widget in (self._before, self.arrow, self._then):
                self._line_row.addWidget(widget)
            self._line_row.addStretch(1)
            grid.addWidget(self._names, 0, 1, 1, 4, middle)
            grid.addWidget(self._pill_cell, 0, 5, middle)
            grid.addWidget(self.why.toggle, 0, 6, middle)
            grid.addWidget(self._line, 1, 1, 1, 6)
            grid.addWidget(self.why, 2, 0, 1, 7)
        else:
            for column, widget in enumerate((self._names, self._before, self.arrow, self._then, self._pill_cell), 1):
                grid.addWidget(widget, 0, column, middle)
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

    def fit(self, card: PartCard, room: int) -> None:
        """The columns of a card that may be as wide as this."""
        columns = widths(room)
        self.setVisible(columns is not None)
        if columns is None:
            return
        for widget, width in zip((self.now, self.after, self._pill), columns, strict=True):
            widget.setFixedWidth(width)
        self._gap.setFixedWidth(theme.px(18))
        self._why.setFixedWidth(card.why.toggle.width())


def _stack(upper: QWidget, lower: QWidget) -> QWidget:
    cell = QWidget()
    column = QVBoxLayout(cell)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(1)
    for text in (upper, lower):
        # Chinese is one long word: its least width would count as more than the column has.
        text.setMinimumWidth(1)
        column.addWidget(text)
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
