"""The ways to work with an environment, each a card to press, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFileDialog, QGridLayout, QVBoxLayout, QWidget

from ...core.errors import AppError
from ...core.jobs import Job, Later
from ..components import Banner, PressableCard, announce
from ..components.banner import BannerKind
from ..components.base import Live, app
from ..components.dialogs import folder_dialog, save_dialog
from ..components.shape import Shape
from ..language import Language
from ..main.tasks import Task
from ..wizard import words as said
from ..worker import JobRunner

if TYPE_CHECKING:
    from ...app import App
    from ...install.after import Ways

COLUMNS = 4
LOCK_NAME = "pylock.toml"
NO_TERMINAL = "no-terminal"


class WaysPanel(Live, QWidget):
    """Cards for one environment at a time; `command`: also what is typed in a terminal, to copy.

    `told` comes with each sentence about what was asked for.
    """

    told = Signal(str)

    def __init__(
        self, services: App, language: Language, *, command: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._with_command = command
        self._services, self._language = services, language
        self._environment: Path | None = None
        self._ways: Ways | None = None
        self._said: Callable[[], str] | None = None
        self.terminal, self.folder = PressableCard("terminal"), PressableCard("folder")
        self.editor, self.python = PressableCard("code"), PressableCard("copy")
        self.menu, self.jupyter, self.lock = PressableCard("pc"), PressableCard("book"), PressableCard("share")
        self.command = PressableCard("copy")
        self.cards = (
            *(self.terminal, self.folder, self.command, self.editor),
            *(self.python, self.menu, self.jupyter, self.lock),
        )
        self.news = Banner("ok")
        self.news.hide()
        self._grid = QGridLayout()
        self._grid.setSpacing(12)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addLayout(self._grid)
        column.addWidget(self.news)
        self._looking, self._doing = JobRunner(self), JobRunner(self)
        self._looking.done.connect(self._found)
        self._doing.done.connect(lambda _: self._tell("ok"))
        self._doing.failed.connect(self._failed)
        self._shape = Shape(self)
        self._shape.changed.connect(self._arrange)
        self._wire()
        self._arrange()
        self.follow()

    def _wire(self) -> None:
        services = self._services
        # The system's own code is loaded where it is first asked, which is not the window's thread.
        self.terminal.clicked.connect(lambda: self._act(lambda env: Task(lambda: services.system.open_terminal(env))))
        self.folder.clicked.connect(lambda: self._act(lambda env: Task(lambda: services.system.open_folder(env))))
        self.editor.clicked.connect(self.ask_project)
        self.python.clicked.connect(lambda: self._copy(str(self._ways.python) if self._ways is not None else ""))
        self.command.clicked.connect(lambda: self._copy(self._activation))
        self.menu.clicked.connect(
            lambda: self._act(self._services.menu_entry, lambda: self.tr("It stands among your programs now."))
        )
        self.jupyter.clicked.connect(
            lambda: self._act(self._services.kernel, lambda: self.tr("Jupyter offers it now as one of its kernels."))
        )
        self.lock.clicked.connect(self.ask_lock)

    def set_environment(self, environment: Path | None) -> None:
        """Another environment, or none; what can be done with it is found out on a thread of its own."""
        if environment == self._environment:
            return
        self._environment, self._ways, self._said = environment, None, None
        self.news.hide()
        self._arrange()
        if environment is not None and not self._services.simulated and not self._looking.running:
            self._looking.start(Looking(self._services, environment))

    def hideEvent(self, event: QHideEvent) -> None:
        """Whoever comes back to the page has read it."""
        super().hideEvent(event)
        if not event.spontaneous():
            self.news.hide()

    # Asking first

    def ask_project(self) -> None:
        """Ask which folder the editor shall open."""
        self.project_dialog().open()

    def project_dialog(self) -> QFileDialog:
        """The question for a folder to work in."""
        dialog = folder_dialog(self, self.tr("Which folder do you want to work in?"))
        dialog.fileSelected.connect(lambda folder: self.open_project(Path(folder)))
        return dialog

    def open_project(self, folder: Path) -> None:
        """Open a folder in the editor."""
        line = self.tr("{folder} opens with this environment's Python.")
        self._act(lambda env: self._services.open_in_editor(env, folder), lambda: line.format(folder=str(folder)))

    def ask_lock(self) -> None:
        """Ask where the lock shall be saved."""
        self.lock_dialog().open()

    def lock_dialog(self) -> QFileDialog:
        """The question for a place of the lock."""
        title = self.tr("Where shall the list of packages be saved?")
        dialog = save_dialog(self, title, "TOML (*.toml)", LOCK_NAME)
        dialog.fileSelected.connect(lambda file: self.save_lock(Path(file)))
        return dialog

    def save_lock(self, target: Path) -> None:
        """Save the lock."""
        self._act(
            lambda env: Task(lambda: self._services.share_lock(env, target)),
            lambda: self.tr("Saved: {path}").format(path=str(target)),
        )

    # Doing

    def _act(self, make: Callable[[Path], Job[object]], words: Callable[[], str] | None = None) -> None:
        environment = self._environment
        if environment is None or self._doing.running:
            return
        self._said = words
        self.news.hide()
        self._doing.start(Later(partial(make, environment)))

    @property
    def _activation(self) -> str:
        return self._services.system.activation(self._environment) if self._environment is not None else ""

    def _copy(self, text: str) -> None:
        app().clipboard().setText(text)
        self._said = lambda: self.tr("Copied: {text}").format(text=text)
        self._tell("ok")

    def _found(self, found: tuple[Path, Ways | None]) -> None:
        environment, ways = found
        if environment == self._environment:
            self._ways = ways
            self._arrange()
        elif self._environment is not None:
            self._looking.start(Looking(self._services, self._environment))

    def _failed(self, error: AppError) -> None:
        # Who has no terminal that we know has one of his own: what to type there.
        more = f"\n{self._activation}" if error.code == NO_TERMINAL else ""
        self._said = lambda: said.error(self._language.texts(), error) + more
        self._tell("warn")

    def _tell(self, kind: BannerKind) -> None:
        self.news.setVisible(self._said is not None)
        if self._said is not None:
            words = self._said()
            self.news.set(kind, words)
            announce(self.news, words)
            self.told.emit(words)

    # Words and places

    def retranslate(self) -> None:
        """All words; what was said about an act stays true in another language."""
        self.terminal.set_texts(self.tr("Open a terminal"), self.tr("With the environment ready"))
        self.folder.set_texts(self.tr("Open its folder"), str(self._environment or ""))
        self.command.set_texts(self.tr("Copy the command"), self.tr("For a terminal of your own"))
        self.editor.set_texts(self.tr("Open in VS Code"), self.tr("A project, with this Python"))
        self.python.set_texts(self.tr("PyCharm and others"), self.tr("Copy its Python's path"))
        self.menu.set_texts(self.tr("Add to the menu"), self.tr("A terminal of its own"))
        self.jupyter.set_texts(self.tr("Use in Jupyter"), self.tr("As a notebook kernel"))
        self.lock.set_texts(self.tr("Share its packages"), self.tr("As a lock file"))
        if not self.news.isHidden() and self._said is not None:
            self.news.set(self.news.kind, self._said())

    def _arrange(self) -> None:
        """Only what can be done here, in as many columns as fit."""
        here = self._environment is not None
        ways = self._ways
        can = {
            self.command: self._with_command,
            self.editor: ways is not None and ways.editor is not None,
            self.python: ways is not None,
        }
        shown = [card for card in self.cards if can.get(card, True)]
        for card in self.cards:
            self._grid.removeWidget(card)
            card.setVisible(here and card in shown)
            card.setEnabled(not self._services.simulated)
        shape = self._shape
        columns = 1 if shape.small else 2 if shape.tight else COLUMNS - 1 if shape.narrow else COLUMNS
        for number, card in enumerate(shown):
            self._grid.addWidget(card, number // columns, number % columns)
        for column in range(COLUMNS):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        self.retranslate()


class Looking:
    """Finds out how an environment can be used: it reads the disk."""

    def __init__(self, services: App, environment: Path) -> None:
        self._services = services
        self._environment = environment

    def run(self, context: object) -> tuple[Path, Ways | None]:  # noqa: ARG002
        """The environment, and its ways if it is one of ours."""
        try:
            return self._environment, self._services.ways(self._environment)
        except AppError:
            return self._environment, None
