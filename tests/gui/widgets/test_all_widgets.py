"""What every component owes: a name, a picture in all themes, both languages, and no dead focus."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QPlainTextEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpu_assistant.gui import theme
from gpu_assistant.gui.language import Language

from .samples import NAMES, samples

UNNAMED = {"Footer"}  # a frame around its buttons, which have names


@pytest.fixture(params=NAMES)
def sample(request: pytest.FixtureRequest, language: Language, qtbot: QtBot) -> Iterator[QWidget]:
    widget = samples(language)[request.param]()
    window = QWidget()
    qtbot.addWidget(window)
    QVBoxLayout(window).addWidget(widget)
    window.resize(700, 420)
    window.show()
    qtbot.waitExposed(window)
    widget.setObjectName(request.param)
    yield widget
    window.close()


def test_widget_has_accessible_name(sample: QWidget) -> None:
    text = sample.text() if isinstance(sample, QAbstractButton) else ""
    assert sample.accessibleName() or text or sample.objectName() in UNNAMED


def test_controls_are_focusable_and_named(sample: QWidget) -> None:
    inside = [sample, *sample.findChildren(QWidget)]
    for control in inside:
        if isinstance(control, QAbstractButton) and control.isVisible() and control.focusPolicy():
            # Of an exclusive group, Tab stops at the chosen one; arrows do the rest.
            assert control.focusPolicy() & Qt.FocusPolicy.TabFocus or control.autoExclusive()
            assert control.accessibleName() or control.text(), control
            assert control.height() >= 30, control
        if isinstance(control, QPlainTextEdit):
            assert control.accessibleName()
            assert control.tabChangesFocus()


def test_widget_follows_theme(sample: QWidget, qapp: QApplication) -> None:
    pictures = []
    for name in ("light", "dark", "contrast"):
        theme.set_theme(qapp, name)
        pictures.append(sample.grab().toImage())
    assert pictures[0] != pictures[1] != pictures[2]


def test_widget_grows_with_text_scale(sample: QWidget, qapp: QApplication, qtbot: QtBot) -> None:
    before = sample.sizeHint()
    theme.set_text_scale(qapp, 2.0)
    if sample.objectName() in ("ProgressBar", "Footer", "Page"):
        return  # these are as large as they are told to be

    def grown() -> bool:
        after = sample.sizeHint()
        return after.width() > before.width() + 2 or after.height() > before.height() + 2

    qtbot.waitUntil(grown)


def test_widget_retranslates(sample: QWidget, language: Language, qtbot: QtBot) -> None:
    heard = []

    class Watch(QWidget):
        def changeEvent(self, event: QEvent) -> None:
            heard.append(event.type())

    watch = Watch(sample.window())
    language.set("zh_CN")
    qtbot.waitUntil(lambda: QEvent.Type.LanguageChange in heard)
    sample.grab()
    assert watch.isEnabled()


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


def test_package_import_loads_no_qt() -> None:
    import subprocess
    import sys

    code = "import sys, gpu_assistant.gui; print('PySide6' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == "False"
