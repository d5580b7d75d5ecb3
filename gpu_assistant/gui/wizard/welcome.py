"""Welcome: shall I begin?"""

from __future__ import annotations

from typing import get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...core.plan import Interrupted
from ...core.settings import Language as Code
from .. import icons, theme
from ..components import Button, Flow, Hero, Icon, Segments, label
from ..components.base import Live
from ..language import NAMES
from .base import WizardPage


class WelcomePage(WizardPage):
    """The language, what will happen, and one button. `only_look` asks for Home without a setup, `offline` for a setup
    from a folder that was prepared elsewhere.
    """

    only_look = Signal()
    offline = Signal()
    language_chosen = Signal(str)

    def build(self) -> None:
        """The parts."""
        self.footer.hide()
        self.languages = Segments([NAMES[code] for code in get_args(Code)])
        self.languages.chosen.connect(lambda index: self.language_chosen.emit(get_args(Code)[index]))
        self.page.head.addStretch(1)
        self.page.add_action(self.languages)
        column = self.page.column
        column.addStretch(2)
        self.resume = Hero("accent", icon="download")
        self.resume.button.clicked.connect(self.road.resume)
        self.resume.hide()
        self.mark = _Mark()
        self.title = label("display")
        self._lines = [label("body") for _ in range(3)]
        column.addWidget(self.resume)
        column.addSpacing(8)
        column.addWidget(self.mark)
        column.addSpacing(4)
        column.addWidget(self.title)
        column.addSpacing(8)
        for name, line in zip(("search", "clock", "ok"), self._lines, strict=True):
            row = QHBoxLayout()
            row.setSpacing(14)
            row.addWidget(Icon(name, ground="square", side=34), 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(line, 1, Qt.AlignmentFlag.AlignVCenter)
            column.addLayout(row)
        column.addSpacing(16)
        ways = Flow(spacing=12)
        self.primary.large = True
        self.only = Button(kind="ghost", after="right")
        self.only.large = True
        self.only.clicked.connect(self.only_look)
        ways.addWidget(self.primary)
        ways.addWidget(self.only)
        column.addLayout(ways)
        self.folder = Button(kind="ghost", icon="folder")
        self.folder.clicked.connect(self.offline)
        column.addWidget(self.folder, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(3)
        self.page.shape_.changed.connect(self._fit)
        self._fit()

    @property
    def way_on(self) -> Button:
        """What was begun comes first."""
        return self.primary if self.resume.isHidden() else self.resume.button

    def draw(self) -> None:
        """The words."""
        self.title.setText(self.tr("Set up my GPU for deep learning"))
        lines = (
            self.tr("We look, suggest, install, and prove that it works."),
            self.tr("About 10 minutes."),
            self.tr("Nothing is changed before you agree. Nothing is sent anywhere."),
        )
        for widget, text in zip(self._lines, lines, strict=True):
            widget.setText(text)
        self.primary.setText(self.tr("Set up my GPU"))
        self.only.setText(self.tr("Only look at my GPU"))
        self.folder.setText(self.tr("I have an offline folder"))
        for button in (self.only, self.folder):
            button.setVisible(not self.road.flow.simulated)
        self.languages.set_current(get_args(Code).index(self.road.language.current))
        self.languages.setAccessibleName(self.tr("Language"))
        self.page.setAccessibleName(self.title.text())
        before = self.way_on
        self.resume.setVisible(self.road.interrupted is not None)
        if self.road.interrupted is not None:
            self._offer(self.road.interrupted)
        self.mark_way_on(self.resume.button)
        if before.hasFocus():
            self.focus_primary()

    def _offer(self, stopped: Interrupted) -> None:
        """Name the step where the last install stopped."""
        plan = stopped.plan
        number = next((n for n, step in enumerate(plan.steps, 1) if step.id == stopped.step), None)
        if number is None:
            question = self.tr("The last install was not finished. Go on?")
        else:
            step = plan.steps[number - 1]
            words = self.tr("The last install stopped at step {n} of {of}: {title}. Go on?")
            if stopped.state == "reboot-needed":
                words = self.tr("The computer was to restart after step {n} of {of}: {title}. Go on?")
            title = self.texts.say(f"step.{step.code}.title", step.data)
            question = words.format(n=number, of=len(plan.steps), title=title)
        torch = plan.recommendation.pytorch
        where = self.tr("PyTorch {version} in {folder}").format(version=torch.version, folder=plan.env) if torch else ""
        told = [where or plan.env]
        if any(step.kind == "download" or step.files for step in plan.steps[: number or 0]):
            told.append(self.tr("What is downloaded is kept."))
        self.resume.set("accent", question, " · ".join(told), self.tr("Go on"), "download")

    def _fit(self) -> None:
        small = self.page.shape_.tight or self.page.shape_.low
        self.title.set_kind("title" if small else "display")


class _Mark(Live, QWidget):
    """The product's mark, large."""

    SIDE = 56

    def __init__(self) -> None:
        super().__init__()
        QVBoxLayout(self)
        self.follow()

    def refresh(self) -> None:
        self.setFixedSize(theme.px(self.SIDE), theme.px(self.SIDE))
        super().refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        QPainter(self).drawPixmap(0, 0, icons.mark(self.SIDE, self.devicePixelRatioF()))
