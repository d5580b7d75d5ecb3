"""The last page: does it really work? The verification's checks, a quick benchmark, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Literal

from msgspec import Struct
from PySide6.QtCore import QCoreApplication, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ....core.errors import AppError
from ....core.machine import Machine
from ....core.recommendation import Recommendation
from ....core.results import Benchmark, Check, Checks, CheckState
from ....core.types import device_name, short_device_name
from ....reports import messages
from ....texts.format import format_duration, format_memory, short_name
from ....texts.localized import Texts
from ... import theme
from ...environment_actions import EnvironmentActionsPanel
from ...messages import error_text
from ...widgets.base import announce
from ...widgets.buttons import Button
from ...widgets.cards import Card, EmptyState, Hero, HeroKind, Pill
from ...widgets.charts import BarChart
from ...widgets.console import CommandBox, LogDrawer
from ...widgets.icons import IconWidget
from ...widgets.layouts import FlowLayout
from ...widgets.progress import IconState, ProgressBar, StepList, StepStateIcon
from ...widgets.text import label
from ..page import WizardPage
from ..state import is_usable
from .machine_summary import main_gpu

translate = QCoreApplication.translate

FIRST_DEVICE = "cuda:0"
MAX_ROWS, MAX_COMPACT_ROWS = 7, 5  # of the proof before all are asked for, which is worth it for two more
# Below this width, times the text scale, proof and speed stand below each other.
COLUMNS_MIN_WIDTH = 600
MARGINS, COMPACT_MARGINS = (20, 16, 20, 16), (16, 12, 16, 12)  # of the two cards
# What the user asks first. The other checks that passed come when all are shown.
MAIN_CHECKS = ("driver", "torch-import", "cuda-version", "device-query", "device-compute", "cudnn", "copy-bandwidth")
CPU_CHECK = "cpu-compute"  # a main one, too, where no card computes
RowState = CheckState | Literal["running"]
STEP_STATES: dict[RowState, IconState] = {
    "pass": "done",
    "warn": "warn",
    "fail": "failed",
    "skip": "skipped",
    "running": "running",
}


class DonePage(WizardPage):
    """Verdict, checks, quick benchmark, actions for the environment. `home_requested` asks for Home,
    `benchmark_requested` for the page of the whole benchmark.
    """

    home_requested = Signal()
    benchmark_requested = Signal()

    def build(self) -> None:
        column = self.page.column
        column.setSpacing(12)
        self.hero = Hero("neutral")
        self.checks_pill = Pill("ok", "", on_tint=True)
        self.hero.add_widget(self.checks_pill)
        self.hero.button.clicked.connect(self.controller.verify)
        self.verification_card, self.benchmark_card = VerificationCard(), QuickBenchmarkCard()
        self.verification_card.setObjectName("verificationCard")
        self._running_checks: list[Check] = []  # what the running verification has found so far
        self.controller.runners.verify.reported.connect(self._on_check)
        self.benchmark_card.start_requested.connect(self._start_benchmark)
        self.benchmark_card.stop_requested.connect(self.controller.stop_benchmark)
        self.benchmark_card.details_requested.connect(self.benchmark_requested)
        self._cards_row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._cards_row.setSpacing(16)
        self._cards_row.addWidget(self.verification_card)
        self._cards_row.addWidget(self.benchmark_card)
        self.next_steps_heading = label("heading")
        self.actions_panel = EnvironmentActionsPanel(self.controller.app, self.controller.language)
        self.actions_panel.message_shown.connect(lambda: self.page.scroll_to(self.actions_panel.result_banner))
        self._build_toggles()
        self.preview_card = PreviewCard()
        column.addWidget(self.hero)
        column.addWidget(self.preview_card)
        column.addLayout(self._cards_row)
        for widget in (
            self.next_steps_heading,
            self.actions_panel,
            self.more_button,
            self._toggles,
            *self.command_widgets,
            self.log_card,
        ):
            column.addWidget(widget)
        column.addStretch(1)
        self.back_button = self.add_back_button()
        self.home_button = self.footer.add_button(Button())
        self.home_button.clicked.connect(self.home_requested)
        self.footer.add_button(self.primary_button)
        self.controller.benchmark_progress.connect(self.benchmark_card.show_progress)
        self.page.breakpoints.changed.connect(self._update_layout)
        self._announced_title: object = None
        self._can_run_programs = self._focus_when_enabled = False
        self._update_layout()

    def _build_toggles(self) -> None:
        """What few people ask for, each behind a button: commands for a terminal, and what was done."""
        self.command_label, self.command_box = label("small"), CommandBox()
        self.powershell_label, self.powershell_box = label("small"), CommandBox()
        self.python_label, self.python_box = label("small"), CommandBox()
        self.command_widgets = (
            *(self.command_label, self.command_box, self.powershell_label, self.powershell_box),
            *(self.python_label, self.python_box),
        )
        self.commands_button = Button(kind="ghost", trailing_icon="down")
        self.toggle_log_button = Button(kind="ghost", trailing_icon="down")
        self.commands_button.clicked.connect(self._toggle_commands)
        self.toggle_log_button.clicked.connect(self._toggle_log_card)
        self.more_button = Button(kind="ghost", trailing_icon="down", flush="left")
        self.more_button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.more_button.clicked.connect(self._toggle_more)
        self._toggles = QWidget()
        toggles = FlowLayout(self._toggles)
        for button in (*self.actions_panel.more_buttons, self.commands_button, self.toggle_log_button):
            toggles.addWidget(button)
        self._shows_commands = self._shows_more = False
        self.log_card = Card(" ", padding=16)
        self._step_list, self._log_drawer = StepList(), LogDrawer()
        self.log_card.column.addWidget(self._step_list)
        self.log_card.column.addWidget(self._log_drawer)
        self.log_card.hide()

    def draw(self) -> None:
        controller, state = self.controller, self.controller.flow.state
        simulated = controller.flow.simulated
        self.page.setAccessibleName(self.tr("Done"))
        self._update_verdict()
        checks = state.checks
        verifying = controller.is_verifying
        if not verifying:
            self._running_checks.clear()
        verified = checks is not None and not simulated and not verifying
        self.verification_card.set_title(self.tr("The proof"))
        self._update_rows()
        is_working = verified and checks is not None and is_usable(checks, state.recommendation)
        self.verification_card.setVisible(verified or verifying)
        self.benchmark_card.setVisible(is_working)
        error = controller.errors.get("benchmark")
        has_gpu = checks is not None and _computes_on_gpu(checks)
        self.benchmark_card.draw(
            state.benchmark, running=controller.is_benchmarking, has_gpu=has_gpu, error=error, texts=self.texts
        )
        self.preview_card.setVisible(simulated)
        self.preview_card.draw()
        self.next_steps_heading.setText(self.tr("Next steps"))
        self.actions_panel.set_environment(controller.environment if is_working else None)
        self.actions_panel.setVisible(is_working)
        self._can_run_programs = is_working
        self._update_layout()
        self._update_commands(is_working)
        self._update_log_card()
        one_moment = self.tr("One moment, checking…") if verifying else ""
        self.footer.set_hint(self.tr("Watch a small network learn to read digits.") if is_working else one_moment)
        self.back_button.setText(self.tr("Back"))
        self.back_button.setVisible(not is_working)
        log_expanded = not self.log_card.isHidden()
        self.toggle_log_button.setText(self.tr("Hide what was done") if log_expanded else self.tr("What was done"))
        self.toggle_log_button.set_icon(None, "up" if log_expanded else "down")
        self.toggle_log_button.setVisible(controller.progress is not None and not simulated)
        # The first of the row is in line with the cards.
        self.toggle_log_button.set_flush(None if is_working else "left")
        has_toggles = not (self.toggle_log_button.isHidden() and self.commands_button.isHidden())
        self.more_button.setText(self.tr("Less") if self._shows_more else self.tr("Folder, commands and log"))
        self.more_button.set_icon(None, "up" if self._shows_more else "down")
        self.more_button.setVisible(is_working and has_toggles)
        self._toggles.setVisible(has_toggles and (self._shows_more or not is_working))
        self.home_button.setText(self.tr("Go to Home"))
        self.home_button.setVisible(is_working)
        # A button that changes under the pointer must not do something else: it waits for the verdict.
        self.primary_button.setText(
            self.tr("Run my first program") if is_working or verifying else self.tr("Go to Home")
        )
        if verifying and self.primary_button.hasFocus():
            self.page.setFocus()  # a disabled button would hand it to the rail
        self.primary_button.setEnabled(not verifying)
        self.primary_button.setToolTip(one_moment)
        if self._focus_when_enabled and self.primary_button.isEnabled() and self.page.hasFocus():
            self.focus_primary()
        self._focus_when_enabled = not self.primary_button.isEnabled()

    def _on_check(self, check: Check) -> None:
        """Show what the running verification has found, as it comes."""
        if isinstance(check, Check):
            self._running_checks.append(check)
            if self.isVisible():
                self._update_rows()

    def _update_rows(self) -> None:
        checks = self.controller.flow.state.checks
        if self.controller.is_verifying:
            checks = Checks(schema="gpu-assistant/checks/1", verdict="pass", checks=tuple(self._running_checks))
        rows = verification_rows(checks, self.texts) if checks is not None else ()
        if self.controller.is_verifying:
            rows = (*rows, VerificationRow(state="running", text=self.tr("Running the next check…")))
        self.verification_card.set_rows(rows)

    def _update_commands(self, is_working: bool) -> None:
        """How to use the environment in one's own terminal, once that is asked for."""
        controller, line, powershell_line, python = self.controller, "", None, ""
        if is_working and controller.environment is not None and not controller.flow.simulated:
            line = controller.app.system.activation_command(controller.environment)
            powershell_line = controller.app.system.powershell_activation(controller.environment)
            python = str(controller.app.system.environment_python(controller.environment))
        self.commands_button.setText(self.tr("Hide the commands") if self._shows_commands else self.tr("Commands"))
        self.commands_button.set_icon(None, "up" if self._shows_commands else "down")
        self.commands_button.setVisible(bool(line))
        self.command_label.setText(self.tr("Type this in any terminal"))
        self.command_box.set_text(line)
        self.powershell_label.setText(self.tr("PowerShell blocks scripts by default: type this there instead"))
        self.powershell_box.set_text(powershell_line or "")
        self.python_label.setText(self.tr("Choose this Python in any editor"))
        self.python_box.set_text(python)
        texts = (line, line, powershell_line, powershell_line, python, python)
        for widget, text in zip(self.command_widgets, texts, strict=True):
            widget.setVisible(self._shows_commands and bool(text))

    def _toggle_more(self) -> None:
        self._shows_more = not self._shows_more
        self.draw()
        if self._shows_more:
            self.page.scroll_to(self._toggles)

    def _toggle_commands(self) -> None:
        self._shows_commands = not self._shows_commands
        self.draw()
        if self._shows_commands:
            self.page.scroll_to(self.command_box)

    def run_primary_action(self) -> None:
        if self._can_run_programs:
            self.actions_panel.open_examples()
        else:
            self.home_requested.emit()

    def _update_verdict(self) -> None:
        controller, state = self.controller, self.controller.flow.state
        checks, error = state.checks, controller.errors.get("verify")
        self.checks_pill.hide()
        retry_text = self.tr("Check again")
        if controller.flow.simulated:
            title = self.tr("Nothing was installed: this computer is simulated")
            self.hero.set(
                "neutral", title, self.tr("The previous page shows what an installation would do."), icon="sim"
            )
        elif controller.is_verifying:
            title = self.tr("Checking that it works…")
            self.hero.set(
                "neutral", title, self.tr("Loads PyTorch and runs a calculation; takes a few seconds."), icon="search"
            )
        elif error is not None:
            title = self.tr("It could not be verified")
            self.hero.set("error", title, error_text(self.texts, error), retry_text)
        elif checks is not None:
            verdict = verification_verdict(checks, state.recommendation, state.machine)
            title, detail = verdict.title, verdict.detail
            if state.end_event is not None and verdict.kind == "ok":
                detail = self._setup_text(state.end_event.elapsed_s)
            self.hero.set(verdict.kind, title, detail, "" if verdict.kind == "ok" else retry_text)
            all_passed = verdict.passed == verdict.total
            passed_text = (
                self.tr("All {counted} checks passed") if all_passed else self.tr("{passed} of {counted} checks passed")
            )
            self.checks_pill.set(
                "ok" if all_passed else "warn", passed_text.format(passed=verdict.passed, counted=verdict.total)
            )
            self.checks_pill.show()
        else:
            title = self.tr("Not verified yet")
            self.hero.set("neutral", title, "", self.tr("Check it"))
        if title != self._announced_title and self.isVisible():
            self._announced_title = title
            announce(self.hero, title)

    def _setup_text(self, elapsed_s: float) -> str:
        """What was set up: with the driver where that was one of the steps, and otherwise in which time."""
        progress = self.controller.progress
        if progress is not None and progress.has_changed_driver:
            return self.tr("Driver and PyTorch set up and verified.")
        if self.controller.flow.state.resumed:
            return self.tr("Set up and verified. Nothing else was changed.")
        template = self.tr("Set up in {time}. Nothing else was changed.")
        return template.format(time=format_duration(elapsed_s, self.texts.language))

    def _update_log_card(self) -> None:
        self.log_card.set_title(self.tr("What was done"))
        progress = self.controller.progress
        if self.log_card.isHidden() or progress is None:
            return
        texts = self.texts
        self._step_list.clear()
        for step in progress.steps.values():
            title = texts.translate(f"step.{step.code}.title", step.data)
            duration_s = step.reported_seconds
            duration_text = format_duration(duration_s, texts.language) if duration_s is not None else ""
            message = texts.message_text(step.message) if step.message is not None else ""
            self._step_list.add_step(step.id, title)
            self._step_list.set_state(
                step.id, step.state, message or texts.translate(f"step.{step.code}.undo", step.data), duration_text
            )
        self._log_drawer.clear()
        self._log_drawer.append(self.controller.log_lines)

    def _toggle_log_card(self) -> None:
        self.log_card.setVisible(self.log_card.isHidden())
        self.draw()
        if not self.log_card.isHidden():
            self.page.content.layout().activate()  # type: ignore[union-attr]
            self.page.verticalScrollBar().setValue(self.log_card.y() - self.page.column.spacing())

    def _start_benchmark(self) -> None:
        self.benchmark_card.show_started()
        self.controller.run_benchmark()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._update_layout)

    def refresh(self) -> None:
        super().refresh()
        QTimer.singleShot(0, self, self._update_layout)

    def _update_layout(self) -> None:
        """Proof and speed stand beside each other, in a small window in compact form."""
        in_row = self.page.available_width() >= theme.px(COLUMNS_MIN_WIDTH)
        compact = in_row and self.page.breakpoints.is_tight
        down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._cards_row.setDirection(right if in_row else down)
        self._cards_row.setSpacing(12 if compact else 16)
        self.page.column.setSpacing(8 if compact else 12)
        for card, share in (
            (self.verification_card, 60 if compact else 54),
            (self.benchmark_card, 40 if compact else 46),
        ):
            self._cards_row.setStretchFactor(card, share if in_row else 0)
            card.set_compact(compact)
        # In a low window the cards of the next steps speak for themselves.
        self.next_steps_heading.setVisible(self._can_run_programs and not (compact and self.page.breakpoints.is_low))


class PreviewCard(Card):
    """What this page has on a real computer, where there is none to show it for."""

    def __init__(self) -> None:
        super().__init__(" ")
        self._labels = [label("body") for _ in range(3)]
        for icon, line in zip(("ok", "bench", "play"), self._labels, strict=True):
            row = QHBoxLayout()
            row.setSpacing(14)
            row.addWidget(IconWidget(icon, background="square", background_size=34))
            row.addWidget(line, 1, Qt.AlignmentFlag.AlignVCenter)
            self.column.addLayout(row)

    def draw(self) -> None:
        self.set_title(self.tr("On a real computer this page shows"))
        lines = (
            self.tr("The proof: card, PyTorch, CUDA and cuDNN, with versions and a real calculation"),
            self.tr("How fast the card trains, compared with the CPU"),
            self.tr("A first program that learns to read digits, and your editor with the right Python"),
        )
        for widget, text in zip(self._labels, lines, strict=True):
            widget.setText(text)


class VerificationCard(Card):
    """One row for each check: state, sentence, value, and the fix below it; of many only the main ones at first."""

    def __init__(self) -> None:
        super().__init__(" ")
        self._rows_layout = QVBoxLayout()
        self._rows_layout.setSpacing(6)
        self.toggle_button = Button(kind="ghost", trailing_icon="down", flush="right", small=True)
        self.toggle_button.setObjectName("allChecks")
        self.toggle_button.clicked.connect(self._toggle)
        self._shows_all = self._compact = False
        self._rows: tuple[VerificationRow, ...] = ()
        self.add_title_action(self.toggle_button)
        self.column.addLayout(self._rows_layout)
        self.column.addStretch(1)
        self.row_widgets: list[QWidget] = []
        self._shown_rows: tuple[VerificationRow, ...] = ()

    def set_compact(self, compact: bool) -> None:
        """Fewer rows at first, and less room around them."""
        if compact != self._compact:
            self._compact = compact
            self._rows_layout.setSpacing(3 if compact else 6)
            self.column.setContentsMargins(*(COMPACT_MARGINS if compact else MARGINS))
            self.set_rows(self._rows)

    def set_rows(self, rows: Sequence[VerificationRow]) -> None:
        self._rows = tuple(rows)
        main_rows = first_rows(self._rows, MAX_COMPACT_ROWS if self._compact else MAX_ROWS)
        is_long, count = len(main_rows) + 1 < len(rows), sum(row.state != "running" for row in rows)
        self.toggle_button.setVisible(is_long)
        self.toggle_button.setText(
            self.tr("Show fewer") if self._shows_all else self.tr("Show all {count} checks").format(count=count)
        )
        self.toggle_button.set_icon(None, "up" if self._shows_all else "down")
        self._show_rows(main_rows if is_long and not self._shows_all else self._rows)

    def _toggle(self) -> None:
        self._shows_all = not self._shows_all
        self.set_rows(self._rows)

    def _show_rows(self, rows: tuple[VerificationRow, ...]) -> None:
        if rows == self._shown_rows:
            return
        self._shown_rows = rows
        for widget in self.row_widgets:
            self._rows_layout.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self.row_widgets = [_build_verification_row(row) for row in rows]
        for widget in self.row_widgets:
            self._rows_layout.addWidget(widget)
            widget.show()


class QuickBenchmarkCard(Card):
    """The quick benchmark before, while and after it runs: one figure, and of a GPU a bar for each device. Of a CPU
    alone the figure is the time that it takes for something that everybody understands. `details_requested` asks for
    all figures.
    """

    start_requested = Signal()
    stop_requested = Signal()
    details_requested = Signal()

    def __init__(self) -> None:
        super().__init__(" ")
        self.value_label, self.caption_label = label("display"), label("small")
        self.value_label.set_one_line(True)
        self.progress_bar, self.bars = ProgressBar(), BarChart()
        self.note_label, self.purpose_label = label("small"), label("small")
        self.button, self.details_button = Button(icon_name="play"), Button(kind="ghost", small=True, flush="right")
        self.button.clicked.connect(self._start_or_stop)
        self.details_button.set_icon(None, "right")
        self.details_button.clicked.connect(self.details_requested)
        self._running = self._has_result = self._compact = self._is_duration = False
        self._captions: tuple[str, str] = ("", "")  # in full, and in compact form
        self._headline = row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.setSpacing(14)
        row.addWidget(self.value_label)
        row.addWidget(self.caption_label, 1)
        self._footer = footer_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        footer_layout.addWidget(self.note_label, 1)
        footer_layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignRight)
        self.empty_state = EmptyState("bench")
        self.add_title_action(self.details_button)
        self.column.addLayout(row)
        self.column.addWidget(self.progress_bar)
        self.column.addWidget(self.bars)
        self.column.addWidget(self.purpose_label)
        self.column.addWidget(self.empty_state, 100)  # all of the height while it is shown
        self.column.addStretch(1)
        self.column.addLayout(footer_layout)

    def set_compact(self, compact: bool) -> None:
        """The sentence below its figure, without the devices' names, and less room around."""
        down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._compact = compact
        self._update_note()
        self._headline.setDirection(down if compact else right)
        self._headline.setSpacing(2 if compact else 14)
        self._footer.setDirection(down if compact else right)
        self._footer.setSpacing(4 if compact else 12)
        self.bars.set_compact(compact)
        self.empty_state.set_compact(compact)
        self.column.setContentsMargins(*(COMPACT_MARGINS if compact else MARGINS))

    def draw(
        self, benchmark: Benchmark | None, *, running: bool, has_gpu: bool, error: AppError | None, texts: Texts
    ) -> None:
        """Show the result, that it runs, or why it failed; before all that, what it would measure."""
        self._running = running
        headline = messages.make_headline(benchmark) if benchmark is not None and not running else None
        results = messages.device_results(benchmark)[:3] if headline is not None and benchmark is not None else []
        plain = messages.plain_results(benchmark) if headline is not None and benchmark is not None else ()
        self._has_result = headline is not None
        self.set_title(self.tr("Speed"))
        self.value_label.setVisible(self._has_result)
        self.purpose_label.setText(self.tr("Enough for small models; large ones need a graphics card."))
        self.purpose_label.setVisible(bool(plain))
        self.bars.setVisible(len(results) > 1)  # a single bar has nothing to be compared with
        self.progress_bar.setVisible(running)
        if headline is not None and benchmark is not None:
            figure, lines = headline.brief_figure, headline.brief.split("\n")
            brief_lines = lines
            if headline.formats and results:  # a ratio; how it was measured is on the benchmark's page
                ratio = self.tr("as fast as your CPU")
                lines = [ratio, self._explained_workload(results[0].id), headline.caveats]
                brief_lines = [ratio, messages.workload_label(results[0].id)]
            self._is_duration = len(plain) > 1
            if self._is_duration:
                name = plain[0].name
                if results and results[0].unit == "images/s":
                    name = self.tr("to train on {total} images").format(total=f"{messages.EXAMPLE_COUNT:,}")
                figure, lines = plain[0].figure, [name, plain[0].doubt]
                brief_lines = lines
            self.value_label.setText(figure)
            self._captions = _join_lines(lines), _join_lines(brief_lines[:2])
            self.caption_label.setToolTip(plain[0].workload if len(plain) > 1 else headline.brief)
            self.bars.set_bars(
                [
                    (
                        messages.result_device(result),
                        result.median,
                        messages.value_beside(result, results[0]),
                        messages.bar_colour(result),
                    )
                    for result in results
                ]
            )
            workload = self._explained_workload(results[0].id) if self._is_duration and results else ""
            self.note_label.setText(" · ".join(part for part in (workload, self._device_names(benchmark)) if part))
            self._update_note()
        elif running:
            self.note_label.setText(self.tr("The fan may get loud."))
            self.button.setText(self.tr("Stop"))
        else:
            self.caption_label.setText(texts.error_text(error) if error is not None else "")
            self.note_label.setText(self.tr("Takes about a minute."))
            self.button.setText(self.tr("Run benchmark"))
        self.caption_label.setVisible(bool(self.caption_label.text()))
        self.empty_state.set(
            self.tr("How fast is the card, and how much faster than your CPU?")
            if has_gpu
            else self.tr("How fast is PyTorch on your CPU?")
        )
        self.empty_state.setVisible(headline is None and not running)
        self.note_label.setVisible(not (self._compact and self._has_result))
        self.details_button.setText(self.tr("Open Benchmark"))
        self.details_button.setVisible(self._has_result)
        self.button.setVisible(not self._has_result)
        self.button.set_icon("cross" if running else "play")

    def _explained_workload(self, name: str) -> str:
        """A workload, and what its network does."""
        workload, purpose = messages.workload_label(name), messages.workload_purpose(name)
        return self.tr("{workload} ({what})").format(workload=workload, what=purpose) if purpose else workload

    def _update_note(self) -> None:
        """Caveats and names of devices have no room in compact form; the benchmark's page has them, too."""
        self.note_label.setVisible(not (self._compact and self._has_result))
        # A duration is words, which have no room that large.
        self.value_label.set_kind("title" if self._compact and self._is_duration else "display")
        if self._has_result:
            self.caption_label.setText(self._captions[self._compact])

    def show_started(self) -> None:
        """Show that the benchmark was started."""
        self.progress_bar.set_fraction(None)
        self.caption_label.setText(self.tr("Starting PyTorch…"))

    def show_progress(self, progress: Any) -> None:  # noqa: ANN401 - the benchmark's progress, or a result
        """Show which workload runs."""
        if not hasattr(progress, "workload"):
            return
        label = messages.workload_label(progress.workload, progress.dtype, progress.device)
        self.caption_label.setText(f"{label} · {short_device_name(progress.device)}")
        self.progress_bar.set_fraction((progress.index - 1) / max(progress.total, 1))

    def _start_or_stop(self) -> None:
        (self.stop_requested if self._running else self.start_requested).emit()

    def _device_names(self, benchmark: Benchmark) -> str:
        """In the order of the bars."""
        names = {device.id: device.name for device in benchmark.devices}
        in_bars = [names.get(result.device) for result in messages.device_results(benchmark)]
        return " · ".join(dict.fromkeys(name for name in (*in_bars, *names.values()) if name))


def _join_lines(lines: Sequence[str]) -> str:
    return "\n".join(line for line in lines if line)


def verification_verdict(
    checks: Checks, recommendation: Recommendation | None, machine: Machine | None
) -> VerificationVerdict:
    """What the checks show, in one sentence."""
    counted_checks = [check for check in checks.checks if check.state != "skip"]
    passed = sum(check.state == "pass" for check in counted_checks)
    accelerator = recommendation.accelerator if recommendation is not None else "cpu"
    on_gpu = _computes_on_gpu(checks)
    gpu = main_gpu(machine, recommendation) if machine is not None else None
    # After a restart the computer was not detected again; the checks name the card that they ran on.
    gpu_name = (gpu.name if gpu is not None else None) or _checked_card(checks)
    name = short_name(gpu_name) if gpu_name else translate("DonePage", "GPU")
    kind: HeroKind = {"pass": "ok", "warn": "warn", "fail": "warn"}[checks.verdict]  # type: ignore[assignment]
    title = translate("DonePage", "PyTorch does not work yet")
    if not is_usable(checks, recommendation):
        kind = "error"
    else:
        title = translate("DonePage", "PyTorch works on your CPU")
        if on_gpu:
            title = translate("DonePage", "PyTorch works on your {gpu}").format(gpu=name)
        elif accelerator == "cuda":
            kind, title = "warn", translate("DonePage", "It works, but on the CPU")
    detail = translate("DonePage", "Checked just now, in its own Python.")
    if checks.verdict == "fail" and kind == "warn":
        detail = translate(
            "DonePage", "Checks that did not pass are listed first, with what to do. Training works without them."
        )
    return VerificationVerdict(kind=kind, title=title, detail=detail, passed=passed, total=len(counted_checks))


def first_rows(rows: tuple[VerificationRow, ...], count: int = MAX_ROWS) -> tuple[VerificationRow, ...]:
    """Of many rows those that are shown first, in their order: what did not pass, the main checks, and others while
    there is room.
    """
    room = max(count, sum(row.state != "pass" for row in rows))
    by_weight = sorted(rows, key=lambda row: (row.state == "pass", not row.is_main))
    chosen = by_weight[:room]
    return tuple(row for row in rows if row in chosen)


def _computes_on_gpu(checks: Checks) -> bool:
    return any(check.id == "device-compute" and check.state == "pass" for check in checks.checks)


def _checked_card(checks: Checks) -> str | None:
    """The name of the card that the checks found, if they found one."""
    names = (check.data.get("name") for check in checks.checks if check.id == "device-query")
    return next((name for name in names if isinstance(name, str)), None)


def verification_rows(checks: Checks, texts: Texts) -> tuple[VerificationRow, ...]:
    """The checks that were not skipped, failed ones first."""
    localized = texts.localize_checks(checks).checks
    sorted_checks = sorted((check for check in localized if check.state != "skip"), key=_severity_rank)
    main_checks = MAIN_CHECKS if _computes_on_gpu(checks) else (*MAIN_CHECKS, CPU_CHECK)
    return tuple(_verification_row(check, texts, main_checks) for check in sorted_checks)


def _verification_row(check: Check, texts: Texts, main_checks: tuple[str, ...]) -> VerificationRow:
    """A check that passed is a name and what was measured; another one is a sentence with its fix."""
    name = _passed_name(check) if check.state == "pass" else None
    if name is None:
        return VerificationRow(
            state=check.state,
            text=check.text or check.id,
            value=_value_text(check, texts),
            fix=check.fix or "",
        )
    if check.id == "device-query" and check.value:
        name = translate("DonePage", "PyTorch recognises your {gpu}").format(gpu=short_name(str(check.value)))
    if check.id.startswith("device-") and check.data.get("device") not in (None, FIRST_DEVICE):
        name = f"{name} ({device_name(str(check.data['device']))})"
    value, note = _measured_text(check, texts), ""
    if check.id == "environment":
        value, note = PurePath(value.replace("\\", "/")).name, value
    return VerificationRow(state=check.state, text=name, value=value, note=note, is_main=check.id in main_checks)


def _passed_name(check: Check) -> str | None:
    """What a passed check is about, in a few words; None for a check that is not known here."""
    return {
        "environment": translate("DonePage", "Environment created"),
        "packages": translate("DonePage", "All packages are compatible"),
        "driver": translate("DonePage", "Graphics driver works"),
        "python": translate("DonePage", "Python works"),
        "torch-import": translate("DonePage", "PyTorch starts"),
        "torch-variant": translate("DonePage", "Right PyTorch build"),
        "torch-cuda": translate("DonePage", "PyTorch sees the graphics card"),
        "cuda-version": translate("DonePage", "CUDA works"),
        "cudnn": translate("DonePage", "cuDNN works"),
        "cuda-libraries": translate("DonePage", "NVIDIA's libraries match"),
        "device-query": translate("DonePage", "PyTorch recognises your graphics card"),
        "device-compute": translate("DonePage", "Test calculation"),
        "cpu-compute": translate("DonePage", "CPU calculation"),
        "copy-bandwidth": translate("DonePage", "Copies data to the card"),
        "tensorflow-import": translate("DonePage", "TensorFlow starts"),
        "files": translate("DonePage", "All files are unchanged"),
        "visual-cpp": translate("DonePage", "Microsoft's Visual C++ runtime is complete"),
        "tensorflow-compute": translate("DonePage", "TensorFlow calculates correctly"),
        "tensorflow-devices": translate("DonePage", "TensorFlow sees the graphics card"),
        "nvcc": translate("DonePage", "CUDA compiler starts"),
        "host-compiler": translate("DonePage", "C++ compiler for CUDA"),
        "cuda-compile": translate("DonePage", "CUDA program compiles"),
        "cudnn-link": translate("DonePage", "Program links with cuDNN"),
        "cuda-run": translate("DonePage", "Compiled program calculates correctly"),
        "torch-extension": translate("DonePage", "PyTorch extension builds and works"),
    }.get(check.id)


def _build_name(release: str, texts: Texts) -> str:
    """For what a release of PyTorch is built: "CUDA 13.2"; the release itself where it does not say."""
    _, _, tag = release.partition("+")
    return texts.variant_name(tag) if tag else release


def _measured_text(check: Check, texts: Texts) -> str:
    """The value of a passed check."""
    value = texts.format_value("value", check.value) if check.value is not None else ""
    memory = check.data.get("memory_bytes")
    special = {
        "packages": "",
        "torch-variant": _build_name(str(check.value), texts),  # the version is that of the check before
        "torch-cuda": "",
        "tensorflow-devices": "",
        "cuda-run": "",
        "torch-extension": "",
        "torch-import": str(check.value).split("+")[0],  # the build is a check of its own
        "device-compute": translate("DonePage", "matches the CPU"),
        "cpu-compute": translate("DonePage", "matches Python"),
        "copy-bandwidth": f"{value} GB/s",
        "device-query": format_memory(memory) if isinstance(memory, int) else "",  # the card is in the check's name
        "cuda-libraries": translate("DonePage", "{count} files").format(count=value),
    }
    return special.get(check.id, value)


class VerificationVerdict(Struct, frozen=True, kw_only=True):
    """The texts of the hero, and how many of how many checks passed."""

    kind: HeroKind
    title: str
    detail: str
    passed: int
    total: int


class VerificationRow(Struct, frozen=True, kw_only=True):
    """One check: its name or sentence, its value, the value in full as a tool tip, how to fix it if it did not pass,
    and whether it is among those that are shown first.
    """

    state: RowState
    text: str
    value: str = ""
    note: str = ""
    fix: str = ""
    is_main: bool = False


def _severity_rank(check: Check) -> int:
    return {"fail": 0, "warn": 1, "pass": 2, "skip": 3}[check.state]


def _value_text(check: Check, texts: Texts) -> str:
    """The check's value, unless its sentence contains it."""
    value = check.value
    text = texts.format_value("value", value) if isinstance(value, str) else ""
    return text if text not in (check.text or "") else ""


def _build_verification_row(row: VerificationRow) -> QWidget:
    widget = QWidget()
    layout = QHBoxLayout(widget)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(12)
    icon = StepStateIcon()
    icon.set_state(STEP_STATES[row.state])
    text_layout = QVBoxLayout()
    text_layout.setSpacing(1)
    text_layout.addWidget(label("body", row.text))
    if row.fix:
        text_layout.addWidget(label("small", row.fix))
    across = Qt.AlignmentFlag.AlignTop if row.fix else Qt.AlignmentFlag.AlignVCenter
    layout.addWidget(icon, 0, across)
    layout.addLayout(text_layout, 1)
    if row.value:
        value = label("body", row.value, "soft")
        value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        value.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Minimum)
        value.setToolTip(row.note)
        layout.addWidget(value, 0, across)
    widget.setAccessibleName(", ".join(part for part in (row.text, row.value, row.fix) if part))
    return widget
