"""The window of the example programs: what a program shows at the left, its code at the right.

What flows here, with the modules:

    open, Run ──► app.integrations.run_example (JobRunner) ──► ExampleStart, ExampleProgress ──► tiles, curve, pictures
                                                           └─► ExampleResult ──► verdict
    Save a copy ──► examples.programs.program_source ──► a file of the user's
    Open in VS Code ──► app.integrations.open_in_editor ──► the same file in a folder among the user's documents
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QDialog, QFileDialog, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from ...core import json
from ...core.errors import AppError
from ...core.jobs import LazyJob
from ...examples.child_protocol import ExampleProgress, ExampleStart
from ...examples.job import ExampleResult, ExampleSettings
from ...examples.programs import (
    EXAMPLE_NAMES,
    PROGRAMS_FOLDER,
    SCRIPT_PACKAGES,
    ExampleName,
    program_source,
    readable_source,
    script_path,
)
from ...texts.format import format_duration, format_memory
from .. import theme
from ..help import add_help_shortcut
from ..language import Language
from ..messages import error_text
from ..widgets.base import Breakpoints, Themed, announce
from ..widgets.buttons import Button, SegmentedControl
from ..widgets.cards import Banner, Card, EmptyState, Hero, InsetPanel, MetricTile
from ..widgets.dialogs import documents_folder, folder_dialog, save_dialog
from ..widgets.inputs import use_slim_scroll_bars
from ..widgets.layouts import FlowLayout
from ..widgets.progress import ProgressBar
from ..widgets.text import label
from ..worker import FunctionJob, JobRunner
from . import messages
from .code_view import CodeView
from .curve_chart import CurveChart
from .picture_grid import PictureGrid

if TYPE_CHECKING:
    from ...app import App

RERUN_CODES = ("example-memory", "example-killed")  # of errors after which the same run may end well
DIALOG_SIZE = 1080, 744  # pixels at 100 % text
MARGIN = 28  # pixels at both sides
LOW_BESIDE_WIDTH = 700  # pixels at 100 % text
LIVE_SHARE, CODE_SHARE = 56, 44  # of the width
NEXT_PROGRAMS: dict[ExampleName, ExampleName] = {"first-program": "picture-sorter", "picture-sorter": "language-model"}


class ExampleDialog(Themed, QDialog):
    """Runs one program at a time in an environment; closes once a running one has ended."""

    def __init__(
        self, app: App, language: Language, environment: Path, parent: QWidget, *, has_editor: bool = False
    ) -> None:
        super().__init__(parent)
        self._has_editor = has_editor
        self._app, self._language, self._environment = app, language, environment
        self._program: ExampleName = "first-program"
        self._start: ExampleStart | None = None
        self._progress: ExampleProgress | None = None
        self._result: ExampleResult | None = None
        self._error: AppError | None = None  # of the run
        self._other_error: AppError | None = None  # of saving or of adding a package
        self._saved_path: Path | None = None
        self._stopped = self._stopping = self._closing = self._ready = False
        self._folder: Path | None = None
        self._weights: Path | None = None
        self._curve: list[tuple[float, float]] = []
        self.monotonic = time.monotonic  # seconds
        self._first_report: tuple[int, float] | None = None  # step, and seconds of the monotonic clock
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self.programs = SegmentedControl([messages.program_title(name) for name in EXAMPLE_NAMES])
        self.title_label, self.description_label = label("title"), label("body", "", "soft")
        self.code_view, self.code_card, self.live_card = CodeView(), Card(" "), Card(" ")
        self.state_label, self.progress_bar = label("strong"), ProgressBar()
        self.score_tile, self.rate_tile = MetricTile("check"), MetricTile("bolt")
        self.memory_tile, self.shown_tile = MetricTile("memory"), MetricTile("image")
        self.curve_card, self.curve_label, self.curve = Card(padding=14), label("small"), CurveChart()
        self.pictures_label, self.picture_grid = label("caption"), PictureGrid()
        self.text_label, self.skipped_label = label("body"), label("small")
        self.result_hero, self.banner = Hero("ok", compact=True), Banner("warn", inset=True)
        self.empty_state = EmptyState("play")
        self.install_button = Button(icon_name="download")
        self.folder_button = Button(icon_name="folder")
        self.weights_button = Button(kind="ghost", icon_name="torch", flush="left")
        self.no_weights_button = Button(kind="ghost", icon_name="cross")
        self.inputs_label = label("small")
        self.run_button, self.next_button = Button(kind="primary", icon_name="play"), Button(trailing_icon="right")
        self.stop_button = Button(icon_name="cross")
        self.save_button = Button(kind="ghost", icon_name="file", flush="left")
        self.editor_button = Button(kind="ghost", icon_name="code", flush="left")
        self.close_button = Button()
        self.runner, self.save_runner, self.install_runner = JobRunner(self), JobRunner(self), JobRunner(self)
        self._breakpoints = Breakpoints(self)
        self._build_layout()
        self._connect_signals()
        add_help_shortcut(self, app, "examples")
        self._ready = True
        self.apply_theme()

    def _build_layout(self) -> None:
        column, heading = QVBoxLayout(self), QVBoxLayout()
        column.setContentsMargins(MARGIN, 20, MARGIN, 18)
        column.setSpacing(12)
        heading.setSpacing(4)
        heading.addWidget(self.title_label)
        heading.addWidget(self.description_label)
        self._header = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._header.setSpacing(12)
        self._header.addLayout(heading, 1)
        self._header.addWidget(self.programs)
        column.addLayout(self._header)
        self.result_hero.add_action(self.install_button)
        column.addWidget(self.result_hero)
        inset = InsetPanel()
        inset.column.setContentsMargins(0, 0, 0, 0)
        inset.column.addWidget(self.code_view, 1)
        self.code_card.column.addWidget(inset, 1)
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._columns.setSpacing(16)
        self._columns.addWidget(self._wrap_live_card(), LIVE_SHARE)
        self._columns.addWidget(self.code_card, CODE_SHARE)
        column.addLayout(self._columns, 1)
        row, code_actions = QHBoxLayout(), FlowLayout(spacing=4)  # beside what ghost buttons have within them
        row.setSpacing(12)
        for button in (self.save_button, self.editor_button, self.weights_button):
            code_actions.addWidget(button)
        row.addLayout(code_actions, 1)
        for button in (self.close_button, self.stop_button, self.run_button, self.next_button):
            row.addWidget(button)
        column.addLayout(row)
        available = self.screen().availableGeometry()
        self.resize(
            min(theme.px(DIALOG_SIZE[0]), available.width() - 40),
            min(theme.px(DIALOG_SIZE[1]), available.height() - 60),
        )

    def _wrap_live_card(self) -> QScrollArea:
        """What the program shows, which scrolls where it has too little room."""
        inputs, tiles, figures = FlowLayout(spacing=10), QVBoxLayout(), QHBoxLayout()
        for button in (self.folder_button, self.no_weights_button):
            inputs.addWidget(button)
        tiles.setContentsMargins(0, 0, 0, 0)
        self._tiles = QWidget()
        self._tiles.setLayout(tiles)
        for tile in (self.score_tile, self.shown_tile, self.rate_tile, self.memory_tile):
            tiles.addWidget(tile, 1)
        self.curve_card.column.addWidget(self.curve_label)
        self.curve_card.column.addWidget(self.curve)
        for layout in (tiles, figures):
            layout.setSpacing(10)
        figures.addWidget(self._tiles, 1)
        figures.addWidget(self.curve_card, 2)
        live = self.live_card.column
        live.addLayout(inputs)
        above: tuple[QWidget, ...] = (
            *(self.inputs_label, self.banner),
            *(self.state_label, self.progress_bar),
        )
        for widget in above:
            live.addWidget(widget)
        live.addLayout(figures)
        for widget in (self.pictures_label, self.picture_grid, self.text_label, self.skipped_label):
            live.addWidget(widget)
        live.addWidget(self.empty_state, 100)  # all of the height while nothing has run
        live.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(self.live_card)
        use_slim_scroll_bars(area)
        return area

    def _connect_signals(self) -> None:
        self.programs.chosen.connect(lambda index: self.choose_program(EXAMPLE_NAMES[index]))
        self.install_button.clicked.connect(self.install_pillow)
        self.install_runner.done.connect(lambda _: self._forget_run())
        self.install_runner.failed.connect(self._on_other_failed)
        self.install_runner.cancelled.connect(self._on_cancelled)
        self.install_runner.finished.connect(self._on_installed)
        self.run_button.clicked.connect(self.run)
        self.next_button.clicked.connect(self.choose_next)
        self.stop_button.clicked.connect(self.stop)
        self.close_button.clicked.connect(self.reject)
        self.save_button.clicked.connect(lambda: self.create_save_dialog().open())
        self.editor_button.clicked.connect(self.open_in_editor)
        self.folder_button.clicked.connect(lambda: self.create_folder_dialog().open())
        self.weights_button.clicked.connect(lambda: self.create_weights_dialog().open())
        self.no_weights_button.clicked.connect(lambda: self.set_weights(None))
        self.runner.reported.connect(self._on_report)
        self.runner.done.connect(self._on_done)
        self.runner.failed.connect(self._on_failed)
        self.runner.cancelled.connect(self._on_cancelled)
        self.runner.finished.connect(self._on_finished)
        self.save_runner.failed.connect(self._on_other_failed)
        self.save_runner.finished.connect(self._on_finished)
        self._breakpoints.changed.connect(self._arrange)

    @classmethod
    def show_dialog(
        cls, app: App, language: Language, environment: Path, parent: QWidget, *, has_editor: bool = False
    ) -> ExampleDialog:
        """Open it above `parent` and start the first program; it is deleted when closed. `has_editor`: Visual Studio
        Code is installed.
        """
        dialog = cls(app, language, environment, parent, has_editor=has_editor)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        dialog.run()
        return dialog

    # Choices

    def choose_program(self, program: ExampleName) -> None:
        """Show another program; not while one runs."""
        if self.runner.running or program == self._program:
            return
        self._program = program
        self._weights = None
        self._forget_run()
        self.programs.set_current(EXAMPLE_NAMES.index(program))
        self.retranslate()

    def choose_next(self) -> None:
        """Show the program after the present one; it is not started."""
        program = NEXT_PROGRAMS.get(self._program)
        if program is not None:
            self.choose_program(program)
            self.run_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def create_folder_dialog(self) -> QFileDialog:
        """The dialog for the folder of pictures."""
        dialog = folder_dialog(self, self.tr("Choose a folder with a subfolder for each class"))
        dialog.fileSelected.connect(lambda path: self.set_folder(Path(path)))
        return dialog

    def set_folder(self, folder: Path) -> None:
        """Take the pictures of this folder, and start."""
        self._folder = folder
        self.run()

    def create_weights_dialog(self) -> QFileDialog:
        """The dialog for weights: a file for pictures, a folder for a language model."""
        if self._program == "language-model":
            dialog = folder_dialog(self, self.tr("Choose a folder with config.json and *.safetensors"))
        else:
            dialog = QFileDialog(self, self.tr("Choose a trained ResNet-18 model"), "", "PyTorch (*.pth *.pt)")
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self.set_weights(Path(path)))
        return dialog

    def set_weights(self, weights: Path | None) -> None:
        """Let the next run start with these weights, or with random ones."""
        self._weights = weights
        self.retranslate()

    def create_save_dialog(self) -> QFileDialog:
        """The dialog for where the program is saved."""
        dialog = save_dialog(self, self.tr("Save the program"), "Python (*.py)", script_path(self._program).name)
        dialog.fileSelected.connect(lambda path: self.save_program(Path(path)))
        return dialog

    def save_program(self, path: Path) -> None:
        """Save a copy of the code, with its comments in the window's language."""
        if self.save_runner.running:
            return
        source = program_source(self._program, self._language.current)
        self._saved_path, self._other_error = path, None
        self.save_runner.start(FunctionJob(partial(json.write_file, path, source)))

    def open_in_editor(self) -> None:
        """Open the program in Visual Studio Code, in a folder of its own among the user's documents."""
        if self.save_runner.running:
            return
        folder = documents_folder() / PROGRAMS_FOLDER
        source = program_source(self._program, self._language.current)
        program = (script_path(self._program).name, source.encode())
        self._saved_path, self._other_error = folder / program[0], None
        make_job = partial(self._app.integrations.open_in_editor, self._environment, folder, program)
        self.save_runner.start(LazyJob(make_job))

    # The run

    def run(self) -> None:
        """Start the program; pictures are asked for first."""
        if self.runner.running:
            return
        if self._program == "picture-sorter" and self._folder is None:
            self.create_folder_dialog().open()
            return
        self._forget_run()
        settings = ExampleSettings(
            pictures=self._folder if self._program == "picture-sorter" else None, weights=self._weights
        )
        make_job = partial(self._app.integrations.run_example, self._environment, self._program, settings=settings)
        self.runner.start(LazyJob(make_job))
        self.retranslate()
        self.setFocus(Qt.FocusReason.OtherFocusReason)  # not "Stop", which Enter would press

    def install_pillow(self) -> None:
        """Put the package that reads pictures into the environment, then run the program again."""
        if not self.install_runner.running:
            self._other_error = None
            self.retranslate()
            self.install_button.set_busy(True)
            make_job = partial(self._app.integrations.add_packages, self._environment, "pictures")
            self.install_runner.start(LazyJob(make_job))

    def _on_installed(self) -> None:
        self.install_button.set_busy(False)
        if self._closing:
            self._close_when_idle()
        elif self._error is None and not self._stopped:
            self.run()
        else:
            self.retranslate()

    def stop(self) -> None:
        """End the program."""
        self.install_runner.cancel()
        if self.runner.running:
            self._stopping = True
            self.runner.cancel()
            self.retranslate()

    def reject(self) -> None:
        """Close, by Esc or button; a running program is ended first."""
        self._closing = True
        self.stop()
        self._close_when_idle()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.runner.running or self.save_runner.running or self.install_runner.running:
            event.ignore()
            self.reject()
        else:
            super().closeEvent(event)

    def _close_when_idle(self) -> None:
        if self._closing and not (self.runner.running or self.save_runner.running or self.install_runner.running):
            super().reject()

    def _forget_run(self) -> None:
        self._start = self._progress = self._result = self._error = self._other_error = self._saved_path = None
        self._stopped = self._stopping = False
        self._curve, self._first_report = [], None
        self.picture_grid.set_pictures(())

    def _on_report(self, report: ExampleStart | ExampleProgress) -> None:
        if isinstance(report, ExampleStart):
            self._start = report
        else:
            self._progress = report
            if self._first_report is None:
                self._first_report = report.step, self.monotonic()
            value = report.rate if self._program == "language-model" else report.loss
            if value is not None:
                self._curve.append((float(report.step), value))
            if report.pictures:
                self.picture_grid.set_pictures(report.pictures)
        self._update_run()

    def _on_done(self, result: ExampleResult) -> None:
        self._result = result
        announce(self, messages.result_title(result))

    def _on_failed(self, error: AppError) -> None:
        self._error = error
        announce(self, self._failure_title())

    def _on_other_failed(self, error: AppError) -> None:
        self._other_error, self._saved_path = error, None

    def _on_cancelled(self) -> None:
        self._stopped = True

    def _on_finished(self) -> None:
        had_focus = self.hasFocus() or self.stop_button.hasFocus()
        self._stopping = False
        self.retranslate()
        if had_focus and not self._closing:
            # Not on a button that starts something: a late key press meant for "Stop" must do nothing.
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._close_when_idle()

    # Texts and state

    def retranslate(self) -> None:
        if not self._ready:
            return
        self.setWindowTitle(self.tr("Example programs"))
        self.programs.set_options([messages.program_title(name) for name in EXAMPLE_NAMES])
        self.programs.set_current(EXAMPLE_NAMES.index(self._program))
        self.programs.setAccessibleName(self.tr("Program"))
        self.title_label.setText(messages.program_heading(self._program))
        self.description_label.setText(
            messages.program_description(self._program, is_trained=self._weights is not None)
        )
        self.code_card.set_title(self.tr("The program"))
        self.code_view.set_code(readable_source(self._program, self._language.current))
        self.score_tile.set_label(self.tr("Accuracy"))
        self.shown_tile.set_label(self.tr("Correct below"))
        self.rate_tile.set_label(self.tr("Tokens per second"))
        self.memory_tile.set_label(self.tr("GPU memory"))
        self.pictures_label.setText(
            self.tr("Below each picture: the network's answer. It has never seen these pictures.")
        )
        self.folder_button.setText(self.tr("Choose another folder…"))
        self.weights_button.setText(self.tr("Use a trained model…"))
        self.no_weights_button.setText(self.tr("Don't use this model"))
        self.install_button.setText(self.tr("Install Pillow"))
        self.save_button.setText(self.tr("Save a copy…"))
        self.editor_button.setText(self.tr("Open in VS Code"))
        self.stop_button.setText(self.tr("Stopping…") if self._stopping else self.tr("Stop"))
        self.close_button.setText(self.tr("Close"))
        self._arrange_header()
        self._update_inputs()
        self._update_run()

    def _update_inputs(self) -> None:
        running, is_sorter = self.runner.running, self._program == "picture-sorter"
        takes_weights = self._program != "first-program"
        has_run = self._result is not None or self._error is not None or self._stopped
        lacks_pictures = is_sorter and self._folder is None  # what the main button asks for first
        run_text = self.tr("Run again") if has_run else self.tr("Run")
        self.run_button.setText(self.tr("Choose folder…") if lacks_pictures else run_text)
        self.run_button.set_icon("folder" if lacks_pictures else "play")
        following = NEXT_PROGRAMS.get(self._program) if self._result is not None else None
        self.next_button.setVisible(following is not None and not running)
        if following is not None:
            self.next_button.setText(self.tr("Next: {program}").format(program=messages.program_title(following)))
        self.next_button.set_kind("primary" if following is not None else "secondary")
        self.run_button.set_kind("secondary" if following is not None else "primary")  # one primary button
        self.folder_button.setVisible(is_sorter and not lacks_pictures and not running)
        self.weights_button.setVisible(takes_weights and not running)
        self.no_weights_button.setVisible(takes_weights and not running and self._weights is not None)
        chosen = [
            *([self.tr("Pictures: {path}").format(path=self._folder)] if is_sorter and self._folder else []),
            *([self.tr("Trained model: {path}").format(path=self._weights)] if self._weights else []),
        ]
        self.inputs_label.setText("\n".join(chosen))
        self.inputs_label.setVisible(bool(chosen))

    def _update_run(self) -> None:
        """Show the state of the run, and its newest figures."""
        running, progress, is_language_model = self.runner.running, self._progress, self._program == "language-model"
        for button in (self.run_button, self.close_button):
            button.setVisible(not running)
        self.editor_button.setVisible(self._has_editor)
        self.stop_button.setVisible(running)
        self.stop_button.setEnabled(not self._stopping)
        self.programs.setEnabled(not running)
        self.live_card.set_title(self.tr("Output"))
        self.state_label.setText(self._state_text())
        self.state_label.setVisible(running)
        self.progress_bar.setVisible(running)
        self.progress_bar.set_fraction(None if progress is None else progress.step / progress.steps)
        self._update_tiles(progress)
        self.curve.token = "s1" if is_language_model else "s2"
        self.curve.set_points(self._curve, progress.steps if progress is not None else 1)
        self.curve.set_unit(self.tr("tokens") if is_language_model else self.tr("steps"))
        self.curve_card.setVisible(bool(self._curve))
        if self._curve:
            loss_template = self.tr("Error (loss), lower is better: {values}")
            template = self.tr("Speed: {values}") if is_language_model else loss_template
            self.curve_label.setText(template.format(values=messages.change_text([y for _x, y in self._curve])))
            self.curve.setAccessibleName(self.curve_label.text())
        loss_text = self.tr("How far off the network still is. Training brings this down.")
        self.curve_card.setToolTip("" if is_language_model else loss_text)
        lacked_memory = self._error is not None and self._error.code in RERUN_CODES
        self.empty_state.set(
            self.tr("Run it again to see its output.") if lacked_memory else messages.invitation(self._program)
        )
        asks_pictures = self._program == "picture-sorter" and not lacked_memory
        self.empty_state.icon_widget.set("folder" if asks_pictures else "play")
        has_shown = progress is not None or self._result is not None or self._stopped
        self.empty_state.setVisible(not running and not has_shown)
        self.picture_grid.setVisible(bool(self.picture_grid.pictures))
        self.pictures_label.setVisible(bool(self.picture_grid.pictures))
        self.text_label.setText(progress.text if progress is not None else "")
        self.text_label.setVisible(bool(self.text_label.text()))
        skipped = progress.skipped if progress is not None else 0
        self.skipped_label.setText(messages.skipped_text(skipped))
        self.skipped_label.setVisible(skipped > 0)
        self._update_outcome()

    def _update_tiles(self, progress: ExampleProgress | None) -> None:
        """The newest figures beside the curve."""
        # At the end the verdict has it.
        learned = progress is not None and progress.score is not None and self._result is None
        self.score_tile.setVisible(learned)
        pictures = self.picture_grid.pictures
        self.shown_tile.setVisible(learned and bool(pictures))
        right = sum(each.correct is True for each in pictures)
        self.shown_tile.set_value(str(right), self.tr("of {total}").format(total=len(pictures)), None)
        self.rate_tile.setVisible(progress is not None and progress.rate is not None)
        memory_bytes = progress.memory_bytes if progress is not None else None
        self.memory_tile.setVisible(memory_bytes is not None)
        tiles = (self.score_tile, self.shown_tile, self.rate_tile, self.memory_tile)
        self._tiles.setVisible(not all(tile.isHidden() for tile in tiles))
        if progress is not None:
            score = progress.score
            self.score_tile.set_value(None if score is None else messages.percent(score), "%", score)
            self.rate_tile.set_value(None if progress.rate is None else f"{progress.rate:,.1f}", "", None)
            self.memory_tile.set_value(None if memory_bytes is None else format_memory(memory_bytes), "", None)

    def _state_text(self) -> str:
        if self._start is None:
            return self.tr("PyTorch is loading…")
        if self._progress is None:
            return self.tr("The program is starting…")
        parts = [
            messages.step_text(self._progress, tokens=self._program == "language-model"),
            messages.device_text(self._start.device, self._start.name),
        ]
        if (seconds := messages.seconds_left(self._first_report, self._progress, self.monotonic())) is not None:
            left = self.tr("about {time} left")
            parts.append(left.format(time=format_duration(seconds, self._language.current)))
        return " · ".join(parts)

    def _failure_title(self) -> str:
        return messages.failure_title(has_started=self._start is not None)

    def _update_outcome(self) -> None:
        result, error, running = self._result, self._error, self.runner.running
        self.result_hero.setVisible((result is not None or error is not None) and not running)
        if result is not None:
            self.result_hero.set(
                "ok", messages.result_title(result), messages.result_detail(result, self._language.current)
            )
        elif error is not None:
            self.result_hero.set("warn", self._failure_title(), error_text(self._language.texts(), error))
        lacks_pillow = error is not None and error.data.get("package") == SCRIPT_PACKAGES["PIL"]
        self.install_button.setVisible(lacks_pillow)
        is_saved = self._saved_path is not None and not self.save_runner.running
        self.banner.setVisible(self._other_error is not None or self._stopped or (is_saved and not running))
        if self._other_error is not None:
            self.banner.set("warn", error_text(self._language.texts(), self._other_error))
        elif self._stopped:
            self.banner.set("neutral", self.tr("Stopped. Nothing was kept."))
        elif is_saved:
            self.banner.set("ok", self.tr("Saved as {path}").format(path=self._saved_path))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange_header()
        self._arrange()

    def _arrange_header(self) -> None:
        """The choice of programs beside the title, below it where the description would need a third line."""
        beside = self.width() - 2 * MARGIN - self.programs.sizeHint().width() - self._header.spacing()
        needs_room = self.title_label.sizeHint().width() > beside or (
            self.description_label.heightForWidth(max(beside, 1)) > 2.5 * self.description_label.fontMetrics().height()
        )
        direction = QBoxLayout.Direction
        self._header.setDirection(direction.TopToBottom if needs_room else direction.LeftToRight)
        alignment = Qt.AlignmentFlag.AlignLeft if needs_room else Qt.AlignmentFlag.AlignRight
        self._header.setAlignment(self.programs, alignment | Qt.AlignmentFlag.AlignTop)

    def _arrange(self) -> None:
        # In a low window output and code stay beside each other: one above the other, there is no room for either.
        has_room = self._breakpoints.is_low and self.width() >= theme.px(LOW_BESIDE_WIDTH)
        vertical = self._breakpoints.is_small and not has_room
        direction = QBoxLayout.Direction.TopToBottom if vertical else QBoxLayout.Direction.LeftToRight
        self._columns.setDirection(direction)
        self._columns.setStretch(0, LIVE_SHARE)
        self._columns.setStretch(1, CODE_SHARE)
