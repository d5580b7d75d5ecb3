"""One window for one data folder: a second start brings the first to the front.

What Python was doing when the process died of a fault that no exception tells of: kept for the next start.

The window's way from a start to its end: one instance, theme, language, the shell, and what nobody foresaw.

What nobody foresaw: it goes to the log, and the user gets one plain sentence instead of a vanished window.

The system ends the program: by a signal, or because the user logs out or shuts the computer down.
"""

from __future__ import annotations

import faulthandler
import logging
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import IO, TYPE_CHECKING

import msgspec
from PySide6.QtCore import (
    QCoreApplication,
    QCryptographicHash,
    QLockFile,
    QMessageLogContext,
    QObject,
    QSocketNotifier,
    Qt,
    QTimer,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
)
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from ..core import json
from ..core.errors import AppError
from ..core.log import redact_home
from ..core.paths import resources_dir
from ..core.settings import Theme
from ..core.types import Language as Code
from .main.window import MainWindow

if TYPE_CHECKING:
    from ..app import App
    from .event_loop import GarbageCollector
    from .language import Language


# A first start that has the lock but does not listen yet needs a moment.
CONNECT_TIMEOUT_S = 3.0


class SingleInstance(QObject):
    """Holds the data folder's lock while the window lives, and listens for later starts.

    The lock is a file in the data folder; Qt clears it when the process that held it is gone. The socket's
    name comes from the folder's path: a socket inside the folder would break where paths are long.
    """

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise json.storage_error(error, folder) from error
        self._lock = QLockFile(str(folder / "window.lock"))
        self._lock.setStaleLockTime(0)
        digest = QCryptographicHash.hash(str(folder.resolve()).encode(), QCryptographicHash.Algorithm.Sha256)
        self._server_name = f"gpu-assistant-{bytes(digest.data()).hex()[:24]}"

    def try_lock(self) -> bool:
        """Whether we are the only window of this folder; raises AppError when the folder cannot be written."""
        if self._lock.tryLock(0):
            return True
        if self._lock.error() == QLockFile.LockError.LockFailedError:
            return False
        raise json.storage_error(PermissionError(13, "lock"), self._folder)

    def activate_running(self, timeout_s: float = CONNECT_TIMEOUT_S) -> bool:
        """Ask the first window to come to the front; whether it heard us."""
        from PySide6.QtNetwork import QLocalSocket

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
        """Tell `called` whenever another start asks for us."""
        from PySide6.QtNetwork import QLocalServer

        # We hold the lock, so a socket of this name is a dead process's.
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
        """Let go of the lock."""
        self._lock.unlock()


ACTIVE_FILE, CRASH_FILE = "window-now.txt", "crash.txt"
MAX_REPORT_BYTES = 200_000  # a hundred threads of a hundred lines each would be more than anybody reads


class CrashReport:
    """From `begin` to `end` a file in `folder` waits for the last words of this process; an end as it should be leaves
    none. Only one process at a time may use a folder. Where it cannot be written, nothing is kept, and nothing breaks.
    """

    def __init__(self, folder: Path, home: Path | None = None) -> None:
        self._active_path, self._crash_path = folder / ACTIVE_FILE, folder / CRASH_FILE
        self._home = Path.home() if home is None else home
        self._file: IO[bytes] | None = None

    def start(self) -> Path | None:
        """Wait from now on; the report of the last run, where that one crashed."""
        report = None
        try:
            self._active_path.parent.mkdir(parents=True, exist_ok=True)
            report = self._save_last_crash()
            self._file = self._active_path.open("wb", buffering=0)
        except OSError as error:
            log.warning("no report would be kept of a crash: %s", error)
            return report
        faulthandler.enable(self._file)
        return report

    def discard(self) -> None:
        """The process is about to be ended from outside. What was written so far took no process down: on Windows a
        fault is written down that another part then deals with.
        """
        if self._file is not None:
            try:
                self._file.seek(0)
                self._file.truncate()
            except OSError as error:
                log.warning("%s stays as it is: %s", self._active_path.name, error)

    def stop(self) -> None:
        """All went well."""
        if self._file is None:
            return
        faulthandler.disable()
        self._file.close()
        self._file = None
        try:
            self._active_path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s stays: %s", self._active_path.name, error)

    def _save_last_crash(self) -> Path | None:
        """An empty file is of a process that was ended from outside, or lost its power: nothing to tell."""
        if not self._active_path.is_file():
            return None
        with self._active_path.open("rb") as file:
            text = file.read(MAX_REPORT_BYTES).decode("ascii", "replace")
        if not text.strip():
            return None
        if len(text) == MAX_REPORT_BYTES:  # half a line might hold half of the home folder's name
            text = text[: text.rfind("\n") + 1]
        self._crash_path.write_text(redact_home(text, self._home), encoding="utf-8")
        log.error("the last run crashed: see %s", self._crash_path.name)
        return self._crash_path


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
        from .widgets.dialogs import show_message_dialog

        texts = self.initialize().texts()
        show_message_dialog(
            None, QCoreApplication.translate("Program", "GPU Assistant cannot open"), texts.error_text(error)
        )

    def _print_already_running(self, activated: bool) -> None:
        """Tell a terminal why no second window comes. A start without one has no stderr."""
        from ..texts.translate import Translator

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
        from . import widgets  # noqa: F401 - loading is all that is wanted

        if self.app.settings.opens_home and not (self.app.simulated or self.app.resuming):
            from .main import main_area  # noqa: F401
        else:
            from .wizard import wizard  # noqa: F401

    def _fill_window(self) -> None:
        if self.window is not None:
            self.window.build(self.initialize())

    def _finish_startup(self) -> None:
        """What nobody waits for: the task bar's icon and the ear for later starts."""
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
        """The process may be gone in a moment, and not by a fault."""
        if self.window is not None:
            self.window.save_state()
        self._crash_report.discard()

    def _show_unexpected_error(self) -> None:
        from .widgets.dialogs import show_message_dialog

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


QT_LOG_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class ExceptionHooks(QObject):
    """Catches what escapes: Python's exceptions on any thread, and Qt's own messages.

    `show()` is called once, on the window's thread; later surprises only reach the log.
    """

    _exception_caught = Signal()

    def __init__(self, show: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._show = show
        self._shown = False
        # Queued: the dialog opens after the broken handler has returned, and on the window's thread.
        self._exception_caught.connect(self._show_once, Qt.ConnectionType.QueuedConnection)
        self._previous_hooks = (sys.excepthook, threading.excepthook)
        self._previous_qt_handler: object = None

    def install(self) -> None:
        """Catch from now on."""
        sys.excepthook = self._handle_exception
        threading.excepthook = self._handle_thread_exception
        self._previous_qt_handler = qInstallMessageHandler(self._handle_qt_message)

    def uninstall(self) -> None:
        """Give the hooks back to who had them."""
        sys.excepthook, threading.excepthook = self._previous_hooks
        qInstallMessageHandler(self._previous_qt_handler)  # type: ignore[arg-type]

    def _handle_exception(
        self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._previous_hooks[0](kind, error, traceback)
            return
        log.error("not foreseen", exc_info=(kind, error, traceback))
        self._exception_caught.emit()

    def _handle_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is None:
            return
        thread_name = args.thread.name if args.thread is not None else "?"
        log.error("not foreseen, on thread %s", thread_name, exc_info=args.exc_value)
        self._exception_caught.emit()

    def _handle_qt_message(self, kind: QtMsgType, context: QMessageLogContext, text: str) -> None:  # noqa: ARG002
        log.log(QT_LOG_LEVELS.get(kind, logging.WARNING), "Qt: %s", text)

    def _show_once(self) -> None:
        if not self._shown:
            self._shown = True
            self._show()


# What logging out, a service manager and a terminal send; not every system has each.
SHUTDOWN_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class ShutdownNotifier(QObject):
    """From `listen` to `ignore`: `told` comes on the window's thread when a signal wants the program to end. `near`
    comes when the session is about to end: on Windows the process may be gone as soon as that was answered, or the
    session may go on.
    """

    shutdown_requested = Signal()
    session_ending = Signal()

    def __init__(self, app: QGuiApplication) -> None:
        super().__init__(app)
        app.commitDataRequest.connect(lambda _: self.session_ending.emit())
        # Qt sleeps in the system's own wait, where Python's handlers would not run: a byte wakes it.
        self._read_socket, self._write_socket = socket.socketpair()
        for side in (self._read_socket, self._write_socket):
            side.setblocking(False)
        self._notifier = QSocketNotifier(self._read_socket.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_socket_readable)
        self._previous_handlers: dict[int, object] = {}
        self._previous_wakeup_fd = -1

    def start(self) -> None:
        """From now on; on the main thread."""
        self._previous_wakeup_fd = signal.set_wakeup_fd(self._write_socket.fileno(), warn_on_full_buffer=False)
        self._previous_handlers = {number: signal.signal(number, _ignore_signal) for number in SHUTDOWN_SIGNALS}

    def stop(self) -> None:
        """No more: the signals do what they did before."""
        for number, handler in self._previous_handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._previous_handlers = {}
        signal.set_wakeup_fd(self._previous_wakeup_fd)
        self._notifier.setEnabled(False)
        for side in (self._read_socket, self._write_socket):
            side.close()

    def _on_socket_readable(self) -> None:
        if set(self._read_socket.recv(64)) & set(SHUTDOWN_SIGNALS):
            self.shutdown_requested.emit()


def _ignore_signal(_number: int, _frame: FrameType | None) -> None:
    """The byte tells of it."""
