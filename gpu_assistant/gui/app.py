"""The desktop program from start to end.

    run ──> SingleInstance: a second start brings the first window to the front and ends
        ──> MainWindow, empty ── painted ──> ShutdownNotifier (shutdown.py) listens, initialize, import modules,
                                             fill the window, finish_startup
        ──> Qt's event loop, until the window closes

What no code handles is caught twice: ExceptionHooks logs exceptions and shows one message; CrashReport keeps Python's
stacks of a fault for the next start.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING

import msgspec
import PySide6
from PySide6.QtCore import (
    QCoreApplication,
    QCryptographicHash,
    QLockFile,
    QMessageLogContext,
    QObject,
    QTimer,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from ..core import filesystem, json
from ..core.errors import AppError, storage_error
from ..core.log import redact_home
from ..core.paths import home_dir, resources_dir
from ..core.settings import Theme
from ..core.types import Language as Code
from .main.window import MainWindow

if TYPE_CHECKING:
    from ..app import App
    from .event_loop import GarbageCollector
    from .language import Language
    from .shutdown import ShutdownNotifier

log = logging.getLogger(__name__)

# A first start that has the lock but does not listen yet needs a moment.
CONNECT_TIMEOUT_S = 3.0
# Read by the launcher of the setup program (installers/windows/report.c), which else says itself that we ended early.
ERROR_SHOWN_VARIABLE = "GPU_ASSISTANT_ERROR_SHOWN"
ACTIVE_FILE, CRASH_FILE = "window-now.txt", "crash.txt"
MAX_REPORT_BYTES = 200_000  # a hundred threads of a hundred lines each
QT_LOG_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def run(app: App, *, language: Code | None = None) -> int:
    """Open the window; returns the process's exit status."""
    program = DesktopApplication(app, language=language)
    try:
        if not program.acquire_instance():
            return 0
    except AppError as error:
        program.show_startup_error(error)
        raise
    window = program.open()
    status = program.exec()
    window.wait_for_jobs()
    if window.data_removed:
        _remove_remains(app, keep_environments=window.environments_kept)
    if window.jobs_abandoned:
        # Qt aborts the process when the object of a thread is destroyed while the thread runs.
        logging.shutdown()
        os._exit(status)
    return status


def _remove_remains(app: App, *, keep_environments: bool) -> None:
    """Remove what this process itself had open: its log, its locks, the folders that are empty now."""
    from ..core.jobs import JobContext

    logging.disable()  # a closed log would be opened again by the next line
    logging.shutdown()
    with suppress(AppError):
        app.setup.purge(keep_environments=keep_environments).run(JobContext())


class DesktopApplication:
    """One run of the window: `open()` shows its frame, `exec()` runs until it is closed."""

    def __init__(self, app: App, *, language: Code | None = None) -> None:
        self.app = app
        self.qt_app = _qt_application()
        self.language: Language | None = None
        self.window: MainWindow | None = None
        self.instance: SingleInstance | None = None
        self._language_code = language
        self._exception_hooks: ExceptionHooks | None = None
        self._garbage_collector: GarbageCollector | None = None
        self.shutdown_notifier: ShutdownNotifier | None = None
        self._crash_report = CrashReport(app.data.logs)
        self._crash_file: Path | None = None

    def initialize(self) -> Language:
        """Set theme, language and exception hooks, once."""
        if self.language is None:
            from . import theme
            from .event_loop import GarbageCollector
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
        """Take the data folder's lock; False after the window that holds it was brought to the front.

        A simulated computer takes no lock: it executes nothing, and the real window may be open at the same time.
        Raises AppError when the folder cannot be written.
        """
        if self.app.simulated:
            return True
        self.instance = SingleInstance(self.app.data.claim(self.app.data.state), self.qt_app)
        if self.instance.try_lock():
            return True
        activated = self.instance.activate_running(self.app.system.allow_foreground)
        self._print_already_running(activated)
        if not activated:
            log.warning("another window holds the lock and does not answer")
            self._show_silent_instance()
        return False

    def open(self) -> MainWindow:
        """Show the window's frame; it is filled after its first paint."""
        if not self.app.simulated:  # the real window may be open beside it
            self._crash_file = self._crash_report.start()
        self.window = MainWindow(self.app, _window_color(self.app.settings.theme))
        self.window.painted.connect(self._run_next_step)
        self._startup_steps = [
            self._start_shutdown_notifier,
            self.initialize,
            self._import_modules,
            self._fill_window,
            self.finish_startup,
        ]
        if self.app.starts_minimized:
            self.window.show_minimized()
        else:
            self.window.show()
        return self.window

    def exec(self) -> int:
        """Run until the window is closed or the system ends it; returns the exit status."""
        # Until the first paint there is nothing to save, and no Python code runs that would see the interrupt.
        previous_handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            return self.qt_app.exec()
        finally:
            if self.shutdown_notifier is not None:
                self.shutdown_notifier.stop()
            signal.signal(signal.SIGINT, previous_handler)
            if self._exception_hooks is not None:
                self._exception_hooks.uninstall()
            if self._garbage_collector is not None:
                self._garbage_collector.stop()
            self._crash_report.stop()
            if self.instance is not None:
                self.instance.release()

    def show_startup_error(self, error: AppError) -> None:
        """Show why the window cannot open."""
        from .widgets.dialogs import show_message_dialog

        texts = self.initialize().texts()
        show_message_dialog(
            None, QCoreApplication.translate("DesktopApplication", "GPU Assistant cannot open"), texts.error_text(error)
        )
        os.environ[ERROR_SHOWN_VARIABLE] = "1"

    def _show_silent_instance(self) -> None:
        from .widgets.dialogs import show_message_dialog

        texts = self.initialize().texts()
        show_message_dialog(
            None,
            QCoreApplication.translate("DesktopApplication", "GPU Assistant is already open"),
            texts.translate("instance.silent"),
        )

    def _print_already_running(self, activated: bool) -> None:
        """Write to stderr why no second window opens; a start without a terminal has no stderr."""
        from ..texts.translate import Translator

        if sys.stderr is not None:
            sentences = Translator(self._language_code or self.app.language())
            sys.stderr.write(sentences.translate("instance.shown" if activated else "instance.silent") + "\n")

    def _run_next_step(self) -> None:
        """Run the steps after the first paint, each in a turn of its own, so that the window answers in between."""
        step = self._startup_steps.pop(0)
        step()
        if self._startup_steps:
            QTimer.singleShot(0, self.qt_app, self._run_next_step)

    def _start_shutdown_notifier(self) -> None:
        from .shutdown import ShutdownNotifier  # loads sockets

        self.shutdown_notifier = ShutdownNotifier(self.qt_app)
        self.shutdown_notifier.shutdown_requested.connect(self._close)
        self.shutdown_notifier.session_ending.connect(self._save_state)
        self.shutdown_notifier.start()

    def _import_modules(self) -> None:
        """Load the code of the page that opens."""
        from . import widgets  # noqa: F401 - loading is all that is wanted

        if self.app.settings.opens_home and not (self.app.simulated or self.app.resuming):
            from .main import main_area  # noqa: F401
        else:
            from .wizard import wizard  # noqa: F401

    def _fill_window(self) -> None:
        if self.window is not None:
            self.window.build(self.initialize())

    def finish_startup(self) -> None:
        """The application icon, the listener for later starts, and the notice of a crash."""
        from .widgets.icons import app_icon

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
        """The process may be killed in a moment, which is no crash."""
        if self.window is not None:
            self.window.save_state()
        self._crash_report.discard()

    def _show_unexpected_error(self) -> None:
        from .widgets.dialogs import show_message_dialog

        translate = QCoreApplication.translate
        show_message_dialog(
            self.window,
            translate("DesktopApplication", "Something went wrong inside GPU Assistant"),
            translate(
                "DesktopApplication",
                "Details are in the log file: {path}. You can continue; trying again may help.",
            ).format(path=self.app.data.logs / "gpu-assistant.log"),
        )


def _qt_application() -> QApplication:
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(["gpu-assistant"])
        app.setApplicationName("gpu-assistant")
        app.setDesktopFileName("gpu-assistant")
    _take_qt_off_path()
    return app


def _take_qt_off_path() -> None:
    """On Windows PySide puts its folder at the head of PATH, for its plugins, which are loaded by now. Terminals and
    environments that we start would inherit it: they would find our Qt before their own, and a C++ runtime that the
    computer itself has not.
    """
    folder = os.fspath(Path(PySide6.__file__).resolve().parent)
    entries = os.environ.get("PATH", "").split(os.pathsep)
    if folder in entries:
        os.environ["PATH"] = os.pathsep.join(entry for entry in entries if entry != folder)


class _WindowColor(msgspec.Struct):
    window: str


class _ThemeColors(msgspec.Struct):
    themes: dict[str, _WindowColor]


def _window_color(choice: Theme) -> str:
    """The colour of the empty frame; the theme's module would load most of Qt."""
    if choice == "system":
        choice = "dark" if QGuiApplication.palette().window().color().lightness() < 128 else "light"
    return json.decode((resources_dir() / "theme.json").read_bytes(), _ThemeColors).themes[choice].window


class SingleInstance(QObject):
    """Holds the data folder's lock while the window lives, and listens for later starts.

    The lock is a file in the data folder; Qt removes it when its process is gone. The socket is named after the folder:
    a socket inside the folder would fail where paths are long.
    """

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, folder) from error
        self._lock = QLockFile(str(folder / "window.lock"))
        self._lock.setStaleLockTime(0)
        digest = QCryptographicHash.hash(str(folder.resolve()).encode(), QCryptographicHash.Algorithm.Sha256)
        self._server_name = f"gpu-assistant-{bytes(digest.data()).hex()[:24]}"

    def try_lock(self) -> bool:
        """Whether this is the only window of the folder; raises AppError when the folder cannot be written."""
        if self._lock.tryLock(0):
            return True
        if self._lock.error() == QLockFile.LockError.LockFailedError:
            return False
        raise storage_error(PermissionError(13, "lock"), self._folder)

    def activate_running(self, allow_foreground: Callable[[int], None], timeout_s: float = CONNECT_TIMEOUT_S) -> bool:
        """Ask the running window to come to the front, which `allow_foreground` lets its process do; False if it does
        not answer: it is starting or busy, or it runs as administrator and must not be talked to.
        """
        from PySide6.QtNetwork import QLocalSocket

        process_id, _host, _program = self._lock.getLockInfo()
        if process_id > 0:
            allow_foreground(process_id)
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            socket = QLocalSocket()
            socket.connectToServer(self._server_name)
            if socket.waitForConnected(200):
                # The connection itself is the message; the first window closes it.
                socket.waitForDisconnected(500)
                return True
            time.sleep(0.05)
        return False

    def listen(self, on_activate: Callable[[], None]) -> None:
        """Call `on_activate` whenever another start asks for this window."""
        from PySide6.QtNetwork import QLocalServer

        # This process holds the lock, so a socket of this name is a dead process's.
        QLocalServer.removeServer(self._server_name)
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)

        def accept_connections() -> None:
            while (socket := server.nextPendingConnection()) is not None:
                socket.disconnectFromServer()
                socket.deleteLater()
                on_activate()

        server.newConnection.connect(accept_connections)
        server.listen(self._server_name)

    def release(self) -> None:
        self._lock.unlock()


class ExceptionHooks(QObject):
    """Catches unhandled exceptions of all threads, and Qt's own messages, and logs them.

    `show()` is called for the first exception only, on the window's thread.
    """

    _exception_caught = Signal()

    def __init__(self, show: Callable[[], None], parent: QObject | None = None) -> None:
        from PySide6.QtCore import Qt  # after the first paint: the namespace takes longer than this module

        super().__init__(parent)
        self._show = show
        self._shown = False
        # Queued: the dialog opens after the broken handler has returned, and on the window's thread.
        self._exception_caught.connect(self._show_once, Qt.ConnectionType.QueuedConnection)
        self._previous_hooks = (sys.excepthook, threading.excepthook)
        self._previous_qt_handler: object = None

    def install(self) -> None:
        sys.excepthook = self._handle_exception
        threading.excepthook = self._handle_thread_exception
        self._previous_qt_handler = qInstallMessageHandler(self._handle_qt_message)

    def uninstall(self) -> None:
        """Restore the previous hooks."""
        sys.excepthook, threading.excepthook = self._previous_hooks
        qInstallMessageHandler(self._previous_qt_handler)  # type: ignore[arg-type]

    def _handle_exception(
        self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._previous_hooks[0](kind, error, traceback)
            return
        log.error("unhandled exception", exc_info=(kind, error, traceback))
        self._exception_caught.emit()

    def _handle_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is None:
            return
        thread_name = args.thread.name if args.thread is not None else "?"
        log.error("unhandled exception in thread %s", thread_name, exc_info=args.exc_value)
        self._exception_caught.emit()

    def _handle_qt_message(self, kind: QtMsgType, context: QMessageLogContext, text: str) -> None:  # noqa: ARG002
        log.log(QT_LOG_LEVELS.get(kind, logging.WARNING), "Qt: %s", text)

    def _show_once(self) -> None:
        if not self._shown:
            self._shown = True
            self._show()


class CrashReport:
    """From `start` to `stop` a file in `folder` receives Python's stacks if the process dies of a fault.

    A regular end leaves no file. Only one process at a time may use a folder. Where it cannot be written, there is no
    report, and nothing else fails.
    """

    def __init__(self, folder: Path, home: Path | None = None) -> None:
        self._active_path, self._crash_path = folder / ACTIVE_FILE, folder / CRASH_FILE
        self._home = home_dir() if home is None else home
        self._file: IO[bytes] | None = None

    def start(self) -> Path | None:
        """Begin; returns the report of the last run if that one crashed."""
        report = None
        try:
            self._active_path.parent.mkdir(parents=True, exist_ok=True)
            report = self._save_last_crash()
            self._file = self._active_path.open("wb", buffering=0)
        except OSError as error:
            log.warning("a crash would leave no report: %s", error)
            return report
        faulthandler.enable(self._file)
        return report

    def discard(self) -> None:
        """Empty the report: the process is about to be ended from outside.

        On Windows faults are reported that the program survives.
        """
        if self._file is not None:
            try:
                self._file.seek(0)
                self._file.truncate()
            except OSError as error:
                log.warning("%s cannot be emptied: %s", self._active_path.name, error)

    def stop(self) -> None:
        """End regularly."""
        if self._file is None:
            return
        faulthandler.disable()
        self._file.close()
        self._file = None
        try:
            filesystem.unlink(self._active_path, missing_ok=True)
        except OSError as error:
            log.warning("%s cannot be removed: %s", self._active_path.name, error)

    def _save_last_crash(self) -> Path | None:
        """Keep the last run's report. An empty file means a process that was killed, or a power failure: no crash."""
        if not self._active_path.is_file():
            return None
        with self._active_path.open("rb") as file:
            text = file.read(MAX_REPORT_BYTES).decode("ascii", "replace")
        if not text.strip():
            return None
        if len(text) == MAX_REPORT_BYTES:  # half a line may hold half of the home folder's name
            text = text[: text.rfind("\n") + 1]
        self._crash_path.write_text(redact_home(text, self._home), encoding="utf-8")
        log.error("the last run crashed: see %s", self._crash_path.name)
        return self._crash_path
