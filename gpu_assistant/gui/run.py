"""The window's way from a start to its end: one instance, theme, language, the shell, and what nobody foresaw."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from ..core import json
from ..core.errors import AppError
from ..core.paths import resources
from ..core.settings import Language as Code
from ..core.settings import Theme
from .crash import CrashReport
from .instance import Instance
from .main.window import MainWindow

if TYPE_CHECKING:
    from pathlib import Path

    from ..app import App
    from .ending import Ending
    from .garbage import Garbage
    from .hooks import Hooks
    from .language import Language

log = logging.getLogger(__name__)


class Program:
    """One run of the window: `open()` shows its frame, `exec()` fills it and lives until it is closed."""

    def __init__(self, app: App, *, language: Code | None = None) -> None:
        self.app = app
        self.qt = _application()
        self.language: Language | None = None
        self.window: MainWindow | None = None
        self.instance: Instance | None = None
        self._code = language
        self._hooks: Hooks | None = None
        self._garbage: Garbage | None = None
        self._ending: Ending | None = None
        self._crash = CrashReport(app.data.logs)
        self._crashed: Path | None = None

    def dress(self) -> Language:
        """Theme and language, and the hooks for what nobody foresaw; once."""
        if self.language is None:
            from . import theme
            from .garbage import Garbage
            from .hooks import Hooks
            from .language import Language

            self._hooks = Hooks(self._unforeseen, self.qt)
            self._hooks.install()
            self._garbage = Garbage(self.qt)
            self._garbage.start()
            if self.app.settings.text_scale != theme.text_scale():
                theme.set_text_scale(self.qt, self.app.settings.text_scale)
            theme.set_theme(self.qt, self.app.settings.theme)
            self.language = Language(self.qt)
            self.language.speak_of(elsewhere=self.app.simulated, terminal=self.app.terminal())
            self.language.set(self._code or self.app.language())
        return self.language

    def first(self) -> bool:
        """Take the data folder's lock; False after the window that has it came to the front.

        A simulated machine takes no lock: it executes nothing, and the real window may stay open beside it.
        Raises AppError when the folder cannot be written.
        """
        if self.app.simulated:
            return True
        self.instance = Instance(self.app.data.state, self.qt)
        if self.instance.first():
            return True
        heard = self.instance.call_first()
        if not heard:
            log.warning("another window holds the lock and does not answer")
        self._say_open(heard)
        return False

    def open(self) -> MainWindow:
        """Show the window's frame; it is filled as soon as that is painted."""
        if not self.app.simulated:  # the real window may be open beside it
            self._crashed = self._crash.begin()
        self.window = MainWindow(self.app, _ground(self.app.settings.theme))
        self.window.painted.connect(self._next)
        self._steps = [self.dress, self._load, self._fill, self._finish]
        self.window.show()
        return self.window

    def exec(self) -> int:
        """Run until the window is closed, or the system ends it; the exit status."""
        from .ending import Ending

        self._ending = Ending(self.qt)
        self._ending.told.connect(self._end)
        self._ending.near.connect(self._keep)
        self._ending.listen()
        try:
            return self.qt.exec()
        finally:
            self._ending.ignore()
            if self._hooks is not None:
                self._hooks.remove()
            if self._garbage is not None:
                self._garbage.stop()
            self._crash.end()
            if self.instance is not None:
                self.instance.release()

    def complain(self, error: AppError) -> None:
        """Say in a dialog what keeps the window from opening."""
        from .main.tell import tell

        texts = self.dress().texts()
        tell(None, QCoreApplication.translate("Program", "GPU Assistant cannot open"), texts.error(error))

    def _say_open(self, heard: bool) -> None:
        """Tell a terminal why no second window comes. A start without one has no stderr."""
        from ..texts.sentences import Sentences

        if sys.stderr is not None:
            said = Sentences(self._code or self.app.language())
            sys.stderr.write(said.say("instance.shown" if heard else "instance.silent") + "\n")

    def _next(self) -> None:
        """The steps after the first paint, each in a turn of its own: the window answers in between."""
        step = self._steps.pop(0)
        step()
        if self._steps:
            QTimer.singleShot(0, self.qt, self._next)

    def _load(self) -> None:
        """Load the code of the face that comes."""
        from . import components  # noqa: F401 - loading is all that is wanted

        if self.app.settings.settled and not (self.app.simulated or self.app.resuming):
            from .main import area  # noqa: F401
        else:
            from .wizard import wizard  # noqa: F401

    def _fill(self) -> None:
        if self.window is not None:
            self.window.fill(self.dress())

    def _finish(self) -> None:
        """What nobody waits for: the task bar's icon and the ear for later starts."""
        from .icons import app_icon

        self.qt.setWindowIcon(app_icon())
        if self.instance is not None and self.window is not None:
            self.instance.listen(self.window.to_front)
        if self._crashed is not None and self.window is not None:
            self.window.say_crashed(self._crashed)

    def _end(self) -> None:
        if self.window is not None:
            self.window.end()
        else:
            self.qt.quit()

    def _keep(self) -> None:
        """The process may be gone in a moment, and not by a fault."""
        if self.window is not None:
            self.window.keep()
        self._crash.survived()

    def _unforeseen(self) -> None:
        from .main.tell import tell

        translate = QCoreApplication.translate
        tell(
            self.window,
            translate("Program", "Something went wrong inside GPU Assistant"),
            translate(
                "Program", "It is written down in the log file: {path}. You can go on; trying again may help."
            ).format(path=self.app.data.logs / "gpu-assistant.log"),
        )


def run(app: App, *, language: Code | None = None) -> int:
    """Open the window on these services; returns the process's exit code."""
    program = Program(app, language=language)
    try:
        if not program.first():
            return 0
    except AppError as error:
        program.complain(error)
        raise
    program.open()
    return program.exec()


def _application() -> QApplication:
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    made = QApplication(["gpu-assistant"])
    made.setApplicationName("gpu-assistant")
    made.setDesktopFileName("gpu-assistant")
    return made


class _Ground(msgspec.Struct):
    window: str


class _Themes(msgspec.Struct):
    themes: dict[str, _Ground]


def _ground(choice: Theme) -> str:
    """The colour of the empty frame: the theme's own module would bring most of Qt with it."""
    if choice == "system":
        choice = "dark" if QGuiApplication.palette().window().color().lightness() < 128 else "light"
    return json.decode((resources() / "theme.json").read_bytes(), _Themes).themes[choice].window
