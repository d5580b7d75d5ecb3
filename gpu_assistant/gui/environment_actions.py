"""Actions for an environment, each a card to click: example programs, terminal, editors, menu entry, Jupyter; buttons
for folder and lock file. What has to be installed first shows its progress below the cards, with Cancel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QGridLayout, QVBoxLayout, QWidget

from ..core.errors import AppError
from ..core.jobs import Job, LazyJob
from ..core.plan import Event, PlanEvent, StepEvent
from ..examples.programs import PROGRAMS_FOLDER, program_source, script_path
from . import messages, theme
from .language import Language
from .widgets.base import Themed, announce, application
from .widgets.buttons import Button
from .widgets.cards import Banner, BannerKind, ClickableCard
from .widgets.dialogs import ConfirmDialog, documents_folder, folder_dialog, save_dialog
from .widgets.progress import ProgressBar
from .widgets.text import label
from .worker import FunctionJob, JobRunner

if TYPE_CHECKING:
    from ..app import App
    from ..install.environment.integrations import EnvironmentActions


# The least widths of a card, times the text scale: in several rows, and where all cards stand in one.
CARD_MIN_WIDTH, ROW_CARD_MIN_WIDTH = 230, 190
CARD_SPACING = 12
LOCK_FILE_NAME = "pylock.toml"
NO_TERMINAL_CODE = "no-terminal"


class EnvironmentActionsPanel(Themed, QWidget):
    """The cards for one environment at a time. `on_home` adds the example programs, whose button is the primary one of
    the page elsewhere, and `link_buttons` for the menu entry and for what copies the activation command and the
    Python's path, which that page shows; Home places them.

    `more_buttons` are for folder and package list, which are in the menu of each environment on Home; the page places
    them.

    `message_shown` brings each message about the result of an action.
    """

    message_shown = Signal(str)

    def __init__(
        self, services: App, language: Language, *, on_home: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._on_home = on_home
        self._services, self._language = services, language
        self._environment: Path | None = None
        self._integrations: EnvironmentActions | None = None
        self._message: Callable[[], str] | None = None
        self._running_action: Callable[[Path], Job[object]] | None = None
        self._next_action: Callable[[], None] | None = None
        self.examples_card = ClickableCard("play")
        self.terminal_card = ClickableCard("terminal")
        self.editor_card, self.pycharm_card = ClickableCard("code"), ClickableCard("code")
        self.menu_card, self.jupyter_card = ClickableCard("pc"), ClickableCard("book")
        self.cards = (
            *(self.examples_card, self.jupyter_card, self.editor_card, self.pycharm_card, self.terminal_card),
            self.menu_card,
        )
        self.command_button = Button(kind="ghost", icon_name="copy", small=True, flush="right")
        self.python_button = Button(kind="ghost", icon_name="copy", small=True, flush="right")
        self.menu_button = Button(kind="ghost", icon_name="pc", small=True, flush="right")
        self.link_buttons = (self.command_button, self.python_button, self.menu_button)
        self.folder_button = Button(kind="ghost", icon_name="folder", flush="left")
        self.lock_button = Button(kind="ghost", icon_name="share")
        self.more_buttons = (self.folder_button, self.lock_button)
        for each in (*self.cards, *self.more_buttons, *self.link_buttons):
            each.setParent(self)  # the layout has only those that are shown: the others end with it, too
        self.result_banner = Banner("ok")
        self.result_banner.hide()
        self._build_progress_row()
        self._titles: dict[str, str] = {}
        self._visible_cards: list[ClickableCard] = []
        self._grid = QGridLayout()
        self._grid.setSpacing(CARD_SPACING)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addLayout(self._grid)
        column.addWidget(self._progress_row)
        column.addWidget(self.result_banner)
        self._query_runner, self._action_runner = JobRunner(self), JobRunner(self)
        self._query_runner.done.connect(self._on_integrations)
        self._action_runner.done.connect(lambda _: self._show_message("ok"))
        self._action_runner.failed.connect(self._on_failed)
        self._action_runner.cancelled.connect(self._on_cancelled)
        self._action_runner.reported.connect(self._on_event)
        self._action_runner.finished.connect(self._start_next_action)
        self._shape: tuple[object, ...] = ()
        self._connect_signals()
        self._arrange()
        self.apply_theme()

    def _build_progress_row(self) -> None:
        self.progress_label, self.progress_bar = label("body"), ProgressBar()
        self.cancel_button = Button(icon_name="cross")
        self._progress_row = QWidget()
        progress = QGridLayout(self._progress_row)
        progress.setContentsMargins(0, 4, 0, 0)
        progress.setHorizontalSpacing(12)
        progress.setColumnStretch(0, 1)
        progress.addWidget(self.progress_label, 0, 0)
        progress.addWidget(self.progress_bar, 1, 0)
        progress.addWidget(self.cancel_button, 0, 1, 2, 1)
        self._progress_row.hide()

    def _connect_signals(self) -> None:
        self.examples_card.clicked.connect(self.open_examples)
        self.terminal_card.clicked.connect(lambda: self._run_action(self._open_terminal))
        self.folder_button.clicked.connect(lambda: self._run_action(self._open_folder))
        self.editor_card.clicked.connect(self.choose_project)
        self.python_button.clicked.connect(
            lambda: self._copy_to_clipboard(str(self._integrations.python) if self._integrations is not None else "")
        )
        self.command_button.clicked.connect(lambda: self._copy_to_clipboard(self._activation_command))
        for button in (self.menu_card, self.menu_button):
            button.clicked.connect(self._create_menu_entry)
        self.jupyter_card.clicked.connect(self.open_jupyter)
        self.pycharm_card.clicked.connect(self.open_pycharm)
        self.cancel_button.clicked.connect(self._cancel_action)
        self.lock_button.clicked.connect(self.choose_lock_file)

    def set_environment(self, environment: Path | None) -> None:
        """Show the actions for another environment, or none; which are possible is found out in a thread."""
        if environment == self._environment:
            return
        self._environment, self._integrations, self._message = environment, None, None
        self.result_banner.hide()
        self._arrange()
        if environment is not None and not self._services.simulated and not self._query_runner.running:
            self._query_runner.start(FindIntegrationsJob(self._services, environment))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():
            self.result_banner.hide()

    def open_examples(self) -> None:
        """Open the window of the example programs, which runs the first one."""
        if self._environment is not None and not self._services.simulated:
            from .examples.dialog import ExampleDialog

            has_editor = self._integrations is not None and self._integrations.editor is not None
            ExampleDialog.show_dialog(
                self._services, self._language, self._environment, self.window(), has_editor=has_editor
            )

    def open_jupyter(self) -> None:
        """Open the first program as a notebook; JupyterLab is installed first where the environment lacks it, if the
        user agrees.
        """
        integrations = self._integrations
        is_there = integrations is not None and integrations.has_jupyter and integrations.has_kernel
        if is_there or ConfirmDialog.ask(
            self.window(),
            self.tr("Install JupyterLab?"),
            self.tr(
                "JupyterLab opens notebooks in your browser. It is installed into this environment with the "
                "packages it needs; everything already there stays as it is. Removing the environment removes it "
                "too."
            ),
            self.tr("Install and open"),
            self.tr("Not now"),
        ):
            code = self._language.current
            self._run_action(
                lambda env: self._services.integrations.open_in_jupyter(
                    env,
                    documents_folder() / PROGRAMS_FOLDER,
                    self._services.integrations.program_notebook(env, "first-program", code),
                ),
                lambda: self.tr("JupyterLab opens in your browser. To stop it, choose File, then Shut Down there."),
            )

    def open_pycharm(self) -> None:
        """Open the first program in PyCharm; the path of the Python to choose there is on the clipboard."""
        integrations = self._integrations
        if integrations is None:
            return
        python = str(integrations.python)
        application().clipboard().setText(python)
        source = program_source("first-program", self._language.current).encode()
        program = (script_path("first-program").name, source)
        template = self.tr("PyCharm is opening. Choose {python} as its interpreter (the path is copied).")
        self._run_action(
            lambda _env: self._services.integrations.open_in_pycharm(documents_folder() / PROGRAMS_FOLDER, program),
            lambda: template.format(python=python),
        )

    # Actions that ask first

    def choose_project(self) -> None:
        """Open the dialog for the folder that the editor is to open."""
        self.create_project_dialog().open()

    def create_project_dialog(self) -> QFileDialog:
        """The dialog for the project folder."""
        dialog = folder_dialog(self, self.tr("Choose your project folder"))
        dialog.fileSelected.connect(lambda folder: self.open_project(Path(folder)))
        return dialog

    def open_project(self, folder: Path) -> None:
        """Open a folder in the editor, with the environment's Python."""
        template = self.tr("{folder} opens with this environment's Python.")
        self._run_action(
            lambda env: self._services.integrations.open_in_editor(env, folder),
            lambda: template.format(folder=str(folder)),
        )

    def choose_lock_file(self) -> None:
        """Open the dialog for the lock file."""
        self.create_lock_dialog().open()

    def create_lock_dialog(self) -> QFileDialog:
        """The dialog for where to save the lock file."""
        title = self.tr("Export package list")
        dialog = save_dialog(self, title, "TOML (*.toml)", LOCK_FILE_NAME)
        dialog.fileSelected.connect(lambda file: self.save_lock(Path(file)))
        return dialog

    def save_lock(self, target: Path) -> None:
        """Save a copy of the environment's lock file."""
        self._run_action(
            lambda env: FunctionJob(lambda: self._services.integrations.export_lockfile(env, target)),
            lambda: self.tr("Saved: {path}").format(path=str(target)),
        )

    # Running actions

    def _create_menu_entry(self) -> None:
        self._run_action(
            self._services.integrations.create_menu_entry,
            lambda: self.tr("Added to the Start menu.") if self._has_start_menu else self.tr("Added to the app menu."),
        )

    def _open_terminal(self, environment: Path) -> Job[object]:
        # `system` is loaded on first use, which must not be on the window's thread.
        return FunctionJob(lambda: self._services.system.open_terminal(environment))

    def _open_folder(self, environment: Path) -> Job[object]:
        return FunctionJob(lambda: self._services.system.open_folder(environment))

    def _run_action(self, create_job: Callable[[Path], Job[object]], message: Callable[[], str] | None = None) -> None:
        """Run it, after the one that runs now; a second click on that one does nothing."""
        if self._environment is None:
            return
        if not self._action_runner.running:
            self._start_action(create_job, message, self._environment)
        elif create_job != self._running_action:
            self._next_action = partial(self._start_action, create_job, message, self._environment)

    def _start_action(
        self, create_job: Callable[[Path], Job[object]], message: Callable[[], str] | None, environment: Path
    ) -> None:
        self._running_action, self._message = create_job, message
        self.result_banner.hide()
        self._action_runner.start(LazyJob(partial(create_job, environment)))

    def _on_event(self, event: Event) -> None:
        """Show how far the packages are that an action needs."""
        event = self._language.texts().localize_event(event)
        if isinstance(event, PlanEvent):
            self._titles = {step.id: step.title or "" for step in event.steps}
        elif isinstance(event, StepEvent) and event.state == "running":
            self._progress_row.show()
            self.progress_label.setText(self._titles.get(event.id, ""))
            is_known = event.done is not None and bool(event.total)
            self.progress_bar.set_fraction((event.done or 0) / (event.total or 1) if is_known else None)

    def _cancel_action(self) -> None:
        self._action_runner.cancel()
        self.cancel_button.setEnabled(False)

    def _on_cancelled(self) -> None:
        self._message = lambda: self.tr("Stopped. What was downloaded is kept.")
        self._show_message("neutral")

    def _start_next_action(self) -> None:
        self._progress_row.hide()
        self.cancel_button.setEnabled(True)
        if self._environment is not None and not self._query_runner.running:
            self._query_runner.start(FindIntegrationsJob(self._services, self._environment))
        start, self._next_action = self._next_action, None
        if start is not None:
            start()

    @property
    def _has_start_menu(self) -> bool:
        """Whether the menu for programs is Windows' Start menu."""
        return self._services.system.name == "windows"

    @property
    def _activation_command(self) -> str:
        return self._services.system.activation_command(self._environment) if self._environment is not None else ""

    def _copy_to_clipboard(self, text: str) -> None:
        application().clipboard().setText(text)
        self._message = lambda: self.tr("Copied: {text}").format(text=text)
        self._show_message("ok")

    def _on_integrations(self, result: tuple[Path, EnvironmentActions | None]) -> None:
        environment, integrations = result
        if environment == self._environment:
            self._integrations = integrations
            self._arrange()
        elif self._environment is not None:
            self._query_runner.start(FindIntegrationsJob(self._services, self._environment))

    def _on_failed(self, error: AppError) -> None:
        # Without a terminal that is supported: the command to type in the user's own.
        terminal_hint = f"\n{self._activation_command}" if error.code == NO_TERMINAL_CODE else ""
        self._message = lambda: messages.error_text(self._language.texts(), error) + terminal_hint
        self._show_message("warn")

    def _show_message(self, kind: BannerKind) -> None:
        self.result_banner.setVisible(self._message is not None)
        if self._message is not None:
            text = self._message()
            self.result_banner.set(kind, text)
            announce(self.result_banner, text)
            self.message_shown.emit(text)

    # Display

    def retranslate(self) -> None:
        self.examples_card.set_texts(self.tr("My first program"), self.tr("Learns to read digits"))
        self.terminal_card.set_texts(self.tr("Open a terminal"), self.tr("Environment ready"))
        self.folder_button.setText(self.tr("Open folder"))
        self.folder_button.setToolTip(str(self._environment or ""))
        self.command_button.setText(self.tr("Copy the start command"))
        self.command_button.setToolTip(self.tr("For your own terminal"))
        self.editor_card.set_texts(self.tr("Open in VS Code"), self.tr("Your project, with this Python"))
        self.pycharm_card.set_texts(self.tr("Open in PyCharm"), self.tr("The first program"))
        self.python_button.setText(self.tr("Copy the Python path"))
        self.python_button.setToolTip(self.tr("For another editor"))
        menu_text = self.tr("Add to Start") if self._has_start_menu else self.tr("Add to app menu")
        self.menu_card.set_texts(menu_text, self.tr("Opens a terminal in one click"))
        self.menu_button.setText(menu_text)
        self.menu_button.setToolTip(self.tr("Opens a terminal in one click"))
        self.jupyter_card.set_texts(self.tr("Open in Jupyter"), self.tr("As a notebook"))
        self.cancel_button.setText(self.tr("Cancel"))
        self.lock_button.setText(self.tr("Export package list"))
        if not self.result_banner.isHidden() and self._message is not None:
            self.result_banner.set(self.result_banner.kind, self._message())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_cards()

    def refresh(self) -> None:
        super().refresh()
        self._place_cards()

    def _arrange(self) -> None:
        """Show the possible actions."""
        integrations = self._integrations
        is_available = {
            self.examples_card: self._on_home,
            self.menu_card: not self._on_home,
            self.editor_card: integrations is not None and integrations.editor is not None,
            self.pycharm_card: integrations is not None and integrations.pycharm is not None,
        }
        self._visible_cards = [card for card in self.cards if is_available.get(card, True)]
        for card in self.cards:
            card.setVisible(self._environment is not None and card in self._visible_cards)
            card.setEnabled(not self._services.simulated)
        for button in self.more_buttons:
            button.setVisible(self._environment is not None and not self._on_home)
        for button in self.link_buttons:
            button.setVisible(self._environment is not None and self._on_home)
            button.setEnabled(not self._services.simulated)
        self.python_button.setVisible(self._on_home and integrations is not None)
        self._place_cards()
        self.retranslate()

    def _place_cards(self) -> None:
        """Put the cards into rows of as equal a length as can be, each of which is the whole width."""
        cards = self._visible_cards
        columns = _column_count(len(cards), self.width())
        is_narrow = columns > 1 and self.width() < columns * (theme.px(CARD_MIN_WIDTH) + CARD_SPACING) - CARD_SPACING
        if (columns, is_narrow, *cards) == self._shape:
            return
        self._shape = (columns, is_narrow, *cards)
        for card in self.cards:
            self._grid.removeWidget(card)
        for card in cards:
            card.set_detail_shown(not is_narrow)
        # The cards of the last row share its width, so that it has no hole.
        last_row = len(cards) % columns
        units = math.lcm(columns, last_row or columns)
        for index, card in enumerate(cards):
            row, place = divmod(index, columns)
            is_last = row == len(cards) // columns
            span = units // (last_row if is_last else columns)
            self._grid.addWidget(card, row, place * span, 1, span)
        for column in range(max(units, self._grid.columnCount())):
            self._grid.setColumnStretch(column, 1 if column < units else 0)


def _column_count(count: int, width: int) -> int:
    """How many of `count` cards stand in a row of this width in pixels: all of them if they fit, however narrowly."""
    spaced_width = width + CARD_SPACING
    if count <= spaced_width // (theme.px(ROW_CARD_MIN_WIDTH) + CARD_SPACING):
        return max(count, 1)
    most = max(spaced_width // (theme.px(CARD_MIN_WIDTH) + CARD_SPACING), 1)
    rows = math.ceil(count / most)
    return math.ceil(count / rows)


class FindIntegrationsJob:
    """Finds out how an environment can be used; its result is the environment and its actions, if it is managed."""

    def __init__(self, services: App, environment: Path) -> None:
        self._services = services
        self._environment = environment

    def run(self, context: object) -> tuple[Path, EnvironmentActions | None]:  # noqa: ARG002
        try:
            return self._environment, self._services.integrations.actions(self._environment)
        except AppError:
            return self._environment, None
