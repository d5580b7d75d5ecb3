"""Home's cards: the latest benchmark, driver and PyTorch, the environments, a newer version of the program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ....bench.device_comparison import headline_comparison
from ....bench.expected_ranges import judged_range
from ....core.results import Benchmark
from ....reports import messages
from ....texts.format import format_size
from ... import theme
from ...machine_facts import InstalledEnvironment, MachineFacts
from ...widgets.base import Themed
from ...widgets.buttons import Button
from ...widgets.cards import Banner, BannerKind, Card, Divider, Pill, PillKind
from ...widgets.charts import BarChart
from ...widgets.icons import IconWidget
from ...widgets.inputs import Menu
from ...widgets.layouts import WrappingRow
from ...widgets.text import TextLabel, label
from ..updates import UpdateController

if TYPE_CHECKING:
    from ..updates import UpdatePanel


HEADING_HEIGHT = 31  # pixels at 100 % text: as high as a small button, also without one


def _add_heading(card: Card, icon: str, *widgets: QWidget, note: TextLabel | None = None) -> TextLabel:
    """The first row of a card: an icon, the heading with a note, and at the right the given widgets, or below."""
    left = QWidget()
    row = QHBoxLayout(left)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(10)
    row.addStrut(theme.px(HEADING_HEIGHT))
    heading = label("heading")
    row.addWidget(IconWidget(icon, size=20))
    row.addWidget(heading, 0 if note is not None else 1)
    if note is not None:
        row.addWidget(note, 1, Qt.AlignmentFlag.AlignVCenter)
    heading.setAlignment(Qt.AlignmentFlag.AlignVCenter)
    card.column.addLayout(WrappingRow(left, *widgets, spacing=10))
    return heading


class LatestBenchmarkCard(Card):
    """The latest benchmark as one figure and a few bars; of a CPU alone the time for something that everybody
    understands. `button`, and before the first benchmark `run_button`, opens the Benchmark page.
    """

    MAX_BARS = 3

    def __init__(self) -> None:
        self._benchmark: Benchmark | None = None
        self._is_measuring = False
        self._is_built = False
        super().__init__()
        self.pill = Pill("ok")
        self.button = Button(kind="ghost", trailing_icon="right", small=True, flush="right")
        self._heading = _add_heading(self, "bench", self.pill, self.button)
        row = QHBoxLayout()
        row.setSpacing(14)
        self.value_label, self.caption_label = label("display"), label("small")
        self.value_label.set_one_line(True)
        row.addWidget(self.value_label)
        row.addWidget(self.caption_label, 1)
        self.column.addLayout(row)
        self.bars = BarChart()
        self.column.addWidget(self.bars)
        self.range_label = label("small")
        self.column.addWidget(self.range_label)
        self.column.addStretch(1)
        self.date_label = label("small")
        self.column.addWidget(self.date_label)
        self.run_button = Button(icon_name="play")
        self.column.addWidget(self.run_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._is_built = True
        self.retranslate()

    def show_benchmark(self, benchmark: Benchmark | None) -> None:
        self._benchmark = benchmark
        self.retranslate()

    def set_measuring(self, is_measuring: bool) -> None:
        """Say that a benchmark is running just now."""
        self._is_measuring = is_measuring
        self.retranslate()

    def _show_range(self, benchmark: Benchmark | None) -> None:
        """Whether it is running, else whether the headline's figure is usual for this card."""
        pair = headline_comparison(benchmark) if benchmark is not None else None
        expected = judged_range(pair.fastest, benchmark) if pair is not None and benchmark is not None else None
        self.range_label.setText("")
        kind: PillKind = "accent"
        text = self.tr("Measuring now") if self._is_measuring else ""
        if pair is not None and expected is not None:
            low, high = expected
            unit = pair.fastest.unit
            self.range_label.setText(
                self.tr("Usual for this card: {low} to {high} {unit}").format(
                    low=f"{low:.3g}", high=f"{high:.3g}", unit=unit
                )
            )
            if not self._is_measuring:
                is_usual = pair.fastest.median >= low
                kind = "ok" if is_usual else "warn"
                text = self.tr("Normal") if is_usual else self.tr("Slower than usual")
        self.range_label.setVisible(bool(self.range_label.text()))
        self.pill.set(kind, text)
        self.pill.setVisible(bool(text))

    def retranslate(self) -> None:
        if not self._is_built:
            return
        self._heading.setText(self.tr("Speed"))
        benchmark = self._benchmark
        self._show_range(benchmark)
        headline = messages.make_headline(benchmark) if benchmark is not None else None
        self.value_label.setVisible(headline is not None)
        self.bars.hide()
        self.run_button.setText(self.tr("Run benchmark"))
        self.run_button.setVisible(headline is None)
        self.button.setText(self.tr("Details"))
        self.button.setVisible(headline is not None)
        if benchmark is None or headline is None:
            self.caption_label.setText(self.tr("Not measured yet. It takes about a minute."))
            self.date_label.hide()
            return
        figure, caption = headline.brief_figure, headline.brief
        plain = messages.plain_results(benchmark)
        if len(plain) > 1:
            figure, caption = plain[0].figure, "\n".join(each for each in (plain[0].name, plain[0].doubt) if each)
        self.value_label.setText(figure)
        self.caption_label.setText(caption)
        self.caption_label.setToolTip(plain[0].workload if len(plain) > 1 else "")
        if plain:
            self.range_label.setText(self.tr("Enough for small models; large ones need a graphics card."))
            self.range_label.show()
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
        self.date_label.show()


class SoftwareCard(Card):
    """Driver and PyTorch: which versions are here, and whether they are up to date; `update_requested` where not."""

    update_requested = Signal()

    def __init__(self) -> None:
        self._facts: MachineFacts = MachineFacts()
        self._is_built = False
        super().__init__()
        self.change_button = Button(kind="ghost", trailing_icon="right", small=True, flush="right")
        self._heading = _add_heading(self, "driver", self.change_button)
        self.rows = (_VersionRow(), _VersionRow())
        for row in self.rows:
            self.column.addWidget(row)
            row.update_button.clicked.connect(self.update_requested)
        self.column.addStretch(1)
        self._is_built = True
        self.retranslate()

    def show_facts(self, facts: MachineFacts) -> None:
        self._facts = facts
        self.retranslate()

    def retranslate(self) -> None:
        if not self._is_built:
            return
        facts = self._facts
        self._heading.setText(self.tr("Driver and PyTorch") if facts.has_nvidia(None) else "PyTorch")
        self.change_button.setText(self.tr("Change or update…"))
        self.change_button.setVisible(facts.installed is not None)
        driver = (
            facts.machine.driver.version if facts.machine is not None and facts.machine.driver is not None else None
        )
        driver_row, torch_row = self.rows
        driver_row.setVisible(facts.has_nvidia(None))
        driver_row.set(self.tr("Graphics driver"), driver or self.tr("not installed"), self._driver_pill())
        installed = facts.installed.torch if facts.installed is not None else None
        torch_row.set("PyTorch", installed or self.tr("not installed"), self._torch_pill(installed))
        shown = [row for row in self.rows if not row.isHidden()]
        self.setAccessibleName(", ".join(row.accessibleName() for row in shown))

    def _driver_pill(self) -> tuple[PillKind, str] | None:
        recommendation = self._facts.recommendation
        if recommendation is None or recommendation.driver.action == "none":
            return None
        advice = recommendation.driver
        if advice.action == "keep":
            return "ok", self.tr("Up to date")
        version = advice.recommended or advice.minimum
        if version is None:
            return "accent", self.tr("Update")
        template = self.tr("Go back to {version}") if advice.action == "back" else self.tr("Update to {version}")
        return "accent", template.format(version=version)

    def _torch_pill(self, installed: str | None) -> tuple[PillKind, str] | None:
        recommendation = self._facts.recommendation
        if installed is None or recommendation is None or recommendation.pytorch is None:
            return None
        newest = self._facts.torch_update
        if newest is None:
            return "ok", self.tr("Up to date")
        return "accent", self.tr("Update to {version}").format(version=newest)


class _VersionRow(QWidget):
    """A name, a version, and a pill that says that it is up to date or a button for the update; one sentence for
    screen readers.
    """

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        self.name_label, self.version_label, self.pill = label("body", "", "soft"), label("strong"), Pill()
        self.update_button = Button(small=True)
        self.setMinimumHeight(self.update_button.sizeHint().height())
        row.addWidget(self.name_label)
        row.addWidget(self.version_label)
        row.addStretch(1)
        row.addWidget(self.pill)
        row.addWidget(self.update_button)

    def set(self, name: str, version: str, pill: tuple[PillKind, str] | None) -> None:
        """Show these; what is not well ("ok") is the text of the button."""
        self.name_label.setText(name)
        self.version_label.setText(version)
        is_update = pill is not None and pill[0] != "ok"
        self.pill.setVisible(pill is not None and not is_update)
        self.update_button.setVisible(is_update)
        if pill is not None:
            self.pill.set(*pill)
            self.update_button.setText(pill[1])
        self.setAccessibleName(": ".join((name, version)) + (f", {pill[1]}" if pill is not None else ""))


EnvironmentAction = Literal[
    "use", "rename", "terminal", "folder", "verify", "check-files", "update", "export", "remove"
]
RowState = Literal["verifying", "waiting", "removing"]


class EnvironmentsCard(Card):
    """All environments, a row each with a menu of what can be done with it.

    `action_requested` brings the action and the environment. `new_button` makes another one, `offline_button` the first
    one from a folder; `banner` has the outcome of the last action.
    """

    action_requested = Signal(str, object)

    def __init__(self) -> None:
        self._environments: tuple[InstalledEnvironment, ...] = ()
        self._in_use: str | None = None
        self._has_gpu = False
        self._is_built = False
        self.rows: list[EnvironmentRow] = []
        super().__init__()
        self.new_button = Button(kind="ghost", icon_name="plus", small=True, flush="right")
        self.offline_button = Button(kind="ghost", icon_name="folder", small=True, flush="right")
        self.empty_label, self.meaning_label = label("body", "", "soft"), label("small")
        self._heading = _add_heading(self, "envs", self.offline_button, self.new_button, note=self.meaning_label)
        self.column.addWidget(self.empty_label)
        self._rows_layout = QVBoxLayout()
        self._rows_layout.setSpacing(4)
        self.column.addLayout(self._rows_layout)
        self.banner = Banner("ok", inset=True)
        self.banner.setObjectName("environmentsBanner")
        self.banner.hide()
        self.column.addWidget(self.banner)
        self._is_built = True
        self.retranslate()

    def show_environments(
        self, environments: tuple[InstalledEnvironment, ...], in_use: str | None, *, has_gpu: bool
    ) -> None:
        """Show these; `in_use` is the path of the one in use. With `has_gpu` builds for the CPU leave a GPU unused."""
        shown = environments, in_use, has_gpu
        if shown == (self._environments, self._in_use, self._has_gpu):
            return
        self._environments, self._in_use, self._has_gpu = shown
        while len(self.rows) > len(environments):
            row = self.rows.pop()
            self._rows_layout.removeWidget(row)
            row.hide()
            row.deleteLater()
        while len(self.rows) < len(environments):
            row = EnvironmentRow()
            row.action_requested.connect(self.action_requested)
            self.rows.append(row)
            self._rows_layout.addWidget(row)
        self.retranslate()

    def show_states(self, states: Mapping[str, RowState]) -> None:
        """Say what is being done, by the path of the environment."""
        for row, environment in zip(self.rows, self._environments, strict=True):
            row.set_state(states.get(environment.path))

    def show_outcome(self, kind: BannerKind, text: str, button_text: str = "") -> None:
        """Show what came of the last action; "" hides it."""
        self.banner.setVisible(bool(text))
        self.banner.button.setVisible(bool(button_text))
        if text:
            self.banner.button.setText(button_text)
            self.banner.set(kind, text)

    def retranslate(self) -> None:
        if not self._is_built:
            return
        self._heading.setText(self.tr("Environments"))
        self.new_button.setText(self.tr("New environment"))
        # The first one is what the page's verdict offers.
        self.new_button.setVisible(bool(self._environments))
        self.offline_button.setText(self.tr("Install from an offline folder"))
        self.offline_button.setVisible(not self._environments)
        self.empty_label.setText(
            self.tr("None yet. An environment keeps PyTorch and its packages separate from everything else.")
        )
        self.empty_label.setVisible(not self._environments)
        self.meaning_label.setText(self.tr("Each is a folder with its own Python and PyTorch"))
        self.meaning_label.setVisible(bool(self._environments))
        for row, environment in zip(self.rows, self._environments, strict=True):
            row.set_environment(environment, in_use=environment.path == self._in_use, has_gpu=self._has_gpu)
            row.divider.setVisible(row is not self.rows[0])


class EnvironmentRow(Themed, QWidget):
    """One environment: its name, what is in it and how large it is; `menu_button` opens what can be done with it."""

    action_requested = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self._environment: InstalledEnvironment | None = None
        self._in_use = self._has_gpu = False
        self._state: RowState | None = None
        self.name_label, self.detail_label, self.pill = label("strong"), label("small", "", "soft"), Pill("ok")
        self.divider, self.cpu_pill = Divider(), Pill("warn")
        self.menu_button = Button(kind="ghost", trailing_icon="down", small=True, flush="right")
        self.menu_button.clicked.connect(self._open_menu)
        outer, column, row = QVBoxLayout(self), QVBoxLayout(), QHBoxLayout()
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(4)
        outer.addWidget(self.divider)
        outer.addLayout(row)
        column.setSpacing(1)
        column.addWidget(self.name_label)
        column.addWidget(self.detail_label)
        row.setContentsMargins(0, 2, 0, 2)
        row.setSpacing(12)
        row.addLayout(column, 1)
        row.addWidget(self.cpu_pill)
        row.addWidget(self.pill)
        row.addWidget(self.menu_button)
        self.apply_theme()

    def set_environment(self, environment: InstalledEnvironment, *, in_use: bool, has_gpu: bool) -> None:
        self._environment, self._in_use, self._has_gpu = environment, in_use, has_gpu
        self.retranslate()

    def set_state(self, state: RowState | None) -> None:
        if state != self._state:
            self._state = state
            self.retranslate()

    def retranslate(self) -> None:
        environment = self._environment
        if environment is None:
            return
        self.name_label.setText(environment.name)
        leaves_gpu_unused = self._has_gpu and environment.variant == "cpu"
        cpu_text = "" if leaves_gpu_unused else self.tr("for the CPU")  # its pill says it
        build = f"CUDA {environment.cuda}" if environment.cuda is not None else cpu_text
        self.cpu_pill.set("warn", self.tr("CPU only"))
        self.cpu_pill.setToolTip(self.tr("This environment does not use your GPU."))
        self.cpu_pill.setVisible(leaves_gpu_unused)
        parts = (
            f"PyTorch {environment.torch}" if environment.torch is not None else self.tr("without PyTorch"),
            build if environment.torch is not None else "",
            f"Python {environment.python}",
            format_size(environment.bytes) if environment.bytes is not None else "",
        )
        self.detail_label.setText(" · ".join(part for part in parts if part))
        self.setToolTip(environment.path)
        state_texts: dict[RowState, str] = {
            "verifying": self.tr("Verifying…"),
            "waiting": self.tr("Waiting…"),
            "removing": self.tr("Removing…"),
        }
        if self._state is not None:
            self.pill.set("accent", state_texts[self._state])
        else:
            self.pill.set("neutral", self.tr("Default"))
        self.pill.setVisible(self._in_use or self._state is not None)
        self.menu_button.setText(self.tr("Manage"))
        self.menu_button.setAccessibleName(f"{self.menu_button.text()}: {environment.name}")
        unused_text = f". {self.cpu_pill.toolTip()}" if leaves_gpu_unused else ""
        self.setAccessibleName(f"{environment.name}: {self.detail_label.text()}{unused_text}")

    def action_texts(self) -> dict[EnvironmentAction, str]:
        """The entries of the menu, in order. What one does with the environment in use is below on the page."""
        terminal: dict[EnvironmentAction, str] = {} if self._in_use else {"terminal": self.tr("Open a terminal")}
        return {
            "use": self.tr("Set as default"),
            "rename": self.tr("Rename…"),
            **terminal,
            "folder": self.tr("Open folder"),
            "verify": self.tr("Verify"),
            "check-files": self.tr("Check all files"),
            "update": self.tr("Update or repair…"),
            "export": self.tr("Export package list…"),
            "remove": self.tr("Remove…"),
        }

    def build_menu(self) -> Menu:
        """The menu, made when it is opened."""
        menu = Menu(self)
        for action, text in self.action_texts().items():
            entry = menu.addAction(text)
            entry.setObjectName(action)
            entry.setEnabled(action != "use" or not self._in_use)
            entry.triggered.connect(
                lambda _checked=False, action=action: self.action_requested.emit(action, self._environment)
            )
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _open_menu(self) -> None:
        self.build_menu().popup(self.menu_button.mapToGlobal(QPoint(0, self.menu_button.height())))


class UpdateNoticeCard(Card):
    """Visible while a newer version is offered; its panel is created then, not before Home is shown."""

    def __init__(self, updates: UpdateController) -> None:
        super().__init__()
        self._updates = updates
        self.update_panel: UpdatePanel | None = None
        updates.changed.connect(self._update_visibility)
        self._update_visibility()

    def _update_visibility(self) -> None:
        should_offer = self._updates.should_offer
        if should_offer and self.update_panel is None:
            from ..updates import UpdatePanel

            self.update_panel = UpdatePanel(self._updates)
            row = QHBoxLayout()
            row.setSpacing(14)
            row.addWidget(IconWidget("download", background="square"), 0, Qt.AlignmentFlag.AlignVCenter)
            row.addWidget(self.update_panel, 1)
            self.column.addLayout(row)
        self.setVisible(should_offer)
