"""The window's way from a start to its end: one instance, theme, language, the shell, and what nobody foresaw."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QApplication

from ..core.errors import AppError
from ..core.settings import Language as Code
from . import theme
from .hooks import Hooks
from .instance import Instance
from .language import Language

if TYPE_CHECKING:
    from ..app import App
    from .main.window import MainWindow

log = logging.getLogger(__name__)


class Program:
    """One run of the window: `open()` shows it, `exec()` lives until it is closed."""

    def __init__(self, app: App, *, language: Code | None = None) -> None:
        self.app = app
        self.qt = _application()
        self.hooks = Hooks(self._unforeseen, self.qt)
        self.language = Language(self.qt)
        if app.settings.text_scale != theme.text_scale():
            theme.set_text_scale(self.qt, app.settings.text_scale)
        theme.set_theme(self.qt, app.settings.theme)
        self.language.set(language or app.language())
        self.window: MainWindow | None = None
        self.instance: Instance | None = None

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
        if not self.instance.call_first():
            log.warning("another window holds the lock and does not answer")
        return False

    def open(self) -> MainWindow:
        """Show the window: the wizard until a first setup is done, Home afterwards."""
        from .main.window import MainWindow

        window = MainWindow(self.app, self.language)
        self.window = window
        window.painted.connect(self._after_first_paint)
        window.show()
        return window

    def exec(self) -> int:
        """Run until the window is closed; the exit status."""
        self.hooks.install()
        try:
            return self.qt.exec()
        finally:
            self.hooks.remove()
            if self.instance is not None:
                self.instance.release()

    def complain(self, error: AppError) -> None:
        """Say in a dialog what keeps the window from opening."""
        from .main.tell import tell

        tell(
            None,
            QCoreApplication.translate("Program", "GPU Assistant cannot open"),
            self.language.texts().error(error),
        )

    def _after_first_paint(self) -> None:
        """What nobody waits for: the task bar's icon and the ear for later starts."""
        from .icons import app_icon

        self.qt.setWindowIcon(app_icon())
        if self.instance is not None and self.window is not None:
            self.instance.listen(self.window.to_front)

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
    QApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    made = QApplication(["gpu-assistant"])
    made.setApplicationName("gpu-assistant")
    made.setDesktopFileName("gpu-assistant")
    return made
