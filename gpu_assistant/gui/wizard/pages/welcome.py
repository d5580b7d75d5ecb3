"""The first page: shall I begin?"""

from __future__ import annotations

from typing import get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ....core.plan import InterruptedInstall, number_steps, steps_before_restart
from ....core.types import Language
from ... import theme
from ...language import LANGUAGE_NAMES
from ...widgets import icons
from ...widgets.base import Themed
from ...widgets.buttons import Button, SegmentedControl
from ...widgets.cards import Hero
from ...widgets.icons import IconWidget
from ...widgets.layouts import FlowLayout
from ...widgets.text import label
from ..page import WizardPage


class WelcomePage(WizardPage):
    """The language, what will happen, and a button to begin or to resume an interrupted install.

    `main_area_requested` asks for the main area without a setup, `offline_requested` for a setup from an offline
    folder; `language_chosen` brings a language's code.
    """

    main_area_requested = Signal()
    offline_requested = Signal()
    language_chosen = Signal(str)

    def build(self) -> None:
        self.footer.hide()
        self.language_segments = SegmentedControl([LANGUAGE_NAMES[code] for code in get_args(Language)])
        self.language_segments.chosen.connect(lambda index: self.language_chosen.emit(get_args(Language)[index]))
        self.page.header.addStretch(1)
        self.page.add_action(self.language_segments)
        column = self.page.column
        column.addStretch(2)
        self.resume_hero = Hero("accent", icon="download")
        self.resume_hero.button.clicked.connect(self.controller.resume)
        self.resume_hero.hide()
        self.logo = _Logo()
        self.title_label = label("display")
        self._line_labels = [label("body") for _ in range(3)]
        column.addWidget(self.resume_hero)
        column.addSpacing(8)
        column.addWidget(self.logo)
        column.addSpacing(4)
        column.addWidget(self.title_label)
        column.addSpacing(8)
        for name, line in zip(("search", "clock", "ok"), self._line_labels, strict=True):
            row = QHBoxLayout()
            row.setSpacing(14)
            row.addWidget(IconWidget(name, background="square", background_size=34), 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(line, 1, Qt.AlignmentFlag.AlignVCenter)
            column.addLayout(row)
        column.addSpacing(16)
        buttons_layout = FlowLayout(spacing=12)
        self.primary_button.large = True
        self.main_area_button = Button(kind="ghost", trailing_icon="right")
        self.main_area_button.large = True
        self.main_area_button.clicked.connect(self.main_area_requested)
        buttons_layout.addWidget(self.primary_button)
        buttons_layout.addWidget(self.main_area_button)
        column.addLayout(buttons_layout)
        self.offline_button = Button(kind="ghost", icon_name="folder")
        self.offline_button.large = True
        self.offline_button.clicked.connect(self.offline_requested)
        buttons_layout.addWidget(self.offline_button)
        column.addStretch(3)
        self.page.breakpoints.changed.connect(self._update_layout)
        self._update_layout()

    @property
    def default_button(self) -> Button:
        """The button that resumes an interrupted install comes first."""
        return self.primary_button if self.resume_hero.isHidden() else self.resume_hero.button

    def draw(self) -> None:
        self.title_label.setText(self.tr("Set up my GPU for deep learning"))
        lines = (
            self.tr("We choose the driver and PyTorch for your computer, then install and test them."),
            self.tr("About 10 minutes, mostly downloading."),
            self.tr("Nothing is changed before you agree. Nothing about you is sent anywhere."),
        )
        for widget, text in zip(self._line_labels, lines, strict=True):
            widget.setText(text)
        self.primary_button.setText(self.tr("Set up my GPU"))
        self.main_area_button.setText(self.tr("Only look at my GPU"))
        self.offline_button.setText(self.tr("Install from an offline folder"))
        for button in (self.main_area_button, self.offline_button):
            button.setVisible(not self.controller.flow.simulated)
        self.language_segments.set_current(get_args(Language).index(self.controller.language.current))
        self.language_segments.setAccessibleName(self.tr("Language"))
        self.page.setAccessibleName(self.title_label.text())
        previous_button = self.default_button
        self.resume_hero.setVisible(self.controller.interrupted_install is not None)
        if self.controller.interrupted_install is not None:
            self._show_resume_offer(self.controller.interrupted_install)
        self.highlight_default_button(self.resume_hero.button)
        if previous_button.hasFocus():
            self.focus_primary()

    def _show_resume_offer(self, interrupted: InterruptedInstall) -> None:
        plan = interrupted.plan
        position = next((index for index, step in enumerate(plan.steps) if step.id == interrupted.step), None)
        if position is None:
            question = self.tr("The last installation was not finished. Continue?")
        else:
            step = plan.steps[position]
            numbers, count = number_steps((each.id for each in plan.steps), steps_before_restart(plan))
            template = self.tr("The last installation stopped at step {n} of {of}: {title}. Continue?")
            if interrupted.state == "reboot-needed":
                template = self.tr("The computer had to restart after step {n} of {of}: {title}. Continue?")
            title = self.texts.translate(f"step.{step.code}.title", step.data)
            question = template.format(n=numbers[step.id], of=count, title=title)
        torch = plan.recommendation.pytorch
        location_text = (
            self.tr("PyTorch {version} in {folder}").format(version=torch.version, folder=plan.env) if torch else ""
        )
        details = [location_text or plan.env]
        if any(
            step.kind == "download" or step.files for step in plan.steps[: position + 1 if position is not None else 0]
        ):
            details.append(self.tr("Your download is kept."))
        self.resume_hero.set("accent", question, " · ".join(details), self.tr("Continue"), "download")

    def _update_layout(self) -> None:
        small = self.page.breakpoints.is_tight or self.page.breakpoints.is_low
        self.title_label.set_kind("title" if small else "display")


class _Logo(Themed, QWidget):
    """The product's logo."""

    SIZE = 56

    def __init__(self) -> None:
        super().__init__()
        QVBoxLayout(self)
        self.apply_theme()

    def refresh(self) -> None:
        self.setFixedSize(theme.px(self.SIZE), theme.px(self.SIZE))
        super().refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        QPainter(self).drawPixmap(0, 0, icons.brand_mark(self.SIZE, self.devicePixelRatioF()))
