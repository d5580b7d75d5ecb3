"""Actions for an environment, each a card to click: example programs, terminal, folder, editor, menu entry, Jupyter
kernel, lock file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFileDialog, QGridLayout, QVBoxLayout, QWidget

from ..core.errors import AppError
from ..core.jobs import Job, LazyJob
from . import messages
from .language import Language
from .widgets.base import Breakpoints, Themed, announce, application
from .widgets.cards import Banner, BannerKind, ClickableCard
from .widgets.dialogs import folder_dialog, save_dialog
from .worker import FunctionJob, JobRunner

if TYPE_CHECKING:
    from ..app import App
    from ..install.environment.integrations import EnvironmentActions


COLUMNS = 4
LOCK_FILE_NAME = "pylock.toml"
NO_TERMINAL_CODE = "no-terminal"


class EnvironmentActionsPanel(Themed, QWidget):
    """The cards for one environment at a time. `on_home` adds one that copies the activation command, and leaves out
    folder and package list, which are in the menu of each environment there.

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
        self.terminal_card, self.folder_card = ClickableCard("terminal"), ClickableCard("folder")
        self.editor_card, self.python_card = ClickableCard("code"), ClickableCard("copy")
        self.menu_card, self.jupyter_card, self.lock_card = (
            ClickableCard("pc"),
            ClickableCard("book"),
            ClickableCard("share"),
        )
        self.command_card = ClickableCard("copy")
        self.cards = (
            *(self.examples_card, self.terminal_card, self.editor_card, self.folder_card, self.command_card),
            *(self.python_card, self.menu_card, self.jupyter_card, self.lock_card),
        )
        self.result_banner = Banner("ok")
        self.result_banner.hide()
        self._grid = QGridLayout()
        self._grid.setSpacing(12)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addLayout(self._grid)
        column.addWidget(self.result_banner)
        self._query_runner, self._action_runner = JobRunner(self), JobRunner(self)
        self._query_runner.done.connect(self._on_integrations)
        self._action_runner.done.connect(lambda _: self._show_message("ok"))
        self._action_runner.failed.connect(self._on_failed)
        self._action_runner.finished.connect(self._start_next_action)
        self._shape = Breakpoints(self)
        self._shape.changed.connect(self._arrange)
        self._connect_signals()
        self._arrange()
        self.apply_theme()

    def _connect_signals(self) -> None:
        self.examples_card.clicked.connect(self.open_examples)
        self.terminal_card.clicked.connect(lambda: self._run_action(self._open_terminal))
        self.folder_card.clicked.connect(lambda: self._run_action(self._open_folder))
        self.editor_card.clicked.connect(self.choose_project)
        self.python_card.clicked.connect(
            lambda: self._copy_to_clipboard(str(self._integrations.python) if self._integrations is not None else "")
        )
        self.command_card.clicked.connect(lambda: self._copy_to_clipboard(self._activation_command))
        self.menu_card.clicked.connect(
            lambda: self._run_action(
                self._services.integrations.create_menu_entry, lambda: self.tr("Added to your apps menu.")
            )
        )
        self.jupyter_card.clicked.connect(
            lambda: self._run_action(
                self._services.integrations.register_kernel,
                lambda: self.tr("Added to Jupyter's kernels."),
            )
        )
        self.lock_card.clicked.connect(self.choose_lock_file)

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

    def _start_next_action(self) -> None:
        start, self._next_action = self._next_action, None
        if start is not None:
            start()

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
        self.examples_card.set_texts(self.tr("Run my first program"), self.tr("A network learns to read digits"))
        self.terminal_card.set_texts(self.tr("Open a terminal"), self.tr("With the environment ready"))
        self.folder_card.set_texts(self.tr("Open its folder"), str(self._environment or ""))
        self.command_card.set_texts(self.tr("Copy the command"), self.tr("For a terminal of your own"))
        self.editor_card.set_texts(self.tr("Open in VS Code"), self.tr("A project, with this Python"))
        self.python_card.set_texts(self.tr("PyCharm and others"), self.tr("Copy its Python's path"))
        self.menu_card.set_texts(self.tr("Add to apps menu"), self.tr("Opens a terminal in one click"))
        self.jupyter_card.set_texts(self.tr("Use in Jupyter"), self.tr("As a notebook kernel"))
        self.lock_card.set_texts(self.tr("Export package list"), self.tr("To share or restore it"))
        if not self.result_banner.isHidden() and self._message is not None:
            self.result_banner.set(self.result_banner.kind, self._message())

    def _arrange(self) -> None:
        """Show the possible actions, in as many columns as fit."""
        has_environment = self._environment is not None
        integrations = self._integrations
        is_available = {
            self.command_card: self._on_home,
            self.folder_card: not self._on_home,
            self.lock_card: not self._on_home,
            self.editor_card: integrations is not None and integrations.editor is not None,
            self.python_card: integrations is not None,
        }
        visible_cards = [card for card in self.cards if is_available.get(card, True)]
        for card in self.cards:
            self._grid.removeWidget(card)
            card.setVisible(has_environment and card in visible_cards)
            card.setEnabled(not self._services.simulated)
        shape = self._shape
        columns = 1 if shape.is_small else 2 if shape.is_tight else COLUMNS - 1 if shape.is_narrow else COLUMNS
        for index, card in enumerate(visible_cards):
            self._grid.addWidget(card, index // columns, index % columns)
        for column in range(COLUMNS):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        self.retranslate()


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
