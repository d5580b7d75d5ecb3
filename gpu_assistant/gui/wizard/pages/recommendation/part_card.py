"""The card of one part of a recommendation: installed and planned version, drop-downs for versions.

The columns of all cards are aligned, with ColumnHeadings above them; in a small window they are slim: without icons
and what the part is for.
Where large text leaves no room for columns the versions stand below the title ("folded"), and where it leaves even less
the pill does, too ("tight").

While the user chooses, the drop-downs stand in place of the planned version: that column is as wide as the card allows,
what the part is for gives way, and in a small window the pill goes below the title.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from .....core.recommendation import RecommendationWarning
from .....core.versions import Version
from .....texts.format import UNKNOWN_VALUE
from .....texts.localized import Texts
from .... import theme
from ....widgets.base import Themed
from ....widgets.buttons import Button
from ....widgets.cards import Card, Pill
from ....widgets.icons import IconWidget
from ....widgets.text import label
from .options_bar import CARD_MARGIN, ICON_GROUND_SIZE, LOW_PADDING, PADDING
from .part_summary import PartSummary
from .version_pickers import VersionPickers

if TYPE_CHECKING:
    from .....advise.options import PartOptions
    from ...state import OptionNotes


translate = QCoreApplication.translate

PART_ICONS = {"driver": "driver", "cuda": "cuda", "cudnn": "cudnn", "torch": "torch", "tensorflow": "tensorflow"}
INSTALLED_WIDTH, PLANNED_WIDTH, PILL_WIDTH = 120, 300, 104
INSTALLED_WIDTH_NARROW, PLANNED_WIDTH_NARROW = 112, 290
INSTALLED_WIDTH_SLIM, PLANNED_WIDTH_SLIM = 112, 206
# The most that the drop-downs get, and what they leave to the title.
LISTS_WIDTH, TITLE_MIN_WIDTH = 424, 112
ARROW_SIZE = 18
# Below these widths, times the text scale, columns are narrower, slim, the form is "folded", the form is "tight".
NARROW_BELOW, SLIM_BELOW, FOLDED_BELOW, TIGHT_BELOW = 960, 740, 600, 350
COLUMN_SPACING = 12
LIST_GAP = 3  # pixels between drop-downs and the line below
MAX_WIDTH = 16_777_215
CardForm = Literal["line", "slim", "folded", "tight"]


def column_widths(available: int, *, choosing: bool = False) -> tuple[int, int, int] | None:
    """The widths of the columns installed, planned and pill for a card of this width, in pixels; None if too narrow.
    While the user is `choosing`, drop-downs stand in the planned one; 0 for the pill is no column of its own.
    """
    if available < theme.px(FOLDED_BELOW):
        return None
    columns = INSTALLED_WIDTH, PLANNED_WIDTH, PILL_WIDTH
    if is_slim(available):
        columns = INSTALLED_WIDTH_SLIM, PLANNED_WIDTH_SLIM, PILL_WIDTH
    elif available < theme.px(NARROW_BELOW):
        columns = INSTALLED_WIDTH_NARROW, PLANNED_WIDTH_NARROW, PILL_WIDTH
    installed, planned, pill = (theme.px(column) for column in columns)
    if choosing and is_slim(available):
        return installed, planned + COLUMN_SPACING + pill, 0
    if choosing:
        others = theme.px(TITLE_MIN_WIDTH) + installed + theme.px(ARROW_SIZE) + pill + 4 * COLUMN_SPACING
        room = available - 2 * CARD_MARGIN - fields_indent(available) - others
        planned = max(planned, min(room, theme.px(LISTS_WIDTH)))
    return installed, planned, pill


def is_slim(available: int) -> bool:
    """Whether a card of this width in pixels has columns, but no room for ornament."""
    return theme.px(FOLDED_BELOW) <= available < theme.px(SLIM_BELOW)


def fields_indent(available: int) -> int:
    """How far from its text's edge a card of this width in pixels has its fields: below the title."""
    has_indent = not is_slim(available) and available >= theme.px(TIGHT_BELOW)
    return theme.px(ICON_GROUND_SIZE) + COLUMN_SPACING if has_indent else 0


class PartCard(Card):
    """`version_chosen` brings a part's name, the chosen value (None: the recommended one), and whether all other
    choices are dropped. `has_lists`: drop-downs stand in place of the planned version.
    """

    version_chosen = Signal(str, object, bool)

    def __init__(self, name: str) -> None:
        self._part: PartSummary | None = None
        self._cells: list[QWidget] = []
        self._form: CardForm | None = None
        self.has_lists = False
        self._is_choosing = False
        self._arrangement: tuple[CardForm, bool] | None = None
        self._available_width = 0
        self.version_pickers: VersionPickers | None = None
        super().__init__(padding=16)
        self.set_low(False)
        self.icon_ = IconWidget(PART_ICONS[name], size=20, background="square", background_size=ICON_GROUND_SIZE)
        self.title_label, self.meaning_label = label("heading"), label("small")
        self.installed_label, self.installed_detail = label("heading", tone="soft"), label("small")
        self.planned_label, self.planned_detail = label("heading"), label("small")
        self.arrow_icon, self._has_change = IconWidget("long", "soft", ARROW_SIZE), True
        arrow_policy = self.arrow_icon.sizePolicy()
        arrow_policy.setRetainSizeWhenHidden(True)
        self.arrow_icon.setSizePolicy(arrow_policy)
        self.pill = Pill()
        self.column_labels = (label("caption-strong", tone="soft"), label("caption-strong", tone="soft"))
        self._title_cell = _build_stacked_cell(self.title_label, self.meaning_label)
        self._title_layout = cast(QVBoxLayout, self._title_cell.layout())
        self._title_layout.insertStretch(0, 0)
        self._installed_cell = _build_stacked_cell(self.column_labels[0], self.installed_label, self.installed_detail)
        self._lists_place: QWidget = QWidget()
        self._lists_layout = QVBoxLayout(self._lists_place)
        self._lists_layout.setContentsMargins(0, 0, 0, LIST_GAP)
        self._lists_place.hide()
        self._planned_cell = _build_stacked_cell(
            self.column_labels[1], self.planned_label, self._lists_place, self.planned_detail
        )
        self._pill_cell = QWidget()
        self._pill_layout = QBoxLayout(QBoxLayout.Direction.RightToLeft, self._pill_cell)
        self._pill_layout.setContentsMargins(0, 0, 0, 0)
        self._pill_layout.addWidget(self.pill)
        self._pill_layout.addStretch(1)
        self._versions_row = QWidget(self)  # in the layout only where it is shown
        self._versions_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._versions_row)
        self._versions_layout.setContentsMargins(0, 0, 0, 0)
        self._versions_layout.setSpacing(14)
        self._versions_layout.addStretch(1)
        self.grid = QGridLayout()
        self.grid.setHorizontalSpacing(COLUMN_SPACING)
        self.grid.setVerticalSpacing(8)
        self.column.addLayout(self.grid)
        self._arrange("line", choosing=False)

    def set_part(self, part: PartSummary) -> None:
        """Show a part."""
        self._part = part
        self._update_title()
        self.meaning_label.setText(part.meaning)
        self.installed_label.setText(part.installed or UNKNOWN_VALUE)
        self.planned_label.setText(part.planned or UNKNOWN_VALUE)
        self.installed_detail.setText(part.installed_detail)
        self.installed_detail.setVisible(bool(part.installed_detail))
        self._update_planned_detail()
        # Nothing becomes nothing: an arrow between two dashes would say no more.
        self._has_change = bool(part.installed or part.planned)
        self._update_arrow()
        self.planned_label.setVisible(self._has_change and not self.has_lists)
        self.pill.set(*part.pill)
        template = translate("RecommendationPage", "{part}: now {now}, after {after}, {what}")
        installed, planned = part.installed or UNKNOWN_VALUE, part.planned or UNKNOWN_VALUE
        # A screen reader reads the card as one sentence.
        self.setAccessibleName(template.format(part=part.title, now=installed, after=planned, what=part.pill[1]))

    def _update_title(self) -> None:
        """A shorter one where the column is narrow: a title in two lines makes a row higher than the others."""
        if self._part is not None:
            is_narrow = self._form == "slim" or (self._form == "line" and self._is_choosing)
            self.title_label.setText((self._part.title_brief if is_narrow else "") or self._part.title)

    def _update_planned_detail(self) -> None:
        """What comes with the planned version; a slim card has room for the most important only."""
        part = self._part
        text = part.planned_detail if part is not None else ""
        if part is not None and self._form == "slim":
            text = part.planned_detail_brief or text
        if part is not None and self.has_lists:
            text = self._choice_detail(part, text)
        self.planned_detail.setText(text)
        self.planned_detail.setVisible(bool(text))

    def _choice_detail(self, part: PartSummary, detail: str) -> str:
        """What stands below the drop-downs: whether their values are recommended, and what they do not say."""
        version_pickers = self.version_pickers
        if version_pickers is None:
            return detail
        shown = {name: picker for name, picker in version_pickers.pickers.items() if not picker.isHidden()}
        listed = "\n".join(picker.text() for picker in shown.values())
        if "variant" in shown:
            detail = ""  # said by the lists beside that of the version
        if part.planned and part.planned not in listed:
            # As a version it needs to be said of what; other words say that themselves.
            detail = f"{part.planned} {detail}".strip() if Version.parse(part.planned) else part.planned
        return " · ".join(text for text in (version_pickers.recommendation_note, detail) if text)

    def _update_arrow(self) -> None:
        """It points from the left to the right."""
        self.arrow_icon.setVisible(self._has_change and not (self._is_choosing and self._form in ("folded", "tight")))

    def set_low(self, low: bool) -> None:
        """Take less height, in a low window."""
        padding = LOW_PADDING if low else PADDING
        self.column.setContentsMargins(CARD_MARGIN, padding, CARD_MARGIN, padding)

    def set_column_labels(self, installed: str, planned: str) -> None:
        """The labels of the two columns where they are not below ColumnHeadings."""
        for column_label, text in zip(self.column_labels, (installed, planned), strict=True):
            column_label.setText(text)

    def set_version_options(
        self,
        parts: tuple[PartOptions, ...],
        option_notes: OptionNotes,
        texts: Texts,
        side_effects: str,
        warnings: tuple[RecommendationWarning, ...] = (),
    ) -> None:
        """Show a drop-down for each of `parts`, what the last choice changed besides, and warnings about this card;
        without parts the drop-downs are hidden.
        """
        if self.version_pickers is None:
            if not parts:
                return
            self.version_pickers = VersionPickers()
            self.version_pickers.version_chosen.connect(self.version_chosen)
            self._lists_layout.addWidget(self.version_pickers.lists)
            self.column.addWidget(self.version_pickers)
        self.has_lists = bool(parts)
        self.version_pickers.set_shown(bool(parts))
        if parts:
            self.version_pickers.set(parts, option_notes, texts, warnings)
            self.version_pickers.set_side_effects(side_effects)
        self.planned_label.setVisible(self._has_change and not self.has_lists)
        self._lists_place.setVisible(self.has_lists)
        self._update_layout()

    @property
    def controls(self) -> tuple[Button, ...]:
        """All focusable widgets in reading order."""
        version_pickers = self.version_pickers
        picker_controls = (
            (*version_pickers.pickers.values(), version_pickers.fallback_button) if version_pickers is not None else ()
        )
        return tuple(picker_controls)

    @property
    def warning_codes(self) -> tuple[str, ...]:
        """The codes of the warnings that the card shows."""
        return self.version_pickers.warning_codes if self.version_pickers is not None and self.has_lists else ()

    def refresh(self) -> None:
        super().refresh()
        if self._form is not None:
            self._update_layout()

    def set_available_width(self, available_width: int, *, choosing: bool) -> None:
        """Lay out for this width in pixels; the card's own width cannot shrink below its columns. `choosing`: this card
        or another shows drop-downs.
        """
        self._available_width, self._is_choosing = available_width, choosing
        self._update_layout()

    def _update_layout(self) -> None:
        columns = column_widths(self._available_width, choosing=self._is_choosing)
        slim = is_slim(self._available_width)
        form: CardForm = "folded" if self._available_width >= theme.px(TIGHT_BELOW) else "tight"
        if columns is not None:
            form = "slim" if slim else "line"
        if (form, self._is_choosing) != self._arrangement:
            self._arrange(form, choosing=self._is_choosing)
        if columns is not None:
            for cell, width in zip((self._installed_cell, self._planned_cell), columns, strict=False):
                cell.setFixedWidth(width)
        else:
            # No wider than in one line, and narrower if large text leaves no room.
            for cell, width in ((self._installed_cell, INSTALLED_WIDTH), (self._planned_cell, PLANNED_WIDTH)):
                cell.setMinimumWidth(0)
                cell.setMaximumWidth(theme.px(width))
            if self._is_choosing:
                self._planned_cell.setMaximumWidth(MAX_WIDTH)
        self._pill_cell.setMinimumWidth(columns[2] if columns is not None else 0)
        self.meaning_label.setVisible(not slim and not self._is_choosing)
        self.icon_.setVisible(not slim)
        for heading in (self.title_label, self.installed_label, self.planned_label):
            heading.set_kind("strong" if slim else "heading")
        # A title alone stands at the height of arrow and pill.
        self._title_layout.setStretch(0, int(slim and not self._is_choosing))
        self._update_title()
        self._update_planned_detail()
        # Title and installed version stand at the height of the drop-downs' text.
        offset = 0
        if self.version_pickers is not None and self.has_lists and columns is not None:
            lists_height = next(iter(self.version_pickers.pickers.values())).sizeHint().height()
            offset = max(lists_height - theme.text_height("strong" if slim else "heading"), 0) // 2
        for cell in (self._title_cell, self._installed_cell):
            cell.setContentsMargins(0, offset, 0, 0)
        if self.version_pickers is not None:
            # Aligned with the title.
            indent = fields_indent(self._available_width)
            self.version_pickers.setContentsMargins(indent, 0, 0, 0)
            room = self._available_width - 2 * CARD_MARGIN - self.icon_.sizeHint().width() - COLUMN_SPACING
            self.version_pickers.set_lists_width(columns[1] if columns is not None else room)

    def _arrange(self, form: CardForm, *, choosing: bool) -> None:
        self._form, self._arrangement = form, (form, choosing)
        focus = self.window().focusWidget()
        has_focus = focus is not None and self.isAncestorOf(focus)
        grid, tight = self.grid, form == "tight"
        folded = form in ("folded", "tight")
        parts = (
            self.icon_,
            self._title_cell,
            self._installed_cell,
            self.arrow_icon,
            self._planned_cell,
            self._pill_cell,
        )
        for widget in (*parts, self._versions_row):
            # Not by takeAt: the item would stay alive, with the height of the old text.
            grid.removeWidget(widget)
            self._versions_layout.removeWidget(widget)
        self._versions_row.setVisible(folded)
        for column_label in self.column_labels:
            column_label.setVisible(folded)
        middle, top = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignTop
        below = not folded and choosing and form == "slim"  # the pill is
        rows = 2 if below else 1
        grid.addWidget(self.icon_, 0, 0, middle)
        if folded and choosing:
            self._versions_layout.setDirection(QBoxLayout.Direction.TopToBottom)
            for position, widget in enumerate((self._installed_cell, self._planned_cell)):
                self._versions_layout.insertWidget(position, widget)
        elif folded:
            self._versions_layout.setDirection(QBoxLayout.Direction.LeftToRight)
            for position, (widget, alignment) in enumerate(
                ((self._installed_cell, top), (self.arrow_icon, middle), (self._planned_cell, top))
            ):
                self._versions_layout.insertWidget(position, widget, 0, alignment)
        if folded:
            grid.addWidget(self._title_cell, 0, 1, 1, 5 if tight else 4, middle)
            grid.addWidget(self._pill_cell, 1 if tight else 0, 1 if tight else 5, middle)
            grid.addWidget(self._versions_row, 2, 1, 1, 5)
        else:
            grid.addWidget(self.arrow_icon, 0, 3, rows, 1, middle)
            # Without an alignment: an aligned cell keeps the height of its old text.
            grid.addWidget(self._title_cell, 0, 1)
            grid.addWidget(self._installed_cell, 0, 2, rows, 1)
            grid.addWidget(self._planned_cell, 0, 4, rows, 2 if below else 1)
            grid.addWidget(self._pill_cell, 1 if below else 0, 1 if below else 5, top if below else middle)
        grid.setRowStretch(1, int(below))
        # In a row it ends where the card's text does; below a title it begins there.
        under_title = tight or below
        self._pill_layout.setDirection(
            QBoxLayout.Direction.LeftToRight if under_title else QBoxLayout.Direction.RightToLeft
        )
        grid.setColumnStretch(1, 1)
        # A widget with a new parent is hidden, and loses the focus.
        for widget in (self._installed_cell, self._planned_cell):
            widget.show()
        if focus is not None and has_focus:
            focus.setFocus(Qt.FocusReason.OtherFocusReason)
        self._update_arrow()


class ColumnHeadings(Themed, QWidget):
    """ "Now" and "After" above the cards, in line with their columns."""

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(CARD_MARGIN, 0, CARD_MARGIN, 0)
        row.setSpacing(COLUMN_SPACING)
        self.installed_label, self.planned_label = (
            label("caption-strong", tone="soft"),
            label("caption-strong", tone="soft"),
        )
        self._arrow_space, self._pill_space = QWidget(), QWidget()
        row.addStretch(1)
        for widget in (self.installed_label, self._arrow_space, self.planned_label, self._pill_space):
            row.addWidget(widget)
        self.apply_theme()

    def set_texts(self, installed: str, planned: str) -> None:
        self.installed_label.setText(installed)
        self.planned_label.setText(planned)

    def align_to(self, card: PartCard | None, available_width: int, *, choosing: bool) -> None:
        """Align with the columns of a card of this width in pixels; hidden without a card or columns. `choosing`: cards
        show drop-downs.
        """
        columns = column_widths(available_width, choosing=choosing)
        self.setVisible(columns is not None and card is not None)
        if columns is None:
            return
        for widget, width in zip((self.installed_label, self.planned_label, self._pill_space), columns, strict=True):
            widget.setFixedWidth(width)
        self._pill_space.setVisible(columns[2] > 0)
        self._arrow_space.setFixedWidth(theme.px(ARROW_SIZE))


def _build_stacked_cell(*widgets: QWidget) -> QWidget:
    cell = QWidget()
    column = QVBoxLayout(cell)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(1)
    # The first lines of all cells of a card are at one height.
    for widget in widgets:
        # Chinese text counts as one word, whose minimum width could exceed the column.
        widget.setMinimumWidth(1)
        column.addWidget(widget)
    column.addStretch(1)
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    cell.setSizePolicy(policy)
    return cell
