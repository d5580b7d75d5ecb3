"""The levels of the health test: three cards to choose from, and the list of what the chosen level tests."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QHBoxLayout, QWidget

from ...health.job import AREAS_BY_LEVEL
from ...texts.format import format_duration
from .. import language
from ..widgets.cards import Card
from ..widgets.choice_card import ChoiceCard
from ..widgets.icons import IconWidget
from ..widgets.text import label
from .running import area_text

LOAD_LEVEL = 3  # the level that loads the GPUs
AREA_ICONS = {
    "driver": "driver",
    "card-answers": "card",
    "card-link": "long",
    "card-memory": "memory",
    "card-errors": "warn",
    "card-xid": "warn",
    "card-fan": "fan",
    "cpu-compute": "cpu",
    "device-compute": "chip",
    "copy-bandwidth": "copy",
    "link-speed": "long",
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

    def show_levels(self, *, has_environment: bool, load_seconds: float) -> None:
        """Set the texts in the current language; `load_seconds` is how long the third level loads the GPUs."""
        duration = format_duration(load_seconds, language.texts().language)
        for card, name, texts in zip(
            self.buttons, level_names(), level_texts(duration, has_environment=has_environment), strict=True
        ):
            card.set_texts(name, *texts)
        self.setAccessibleName(translate("Health", "Test level"))

    def _update_focus_policy(self) -> None:
        """Tab enters at the selected card; the arrow keys lead to the others."""
        for card in self.buttons:
            card.setFocusPolicy(Qt.FocusPolicy.StrongFocus if card.isChecked() else Qt.FocusPolicy.ClickFocus)


class AreasCard(Card):
    """What a level tests, area by area."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(8)
        self.rows: list[AreaRow] = []
        self._columns = 2
        self._shown: tuple[object, ...] = ()
        self.column.addLayout(self._grid)

    def show_level(self, level: int, areas: tuple[str, ...]) -> None:
        """List what this level tests, in the current language."""
        shown = (level, areas, language.texts().language)
        if shown == self._shown:
            return
        self._shown = shown
        self.set_title(level_title(level))
        for row in self.rows:
            self._grid.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = [AreaRow(area) for area in areas]
        self.set_columns(self._columns)

    def set_columns(self, columns: int) -> None:
        """Arrange the rows in one or two columns, read from the top to the bottom."""
        self._columns = columns
        per_column = -(-len(self.rows) // columns)
        for index, row in enumerate(self.rows):
            self._grid.addWidget(row, index % per_column, index // per_column)
        for column in range(2):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)


class AreaRow(QWidget):
    """One area."""

    def __init__(self, area: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(IconWidget(AREA_ICONS[area], "soft", 18), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label("body", area_text(area)), 1, Qt.AlignmentFlag.AlignTop)


def level_areas(level: int, *, has_environment: bool, has_gpu: bool) -> tuple[str, ...]:
    """What a level tests, with what the levels below it test; where there is a GPU, the CPU is not tested."""
    areas = [area for each in range(1, level + 1) for area in AREAS_BY_LEVEL[each]]
    left_out = {*(() if has_environment else COMPUTED_AREAS), *((CPU_AREA,) if has_gpu else ())}
    return tuple(area for area in areas if area not in left_out)


def level_title(level: int) -> str:
    """The title of the list of what a level tests."""
    return translate("Health", "Included in level {level}").format(level=level)


def level_names() -> tuple[str, str, str]:
    """The names of the three levels."""
    return (
        translate("Health", "1 · Quick look"),
        translate("Health", "2 · Thorough"),
        translate("Health", "3 · Long full load"),
    )


def level_texts(load: str, *, has_environment: bool) -> Sequence[tuple[str, str]]:
    """What each level does, and how long it takes; `load` is the time under full load as text."""
    quick = (
        (
            translate("Health", "Checks the card and runs a small calculation."),
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
            translate("Health", "Copies, calculations in each precision, and the free memory bit by bit."),
            translate("Health", "A few minutes"),
        ),
        (
            translate("Health", "All of level 2, then full load with every result checked."),
            translate("Health", "A few minutes, then {load} of full load").format(load=load),
        ),
    )
