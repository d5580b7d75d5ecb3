"""What the rest of the desktop shows of work that takes minutes: progress on the task bar, a word when it ended.

The word comes only while no window of ours is in front: who looks at it needs no second telling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QWidget

from ...core.errors import AppError, RebootNeeded, RightsRefused
from ..language import Language
from ..worker import JobRunner

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon
    from PySide6.QtWidgets import QSystemTrayIcon

    from ...system.services import Taskbar
    from ..bundle.making import Making
    from ..components.menu import Menu
    from ..wizard.road import Road

What = Literal["install", "benchmark", "folder"]


class Word(Struct, frozen=True, kw_only=True):
    """What is said at the end of a piece of work."""

    title: str
    text: str
    bad: bool = False


def ours_in_front() -> bool:
    """Whether one of our windows has the keyboard and is to be seen."""
    window = QApplication.activeWindow()
    return window is not None and not window.isMinimized()


class Desktop(QObject):
    """Shows the work of the runners that it is given. `wanted` comes when the user presses the word or the icon,
    `leave_wanted` when its menu's last entry is chosen.

    `taskbar` gives the progress on the button of the window with a handle, or None where there is no such.
    """

    wanted = Signal()
    leave_wanted = Signal()
    said = Signal(object)

    def __init__(
        self,
        window: QWidget,
        language: Language,
        taskbar: Callable[[int], Taskbar | None],
        in_front: Callable[[], bool] = ours_in_front,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._language = language
        self._make_taskbar = taskbar
        self._in_front = in_front
        self._taskbar: Taskbar | None = None
        self._asked = False
        self._working: dict[What, float | None] = {}
        self.tray: QSystemTrayIcon | None = None
        self._menu: Menu | None = None
        self._kept = False
        language.changed.connect(self._word_menu)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.applicationStateChanged.connect(self._state_changed)

    def watch(
        self,
        runner: JobRunner,
        what: What,
        fraction: Callable[[Any], float | None],
    ) -> None:
        """Show what a runner does; `fraction` is the share done after a piece of news (0 to 1, None: unknown)."""
        runner.started.connect(lambda: self._show(what, None))
        runner.news.connect(lambda news: self._show(what, fraction(news)))
        runner.done.connect(lambda _: self._end(what, self._ended_well(what)))
        runner.failed.connect(lambda error: self._end(what, self._ended_badly(what, error)))
        runner.cancelled.connect(lambda: self._end(what, None))

    def watch_road(self, road: Road) -> None:
        """The wizard's install and its benchmark."""

        def share(_: object) -> float | None:
            return road.progress.share if road.progress is not None else None

        self.watch(road.installer, "install", share)
        self.watch_measuring(road.measurer)

    def watch_making(self, making: Making) -> None:
        """A folder for a computer without internet."""
        self.watch(making.runner, "folder", lambda _: making.share)

    def watch_measuring(self, runner: JobRunner) -> None:
        """A benchmark."""

        def share(news: object) -> float | None:
            from ...bench.parent import BenchProgress

            if isinstance(news, BenchProgress):
                return (news.n - 1) / max(news.of, 1)
            return self._working.get("benchmark")

        self.watch(runner, "benchmark", share)

    def close(self) -> None:
        """The window closes: leave nothing behind."""
        self._kept = False
        self._hide_tray()
        if self._taskbar is not None:
            self._taskbar.show("none")
            self._taskbar.close()
            self._taskbar = None
        self._asked = True

    # Progress

    def _show(self, what: What, fraction: float | None) -> None:
        if self._working.get(what, -1.0) == fraction:
            return
        self._working[what] = fraction
        self._draw()

    def _draw(self) -> None:
        """The work that began first stands on the button."""
        if not self._asked:
            self._asked = True
            self._taskbar = self._make_taskbar(int(self._window.winId()))
        if self._taskbar is None:
            return
        if not self._working:
            self._taskbar.show("none")
            return
        fraction = next(iter(self._working.values()))
        self._taskbar.show("busy" if fraction is None else "normal", fraction)

    def _end(self, what: What, word: Word | None) -> None:
        self._working.pop(what, None)
        self._draw()
        if word is None:
            return
        if word.bad and not self._working and self._taskbar is not None:
            self._taskbar.show("error")
        self.tell(word)

    # Words

    def tell(self, word: Word) -> None:
        """Say something, unless the user looks at the window anyway."""
        if not self._in_front():
            self._say(word)

    def keep_tray(self, keep: bool) -> None:
        """An icon that stays, or one only for as long as something was said."""
        from PySide6.QtWidgets import QSystemTrayIcon

        self._kept = keep and QSystemTrayIcon.isSystemTrayAvailable()
        if self._kept:
            self._shown_tray()
        else:
            self._hide_tray()

    def dress_tray(self, icon: QIcon | None, words: str) -> None:
        """What the icon that stays shows; None keeps its picture."""
        if self._kept and self.tray is not None:
            if icon is not None:
                self.tray.setIcon(icon)
            self.tray.setToolTip(words)

    def _shown_tray(self) -> QSystemTrayIcon:
        from PySide6.QtWidgets import QSystemTrayIcon

        from ..components.menu import Menu
        from ..icons import app_icon

        if self.tray is None:
            # A message belongs to an icon; without one Windows and Linux show none.
            self.tray = QSystemTrayIcon(app_icon(), self)
            self.tray.messageClicked.connect(self.wanted)
            self.tray.activated.connect(self._pressed)
            self._menu = Menu(self._window)
            for entry in (self.wanted, self.leave_wanted):
                self._menu.addAction("").triggered.connect(entry)
            self._word_menu()
            self.tray.setContextMenu(self._menu)
        self.tray.show()
        return self.tray

    def _pressed(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        """The other button opens the menu, and not the window too."""
        if reason != reason.Context:
            self.wanted.emit()

    def _word_menu(self) -> None:
        if self._menu is not None:
            words = self.tr("Open GPU Assistant"), self.tr("Close GPU Assistant")
            for action, text in zip(self._menu.actions(), words, strict=True):
                action.setText(text)

    def _ended_well(self, what: What) -> Word:
        if what == "install":
            return Word(
                title=self.tr("The install is done"), text=self.tr("Open the window to see the proof that it works.")
            )
        if what == "folder":
            words = self.tr("The window says what to do with it on the other computer.")
            return Word(title=self.tr("The offline folder is ready"), text=words)
        return Word(title=self.tr("The benchmark is done"), text=self.tr("The results are in the window."))

    def _ended_badly(self, what: What, error: AppError) -> Word:
        from ..wizard import words as said

        text = said.error(self._language.texts(), error)
        if isinstance(error, RebootNeeded):
            return Word(title=self.tr("A restart is needed"), text=text)
        if isinstance(error, RightsRefused):
            title = self.tr("Done, but for what needs your consent")
            return Word(title=title, text=self.tr("Open the window to see what was left out."))
        titles: dict[What, str] = {
            "install": self.tr("The install stopped"),
            "benchmark": self.tr("The benchmark stopped"),
            "folder": self.tr("The offline folder is not ready"),
        }
        return Word(title=titles[what], text=text, bad=True)

    def _say(self, word: Word) -> None:
        """The window's button asks for attention; where the desktop takes messages, there is one too."""
        from PySide6.QtWidgets import QSystemTrayIcon

        QApplication.alert(self._window)
        if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
            tray = self._shown_tray()
            if not self._kept:
                tray.setToolTip(word.title)
            kind = QSystemTrayIcon.MessageIcon.Critical if word.bad else QSystemTrayIcon.MessageIcon.Information
            tray.showMessage(word.title, word.text, kind)
        self.said.emit(word)

    def _state_changed(self, state: Qt.ApplicationState) -> None:
        """The user looks: the word was heard, red has done its work."""
        if state == Qt.ApplicationState.ApplicationActive:
            self._hide_tray()
            if not self._working and self._taskbar is not None:
                self._taskbar.show("none")

    def _hide_tray(self) -> None:
        if self.tray is not None and not self._kept:
            self.tray.hide()
            self.tray.deleteLater()
            self.tray = None
        if self.tray is None and self._menu is not None:
            self._menu.deleteLater()
            self._menu = None
