"""The first page: shall I begin?"""

from __future__ import annotations

from typing import get_args

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from ....core.plan import InterruptedInstall, number_steps, steps_before_restart
from ....core.types import Language
from ... import theme
from ...language import LANGUAGE_NAMES
from ...widgets import icons
from ...widgets.base import Themed
from ...widgets.buttons import FLUSH_PADDING, Button, SegmentedControl
from ...widgets.cards import Hero
from ...widgets.icons import IconWidget
from ...widgets.layouts import FlowLayout
from ...widgets.text import label
from ..page import WizardPage

PHASES_ROW_MIN_WIDTH = 560  # times the text scale: below it they stand below each other


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
        self.resume_hero = Hero("accent")
        self.resume_hero.button.clicked.connect(self.controller.resume)
        self.resume_hero.hide()
        self.logo = _Logo()
        self.title_label = label("display")
        self.phases = tuple(Phase(icon) for icon in ("search", "download", "ok"))
        column.addWidget(self.logo)
        column.addSpacing(4)
        column.addWidget(self.title_label)
        column.addSpacing(4)
        column.addWidget(self.resume_hero)
        self._phases_row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._phases_row.setSpacing(32)
        for phase in self.phases:
            self._phases_row.addWidget(phase, 1)
        column.addLayout(self._phases_row)
        column.addSpacing(4)
        buttons_layout = FlowLayout(spacing=12)
        self.primary_button.large = True
        self.main_area_button = Button(kind="ghost", trailing_icon="right")
        self.main_area_button.large = True
        self.main_area_button.clicked.connect(self.main_area_requested)
        buttons_layout.addWidget(self.primary_button)
        buttons_layout.addWidget(self.main_area_button)
        column.addLayout(buttons_layout)
        promise_row = QHBoxLayout()
        promise_row.setSpacing(8)
        promise_row.setContentsMargins(FLUSH_PADDING, 0, 0, 0)  # in line with the button below
        self._promise_label = label("small")
        promise_row.addWidget(IconWidget("shield", "soft", 18))
        promise_row.addWidget(self._promise_label, 1, Qt.AlignmentFlag.AlignVCenter)
        column.addLayout(promise_row)
        # Few need it: it stands apart from what the page is for.
        self.offline_button = Button(kind="ghost", icon_name="folder", small=True, flush="left")
        self.offline_button.clicked.connect(self.offline_requested)
        column.addWidget(self.offline_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(3)
        self.page.breakpoints.changed.connect(self._update_layout)
        self._update_layout()

    @property
    def default_button(self) -> Button:
        """The button that resumes an interrupted install comes first."""
        return self.primary_button if self.resume_hero.isHidden() else self.resume_hero.button

    def draw(self) -> None:
        interrupted = self.controller.interrupted_install
        is_new = interrupted is None
        self.title_label.setText(self.tr("Set up your GPU for deep learning") if is_new else self.tr("Welcome back"))
        texts = (
            (self.tr("We check first"), self.tr("Graphics card, driver and disk space.")),
            (
                self.tr("Then we install"),
                self.tr("The right driver and PyTorch for it. About 10\u00a0minutes, mostly downloading."),
            ),
            (self.tr("We prove it works"), self.tr("With a real calculation on your card.")),
        )
        for phase, (title, text) in zip(self.phases, texts, strict=True):
            phase.set_texts(title, text)
        self._promise_label.setText(self.tr("Nothing is changed before you agree. Nothing about you is sent anywhere."))
        self.primary_button.setText(self.tr("Set up my GPU") if is_new else self.tr("Start a new setup"))
        self.main_area_button.setText(self.tr("Just look at my GPU"))
        self.offline_button.setText(self.tr("No internet here? Install from an offline folder"))
        for button in (self.main_area_button, self.offline_button):
            button.setVisible(not self.controller.flow.simulated)
        self.language_segments.set_current(get_args(Language).index(self.controller.language.current))
        self.language_segments.setAccessibleName(self.tr("Language"))
        self.page.setAccessibleName(self.title_label.text())
        previous_button = self.default_button
        for phase in self.phases:  # who comes back knows them
            phase.setVisible(is_new)
        self.resume_hero.setVisible(not is_new)
        if interrupted is not None:
            self._show_resume_offer(interrupted)
        self.highlight_default_button(self.resume_hero.button)
        if previous_button.hasFocus():
            self.focus_primary()
        self._update_layout()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._update_layout)

    def refresh(self) -> None:
        super().refresh()
        QTimer.singleShot(0, self, self._update_layout)

    def _show_resume_offer(self, interrupted: InterruptedInstall) -> None:
        plan = interrupted.plan
        position = next((index for index, step in enumerate(plan.steps) if step.id == interrupted.step), None)
        torch, needed_restart = plan.recommendation.pytorch, interrupted.state == "reboot-needed"
        question = self.tr("Continue the last installation?")
        if torch is not None:
            question = self.tr("Continue installing PyTorch {version}?").format(version=torch.version)
        reached = self.tr("It was not finished last time.")
        if position is not None:
            step = plan.steps[position]
            numbers, count = number_steps((each.id for each in plan.steps), steps_before_restart(plan))
            template = self.tr("Last time it stopped at step {n} of {of}: {title}.")
            if needed_restart:
                template = self.tr("The computer needed a restart after step {n} of {of}: {title}.")
            title = self.texts.translate(f"step.{step.code}.title", step.data)
            reached = template.format(n=numbers[step.id], of=count, title=title)
        details = [self.tr("Folder: {folder}").format(folder=plan.env)]
        if any(
            step.kind == "download" or step.files for step in plan.steps[: position + 1 if position is not None else 0]
        ):
            details.append(self.tr("Your download is kept."))
        lines = f"{reached}\n{' · '.join(details)}"
        icon = "restart" if needed_restart else "download"
        self.resume_hero.set("accent", question, lines, self.tr("Continue"), icon)

    def _update_layout(self) -> None:
        small = self.page.breakpoints.is_tight or self.page.breakpoints.is_low
        self.title_label.set_kind("title" if small else "display")
        # The rail shows it, too.
        self.logo.setVisible(not (self.page.breakpoints.is_low and not self.resume_hero.isHidden()))
        in_row = self.page.available_width() >= theme.px(PHASES_ROW_MIN_WIDTH)
        down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._phases_row.setDirection(right if in_row else down)
        for phase in self.phases:
            phase.set_upright(in_row)


class Phase(QWidget):
    """One of the things that happen, with an icon above its texts, or beside them."""

    def __init__(self, icon: str) -> None:
        super().__init__()
        self._layout = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._layout.setContentsMargins(0, 8, 0, 8)
        self._layout.setSpacing(12)
        self._layout.addWidget(IconWidget(icon, background="square", background_size=34), 0, Qt.AlignmentFlag.AlignLeft)
        texts = QVBoxLayout()
        texts.setSpacing(4)
        self.heading_label, self.text_label = label("heading"), label("small")
        texts.addWidget(self.heading_label)
        texts.addWidget(self.text_label)
        texts.addStretch(1)
        self._layout.addLayout(texts, 1)

    def set_texts(self, heading: str, text: str) -> None:
        """Say what happens."""
        self.heading_label.setText(heading)
        self.text_label.setText(text)
        self.setAccessibleName(f"{heading}. {text}")

    def set_upright(self, upright: bool) -> None:
        """Put the icon above the texts, or beside them."""
        down, right = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._layout.setDirection(down if upright else right)


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
