"""What every component owes: a name, a picture in all themes, both languages, and no dead focus."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QPlainTextEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui import theme
from gpu_assistant.gui.language import Language

from .samples import NAMES, samples

UNNAMED = {"Footer", "ClaimList"}  # frames around what has names


@pytest.fixture
def shown(language: Language, qtbot: QtBot) -> Iterator[dict[str, QWidget]]:
    """One of each component by its name, each in a window of its own: a theme or a language is set for all of them."""
    widgets: dict[str, QWidget] = {}
    windows = []
    for name in NAMES:
        widget = samples(language)[name]()
        window = QWidget()
        windows.append(window)
        qtbot.addWidget(window)
        QVBoxLayout(window).addWidget(widget)
        window.resize(700, 420)
        window.show()
        qtbot.waitExposed(window)
        widget.setObjectName(name)
        widgets[name] = widget
    yield widgets
    for window in windows:
        window.close()


def test_widgets_have_accessible_names(shown: dict[str, QWidget]) -> None:
    def name_of(widget: QWidget) -> str:
        return widget.accessibleName() or (widget.text() if isinstance(widget, QAbstractButton) else "")

    assert {name for name, widget in shown.items() if not name_of(widget)} <= UNNAMED


def test_controls_are_focusable_and_named(shown: dict[str, QWidget]) -> None:
    for control in (each for widget in shown.values() for each in (widget, *widget.findChildren(QWidget))):
        if isinstance(control, QAbstractButton) and control.isVisible() and control.focusPolicy():
            # Of an exclusive group, Tab stops at the chosen one; arrows do the rest.
            assert control.focusPolicy() & Qt.FocusPolicy.TabFocus or control.autoExclusive()
            assert control.accessibleName() or control.text(), control
            assert control.height() >= 30, control
        if isinstance(control, QPlainTextEdit):
            assert control.accessibleName()
            assert control.tabChangesFocus()


def test_widgets_follow_the_theme(shown: dict[str, QWidget], qapp: QApplication) -> None:
    pictures: dict[str, list[QImage]] = {name: [] for name in shown}
    for theme_name in ("light", "dark", "contrast"):
        theme.set_theme(qapp, theme_name)
        for name, widget in shown.items():
            pictures[name].append(widget.grab().toImage())
    assert [name for name, (light, dark, contrast) in pictures.items() if not light != dark != contrast] == []


def test_widgets_grow_with_the_text_scale(shown: dict[str, QWidget], qapp: QApplication, qtbot: QtBot) -> None:
    # The others are as large as they are told to be.
    before = {name: shown[name].sizeHint() for name in shown.keys() - {"ProgressBar", "Footer", "Page"}}
    theme.set_text_scale(qapp, 2.0)

    def unchanged() -> list[str]:
        after = {name: shown[name].sizeHint() for name in before}
        return [
            name
            for name, size in before.items()
            if after[name].width() <= size.width() + 2 and after[name].height() <= size.height() + 2
        ]

    qtbot.waitUntil(lambda: unchanged() == [])


def test_widgets_hear_of_another_language(shown: dict[str, QWidget], language: Language, qtbot: QtBot) -> None:
    heard: set[str] = set()

    class Watch(QWidget):
        def changeEvent(self, event: QEvent) -> None:
            if event.type() == QEvent.Type.LanguageChange:
                heard.add(self.objectName())

    watches = [Watch(widget.window()) for widget in shown.values()]
    for watch, name in zip(watches, shown, strict=True):
        watch.setObjectName(name)
    language.set("zh_CN")
    qtbot.waitUntil(lambda: heard == set(shown))
    for widget in shown.values():
        widget.grab()


@pytest.mark.parametrize("name", ["Button primary", "Button secondary", "Button ghost"])
def test_disabled_looks_different(name: str, language: Language, qtbot: QtBot) -> None:
    button = samples(language)[name]()
    qtbot.addWidget(button)
    before = button.grab().toImage()
    button.setEnabled(False)
    assert button.grab().toImage() != before


def test_no_module_imports_heavy_ones() -> None:
    import subprocess
    import sys

    code = (
        "import sys, gpu_assistant.gui.widgets\n"
        "print([name for name in ('numpy', 'pyqtgraph', 'requests', 'psutil') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == "[]"


def test_imports_after_qt_read_no_source() -> None:
    import subprocess
    import sys

    code = (
        "import builtins, gpu_assistant.gui, PySide6.QtGui, PySide6.QtWidgets\n"
        "print(builtins.__import__ is vars(builtins)['__feature_import__'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == "False"
