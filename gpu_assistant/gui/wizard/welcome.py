"""Welcome: shall I begin?"""

from __future__ import annotations

from typing import get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ...core.settings import Language as Code
from .. import icons, theme
from ..components import Button, Hero, Icon, Segments, label
from ..components.base import Live
from ..language import NAMES
from .base import WizardPage


class WelcomePage(WizardPage):
    """The language, what will happen, and one button. `only_look` asks for Home without a setup."""

    only_look = Signal()
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
        row = QHBoxLayout()
        row.setSpacing(12)
        self.primary.large = True
        self.only = Button(kind="ghost", after="right")
        self.only.large = True
        self.only.clicked.connect(self.only_look)
        row.addWidget(self.primary)
        row.addWidget(self.only)
        row.addStretch(1)
        column.addLayout(row)
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
        self.only.setVisible(not self.road.flow.simulated)
        self.languages.set_current(get_args(Code).index(self.road.language.current))
        self.languages.setAccessibleName(self.tr("Language"))
        self.page.setAccessibleName(self.title.text())
        plan = self.road.interrupted
        before = self.way_on
        self.resume.setVisible(plan is not None)
        if plan is not None:
            torch = plan.recommendation.pytorch
            self.resume.set(
                "accent",
                self.tr("The last install was not finished. Go on?"),
                self.tr("PyTorch {version} in {folder}. What is downloaded is kept.").format(
                    version=torch.version if torch is not None else "—", folder=plan.env
                ),
                self.tr("Go on"),
                "download",
            )
        self.mark_way_on(self.resume.button)
        if before.hasFocus():
            self.focus_primary()

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
