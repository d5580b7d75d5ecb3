"""The one window: the wizard and the main area in one stack, so that only the rail changes between them."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

# What stands here is what the first paint needs; each Qt class costs its enums when it is first touched, and
# the namespace Qt alone costs more than this whole file.
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QMainWindow

from . import place

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QCloseEvent, QPaintEvent, QShowEvent
    from PySide6.QtWidgets import QStackedWidget, QVBoxLayout

    from ...app import App
    from ...core.errors import AppError
    from ...system.services import Taskbar
    from ..components import Banner
    from ..components.banner import BannerKind
    from ..language import Language
    from ..steps import Steps
    from ..wizard.wizard import Wizard
    from ..worker import JobRunner
    from .area import MainArea
    from .desktop import Desktop
    from .saving import SettingsSaver

log = logging.getLogger(__name__)

# After this long a job that does not stop is left behind: the program must end when told to.
STOP_PATIENCE_MS = 15_000
KEEP_S = 2.0  # what Windows grants at the end of a session is five seconds


class MainWindow(QMainWindow):
    """First only a frame of the theme's ground, so that it stands on the screen at once; `fill` puts the faces in.

    It holds the wizard until a first setup is done, then the main area; either is made when first shown.
    `painted` comes once, after the first paint.
    """

    painted = Signal()

    wizard: Wizard | None = None
    area: MainArea | None = None
    language: Language
    saver: SettingsSaver
    desktop: Desktop
    _steps: Steps
    _stack: QStackedWidget
    _column: QVBoxLayout
    _banner: Banner | None = None
    _closing = False
    _left = False
    _agreed = False
    _filled = False
    _first_show = True

    def __init__(self, app: App, ground: str | None = None) -> None:
        super().__init__()
        self.app = app
        self._place = app.data.state / "window.json"
        self._patience = QTimer(self, singleShot=True, interval=STOP_PATIENCE_MS)
        self._patience.timeout.connect(self._leave)
        self._ground = ground
        self.setWindowTitle("GPU Assistant")
        self.setMinimumSize(*place.SMALLEST)
        place.restore(self, self._place)

    def fill(self, language: Language) -> None:
        """Put the right face in, in the theme that is on."""
        from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

        from ..steps import Steps
        from .desktop import Desktop
        from .saving import SettingsSaver

        self.language = language
        self._steps = Steps(self)
        self.saver = SettingsSaver(self.app, self)
        self.saver.failed.connect(self._not_kept)
        self.desktop = Desktop(self, language, self._taskbar)
        self.desktop.wanted.connect(self.to_front)
        self.desktop.leave_wanted.connect(self._close_from_icon)
        self._stack = QStackedWidget()
        holder = QWidget()
        self._column = QVBoxLayout(holder)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self._stack)
        self._title()
        language.changed.connect(self._title)
        # A simulated machine is there to walk the wizard; so is a first start, and what goes on after a restart.
        if self.app.settings.settled and not (self.app.simulated or self.app.resuming):
            self.show_main()
        else:
            self.show_wizard()
        self.setCentralWidget(holder)
        self._filled = True

    # The two faces

    def show_wizard(self) -> Wizard:
        """Open the wizard, at its beginning unless it is at work."""
        from ..wizard.wizard import Wizard

        self._steps.stop()
        if self.wizard is None:
            self.wizard = Wizard(self.app, self.language, self.saver)
            self.wizard.finished.connect(self._set_up)
            self.wizard.only_look.connect(self._only_look)
            if not self.app.simulated:
                self.desktop.watch_road(self.wizard.road)
                self.wizard.making_made.connect(self.desktop.watch_making)
            self._stack.addWidget(self.wizard)
        self._stack.setCurrentWidget(self.wizard)
        log.info("wizard shown")
        return self.wizard

    def show_main(self) -> None:
        """Open the main area; the wizard stands there until Home is made, in a turn of its own."""
        from .area import HOME, MainArea

        if self.area is None:
            self.area = MainArea(self.app, self.language, self.saver)
            self.area.sampling.failed.connect(self._of_samples)
            self.area.setup_wanted.connect(self._set_up_again)
            self.area.offline_wanted.connect(lambda page: self._set_up_again().open_beside(page))
            self.area.measurer_made.connect(self.desktop.watch_measuring)
            self.area.updates.consent_wanted.connect(self._before_update)
            self.area.updates.leave_wanted.connect(self._close_for_update)
            if not self.app.simulated:
                QTimer.singleShot(0, self.area, self._watch_cards)
            QTimer.singleShot(0, self.area, self.area.load_graphs)
            self._stack.addWidget(self.area)
        open_home, show = partial(self.area.open, HOME), partial(self._stack.setCurrentWidget, self.area)
        if HOME in self.area.pages:
            show()
        elif self.wizard is not None:
            self._steps.begin((open_home, show))
        else:
            open_home()
            show()
        log.info("main area shown")

    def _watch_cards(self) -> None:
        """The icon and the words of the desktop follow the cards, and the settings."""
        from .notices import Notices

        if self.area is not None:
            notices = Notices(self.app, self.area.sampling, self.desktop)
            self.area.watching_changed.connect(notices.follow)
            self.area.watch_cards()

    def to_front(self) -> None:
        """Somebody started the program again: here it is."""
        from PySide6.QtCore import Qt

        self.setWindowState((self.windowState() & ~Qt.WindowState.WindowMinimized) | Qt.WindowState.WindowActive)
        self.show()
        self.raise_()
        self.activateWindow()

    def _set_up(self) -> None:
        """The wizard is done: Home opens from now on."""
        if not self.app.simulated and not self.app.settings.setup_done:
            self.saver.keep(setup_done=True)
        self.show_main()
        if self.area is not None:
            self.area.renew()

    def _only_look(self) -> None:
        """The user wants no setup now: Home opens from now on, and leads to it."""
        if not self.app.settings.only_look:
            self.saver.keep(only_look=True)
        self.show_main()

    def _set_up_again(self) -> Wizard:
        """A page of the main area sends to the wizard: to a new one, unless one is at work."""
        if self.wizard is not None and not self._running(self.wizard):
            self._stack.removeWidget(self.wizard)
            self.wizard.deleteLater()
            self.wizard = None
        return self.show_wizard()

    # The end

    def closeEvent(self, event: QCloseEvent) -> None:
        """Nothing runs: close. Else ask where something would be lost, stop it, wait, say so, then close."""
        running = self._running(self) if self._filled else []
        if not running or self._left:
            self._farewell()
            event.accept()
            return
        event.ignore()
        if self._closing or not (self._agreed or self._may_stop()):
            return
        self._closing = True
        self._stopped: list[JobRunner] = []
        self._stop(running)
        self._say("warn", self.tr("Stopping… The window closes by itself in a moment."))
        self._patience.start()

    def end(self) -> None:
        """The system ends the program: nobody is asked, but all that runs is stopped and kept."""
        self.keep(0.0)
        self._agreed = True
        self.close()

    def keep(self, patience: float = KEEP_S) -> None:
        """Bring to the disk what a sudden end would lose; waits for that so many seconds."""
        if self.area is not None:
            self.area.sampling.save(patience)

    def _close_from_icon(self) -> None:
        """What is asked before work is stopped must be seen."""
        if self._running(self):
            self.to_front()
        self.close()

    def _before_update(self) -> None:
        """The installer wants this window closed: ask first what closing asks, while nothing is started yet."""
        if self.area is not None and self._may_stop():
            self.area.updates.hand_over()

    def _close_for_update(self) -> None:
        self._agreed = True
        self.close()

    def _may_stop(self) -> bool:
        """Whether the work that runs may be stopped; asked only for work that the user waits for."""
        from ..components import ConfirmDialog

        if self.wizard is not None and (self.wizard.flow.locked or self.wizard.preparing):
            return ConfirmDialog.ask(
                self,
                self.tr("Stop here?"),
                self.wizard.kept,
                go=self.tr("Stop"),
                stay=self.tr("Go on"),
            )
        if self.area is not None and self.area.measuring:
            return ConfirmDialog.ask(
                self,
                self.tr("Stop the benchmark?"),
                self.tr("A benchmark that is not finished is not kept."),
                go=self.tr("Stop"),
                stay=self.tr("Go on"),
            )
        return True

    def _running(self, below: QObject) -> list[JobRunner]:
        from ..worker import JobRunner

        return [runner for runner in below.findChildren(JobRunner) if runner.running]

    def _close_when_idle(self) -> None:
        # `finished` is sent while the runner is already free; its page's own handlers run first.
        if not self._closing:
            return
        running = self._running(self)
        # What ended may have started something: that is stopped, too.
        self._stop(running)
        if not running:
            self.close()

    def _stop(self, running: list[JobRunner]) -> None:
        for runner in running:
            if runner not in self._stopped:
                self._stopped.append(runner)
                runner.finished.connect(self._close_when_idle)
            runner.cancel()

    def _leave(self) -> None:
        """It does not stop: leave it behind. A child process of ours ends with us."""
        self._left = True
        self.close()

    def _farewell(self) -> None:
        log.info("window closed")
        self._patience.stop()
        # What follows touches the disk and waits for the sampling thread: out of sight.
        self.hide()
        place.keep(self, self._place)
        if self._filled:
            self.desktop.close()
        if self.area is not None:
            self.area.stop()
        QCoreApplication.quit()

    # Small matters

    def say_crashed(self, report: Path) -> None:
        """The last run did not end by anybody's wish."""
        self._say(
            "neutral",
            self.tr("GPU Assistant broke off last time. What it was doing then is written down in {path}").format(
                path=report
            ),
            leave=self.tr("Understood"),
        )

    def _taskbar(self, handle: int) -> Taskbar | None:
        return self.app.system.taskbar(handle)

    def _not_kept(self, error: AppError) -> None:
        self._say("warn", self.language.texts().error(error))

    def _of_samples(self, error: AppError) -> None:
        if error.code == "history-damaged":  # nothing is left to do about it
            self._say("neutral", self.language.texts().error(error), leave=self.tr("Understood"))
        else:
            self._not_kept(error)

    def _say(self, kind: BannerKind, text: str, leave: str = "") -> None:
        """One line above everything; a button with the words `leave` takes it away."""
        from ..components import Banner

        if self._banner is None:
            self._banner = Banner()
            self._banner.button.clicked.connect(self._banner.hide)
            self._column.insertWidget(0, self._banner)
        self._banner.set(kind, text)
        self._banner.button.setText(leave)
        self._banner.button.setVisible(bool(leave))
        self._banner.show()

    def _title(self) -> None:
        self.setWindowTitle(self.tr("GPU Assistant"))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The empty frame's ground. A palette of the window's own would outlive it below the style sheet."""
        super().paintEvent(event)
        if self._ground is not None and not self._filled:
            QPainter(self).fillRect(self.rect(), QColor(self._ground))

    def showEvent(self, event: QShowEvent) -> None:
        """Watch for the first paint."""
        super().showEvent(event)
        handle = self.windowHandle()
        if self._first_show and handle is not None:
            self._first_show = False
            handle.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The native window's first exposure paints everything; `painted` follows right after it."""
        if event.type() == QEvent.Type.Expose:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self.painted.emit)
        return False
