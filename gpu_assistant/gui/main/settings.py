"""Settings: language, theme, text size, downloads, updates; each is saved at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QGridLayout

from ... import __version__
from ...core import paths
from ...core.errors import AppError
from ...core.settings import Language as Code
from .. import theme
from ..components import Banner, Card, CommandBox, Page, Segments, Text, label
from ..language import NAMES, Language
from .downloads_card import DownloadsCard
from .monitor_card import MonitorCard
from .offline_card import OfflineCard
from .saving import SettingsSaver
from .updates import Updates
from .updates_card import UpdatesCard

if TYPE_CHECKING:
    from ...app import App

SCALES = (1.0, 1.25, 1.5, 2.0)


class SettingsPage(Page):
    """Label left, control right; what cannot be kept is said above."""

    def __init__(self, app: App, language: Language, saver: SettingsSaver, updates: Updates) -> None:
        self._saver = saver
        self._language = language
        self.language = Segments([NAMES[code] for code in get_args(Code)])
        self.theme = Segments([""] * len(get_args(theme.Choice)))
        self.scale = Segments([f"{round(100 * scale)} %" for scale in SCALES])
        self._trouble = Banner("warn")
        self._trouble.hide()
        self._words: dict[str, Text] = {}
        self._look, self._about = Card(" "), Card(" ")
        self.updates = UpdatesCard(updates, app, saver)
        self.monitor = MonitorCard(app, saver)
        self.downloads = DownloadsCard(app, saver)
        self.offline = OfflineCard()
        # Not `setVisible`: what has no parent yet would show as a window.
        if app.simulated:
            self.offline.hide()
        self._folder = CommandBox(str(app.data.root))
        self._privacy = label("body", "", "soft")
        self._version, self._licences = label("body", "", "soft"), paths.licences()
        super().__init__(" ")
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(14)
        grid.setColumnStretch(0, 1)
        rows = (("language", self.language), ("theme", self.theme), ("scale", self.scale))
        for row, (name, control) in enumerate(rows):
            self._words[name] = label("body")
            grid.addWidget(self._words[name], row, 0, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(control, row, 1, Qt.AlignmentFlag.AlignRight)
        self._look.column.addLayout(grid)
        self._words["folder"] = label("body")
        for row_of_it in (self._words["folder"], self._folder, self._privacy):
            self._about.column.addWidget(row_of_it)
        self._about.column.addWidget(self._version)
        if self._licences is not None:
            self._words["licences"] = label("body")
            self._about.column.addWidget(self._words["licences"])
            self._about.column.addWidget(CommandBox(str(self._licences)))
        for part in (self._trouble, self._look, self.monitor, self.downloads, self.offline, self.updates, self._about):
            self.column.addWidget(part)
        self.column.addStretch(1)
        self.language.chosen.connect(self._choose_language)
        self.theme.chosen.connect(self._choose_theme)
        self.scale.chosen.connect(self._choose_scale)
        saver.failed.connect(self._not_kept)
        saver.saved.connect(self._trouble.hide)
        self.retranslate()
        self.refresh()

    def retranslate(self) -> None:
        """All words of the page."""
        if not self._words:
            return
        self.set_title(self.tr("Settings"))
        self._look.set_title(self.tr("Language and look"))
        self._about.set_title(self.tr("Folders and privacy"))
        self._words["language"].setText(self.tr("Language"))
        self._words["theme"].setText(self.tr("Theme"))
        self._words["scale"].setText(self.tr("Text size"))
        self._words["folder"].setText(self.tr("Settings, downloads and results are kept here:"))
        self._privacy.setText(self.tr("Nothing leaves this computer but downloads."))
        self._version.setText(
            self.tr("GPU Assistant {version}, free software (Apache-2.0).").format(version=__version__)
        )
        if "licences" in self._words:
            self._words["licences"].setText(self.tr("The licences of everything it is made of lie here:"))
        names = {
            "system": self.tr("As the system"),
            "light": self.tr("Light"),
            "dark": self.tr("Dark"),
            "contrast": self.tr("High contrast"),
        }
        self.theme.set_options([names[choice] for choice in get_args(theme.Choice)])
        for name, control in (("language", self.language), ("theme", self.theme), ("scale", self.scale)):
            control.setAccessibleName(self._words[name].text())

    def refresh(self) -> None:
        """Show what holds, also when it was changed elsewhere."""
        super().refresh()
        self.language.set_current(get_args(Code).index(self._language.current))
        self.theme.set_current(get_args(theme.Choice).index(theme.choice()))
        nearest = min(SCALES, key=lambda scale: abs(scale - theme.text_scale()))
        self.scale.set_current(SCALES.index(nearest))

    def recolour(self) -> None:
        """Another theme is another choice."""
        self.refresh()

    def _choose_language(self, index: int) -> None:
        code: Code = get_args(Code)[index]
        self._language.set(code)
        self._saver.keep(language=code)

    def _choose_theme(self, index: int) -> None:
        choice: theme.Choice = get_args(theme.Choice)[index]
        theme.set_theme(_qt(), choice)
        self._saver.keep(theme=choice)

    def _choose_scale(self, index: int) -> None:
        theme.set_text_scale(_qt(), SCALES[index])
        self._saver.keep(text_scale=SCALES[index])

    def _not_kept(self, error: AppError) -> None:
        self._trouble.set("warn", self._language.texts().error(error))
        self._trouble.show()


def _qt() -> QApplication:
    found = QApplication.instance()
    assert isinstance(found, QApplication)  # noqa: S101 - a page cannot exist without one
    return found
