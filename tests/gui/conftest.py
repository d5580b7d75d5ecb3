"""What every test of the window shares: no Qt object ends in a worker's thread; what can be read on a widget; the
main window on fake services."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPlainTextEdit, QWidget

from gpu_assistant.gui import theme
from gpu_assistant.gui.event_loop import GarbageCollector
from gpu_assistant.gui.language import Language
from gpu_assistant.gui.main.main_area import HOME, MainArea
from gpu_assistant.gui.main.updates import UpdateController
from gpu_assistant.gui.main.window import MainWindow
from gpu_assistant.gui.saving import SettingsSaver
from gpu_assistant.gui.worker import JobRunner
from tests.fakes.app import FakeApp
from tests.fakes.main_window import FakeMain
from tests.gui.deletion import delete_window
from tests.gui.keyboard import wait_until_active


@pytest.fixture(autouse=True)
def garbage(qapp: QApplication) -> Iterator[GarbageCollector]:
    made = GarbageCollector(qapp)
    made.start()
    yield made
    made.stop()
    made.deleteLater()
    delete_closed(qapp)
    gc.collect()  # what this test made: the rest is frozen, also from the next test on
    gc.unfreeze()
    gc.enable()


@pytest.fixture(autouse=True)
def appearance(qapp: QApplication) -> Iterator[None]:
    """Every test begins with the light theme and text at 100 %, whatever the one before it chose."""
    # Applying them takes a while under Wine: only what differs is set.
    if theme.choice() != "light":
        theme.set_theme(qapp, "light")
    yield
    if theme.text_scale() != 1.0:
        theme.set_text_scale(qapp, 1.0)
    if theme.choice() != "light":
        theme.set_theme(qapp, "light")


def delete_closed(qapp: QApplication) -> None:
    """Delete the widgets that were closed: each change of language or theme would go through those of all tests before.
    Qt ends the process over a thread destroyed at work, so what still works goes with a later test.
    """
    windows = qapp.topLevelWidgets()
    if not any(runner.running for window in windows for runner in window.findChildren(JobRunner)):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def texts_of(widget: QWidget) -> str:
    """All words that are to be seen on a widget."""
    seen = [each.text() for kind in (QLabel, QAbstractButton) for each in widget.findChildren(kind) if each.isVisible()]
    seen += [each.toPlainText() for each in widget.findChildren(QPlainTextEdit) if each.isVisible()]
    return "\n".join(seen)


@pytest.fixture
def seen() -> Callable[[QWidget], str]:
    """What can be read on a widget."""
    return texts_of


@pytest.fixture
def app(tmp_path):
    return FakeMain(tmp_path)


@pytest.fixture
def language(qapp):
    made = Language(qapp)
    made.set("en")
    yield made
    if made.current != "en":
        made.set("en")


@pytest.fixture
def open_window(qtbot, qapp, language):
    """Opens the main window on given services; closed at the end of the test, with its threads ended."""
    windows: list[MainWindow] = []

    def opened(app: FakeApp, size: tuple[int, int] = (1180, 760)) -> MainWindow:
        window = MainWindow(app)
        window.build(language)
        windows.append(window)
        window.resize(*size)
        window.show()
        qtbot.waitExposed(window)
        wait_until_active(qtbot, window)
        return window

    yield opened
    for window in windows:
        window.close()
        qtbot.waitUntil(lambda window=window: not window.isVisible(), timeout=20_000)
        window.wait_for_jobs()  # as the program does when its event loop ended
        delete_window(window)
    QApplication.processEvents()


@pytest.fixture
def open_area(qtbot, language):
    """Opens the main area alone: what a simulated machine shows once its wizard was walked."""
    areas: list[MainArea] = []

    def opened(app: FakeApp) -> MainArea:
        saver = SettingsSaver(app)
        updates = UpdateController(app)
        area = MainArea(app, language, saver, updates)
        for each in (saver, updates):
            each.setParent(area)  # ends with it, and its thread is waited for below
        areas.append(area)
        area.open_page(HOME)
        area.resize(1180, 760)
        area.show()
        qtbot.waitExposed(area)
        return area

    yield opened
    for area in areas:
        qtbot.waitUntil(lambda area=area: not any(r.running for r in area.findChildren(JobRunner)), timeout=20_000)
        area.stop()
        area.hide()
        delete_window(area)


@pytest.fixture
def home(open_window, qtbot):
    """Opens the main window on given services, at Home, once it has looked."""

    def opened(app):
        window = open_window(app)
        page = window.main_area.pages[HOME]
        qtbot.waitUntil(lambda: page.facts.machine is not None, timeout=20_000)
        return window, page

    return opened
