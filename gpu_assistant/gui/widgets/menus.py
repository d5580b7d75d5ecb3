"""The menus for language and theme, at the foot of a rail."""

from __future__ import annotations

from typing import get_args

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QWidget

from ...core.types import Language as Code
from .. import theme
from ..language import LANGUAGE_NAMES, Language
from .base import application
from .inputs import Menu
from .navigation import RailButton


class _RailMenu(RailButton):
    """A rail button with a menu of which one entry is checked."""

    def __init__(self, icon_name: str, entries: tuple[str, ...], parent: QWidget | None = None) -> None:
        self._menu: Menu | None = None
        self._actions: dict[str, QAction] = {}
        super().__init__(icon_name, trailing_icon="down", parent=parent)
        self._menu = Menu(self)
        group = QActionGroup(self._menu)
        for entry in entries:
            action = self._menu.addAction(entry)
            action.setCheckable(True)
            action.triggered.connect(lambda _checked=False, entry=entry: self.choose(entry))
            group.addAction(action)
            self._actions[entry] = action
        self.clicked.connect(self._open_menu)
        self.retranslate()
        self.refresh()

    def choose(self, entry: str) -> None:
        """Apply an entry."""
        raise NotImplementedError

    def actions_by_entry(self) -> dict[str, QAction]:
        return dict(self._actions)

    def _open_menu(self) -> None:
        if self._menu is not None:
            self._menu.popup(self.mapToGlobal(QPoint(0, -self._menu.sizeHint().height())))


class LanguageMenu(_RailMenu):
    """Shows the language and changes it at once; `chosen` brings its code, to be saved."""

    chosen = Signal(str)

    def __init__(self, language: Language, parent: QWidget | None = None) -> None:
        self._language = language
        super().__init__("globe", get_args(Code), parent)

    def choose(self, entry: str) -> None:
        code: Code = "zh_CN" if entry == "zh_CN" else "en"
        self._language.set(code)
        self.chosen.emit(code)

    def retranslate(self) -> None:
        """Each language is named in itself."""
        self.setText(LANGUAGE_NAMES[self._language.current])
        self.setAccessibleName(self.tr("Language: {name}").format(name=self.text()))
        for code, name in LANGUAGE_NAMES.items():
            if code in self._actions:
                self._actions[code].setText(name)
                self._actions[code].setChecked(code == self._language.current)


class ThemeMenu(_RailMenu):
    """Shows the theme and changes it at once; `chosen` brings the choice, to be saved."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("sun", get_args(theme.ThemeChoice), parent)

    def choose(self, entry: str) -> None:
        theme.set_theme(application(), entry)
        self.retranslate()
        self.chosen.emit(entry)

    def refresh(self) -> None:
        self.icon_name = "moon" if theme.current().dark else "sun"
        super().refresh()

    def update_colours(self) -> None:
        self.retranslate()
        self.refresh()

    def retranslate(self) -> None:
        names = {
            "system": self.tr("Use system setting"),
            "light": self.tr("Light"),
            "dark": self.tr("Dark"),
            "contrast": self.tr("High contrast"),
        }
        # In the rail nothing else says what is light or dark.
        rail_names = {
            "system": self.tr("System theme"),
            "light": self.tr("Light theme"),
            "dark": self.tr("Dark theme"),
            "contrast": names["contrast"],
        }
        self.setText(rail_names[theme.choice()])
        self.setAccessibleName(self.tr("Theme: {name}").format(name=names[theme.choice()]))
        for entry, action in self._actions.items():
            action.setText(names[entry])
            action.setChecked(entry == theme.choice())
