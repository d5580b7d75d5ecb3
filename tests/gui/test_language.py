from __future__ import annotations

import string
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QLibraryInfo
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.core.paths import resources_dir
from gpu_assistant.gui import language as module
from gpu_assistant.gui.language import Language, TsTranslator
from gpu_assistant.gui.widgets.claims import ClaimList, SourcedClaim
from gpu_assistant.gui.widgets.console import CommandBox
from gpu_assistant.gui.widgets.menus import LanguageMenu
from gpu_assistant.gui.widgets.navigation import StepRail
from gpu_assistant.gui.wizard.pages.recommendation.page import MoreOptions
from gpu_assistant.texts.current import TranslationTable, read_ts

TS = """<?xml version="1.0" encoding="utf-8"?><!DOCTYPE TS><TS version="2.1" language="zh_CN">
<context><name>A</name>
<message><source>Copy</source><translation>复制</translation></message>
<message><source>Copy</source><comment>noun</comment><translation>副本</translation></message>
<message numerus="yes"><source>%n steps</source><translation><numerusform>%n 步</numerusform></translation></message>
<message><source>Open</source><translation type="unfinished">打开</translation></message>
<message><source>Gone</source><translation type="vanished">没了</translation></message>
</context></TS>"""


@pytest.fixture
def table(tmp_path: Path) -> TranslationTable:
    path = tmp_path / "a_zh_CN.ts"
    path.write_text(TS, encoding="utf-8")
    return read_ts([path])


def test_a_ts_file_is_read(table: TranslationTable) -> None:
    assert table == {
        ("A", "Copy", ""): "复制",
        ("A", "Copy", "noun"): "副本",
        ("A", "%n steps", ""): "%n 步",
    }


def test_qt_uses_translator(table: TranslationTable, qapp: QApplication) -> None:
    translator = TsTranslator(table)
    assert not translator.isEmpty()
    assert TsTranslator({}).isEmpty()
    qapp.installTranslator(translator)
    try:
        assert QCoreApplication.translate("A", "Copy") == "复制"
        assert QCoreApplication.translate("A", "Copy", "noun") == "副本"
        assert QCoreApplication.translate("A", "%n steps", "", 3) == "3 步"
        assert QCoreApplication.translate("A", "Open") == "Open"
        assert QCoreApplication.translate("B", "Copy") == "Copy"
    finally:
        qapp.removeTranslator(translator)


def test_broken_ts_file_raises(tmp_path: Path) -> None:
    path = tmp_path / "a_zh_CN.ts"
    path.write_text("<TS", encoding="utf-8")
    with pytest.raises(ElementTree.ParseError):
        read_ts([path])


def test_language_switches_live(language: Language, qtbot: QtBot) -> None:
    box, why = CommandBox("pip"), ClaimList(SourcedClaim(text="Because.", source=("pip", "https://example.invalid")))
    rail = StepRail([("One", "")])
    for widget in (box, why, rail):
        qtbot.addWidget(widget)
        widget.show()
    with qtbot.waitSignal(language.changed):
        language.set("zh_CN")
    qtbot.waitUntil(lambda: box.copy_button.text() == "复制" and why.source_buttons[0].text() == "来源：pip")
    qtbot.waitUntil(lambda: rail.buttons[0].accessibleName().startswith("第 1 步"))
    assert language.texts().language == module.texts().language == "zh_CN"
    language.set("en")
    qtbot.waitUntil(lambda: box.copy_button.text() == "Copy")
    assert module.texts().language == "en"


def test_button_of_a_hidden_panel_changes_with_what_is_seen(language: Language, qtbot: QtBot) -> None:
    window, panel = QWidget(), MoreOptions()
    qtbot.addWidget(window)
    for each in (panel, panel.buttons):
        each.setParent(window)
    panel.buttons.show()
    window.show()
    assert panel.isHidden()
    assert panel.toggle_button.isVisible()
    language.set("zh_CN")
    QCoreApplication.sendPostedEvents(None, QEvent.Type.LanguageChange)  # no timer has run
    assert panel.toggle_button.text() == "更多选项"


def test_qt_itself_speaks_chinese(language: Language, qapp: QApplication) -> None:
    language.set("zh_CN")
    shipped = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    if not (shipped / "qtbase_zh_CN.qm").is_file():
        pytest.skip("this Qt ships no translations of its own")
    assert QCoreApplication.translate("QWidgetTextControl", "Select All") != "Select All"
    language.set("en")
    assert QCoreApplication.translate("QWidgetTextControl", "Select All") == "Select All"


def test_plain_widget_gets_language_change(language: Language, qtbot: QtBot) -> None:
    heard = []

    class Plain(QLabel):
        def changeEvent(self, event) -> None:
            heard.append(event.type())
            super().changeEvent(event)

    plain = Plain()
    qtbot.addWidget(plain)
    plain.show()
    language.set("zh_CN")
    from PySide6.QtCore import QEvent

    qtbot.waitUntil(lambda: QEvent.Type.LanguageChange in heard)


def test_language_menu_emits_chosen(language: Language, qtbot: QtBot) -> None:
    menu = LanguageMenu(language)
    qtbot.addWidget(menu)
    menu.show()
    with qtbot.waitSignal(menu.chosen) as chosen:
        menu.actions_by_entry()["zh_CN"].trigger()
    assert chosen.args == ["zh_CN"]
    qtbot.waitUntil(lambda: menu.text() == "简体中文")


# Chinese counts large figures in other units.
OTHER_UNITS = {"billions": "hundred_millions"}


def places(text: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("path", sorted((resources_dir() / "translations").glob("*_zh_CN.ts")), ids=lambda p: p.name)
def test_translations_are_complete(path: Path) -> None:
    messages = list(ElementTree.parse(path).getroot().iter("message"))
    assert messages
    for message in messages:
        source, translation = message.findtext("source") or "", message.find("translation")
        assert translation is not None
        assert translation.get("type") is None, f"unfinished: {source}"
        text = translation.findtext("numerusform") or translation.text or ""
        assert text, source
        assert places(text) == {OTHER_UNITS.get(place, place) for place in places(source)}, source
        assert not set(text) & set("!！"), text
