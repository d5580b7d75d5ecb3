"""The window's language, which can change while it is open: Qt Linguist's `.ts` files, read at run time.

That needs no build step, and one file per room is the only source of its texts.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QTranslator, Signal
from PySide6.QtWidgets import QApplication

from ..core.paths import resources_dir
from ..core.types import Language as Code
from . import theme

if TYPE_CHECKING:
    from ..texts.localized import Texts
    from ..texts.terminal import Terminal


LANGUAGE_NAMES: dict[Code, str] = {"en": "English", "zh_CN": "简体中文"}
TranslationTable = dict[tuple[str, str, str], str]


def read_ts(paths: Iterable[Path]) -> TranslationTable:
    """All finished translations by (context, source, comment); of plural forms the first, which is all that Chinese
    has.

    Raises `xml.etree.ElementTree.ParseError` for a malformed file.
    """
    from xml.etree import ElementTree

    table: TranslationTable = {}
    for path in paths:
        for context in ElementTree.parse(path).getroot().iter("context"):  # noqa: S314 - our own files
            name = context.findtext("name") or ""
            for message in context.iter("message"):
                translation = message.find("translation")
                if translation is None or translation.get("type") in ("unfinished", "vanished", "obsolete"):
                    continue
                plural_form = translation.find("numerusform")
                text = (translation if plural_form is None else plural_form).text
                if text:
                    key = (name, message.findtext("source") or "", message.findtext("comment") or "")
                    table[key] = text
    return table


class TsTranslator(QTranslator):
    """Translates from a table of `.ts` files."""

    def __init__(self, table: TranslationTable, parent: QObject | None = None) -> None:
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
        _CurrentLanguage.code = code
        QLocale.setDefault(QLocale(code))
        theme.set_chinese(self._app, code == "zh_CN")
        if code != "en":
            self._install_translator(self._load_qt_translator(code))
            self._install_translator(TsTranslator(_load_table(code), self))
        self._app.setApplicationDisplayName(QCoreApplication.translate("Language", "GPU Assistant"))
        self.changed.emit(code)

    def texts(self) -> Texts:
        """The core's texts in this language."""
        from ..texts.localized import Texts

        return Texts(self.current, other_computer=_CurrentLanguage.elsewhere, terminal=_CurrentLanguage.terminal)

    def set_machine_context(self, *, elsewhere: bool, terminal: Terminal | None = None) -> None:
        """`elsewhere`: texts are about another computer (a machine file); `terminal`: how commands are written here."""
        _CurrentLanguage.elsewhere, _CurrentLanguage.terminal = elsewhere, terminal

    def _load_qt_translator(self, code: Code) -> QTranslator | None:
        """Qt's own texts ("Copy", "Select All"), where Qt ships them."""
        translator = QTranslator(self)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        return translator if translator.load(f"qtbase_{code}", folder) else None

    def _install_translator(self, translator: QTranslator | None) -> None:
        if translator is not None and self._app.installTranslator(translator):
            self._translators.append(translator)


class _CurrentLanguage:
    code: Code = "en"
    elsewhere = False
    terminal: Terminal | None = None


def texts() -> Texts:
    """The core's texts in the current language."""
    from ..texts.localized import Texts

    return Texts(_CurrentLanguage.code, other_computer=_CurrentLanguage.elsewhere, terminal=_CurrentLanguage.terminal)


@lru_cache(maxsize=2)
def _load_table(code: Code) -> TranslationTable:
    """Read once: it takes longer than a change of language may."""
    return read_ts(sorted((resources_dir() / "translations").glob(f"*_{code}.ts")))
