"""What a plan costs, in four tiles: download, disk space, duration, administrator prompts with restarts."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from .....core.machine import Machine, find_disk
from .....core.plan import Plan
from .....core.plan_cost import PlanCost, plan_cost, plan_duration
from .....texts import localized
from .....texts.format import format_size
from .....texts.localized import Texts
from .....texts.translate import remove_cjk_gaps
from .... import theme
from ....widgets.buttons import Button
from ....widgets.cards import Card
from ....widgets.icons import IconWidget
from ....widgets.text import label
from ..machine_summary import disk_name

TILE_ICONS = ("download", "disk", "clock", "shield")
ROW_MIN_WIDTH, FOUR_COLUMNS_MIN_WIDTH, TILE_SPACING, MAX_WIDGET_WIDTH = 800, 600, 12, 16_777_215


class CostCard(Card):
    """The four tiles and `steps_button`, which shows the plan."""

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 8, 10, 8)
        self._grid = QGridLayout()
        self._grid.setVerticalSpacing(4)
        self._tiles = [_CostTile(name) for name in TILE_ICONS]
        self._column_count = 0
        self.steps_button = Button(kind="ghost", trailing_icon="down")
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._layout.addLayout(self._grid, 1)
        self._layout.addWidget(self.steps_button, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(self._layout)
        self.set_available_width(MAX_WIDGET_WIDTH)

    def set_cost(self, plan: Plan, machine: Machine, texts: Texts, *, manual_driver: bool = False) -> None:
        """Show the cost of a plan; `manual_driver`: the user installs a driver."""
        cost = plan_cost(plan)
        duration = plan_duration(plan, cost)
        duration_text = (
            localized.duration_text(duration.minutes, texts, at_least=duration.is_lower_bound)
            if duration is not None
            else self.tr("Not known yet")
        )
        prompts = localized.prompts_text(cost.admin_prompts, texts)
        restarts = localized.restarts_text(cost.restarts, texts)
        if manual_driver:
            restarts = self.tr("{restarts}, and you install the driver").format(restarts=restarts)
        mbits = next((step.data.get("mbits") for step in plan.steps if step.kind == "download"), None)
        duration_detail = self.tr("or so") if mbits is None else self.tr("or so, at {mbits} Mbit/s").format(mbits=mbits)
        bottleneck_text = self.tr("your line decides") if plan.bundle is None else self.tr("the disk decides")
        duration_detail = duration_detail if duration is not None else bottleneck_text
        disk_text = localized.disk_text(cost, texts)
        tile_texts = (
            self._download_texts(plan, cost, texts),
            (
                _capitalize_first(disk_text or self.tr("Not known yet")),
                self._disk_detail(plan, machine, size_known=bool(disk_text)),
            ),
            (_capitalize_first(duration_text), duration_detail),
            (prompts, restarts),
        )
        for tile, (figure, mbits) in zip(self._tiles, tile_texts, strict=True):
            tile.set(figure, mbits)
        self._distribute_width()
        self.setAccessibleName(", ".join(f"{figure} {mbits}" for figure, mbits in tile_texts))

    def _download_texts(self, plan: Plan, cost: PlanCost, texts: Texts) -> tuple[str, str]:
        """The known download size, and which parts it does not contain."""
        if plan.bundle is not None or (cost.is_exact and not cost.bytes):
            return self.tr("Nothing"), self.tr("from the internet")
        figure, line = localized.download_text(cost, texts), self.tr("to download")
        if figure is None:
            return self.tr("Not known yet"), self.tr("to download; shows with the first step")
        if cost.measured_release is not None:
            line = self.tr("to download, measured on {release}").format(
                release=texts.format_value("measured", cost.measured_release)
            )
        if cost.estimated_bytes:
            line += self.tr("; the driver is about {size} of it").format(size=format_size(cost.estimated_bytes))
        if unknown_parts := localized.unknown_parts_text(cost, texts):
            line += self.tr("; and more: {parts} (size not known)").format(parts=unknown_parts)
        return _capitalize_first(figure), line

    def _disk_detail(self, plan: Plan, machine: Machine, *, size_known: bool) -> str:
        disk = find_disk(machine, plan.env)
        if disk is None or disk.free_bytes is None:
            return self.tr("on your disk")
        # "/" means nothing to a beginner.
        is_root = disk.path == "/"
        name = self.tr("the system's disk") if is_root else disk_name(disk)
        template = self.tr("on {disk} ({size} free)") if size_known else self.tr("needed on {disk} ({size} free)")
        text = template.format(disk=name, size=format_size(disk.free_bytes))
        return remove_cjk_gaps(text) if is_root else text

    def set_available_width(self, available_width: int) -> None:
        """Lay out for this width in pixels: tiles and button in one row, tiles above it, or two rows of tiles."""
        self._available_width = available_width
        vertical, horizontal = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._layout.setDirection(horizontal if available_width >= theme.px(ROW_MIN_WIDTH) else vertical)
        self._grid.setHorizontalSpacing(20 if available_width >= theme.px(ROW_MIN_WIDTH) else 12)
        columns = len(TILE_ICONS) if available_width >= theme.px(FOUR_COLUMNS_MIN_WIDTH) else 2
        if columns != self._column_count:
            self._column_count = columns
            for index, tile in enumerate(self._tiles):
                self._grid.removeWidget(tile)
                self._grid.addWidget(tile, index // columns, index % columns)
        self._distribute_width()

    def _distribute_width(self) -> None:
        """Give each column the width of its text, at least that of its figure in one line; if there is too little
        room, only the longest texts wrap.
        """
        columns = [self._tiles[column :: self._column_count] for column in range(self._column_count)]
        min_widths = [max(tile.figure_width for tile in tiles) for tiles in columns]
        preferred_widths = [max(tile.sizeHint().width() for tile in tiles) for tiles in columns]
        available_width = self._available_width - 26 - (self._column_count - 1) * self._grid.horizontalSpacing()
        fits = sum(min_widths) <= available_width
        if self._layout.direction() == QBoxLayout.Direction.LeftToRight:
            available_width -= self.steps_button.sizeHint().width() + self._layout.spacing()
        for column, width in enumerate(_share_width(preferred_widths, available_width)):
            self._grid.setColumnStretch(column, width)
            self._grid.setColumnMinimumWidth(column, min_widths[column] if fits else 0)
        for column in range(self._column_count, len(TILE_ICONS)):
            self._grid.setColumnStretch(column, 0)
            self._grid.setColumnMinimumWidth(column, 0)


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
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(TILE_SPACING)
        self._icon_label = IconWidget(icon, "soft", 20)
        self._figure_label, self._detail_label = label("heading"), label("small")
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
        """The width of the tile with its figure in one line, in pixels."""
        return self._icon_label.sizeHint().width() + TILE_SPACING + self._figure_label.sizeHint().width()

    def set(self, figure: str, detail: str) -> None:
        self._figure_label.setText(figure)
        self._detail_label.setText(detail)
