"""Home's cards: the latest benchmark, the installed environment, a newer version of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout

from ....core.results import Benchmark
from ....texts.format import UNKNOWN_VALUE, format_size
from ...bench import messages
from ...machine_facts import InstalledEnvironment
from ...widgets.buttons import Button
from ...widgets.cards import Banner, Card
from ...widgets.charts import BarChart
from ...widgets.icons import IconWidget
from ...widgets.text import label
from ..updates import UpdateController

if TYPE_CHECKING:
    from ..updates import UpdatePanel


class LatestBenchmarkCard(Card):
    """The latest benchmark as one figure and a few bars. `button` opens the Benchmark page."""

    MAX_BARS = 3

    def __init__(self) -> None:
        self._benchmark: Benchmark | None = None
        self._is_built = False
        super().__init__()
        heading_layout = QHBoxLayout()
        heading_layout.setSpacing(10)
        self._heading = label("heading")
        heading_layout.addWidget(IconWidget("bench", size=20))
        heading_layout.addWidget(self._heading, 1)
        self.column.addLayout(heading_layout)
        row = QHBoxLayout()
        row.setSpacing(14)
        self.value_label, self.caption_label = label("display"), label("small")
        self.value_label.set_one_line(True)
        row.addWidget(self.value_label)
        row.addWidget(self.caption_label, 1)
        self.column.addLayout(row)
        self.bars = BarChart()
        self.column.addWidget(self.bars)
        self.column.addStretch(1)
        footer_layout = QHBoxLayout()
        self.date_label, self.button = label("small"), Button(kind="ghost", trailing_icon="right")
        footer_layout.addWidget(self.date_label, 1)
        footer_layout.addWidget(self.button)
        self.column.addLayout(footer_layout)
        self._is_built = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark | None) -> None:
        self._benchmark = benchmark
        self.retranslate()

    def retranslate(self) -> None:
        if not self._is_built:
            return
        self._heading.setText(self.tr("How fast"))
        benchmark = self._benchmark
        headline = messages.make_headline(benchmark) if benchmark is not None else None
        self.value_label.setVisible(headline is not None)
        self.bars.hide()
        if benchmark is None or headline is None:
            self.caption_label.setText(self.tr("Not measured yet. It takes about a minute."))
            self.date_label.setText("")
            self.button.setText(self.tr("Measure"))
            return
        self.value_label.setText(headline.figure)
        self.caption_label.setText(headline.brief)
        results = messages.device_results(benchmark)[: self.MAX_BARS]
        self.bars.set_bars(
            [
                (
                    messages.result_device(result),
                    result.median,
                    messages.median_text(result),
                    messages.bar_colour(result),
                )
                for result in results
            ]
        )
        self.bars.setVisible(len(results) > 1)  # one bar alone compares nothing
        self.date_label.setText(messages.measured_when(benchmark))
        self.button.setText(self.tr("Details"))


class InstalledEnvironmentCard(Card):
    """PyTorch, its CUDA, Python and size, with buttons to verify and to remove the environment."""

    ROW_COUNT = 4

    def __init__(self) -> None:
        self._installed: InstalledEnvironment | None = None
        self._is_built = False
        super().__init__()
        heading_layout = QHBoxLayout()
        heading_layout.setSpacing(10)
        self._heading = label("heading")
        heading_layout.addWidget(IconWidget("envs", size=20))
        heading_layout.addWidget(self._heading, 1)
        self.column.addLayout(heading_layout)
        grid = QGridLayout()
        grid.setVerticalSpacing(5)
        grid.setColumnStretch(1, 1)
        self._name_labels = [label("body", "", "soft") for _ in range(self.ROW_COUNT)]
        self._value_labels = [label("strong") for _ in range(self.ROW_COUNT)]
        for row, (name, value) in enumerate(zip(self._name_labels, self._value_labels, strict=True)):
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            grid.addWidget(name, row, 0)
            grid.addWidget(value, row, 1)
        self.column.addLayout(grid)
        self.checks_banner = Banner("ok")
        self.checks_banner.hide()
        self.column.addWidget(self.checks_banner)
        self.column.addStretch(1)
        footer_layout = QHBoxLayout()
        self.path_label = label("small")
        self.path_label.set_one_line(True)
        self.verify_button, self.remove_button = Button(kind="ghost"), Button(kind="ghost", icon_name="trash")
        footer_layout.addWidget(self.path_label, 1)
        for button in (self.verify_button, self.remove_button):
            footer_layout.addWidget(button)
        self.column.addLayout(footer_layout)
        self._is_built = True
        self.retranslate()

    def set_installed(self, installed: InstalledEnvironment) -> None:
        self._installed = installed
        self.retranslate()

    def retranslate(self) -> None:
        if not self._is_built:
            return
        self._heading.setText(self.tr("Installed"))
        self.verify_button.setText(self.tr("Verify again"))
        self.remove_button.setText(self.tr("Remove"))
        installed = self._installed
        if installed is None:
            return
        cuda = installed.cuda or (self.tr("none: CPU build") if installed.torch is not None else None)
        rows = (
            ("PyTorch", installed.torch),
            (self.tr("CUDA, inside it"), cuda),
            ("Python", installed.python),
            (self.tr("Size"), format_size(installed.bytes) if installed.bytes is not None else None),
        )
        for (name, value), name_label, value_label in zip(rows, self._name_labels, self._value_labels, strict=True):
            name_label.setText(name)
            value_label.setText(value or UNKNOWN_VALUE)
        self.path_label.setText(installed.path)
        self.setAccessibleName(", ".join(f"{name}: {value or UNKNOWN_VALUE}" for name, value in rows))


class UpdateNoticeCard(Card):
    """Visible while a newer version is offered; its panel is created then, not before Home is shown."""

    def __init__(self, updates: UpdateController) -> None:
        super().__init__(padding=16)
        self._updates = updates
        self.update_panel: UpdatePanel | None = None
        updates.changed.connect(self._update_visibility)
        self._update_visibility()

    def _update_visibility(self) -> None:
        should_offer = self._updates.should_offer
        if should_offer and self.update_panel is None:
            from ..updates import UpdatePanel

            self.update_panel = UpdatePanel(self._updates)
            self.column.addWidget(self.update_panel)
        self.setVisible(should_offer)
