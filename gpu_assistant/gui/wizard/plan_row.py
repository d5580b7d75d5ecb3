"""One step of a plan to read: what, how much, how long; unfolded also its command, its files and the way back."""

from __future__ import annotations

from urllib.parse import urlsplit

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...core.plan import PlanFile, Step, other_way, requirements
from ...core.price import kept_least
from ...texts import Texts
from ...texts.format import size
from ...texts.price import lasts, of_step
from ...texts.terminal import Terminal
from ...texts.terms import explained
from .. import theme
from ..components import Button, CommandBox, label
from ..components.base import Live
from ..components.step_list import StepRow
from ..components.why import Inset

translate = QCoreApplication.translate
SLIM = 560


class PlanRow(Live, QWidget):
    """`step` has its sentences; `system` is the one on which its commands are typed."""

    def __init__(self, step: Step, texts: Texts, system: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._step, self._system, self._language = step, system, texts.language
        self._terminal = texts.terminal or Terminal(system=system)
        self._terms = explained(texts, step.title or "", step.what or "")
        self.command: CommandBox | None = None
        self.asked: CommandBox | None = None
        self.other: CommandBox | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.row = StepRow(admin=step.needs_admin)
        self.row.set_title(step.title or step.id)
        self._right, self._costs, self._slim = right(step, texts), marks(step, texts), False
        self.marks = label("small")
        self._place()
        self.toggle = Button(kind="ghost", after="down")
        self.toggle.clicked.connect(self.unfold)
        self._inset: Inset | None = None
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 8, 0)
        head.setSpacing(0)
        head.addWidget(self.row, 1)
        head.addWidget(self.toggle, 0, Qt.AlignmentFlag.AlignVCenter)
        self._indented = QVBoxLayout()
        self._indented.addWidget(self.marks)
        column.addLayout(head)
        column.addLayout(self._indented)
        self.follow()

    def shows(self, step: Step, texts: Texts, system: str) -> bool:
        """Whether it is the row of a step, in a language."""
        return (step, texts.language, system) == (self._step, self._language, self._system)

    def refresh(self) -> None:
        """The words below begin where the title does."""
        super().refresh()
        self._indented.setContentsMargins(theme.px(26) + 24, 0, 8, 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Size and time stand at the right, or below where there is no room."""
        super().resizeEvent(event)
        if (self.width() < theme.px(SLIM)) != self._slim:
            self._slim = not self._slim
            self._place()

    def _place(self) -> None:
        self.row.set_state("waiting", self._step.what or "", "" if self._slim else self._right)
        found = [self._right, *self._costs] if self._slim and self._right else self._costs
        self.marks.setText(" · ".join(found))
        self.marks.setVisible(bool(found))

    def retranslate(self) -> None:
        """The button's words; the plan brings the sentences."""
        self.toggle.setText(self.tr("Details"))
        self.toggle.setAccessibleName(f"{self.toggle.text()}: {self._step.title or self._step.id}")
        self.toggle.setAccessibleDescription(self.tr("open") if self.opened else self.tr("closed"))

    @property
    def opened(self) -> bool:
        """Whether the details are shown."""
        return self._inset is not None and not self._inset.isHidden()

    @property
    def step(self) -> str:
        """The step's id."""
        return self._step.id

    def unfold(self) -> None:
        """Show the details, or hide them."""
        if self._inset is None:
            self._inset = self._details()
        else:
            self._inset.setVisible(self._inset.isHidden())
        self.toggle.set_icon(None, "up" if self.opened else "down")
        self.retranslate()

    def _details(self) -> Inset:
        # Made when somebody wants them: a plan of many steps stands on the screen the sooner.
        step, inset = self._step, Inset()
        if step.commands:
            pages = all(len(words) == 1 and urlsplit(words[0]).scheme == "https" for words in step.commands)
            title = self.tr("Where to get it") if pages else self.tr("The exact command")
            inset.column.addWidget(label("small-strong", title))
            self.command = CommandBox("\n".join(self._terminal.line(words) for words in step.commands))
            inset.column.addWidget(self.command)
        asked = requirements(step)
        if asked is not None:
            inset.column.addWidget(label("small-strong", self.tr("What stands in requirements.in")))
            self.asked = CommandBox(asked)
            inset.column.addWidget(self.asked)
        other = other_way(step)
        if other is not None:
            inset.column.addWidget(label("small-strong", self.tr("The other way")))
            self.other = CommandBox(other)
            inset.column.addWidget(self.other)
        if step.files:
            inset.column.addWidget(label("small-strong", self.tr("Files from the internet")))
            for file in step.files:
                inset.column.addWidget(label("small", _file(file), "text"))
        inset.column.addWidget(label("small-strong", self.tr("How it is undone")))
        inset.column.addWidget(label("small", step.undo or "", "text"))
        if self._terms:
            inset.column.addWidget(label("small-strong", self.tr("What the words mean")))
            inset.column.addWidget(label("small", "\n".join(self._terms), "text"))
        self._indented.addWidget(inset)
        inset.show()
        return inset


def right(step: Step, texts: Texts) -> str:
    """Size and expected time of a step, as far as they are known."""
    fetched = of_step(step.code, step.bytes, step.data, texts)
    known = [fetched] if fetched else []
    if step.minutes:
        known.append(lasts(step.minutes, texts, least=step.minutes_least))
    return " · ".join(known)


def marks(step: Step, texts: Texts) -> list[str]:
    """What else a step costs: space, a consent. A restart is part of what its sentence says."""
    found = [step.now.text] if step.now is not None and step.now.text else []
    least = kept_least(step)
    if least:
        told = size(least) if step.disk_bytes else texts.say("price.at-least", {"bytes": least})
        found.append(translate("PlanRow", "{size} on the disk").format(size=told))
    if step.needs_admin:
        found.append(translate("PlanRow", "asks for your consent as administrator"))
    return found


def _file(file: PlanFile) -> str:
    known = [file.name, *([size(file.bytes)] if file.bytes else []), urlsplit(file.url).hostname or ""]
    return " · ".join(each for each in known if each)
