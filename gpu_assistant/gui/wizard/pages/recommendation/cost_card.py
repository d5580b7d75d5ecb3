"""What a plan costs, in four short cells: download, disk space, duration, prompts with restarts; and its footnotes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from .....core.machine import Machine, find_disk
from .....core.plan import Plan
from .....core.plan_cost import PlanCost, disk_shortage, plan_cost, plan_duration
from .....texts import localized
from .....texts.format import format_size
from .....texts.localized import Texts
from .... import theme
from ....widgets.cards import Card
from ....widgets.icons import IconWidget
from ....widgets.text import label
from ..machine_summary import SYSTEM_DISK, disk_name, drive_letter
from .options_bar import CARD_MARGIN, LOW_PADDING, PADDING

TILE_ICONS = ("download", "disk", "clock", "shield")
# Below this width, times the text scale, figures are smaller and have no icons.
SMALL_BELOW = 800
TILE_SPACING, MAX_WIDGET_WIDTH = 12, 16_777_215


class CostCard(Card):
    """The four cells; `notes`: what the figures are made of; `summary`: the figures in one line."""

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.set_low(False)
        self._grid = QGridLayout()
        self._grid.setVerticalSpacing(4)
        self._tiles = [_CostTile(name) for name in TILE_ICONS]
        self._column_count = 0
        self._is_small = False
        self.notes: tuple[str, ...] = ()
        self.summary: str = ""
        self.column.addLayout(self._grid)
        self.set_available_width(MAX_WIDGET_WIDTH)

    def set_cost(self, plan: Plan, machine: Machine, texts: Texts, *, manual_driver: bool = False) -> None:
        """Show the cost of a plan; `manual_driver`: the user installs a driver."""
        cost = plan_cost(plan)
        cell_texts = (
            self._download_texts(plan, cost, texts),
            self._disk_texts(plan, machine, cost, texts),
            self._duration_texts(plan, cost, texts),
            self._effort_texts(cost, texts, manual_driver=manual_driver),
        )
        download, disk, duration, effort = zip(self._tiles, cell_texts, strict=True)
        for tile, (figure, detail) in (download, duration):
            tile.set(figure, detail)
        disk[0].set(*disk[1], short_detail=self._free_space_text(plan, machine))
        disk[0].set_missing(disk_shortage(plan) is not None)
        effort[0].set(*effort[1], short_figure=localized.brief_effort_text(cost.admin_prompts, cost.restarts, texts))
        self.notes = tuple(self._make_notes(plan, cost, texts))
        self.summary = self._make_summary(plan, cost, texts)
        self._distribute_width()
        self.setAccessibleName(", ".join(f"{figure} {detail}" for figure, detail in cell_texts))

    def _download_texts(self, plan: Plan, cost: PlanCost, texts: Texts) -> tuple[str, str]:
        if plan.bundle is not None or (cost.is_exact and not cost.bytes):
            return self.tr("Nothing"), self.tr("to download")
        size = self._download_size(cost, texts)
        return _capitalize_first(size or self.tr("Not known yet")), self.tr("to download")

    def _download_size(self, cost: PlanCost, texts: Texts) -> str | None:
        """What is known of it, and whether there is more; None where nothing is."""
        size = localized.known_download_text(cost, texts)
        if size is None or not cost.unknown_parts:
            return size
        is_driver = cost.unknown_parts == ("nvidia-driver",)
        return (self.tr("{size} + driver") if is_driver else self.tr("{size} + more")).format(size=size)

    def _make_summary(self, plan: Plan, cost: PlanCost, texts: Texts) -> str:
        """Download, disk space and what the user has to do, as far as they are known."""
        size, disk = self._download_size(cost, texts), localized.disk_text(cost, texts)
        figures = [
            self.tr("Download: {size}").format(size=size) if size and plan.bundle is None else "",
            self.tr("Disk space: {size}").format(size=disk) if disk and cost.disk_bytes else "",
            localized.prompts_text(cost.admin_prompts, texts),
            localized.restarts_text(cost.restarts, texts) if cost.restarts else "",
        ]
        return " · ".join(figure for figure in figures if figure)

    def _disk_texts(self, plan: Plan, machine: Machine, cost: PlanCost, texts: Texts) -> tuple[str, str]:
        figure = self.tr("Nothing more") if cost.disk_bytes == 0 else localized.disk_text(cost, texts)
        detail, shortage = self._disk_detail(plan, machine), disk_shortage(plan)
        free_bytes = shortage.data.get("free_bytes") if shortage is not None else None
        if isinstance(free_bytes, int):
            detail = self.tr("needed, {size} free").format(size=format_size(free_bytes))
        return _capitalize_first(figure or self.tr("Not known yet")), detail

    def _duration_texts(self, plan: Plan, cost: PlanCost, texts: Texts) -> tuple[str, str]:
        duration = plan_duration(plan, cost)
        if duration is None:
            bottleneck = (
                self.tr("with your internet speed") if plan.bundle is None else self.tr("with your disk's speed")
            )
            return self.tr("Time varies"), bottleneck
        figure = self.tr("About {time}").format(time=localized.duration_text(duration.minutes, texts, at_least=False))
        if not duration.is_lower_bound:
            return figure, self.tr("to set up")
        has_driver = any(step.kind.startswith("nvidia-driver") and step.minutes is None for step in plan.steps)
        return figure, self.tr("plus the driver") if has_driver else self.tr("or more")

    def _effort_texts(self, cost: PlanCost, texts: Texts, *, manual_driver: bool) -> tuple[str, str]:
        figure, detail = localized.effort_texts(cost.admin_prompts, cost.restarts, texts)
        return figure, self.tr("you install the driver") if manual_driver else detail

    def _make_notes(self, plan: Plan, cost: PlanCost, texts: Texts) -> list[str]:
        """What the four figures are made of and what they leave out, a sentence each."""
        notes = []
        if plan.bundle is not None:
            notes.append(self.tr("All files come from the offline folder."))
        elif localized.known_download_text(cost, texts) is None and not cost.is_exact:
            notes.append(self.tr("The exact download size is known after the first step."))
        if plan.bundle is None and cost.measured_release is not None:
            release = texts.format_value("measured", cost.measured_release)
            notes.append(self.tr("The download size is an estimate, based on {release}.").format(release=release))
        if plan.bundle is None and cost.estimated_bytes:
            size = format_size(cost.estimated_bytes)
            notes.append(self.tr("About {size} of it is the driver.").format(size=size))
        if plan.bundle is None and cost.unknown_parts:
            parts = localized.unknown_parts_text(cost, texts)
            notes.append(self.tr("Not included, size unknown: {parts}.").format(parts=parts))
        if cost.disk_bytes is not None:
            notes.append(self.tr("The disk space includes the downloaded files."))
        mbits = next((step.data.get("mbits") for step in plan.steps if step.kind == "download"), None)
        if mbits is not None and plan.bundle is None:
            notes.append(self.tr("The time assumes an internet connection of {mbits} Mbit/s.").format(mbits=mbits))
        return notes

    def _disk_detail(self, plan: Plan, machine: Machine) -> str:
        disk = find_disk(machine, plan.env)
        if disk is None or disk.free_bytes is None or disk.path == SYSTEM_DISK:
            return self._free_space_text(plan, machine)
        template = self.tr("on {disk} ({size} free)")
        if drive_letter(disk):
            template = self.tr("on {letter}: ({size} free)")
        return template.format(disk=disk_name(disk), letter=drive_letter(disk), size=format_size(disk.free_bytes))

    def _free_space_text(self, plan: Plan, machine: Machine) -> str:
        disk = find_disk(machine, plan.env)
        if disk is None or disk.free_bytes is None:
            return self.tr("disk space")
        return self.tr("needed, {size} free").format(size=format_size(disk.free_bytes))

    def set_low(self, low: bool) -> None:
        """Take less height, in a low window."""
        padding = (LOW_PADDING if low else PADDING) - 3
        self.column.setContentsMargins(CARD_MARGIN, padding, CARD_MARGIN, padding)

    def set_available_width(self, available_width: int) -> None:
        """Lay out for this width in pixels: one row of tiles, or two."""
        self._available_width = available_width
        self._is_small = available_width < theme.px(SMALL_BELOW)
        self._grid.setHorizontalSpacing(16)
        for tile in self._tiles:
            tile.set_small(self._is_small)
        self._distribute_width()

    def _distribute_width(self) -> None:
        """All tiles in one row if each has its figure in one line, otherwise in two; each column gets the width of its
        text. Icons are ornament: they give way first. If there is too little room, only the longest texts wrap.
        """
        for columns, shows_icons in ((len(TILE_ICONS), True), (len(TILE_ICONS), False), (2, True), (2, False)):
            for tile in self._tiles:
                tile.show_icon(shows_icons and not self._is_small)
            tiles = [self._tiles[column::columns] for column in range(columns)]
            available_width = self._available_width - 2 * CARD_MARGIN - (columns - 1) * self._grid.horizontalSpacing()
            min_widths = [max(tile.figure_width for tile in column) for column in tiles]
            fits = sum(min_widths) <= available_width
            if fits:
                break
        if columns != self._column_count:
            self._column_count = columns
            for index, tile in enumerate(self._tiles):
                self._grid.removeWidget(tile)
                self._grid.addWidget(tile, index // columns, index % columns)
        preferred_widths = [max(tile.preferred_width for tile in column) for column in tiles]
        for column, width in enumerate(_column_widths(preferred_widths, available_width)):
            self._grid.setColumnStretch(column, width)
            self._grid.setColumnMinimumWidth(column, min_widths[column] if fits else 0)
        for column in range(columns, len(TILE_ICONS)):
            self._grid.setColumnStretch(column, 0)
            self._grid.setColumnMinimumWidth(column, 0)


def _column_widths(preferred: list[int], available_width: int) -> list[int]:
    """Equal steps where the texts allow, the last one longer or shorter; otherwise as much room behind each text."""
    *first, last = preferred
    step = min(available_width // len(preferred), (available_width - last) // len(first))
    if step >= max(first):
        return [*(step for _ in first), available_width - step * len(first)]
    spare_width = max(available_width - sum(preferred), 0) // len(preferred)
    return [width + spare_width for width in _share_width(preferred, available_width)]


def _share_width(preferred: list[int], available_width: int) -> list[int]:
    """The preferred widths; if they exceed the room, the largest ones share what the others leave."""
    widths, remaining = list(preferred), available_width
    for count, index in enumerate(sorted(range(len(preferred)), key=preferred.__getitem__)):
        widths[index] = max(1, min(preferred[index], remaining // (len(preferred) - count)))
        remaining -= widths[index]
    return widths


def _capitalize_first(figure: str) -> str:
    return figure[:1].upper() + figure[1:]


class _CostTile(QWidget):
    def __init__(self, icon: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 2, 0, 2)
        row.setSpacing(TILE_SPACING)
        self._icon, self._icon_label = icon, IconWidget(icon, "soft", 20)
        self._figure_label, self._detail_label = label("heading"), label("small")
        self._texts, self._is_small = (("", ""), ("", "")), False
        self._is_missing = False
        text_layout = QVBoxLayout()
        text_layout.setSpacing(1)
        text_layout.addStretch(1)
        text_layout.addWidget(self._figure_label)
        text_layout.addWidget(self._detail_label)
        text_layout.addStretch(1)
        row.addWidget(self._icon_label, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(text_layout, 1)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def figure_width(self) -> int:
        """The least width of the tile with its figure in one line, in pixels."""
        return self._icon_width + max(
            self._figure_label.sizeHint().width(), self._detail_label.minimumSizeHint().width()
        )

    @property
    def preferred_width(self) -> int:
        """The width of the tile with each of its texts in one line, in pixels.

        The detail's text is measured: the size hint of a label that may wrap is often that of two lines.
        """
        detail = self._detail_label
        detail_width = detail.fontMetrics().horizontalAdvance(detail.text()) + 1
        return self._icon_width + max(self._figure_label.sizeHint().width(), detail_width)

    @property
    def _icon_width(self) -> int:
        return 0 if self._icon_label.isHidden() else self._icon_label.sizeHint().width() + TILE_SPACING

    def set_small(self, small: bool) -> None:
        self._is_small = small
        self._figure_label.set_kind("strong" if small else "heading")
        self._show_texts()

    def show_icon(self, shown: bool) -> None:
        """Show the icon, which is an ornament unless it says that something is missing."""
        self._icon_label.setVisible(shown or self._is_missing)

    def set_missing(self, is_missing: bool) -> None:
        """Say that this cost cannot be met, in the colour of what blocks the install."""
        self._is_missing = is_missing
        self._icon_label.set(*(("error", "error") if is_missing else (self._icon, "soft")))
        self._figure_label.set_tone("error" if is_missing else "text")

    def set(self, figure: str, detail: str, *, short_figure: str = "", short_detail: str = "") -> None:
        self._texts = (figure, detail), (short_figure or figure, short_detail or detail)
        self._show_texts()

    def _show_texts(self) -> None:
        figure, detail = self._texts[self._is_small]
        self._figure_label.setText(figure)
        self._detail_label.setText(detail)
