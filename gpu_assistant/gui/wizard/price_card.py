"""What it costs: bytes, disk, minutes, consents; one line of tiles, or one line of words in a low window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ...core.disks import disk_of
from ...core.machine import Machine
from ...core.plan import Plan
from ...core.price import Price, price, time
from ...texts import Texts
from ...texts import price as prices
from ...texts.format import size
from ...texts.sentences import closed_up
from .. import theme
from ..components import Button, Card, Icon, label
from .rows import disk_name

ICONS = ("download", "disk", "clock", "shield")
LEVEL, SQUARE, GAP, UNBOUNDED = 800, 600, 12, 16_777_215


class PriceCard(Card):
    """`steps` is the button that unfolds the plan."""

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 8, 10, 8)
        self._grid = QGridLayout()
        self._grid.setVerticalSpacing(4)
        self._tiles = [_Tile(name) for name in ICONS]
        self._columns = 0
        self.steps = Button(kind="ghost", after="down")
        self._rows = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._rows.addLayout(self._grid, 1)
        self._rows.addWidget(self.steps, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(self._rows)
        self.set_room(UNBOUNDED)

    def set_price(self, plan: Plan, machine: Machine, texts: Texts, *, by_hand: bool = False) -> None:
        """The plan's price; a driver that is installed `by_hand` asks for consent outside the plan."""
        found = price(plan)
        lasts = time(plan, found)
        minutes = (
            prices.lasts(lasts.minutes, texts, least=lasts.least) if lasts is not None else self.tr("Not known yet")
        )
        consents = sum(step.needs_admin for step in plan.steps)
        consent = {0: self.tr("No consent"), 1: self.tr("Once")}.get(consents, self.tr("{n} times").format(n=consents))
        asked = self.tr("is needed") if consents == 0 else self.tr("you are asked for consent")
        if by_hand:
            consent = self.tr("At the driver") if consents == 0 else consent
            asked = self.tr("you are asked for consent") if consents == 0 else self.tr("and once more at the driver")
        line = next((step.data.get("mbits") for step in plan.steps if step.kind == "download"), None)
        pace = self.tr("or so") if line is None else self.tr("or so, at {mbits} Mbit/s").format(mbits=line)
        decides = self.tr("your line decides") if plan.bundle is None else self.tr("the disk decides")
        pace = pace if lasts is not None else decides
        kept = prices.kept(found, texts)
        words = (
            self._bytes(plan, found, texts),
            (_head(kept or self.tr("Not known yet")), self._where(plan, machine, known=bool(kept))),
            (_head(minutes), pace),
            (consent, asked),
        )
        for tile, (figure, line) in zip(self._tiles, words, strict=True):
            tile.set(figure, line)
        self._stretch()
        self.setAccessibleName(", ".join(f"{figure} {line}" for figure, line in words))

    def _bytes(self, plan: Plan, found: Price, texts: Texts) -> tuple[str, str]:
        """What is to be downloaded as far as it is known, and what is not in that."""
        if plan.bundle is not None or (found.exact and not found.bytes):
            return self.tr("Nothing"), self.tr("from the internet")
        figure, line = prices.fetched(found, texts), self.tr("to download")
        if figure is None:
            return self.tr("Not known yet"), self.tr("to download; shows with the first step")
        if found.measured is not None:
            line = self.tr("to download, measured on {release}").format(release=texts.value("measured", found.measured))
        if lacking := prices.lacking(found, texts):
            line += self.tr("; and more: {parts} (size not known)").format(parts=lacking)
        return _head(figure), line

    def _where(self, plan: Plan, machine: Machine, *, known: bool) -> str:
        disk = disk_of(machine, plan.env)
        if disk is None or disk.free_bytes is None:
            return self.tr("on your disk")
        # A lone "/" says nothing to who has never seen one.
        ours = disk.path == "/"
        name = self.tr("the system's disk") if ours else disk_name(disk)
        said = self.tr("on {disk} ({size} free)") if known else self.tr("needed on {disk} ({size} free)")
        words = said.format(disk=name, size=size(disk.free_bytes))
        return closed_up(words) if ours else words

    def set_room(self, room: int) -> None:
        """How wide the card may be: four tiles and the button, four tiles above it, or two and two."""
        self._room = room
        vertical, level = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._rows.setDirection(level if room >= theme.px(LEVEL) else vertical)
        self._grid.setHorizontalSpacing(20 if room >= theme.px(LEVEL) else 12)
        columns = len(ICONS) if room >= theme.px(SQUARE) else 2
        if columns != self._columns:
            self._columns = columns
            for number, tile in enumerate(self._tiles):
                self._grid.removeWidget(tile)
                self._grid.addWidget(tile, number // columns, number % columns)
        self._stretch()

    def _stretch(self) -> None:
        """To each tile as much of the width as its words take, at least that of its figure in one line.

        Where there is too little, only the longest words break: short ones keep their line.
        """
        columns = [self._tiles[column :: self._columns] for column in range(self._columns)]
        figures = [max(tile.least for tile in tiles) for tiles in columns]
        wanted = [max(tile.sizeHint().width() for tile in tiles) for tiles in columns]
        room = self._room - 26 - (self._columns - 1) * self._grid.horizontalSpacing()
        fits = sum(figures) <= room
        if self._rows.direction() == QBoxLayout.Direction.LeftToRight:
            room -= self.steps.sizeHint().width() + self._rows.spacing()
        for column, share in enumerate(_shares(wanted, room)):
            self._grid.setColumnStretch(column, share)
            self._grid.setColumnMinimumWidth(column, figures[column] if fits else 0)
        for column in range(self._columns, len(ICONS)):
            self._grid.setColumnStretch(column, 0)
            self._grid.setColumnMinimumWidth(column, 0)


def _shares(wanted: list[int], room: int) -> list[int]:
    """Of the room what each wants; where that is too much, those that want most share what the others leave."""
    shares, left = list(wanted), room
    for done, place in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        shares[place] = max(1, min(wanted[place], left // (len(wanted) - done)))
        left -= shares[place]
    return shares


def _head(figure: str) -> str:
    """A figure that stands alone."""
    return figure[:1].upper() + figure[1:]


class _Tile(QWidget):
    def __init__(self, icon: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(GAP)
        self._icon = Icon(icon, "soft", 20)
        self._figure, self._line = label("heading"), label("small")
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addStretch(1)
        words.addWidget(self._figure)
        words.addWidget(self._line)
        words.addStretch(1)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(words, 1)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def least(self) -> int:
        """The width that its figure takes in one line."""
        return self._icon.sizeHint().width() + GAP + self._figure.sizeHint().width()

    def set(self, figure: str, line: str) -> None:
        self._figure.setText(figure)
        self._line.setText(line)
