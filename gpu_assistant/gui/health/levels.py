"""The levels of the health test: three cards to choose from, and the list of what the chosen level tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from ...core.results import Checks
from ...health.job import AREAS_BY_LEVEL
from ...texts.format import format_duration
from .. import language, theme
from ..widgets.cards import Card
from ..widgets.choice_card import ChoiceCard
from ..widgets.icons import IconWidget
from ..widgets.text import label
from .running import area_text

LOAD_LEVEL = 3  # the level that loads the GPUs
COLUMN_GAP = 24  # pixels between two columns of areas
MIN_GROUP_WIDTH = 260  # pixels at 100 % text of a level's areas beside those of another
AREA_ICONS = {
    "driver": "driver",
    "card-answers": "card",
    "card-link": "slot",
    "card-memory": "memory",
    "card-errors": "table",
    "card-xid": "log",
    "card-fan": "fan",
    "cpu-compute": "cpu",
    "device-compute": "chip",
    "copy-bandwidth": "swap",
    "link-speed": "slot",
    "matmul-bits": "cuda",
    "memory-test": "memory",
    "card-heat": "temp",
    "card-held-back": "bolt",
    "load": "clock",
    "load-speed": "bench",
}
# What is not tested where PyTorch is not set up.
CPU_AREA = "cpu-compute"
COMPUTED_AREAS = (CPU_AREA, "device-compute")
ERROR_COUNT_AREA = "card-errors"
translate = QCoreApplication.translate


class LevelCards(QWidget):
    """One card a level. `chosen` is emitted with the index that the user chose."""

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.buttons = [ChoiceCard(self) for _ in AREAS_BY_LEVEL]
        self._columns = 0
        self._group = QButtonGroup(self)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)
        for index, card in enumerate(self.buttons):
            self._group.addButton(card)
            card.clicked.connect(lambda _checked=False, index=index: self.chosen.emit(index))
            card.toggled.connect(lambda _: self._update_focus_policy())
        self.buttons[0].setChecked(True)
        self.set_columns(len(self.buttons))

    def current(self) -> int:
        """The selected index."""
        return next(index for index, card in enumerate(self.buttons) if card.isChecked())

    def set_current(self, index: int) -> None:
        """Select a level; `chosen` is not emitted."""
        self.buttons[index].setChecked(True)

    def set_columns(self, columns: int) -> None:
        """Stand side by side, or in one column."""
        if columns == self._columns:
            return
        self._columns = columns
        for index, card in enumerate(self.buttons):
            self._grid.addWidget(card, index // columns, index % columns)
        for column in range(len(self.buttons)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def set_brief(self, on: bool) -> None:
        """Show only names and durations, below a result in a low window."""
        for card in self.buttons:
            card.set_brief(on)

    def show_levels(self, *, has_environment: bool, load_seconds: float) -> None:
        """Set the texts in the current language; `load_seconds` is how long the third level loads the GPUs."""
        duration = format_duration(load_seconds, language.texts().language)
        texts = level_texts(duration, has_environment=has_environment)
        for card, name, (line, cost) in zip(self.buttons, level_names(), texts, strict=True):
            card.set_texts(name, line, cost)
        self.setAccessibleName(translate("Health", "Choose a test"))

    def _update_focus_policy(self) -> None:
        """Tab enters at the selected card; the arrow keys lead to the others."""
        for card in self.buttons:
            card.setFocusPolicy(Qt.FocusPolicy.StrongFocus if card.isChecked() else Qt.FocusPolicy.ClickFocus)


class AreasCard(Card):
    """What a level tests, area by area: a group for each level that it includes, below the levels' own cards."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(COLUMN_GAP)
        self._grid.setVerticalSpacing(12)
        self.groups: list[AreaGroup] = []
        self._columns, self._room = len(AREAS_BY_LEVEL), 0
        self._shown: tuple[object, ...] = ()
        self._level, self._areas = 1, tuple[str, ...]()
        self.column.addLayout(self._grid)

    def show_level(self, level: int, areas: tuple[str, ...]) -> None:
        """List what this level tests, in the current language."""
        self._level, self._areas = level, areas
        self.set_title(translate("Health", "What is tested"))
        self._update_groups()

    def set_columns(self, columns: int, room: int) -> None:
        """Put the groups side by side, or one below the other; `room` is the card's width in pixels."""
        self._columns, self._room = columns, room
        if self._areas:
            self._update_groups()

    def _fitting_columns(self) -> int:
        """In how many columns each area has one line; groups of several levels may have a few areas of two lines."""
        inner_width = self._room - 2 * self.column.contentsMargins().left()
        widest = max(AreaRow(area).sizeHint().width() for area in self._areas)
        fitting = (inner_width + COLUMN_GAP) // (widest + COLUMN_GAP)
        if self._level > 1:
            fitting = min(max(fitting, inner_width // theme.px(MIN_GROUP_WIDTH)), self._level)
        return min(max(fitting, 1), self._columns)

    def _update_groups(self) -> None:
        """Make the groups anew where they change: those of several levels have headings, those of one are columns."""
        columns = self._fitting_columns()
        shown = (self._level, self._areas, columns, language.texts().language)
        if shown == self._shown:
            return
        self._shown = shown
        for group in self.groups:
            self._grid.removeWidget(group)
            group.hide()
            group.deleteLater()
        if self._level == 1:
            self.groups = [AreaGroup("", part) for part in split_evenly(self._areas, columns)]
        else:
            self.groups = [
                AreaGroup(name, [area for area in self._areas if area in AREAS_BY_LEVEL[level]])
                for level, name in enumerate(level_names()[: self._level], 1)
            ]
        for index, group in enumerate(self.groups):
            row, column = divmod(index, columns)
            self._grid.addWidget(group, row, column, Qt.AlignmentFlag.AlignTop)
        for column in range(len(AREAS_BY_LEVEL)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)


def split_evenly(areas: Sequence[str], count: int) -> list[Sequence[str]]:
    """Up to `count` consecutive parts whose lengths differ by one at most, the longer ones first."""
    length, longer = divmod(len(areas), count)
    ends = [part * length + min(part, longer) for part in range(count + 1)]
    return [areas[start:end] for start, end in pairwise(ends) if end > start]


class AreaGroup(QWidget):
    """Areas below each other, with a heading unless it is empty."""

    def __init__(self, heading: str, areas: Sequence[str]) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        if heading:
            column.addWidget(label("small-strong", heading, "soft"))
        for area in areas:
            column.addWidget(AreaRow(area))


class AreaRow(QWidget):
    """One area."""

    def __init__(self, area: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(IconWidget(AREA_ICONS[area], "soft", 18), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label("body", area_text(area)), 1, Qt.AlignmentFlag.AlignTop)


def level_areas(
    level: int, *, has_environment: bool, has_gpu: bool, has_error_counters: bool = True
) -> tuple[str, ...]:
    """What a level tests, with what the levels below it test; where there is a GPU, the CPU is not tested, and memory
    error counts are read only where a GPU has them.
    """
    areas = [area for each in range(1, level + 1) for area in AREAS_BY_LEVEL[each]]
    left_out = {
        *(() if has_environment else COMPUTED_AREAS),
        *((CPU_AREA,) if has_gpu else ()),
        *(() if has_error_counters else (ERROR_COUNT_AREA,)),
    }
    return tuple(area for area in areas if area not in left_out)


def retest_level(checks: Checks) -> int:
    """The lowest level that tests again all that did not pass; one that no area names needs the same level again."""
    found = {check.id for check in checks.checks if check.state in ("warn", "fail")}
    levels = {area: level for level, areas in AREAS_BY_LEVEL.items() for area in areas}
    return max((levels.get(each, checks.level or 1) for each in found), default=1)


def level_names() -> tuple[str, ...]:
    """The names of the levels."""
    return tuple(language.texts().health_level_name(level) for level in range(1, len(AREAS_BY_LEVEL) + 1))


def start_texts() -> tuple[str, str, str]:
    """The button that starts each level."""
    return (
        translate("Health", "Start quick check"),
        translate("Health", "Start thorough check"),
        translate("Health", "Start stress test"),
    )


def repeat_texts() -> tuple[str, str, str]:
    """The same button where the level's result is shown."""
    return (
        translate("Health", "Repeat quick check"),
        translate("Health", "Repeat thorough check"),
        translate("Health", "Repeat stress test"),
    )


def level_texts(load: str, *, has_environment: bool) -> Sequence[tuple[str, str]]:
    """What each level does, and how long it takes; `load` is the time under full load as text."""
    quick = (
        (
            translate("Health", "At any time: checks the card and runs a small calculation."),
            translate("Health", "Less than 1 minute"),
        )
        if has_environment
        else (
            translate("Health", "Reads each card's state from the driver, without calculations."),
            translate("Health", "A few seconds"),
        )
    )
    return (
        quick,
        (
            translate("Health", "If results look wrong: also tests transfers, precision and memory."),
            translate("Health", "A few minutes"),
        ),
        (
            translate("Health", "If programs crash: also runs a long full load and checks every result."),
            translate("Health", "More than {load}").format(load=load),
        ),
    )
