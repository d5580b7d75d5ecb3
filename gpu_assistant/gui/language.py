"""The window's language, which can change while it is open: Qt asks the tables of `texts/current.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QTranslator, Signal
from PySide6.QtWidgets import QApplication

from ..core.types import Language as Code
from ..texts import current
from . import theme

if TYPE_CHECKING:
    from ..texts.localized import Texts
    from ..texts.terminal import Terminal


LANGUAGE_NAMES: dict[Code, str] = {"en": "English", "zh_CN": "简体中文"}


class TsTranslator(QTranslator):
    """Translates from a table of `.ts` files."""

    def __init__(self, table: current.TranslationTable, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._table = table

    def translate(self, context: str, source_text: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        """The translation; None is Qt's null string, "ask the next translator"."""
        translation = self._table.get((context, source_text, disambiguation or ""))
        return translation if translation is None or n < 0 else translation.replace("%n", str(n))

    def isEmpty(self) -> bool:
        return not self._table


class Language(QObject):
    """The application's language. `changed` is emitted after Qt sent its LanguageChange events."""

    changed = Signal(str)

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self._translators: list[QTranslator] = []
        self.current: Code = "en"

    def set(self, code: Code) -> None:
        """Change the language: every widget gets `QEvent.LanguageChange`."""
        for translator in self._translators:
            self._app.removeTranslator(translator)
            translator.deleteLater()
        self._translators = []
        self.current = code
        current.set_language(code)
        QLocale.setDefault(QLocale(code))
        theme.set_chinese(self._app, code == "zh_CN")
        if code != "en":
            self._install_translator(self._load_qt_translator(code))
            self._install_translator(TsTranslator(current.load_table(code), self))
        self._app.setApplicationDisplayName(QCoreApplication.translate("Language", "GPU Assistant"))
        self.changed.emit(code)

    def texts(self) -> Texts:
        """The core's texts in this language."""
        return current.texts()

    def set_machine_context(self, *, elsewhere: bool, terminal: Terminal | None = None) -> None:
        """`elsewhere`: texts are about another computer (a machine file); `terminal`: how commands are written here."""
        current.set_machine_context(elsewhere=elsewhere, terminal=terminal)

    def _load_qt_translator(self, code: Code) -> QTranslator | None:
        """Qt's own texts ("Copy", "Select All"), where Qt ships them."""
        translator = QTranslator(self)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        return translator if translator.load(f"qtbase_{code}", folder) else None

    def _install_translator(self, translator: QTranslator | None) -> None:
        if translator is not None and self._app.installTranslator(translator):
            self._translators.append(translator)


def texts() -> Texts:
    """The core's texts in the current language."""
    return current.texts()
