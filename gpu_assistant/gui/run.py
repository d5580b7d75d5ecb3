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
from ..core.paths import resources_dir
from ..core.settings import Language as Code
from ..core.settings import Theme
from .crash import CrashReport
from .instance import SingleInstance
from .main.window import MainWindow

if TYPE_CHECKING:
    from pathlib import Path

    from ..app import App
    from .ending import ShutdownNotifier
    from .garbage import GarbageCollector
    from .hooks import ExceptionHooks
    from .language import Language

log = logging.getLogger(__name__)


class DesktopApplication:
    """One run of the window: `open()` shows its frame, `exec()` fills it and lives until it is closed."""

    def __init__(self, app: App, *, language: Code | None = None) -> None:
        self.app = app
        self.qt_app = _qt_application()
        self.language: Language | None = None
        self.window: MainWindow | None = None
        self.instance: SingleInstance | None = None
        self._language_code = language
        self._exception_hooks: ExceptionHooks | None = None
        self._garbage_collector: GarbageCollector | None = None
        self._shutdown_notifier: ShutdownNotifier | None = None
        self._crash_report = CrashReport(app.data.logs)
        self._crash_file: Path | None = None

    def initialize(self) -> Language:
        """Theme and language, and the hooks for what nobody foresaw; once."""
        if self.language is None:
            from . import theme
            from .garbage import GarbageCollector
            from .hooks import ExceptionHooks
            from .language import Language

            self._exception_hooks = ExceptionHooks(self._show_unexpected_error, self.qt_app)
            self._exception_hooks.install()
            self._garbage_collector = GarbageCollector(self.qt_app)
            self._garbage_collector.start()
            if self.app.settings.text_scale != theme.text_scale():
                theme.set_text_scale(self.qt_app, self.app.settings.text_scale)
            theme.set_theme(self.qt_app, self.app.settings.theme)
            self.language = Language(self.qt_app)
            self.language.set_machine_context(elsewhere=self.app.simulated, terminal=self.app.terminal())
            self.language.set(self._language_code or self.app.language())
        return self.language

    def acquire_instance(self) -> bool:
        """Take the data folder's lock; False after the window that has it came to the front.

        A simulated machine takes no lock: it executes nothing, and the real window may stay open beside it.
        Raises AppError when the folder cannot be written.
        """
        if self.app.simulated:
            return True
        self.instance = SingleInstance(self.app.data.state, self.qt_app)
        if self.instance.try_lock():
            return True
        activated = self.instance.activate_running()
        if not activated:
            log.warning("another window holds the lock and does not answer")
        self._print_already_running(activated)
        return False

    def open(self) -> MainWindow:
        """Show the window's frame; it is filled as soon as that is painted."""
        if not self.app.simulated:  # the real window may be open beside it
            self._crash_file = self._crash_report.start()
        self.window = MainWindow(self.app, _window_color(self.app.settings.theme))
        self.window.painted.connect(self._run_next_step)
        self._startup_steps = [self.initialize, self._import_modules, self._fill_window, self._finish_startup]
        self.window.show()
        return self.window

    def exec(self) -> int:
        """Run until the window is closed, or the system ends it; the exit status."""
        from .ending import ShutdownNotifier

        self._shutdown_notifier = ShutdownNotifier(self.qt_app)
        self._shutdown_notifier.shutdown_requested.connect(self._close)
        self._shutdown_notifier.session_ending.connect(self._save_state)
        self._shutdown_notifier.start()
        try:
            return self.qt_app.exec()
        finally:
            self._shutdown_notifier.stop()
            if self._exception_hooks is not None:
                self._exception_hooks.uninstall()
            if self._garbage_collector is not None:
                self._garbage_collector.stop()
            self._crash_report.stop()
            if self.instance is not None:
                self.instance.release()

    def show_startup_error(self, error: AppError) -> None:
        """Say in a dialog what keeps the window from opening."""
        from .main.tell import show_message_dialog

        texts = self.initialize().texts()
        show_message_dialog(None, QCoreApplication.translate("Program", "GPU Assistant cannot open"), texts.error_text(error))

    def _print_already_running(self, activated: bool) -> None:
        """Tell a terminal why no second window comes. A start without one has no stderr."""
        from ..texts.sentences import Translator

        if sys.stderr is not None:
            sentences = Translator(self._language_code or self.app.language())
            sys.stderr.write(sentences.translate("instance.shown" if activated else "instance.silent") + "\n")

    def _run_next_step(self) -> None:
        """The steps after the first paint, each in a turn of its own: the window answers in between."""
        step = self._startup_steps.pop(0)
        step()
        if self._startup_steps:
            QTimer.singleShot(0, self.qt_app, self._run_next_step)

    def _import_modules(self) -> None:
        """Load the code of the face that comes."""
        from . import components  # noqa: F401 - loading is all that is wanted

        if self.app.settings.opens_home and not (self.app.simulated or self.app.resuming):
            from .main import area  # noqa: F401
        else:
            from .wizard import wizard  # noqa: F401

    def _fill_window(self) -> None:
        if self.window is not None:
            self.window.build(self.initialize())

    def _finish_startup(self) -> None:
        """What nobody waits for: the task bar's icon and the ear for later starts."""
        from .icons import app_icon

        self.qt_app.setWindowIcon(app_icon())
        if self.instance is not None and self.window is not None:
            self.instance.listen(self.window.bring_to_front)
        if self._crash_file is not None and self.window is not None:
            self.window.show_crash_notice(self._crash_file)

    def _close(self) -> None:
        if self.window is not None:
            self.window.end_session()
        else:
            self.qt_app.quit()

    def _save_state(self) -> None:
        """The process may be gone in a moment, and not by a fault."""
        if self.window is not None:
            self.window.save_state()
        self._crash_report.discard()

    def _show_unexpected_error(self) -> None:
        from .main.tell import show_message_dialog

        translate = QCoreApplication.translate
        show_message_dialog(
            self.window,
            translate("Program", "Something went wrong inside GPU Assistant"),
            translate(
                "Program", "It is written down in the log file: {path}. You can go on; trying again may help."
            ).format(path=self.app.data.logs / "gpu-assistant.log"),
        )


def run(app: App, *, language: Code | None = None) -> int:
    """Open the window on these services; returns the process's exit code."""
    program = DesktopApplication(app, language=language)
    try:
        if not program.acquire_instance():
            return 0
    except AppError as error:
        program.show_startup_error(error)
        raise
    program.open()
    return program.exec()


def _qt_application() -> QApplication:
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    app = QApplication(["gpu-assistant"])
    app.setApplicationName("gpu-assistant")
    app.setDesktopFileName("gpu-assistant")
    return app


class _WindowColor(msgspec.Struct):
    window: str


class _ThemeColors(msgspec.Struct):
    themes: dict[str, _WindowColor]


def _window_color(choice: Theme) -> str:
    """The colour of the empty frame: the theme's own module would bring most of Qt with it."""
    if choice == "system":
        choice = "dark" if QGuiApplication.palette().window().color().lightness() < 128 else "light"
    return json.decode((resources_dir() / "theme.json").read_bytes(), _ThemeColors).themes[choice].window
