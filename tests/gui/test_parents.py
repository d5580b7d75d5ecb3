"""All that a window makes belongs to it: what has no parent outlives it, hears each change of language and theme, and
is a window of its own as soon as it is shown.
"""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from gpu_assistant.gui.main.main_area import BENCHMARK, HEALTH, HOME, MONITOR, SETTINGS
from gpu_assistant.gui.wizard.flow import PAGES
from gpu_assistant.gui.wizard.wizard import Wizard
from tests.fakes.app import FakeApp


def without_parent() -> set[QWidget]:
    """But for the plain, childless widget that an axis of pyqtgraph leaves for each plot."""
    widgets = (each for each in QApplication.topLevelWidgets() if each.parent() is None)
    return {each for each in widgets if type(each) is not QWidget or each.children()}


def test_all_widgets_of_the_main_pages_have_a_parent(home, app, qtbot) -> None:
    before = without_parent()
    window, _page = home(app)
    qtbot.waitUntil(window.main_area.is_monitor_loaded)
    for page in (HOME, MONITOR, HEALTH, BENCHMARK, SETTINGS):
        window.main_area.open_page(page)
        QApplication.processEvents()
        assert without_parent() - before == {window}, page


@pytest.mark.parametrize("page", PAGES)
def test_all_widgets_of_a_wizards_page_have_a_parent(qtbot, language, tmp_path, page) -> None:
    before = without_parent()
    wizard = Wizard(FakeApp(tmp_path), language)
    qtbot.addWidget(wizard)
    wizard.page(page)
    assert without_parent() - before == {wizard}
