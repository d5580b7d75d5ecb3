"""Taking an environment back: first what will go is shown, then it goes, then what stayed is said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from ...core.jobs import JobContext
from ...core.message import Message
from ...core.plan import Event, Step, StepEvent
from ...texts import Texts
from ...texts.format import size
from .. import theme
from ..components import ConfirmDialog, label
from ..language import Language
from ..worker import JobRunner
from .facts import Installed

if TYPE_CHECKING:
    from ...app import App

translate = QCoreApplication.translate
HIGHEST = 260


class Ask:
    """Reads from the journal what a removal would take back."""

    def __init__(self, app: App, folder: Path) -> None:
        self._app, self._folder = app, folder

    def run(self, context: JobContext[Any]) -> tuple[Step, ...]:  # noqa: ARG002
        """The steps, in order; raises AppError where nothing there is ours."""
        return self._app.uninstall(self._folder).steps()


class Removal(QObject):
    """`changed` says that it began or ended, `ended` brings what there is to say, `failed` what stopped it."""

    changed = Signal()
    ended = Signal(str)
    failed = Signal(object)

    def __init__(self, app: App, language: Language, parent: QWidget) -> None:
        super().__init__(parent)
        self._app, self._language, self._window = app, language, parent
        self._installed: Installed | None = None
        self._left: dict[str, str] = {}
        self._asking, self._going = JobRunner(self), JobRunner(self)
        self._asking.done.connect(self._show)
        self._going.news.connect(self._heard)
        self._going.done.connect(self._gone)
        for runner in (self._asking, self._going):
            runner.failed.connect(self.failed)
            runner.started.connect(self.changed)
            runner.finished.connect(self.changed)

    @property
    def running(self) -> bool:
        """Whether it reads or removes just now."""
        return self._asking.running or self._going.running

    def ask(self, installed: Installed) -> None:
        """Find out what would be taken back, and ask whether it shall be."""
        if not self.running:
            self._installed = installed
            self._asking.start(Ask(self._app, installed.folder))

    def _show(self, steps: tuple[Step, ...]) -> None:
        installed = self._installed
        if installed is None:
            return
        dialog = question(self._window, installed, steps, self._language.texts())
        dialog.accepted.connect(self._go)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _go(self) -> None:
        if self._installed is not None and not self.running:
            self._left.clear()
            self._going.start(self._app.uninstall(self._installed.folder))

    def _heard(self, event: Event) -> None:
        # Only what did not go as shown has something to say.
        if isinstance(event, StepEvent) and event.code is not None and event.state in ("done", "skipped"):
            self._left[event.id] = self._language.texts().message(Message(event.code, event.data))

    def _gone(self, folder: Path) -> None:
        done = self.tr("Taken back what was installed for {path}:") if self._left else self.tr("Removed: {path}")
        self.ended.emit("\n".join([done.format(path=folder), *dict.fromkeys(self._left.values())]))


def question(parent: QWidget, installed: Installed, steps: tuple[Step, ...], texts: Texts) -> ConfirmDialog:
    """All that will be taken back, with the safe answer as the default."""
    large = f" ({size(installed.bytes)})" if installed.bytes is not None else ""
    words = translate("Removal", "Remove “{name}”{size}?").format(name=installed.folder.name, size=large)
    lost = translate("Removal", "This is taken back, and nothing else. What stays is named with its reason.")
    go, stay = translate("Removal", "Remove"), translate("Removal", "Keep")
    return ConfirmDialog(parent, words, lost, go, stay, below=StepsToRead(steps, texts))


class StepsToRead(QScrollArea):
    """What each step takes back; long lists scroll."""

    def __init__(self, steps: tuple[Step, ...], texts: Texts) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 4, 8, 4)
        column.setSpacing(2)
        for number, step in enumerate(steps, 1):
            title = label("strong", f"{number}. " + texts.say(f"step.{step.code}.title", step.data))
            column.addWidget(title)
            column.addWidget(label("small", texts.say(f"step.{step.code}.what", step.data)))
            column.addSpacing(6)
        column.addStretch(1)
        self.setWidget(inside)
        self.setAccessibleName(translate("Removal", "What is taken back"))
        self._column = column

    def sizeHint(self) -> QSize:
        """As high as its words, up to a limit."""
        width = theme.px(520)
        return QSize(width, min(self._column.heightForWidth(width - 16), theme.px(HIGHEST)))

    def minimumSizeHint(self) -> QSize:
        """Some lines at least."""
        return QSize(theme.px(320), min(self.sizeHint().height(), theme.px(120)))
