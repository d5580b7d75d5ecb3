"""Settings: look, start, notifications, downloads, proxy, folders, updates, removal; each is saved at once.

The main area shows the page beside its rail; over the wizard, whose state stays, it is a `SettingsOverlay`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from .... import __version__
from ....core.errors import AppError
from ....core.types import Language as Code
from ....texts.format import format_percent
from ... import theme
from ...help import open_help
from ...language import LANGUAGE_NAMES, Language
from ...saving import SettingsSaver
from ...widgets.base import Themed, application
from ...widgets.buttons import Button, SegmentedControl
from ...widgets.cards import Banner, Card
from ...widgets.inputs import Menu
from ...widgets.navigation import StepRail
from ...widgets.page import Footer, Page, set_reading_order
from ...widgets.text import TextLabel, label
from ..updates import UpdateController
from .cards import DownloadsCard, GpuSettingsCard, OfflineCard, UpdateSettingsCard, control_rows
from .folders import FoldersCard
from .network import ProxyCard
from .startup import StartupCard
from .uninstall import RemovalCard

if TYPE_CHECKING:
    from ....app import App


TEXT_SCALES = (1.0, 1.25, 1.5, 2.0)


class SettingsPage(Page):
    """Labels at the left, controls at the right; settings that cannot be saved are reported at the top."""

    def __init__(self, app: App, language: Language, saver: SettingsSaver, updates: UpdateController) -> None:
        self._saver = saver
        self._language = language
        self.language_segments = SegmentedControl([LANGUAGE_NAMES[code] for code in get_args(Code)])
        self.theme_segments = SegmentedControl([""] * len(get_args(theme.ThemeChoice)))
        self.scale_segments = SegmentedControl([""] * len(TEXT_SCALES))
        self.error_banner = Banner("warn")
        self.error_banner.hide()
        self._row_labels: dict[str, TextLabel] = {}
        self._appearance_card, self._about_card = Card(" "), Card(" ")
        self.updates_card = UpdateSettingsCard(updates, app, saver)
        self.startup_card = StartupCard(app, saver)
        self.proxy_card, self.folders_card = ProxyCard(app, saver), FoldersCard(app, saver)
        self.removal_card = RemovalCard(app)
        self.gpu_card = GpuSettingsCard(app, saver)
        self.downloads_card = DownloadsCard(app, saver)
        self.offline_card = OfflineCard()
        # Not `setVisible`: without a parent it would open as a window.
        if app.simulated:
            self.offline_card.hide()
        self.jump_button = Button(kind="ghost", trailing_icon="down", flush="right")
        self.jump_button.setObjectName("jumpToSection")
        self._privacy_label = label("body", "", "soft")
        self._version_label = label("body", "", "soft")
        super().__init__(" ")
        rows = {"language": self.language_segments, "theme": self.theme_segments, "scale": self.scale_segments}
        self._row_labels = {name: label("body") for name in rows}
        self._appearance_card.column.addLayout(control_rows(zip(self._row_labels.values(), rows.values(), strict=True)))
        for about_row in (self._privacy_label, self._version_label):
            self._about_card.column.addWidget(about_row)
        self.add_action(self.jump_button)
        self.cards: tuple[Card, ...] = (
            self._appearance_card,
            self.startup_card,
            self.gpu_card,
            self.proxy_card,
            self.downloads_card,
            self.folders_card,
            self.offline_card,
            self.updates_card,
            self._about_card,
            self.removal_card,
        )
        for part in (self.error_banner, *self.cards):
            self.column.addWidget(part)
        self.column.addStretch(1)
        self.jump_button.clicked.connect(self._open_jump_menu)
        self.language_segments.chosen.connect(self._choose_language)
        self.theme_segments.chosen.connect(self._choose_theme)
        self.scale_segments.chosen.connect(self._choose_scale)
        saver.failed.connect(self._on_save_failed)
        saver.saved.connect(self.error_banner.hide)
        self.retranslate()
        self.refresh()

    @property
    def help_topic(self) -> str:
        return "settings"

    def retranslate(self) -> None:
        if not self._row_labels:
            return
        self.set_title(self.tr("Settings"), self.tr("Changes apply at once."))
        self.jump_button.setText(self.tr("Jump to section"))
        self.scale_segments.set_options([format_percent(100 * scale) for scale in TEXT_SCALES])
        self._appearance_card.set_title(self.tr("Language and appearance"))
        self._about_card.set_title(self.tr("About"))
        self._row_labels["language"].setText(self.tr("Language"))
        self._row_labels["theme"].setText(self.tr("Theme"))
        self._row_labels["scale"].setText(self.tr("Text size"))
        self._privacy_label.setText(self.tr("GPU Assistant goes online only to download. Nothing about you is sent."))
        self._version_label.setText(
            self.tr("GPU Assistant {version}, free software (Apache-2.0).").format(version=__version__)
        )
        names = {
            "system": self.tr("Use system setting"),
            "light": self.tr("Light"),
            "dark": self.tr("Dark"),
            "contrast": self.tr("High contrast"),
        }
        self.theme_segments.set_options([names[choice] for choice in get_args(theme.ThemeChoice)])
        for name, control in (
            ("language", self.language_segments),
            ("theme", self.theme_segments),
            ("scale", self.scale_segments),
        ):
            control.setAccessibleName(self._row_labels[name].text())

    def refresh(self) -> None:
        """Show the current choices, also when they were changed elsewhere."""
        super().refresh()
        self.folders_card.retranslate()
        self.language_segments.set_current(get_args(Code).index(self._language.current))
        self.theme_segments.set_current(get_args(theme.ThemeChoice).index(theme.choice()))
        nearest = min(TEXT_SCALES, key=lambda scale: abs(scale - theme.text_scale()))
        self.scale_segments.set_current(TEXT_SCALES.index(nearest))

    def update_colours(self) -> None:
        self.refresh()

    def build_jump_menu(self) -> Menu:
        """The headings of all cards, made when it is opened; each leads to its card."""
        menu = Menu(self)
        for card in self.cards:
            if not card.isHidden():
                entry = menu.addAction(card.card_title.text())
                entry.triggered.connect(lambda _checked=False, card=card: self.show_card(card))
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def show_card(self, card: Card) -> None:
        """Scroll to a card, whose first control gets the focus."""
        controls = (each for each in card.findChildren(QWidget) if each.focusPolicy() & Qt.FocusPolicy.TabFocus)
        first = next((each for each in controls if each.isVisibleTo(card) and each.isEnabled()), None)
        if first is not None:
            first.setFocus(Qt.FocusReason.TabFocusReason)
        self.verticalScrollBar().setValue(card.y() - self.column.spacing())

    def _open_jump_menu(self) -> None:
        self.build_jump_menu().popup(self.jump_button.mapToGlobal(QPoint(0, self.jump_button.height())))

    def _choose_language(self, index: int) -> None:
        code: Code = get_args(Code)[index]
        self._language.set(code)
        self._saver.save(language=code)

    def _choose_theme(self, index: int) -> None:
        choice: theme.ThemeChoice = get_args(theme.ThemeChoice)[index]
        theme.set_theme(application(), choice)
        self._saver.save(theme=choice)

    def _choose_scale(self, index: int) -> None:
        theme.set_text_scale(application(), TEXT_SCALES[index])
        self._saver.save(text_scale=TEXT_SCALES[index])

    def _on_save_failed(self, error: AppError) -> None:
        self.error_banner.set("warn", self._language.texts().error_text(error))
        self.error_banner.show()


class SettingsOverlay(Themed, QWidget):
    """The settings over the wizard, beside its steps, with a button back to it; `closed` by that, Esc or Alt+Left.
    `step_chosen` brings the number of a step that was done and is wanted again.
    """

    closed = Signal()
    step_chosen = Signal(int)

    def __init__(self, app: App, language: Language, saver: SettingsSaver, updates: UpdateController) -> None:
        # The wizard is loaded when it asks for its settings; beside the main area's it would only take time.
        from ...wizard.wizard import step_texts

        self._step_texts = step_texts
        super().__init__()
        self.page = SettingsPage(app, language, saver, updates)
        self.rail = StepRail(step_texts())
        self.rail.chosen.connect(self.step_chosen)
        self.footer, self.back_button = Footer(), Button(kind="primary")
        self.back_button.setObjectName("closeSettings")
        self.footer.add_button(self.back_button)
        row, column = QHBoxLayout(self), QVBoxLayout()
        for layout in (row, column):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        column.addWidget(self.page, 1)
        column.addWidget(self.footer)
        row.addWidget(self.rail)
        row.addLayout(column, 1)
        self.back_button.clicked.connect(self.closed)
        for key in ("Esc", "Alt+Left"):
            QShortcut(QKeySequence(key), self).activated.connect(self.closed)
        QShortcut(QKeySequence("F1"), self).activated.connect(lambda: open_help(app, self, self.page.help_topic))
        self.apply_theme()

    def show_step(self, current: int, *, reachable: bool) -> None:
        """Mark the wizard's step; `reachable` is False while none that was done can be opened."""
        self.rail.set_current(current, reachable=reachable)

    def retranslate(self) -> None:
        self.rail.set_steps(self._step_texts())
        self.back_button.setText(self.tr("Back to setup"))
        self.footer.update_layout()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes through the page in reading order."""
        set_reading_order(self)
        return super().focusNextPrevChild(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys that no control uses scroll the page."""
        if not self.page.scroll_by_key(event):
            super().keyPressEvent(event)
