"""The monitor page in a small window, with large text, in both languages."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from gpu_assistant.gui import theme
from tests.fakes.examples import GIB
from tests.fakes.main_window import feed, gpu, sample

pytestmark = pytest.mark.gui
MIN_CURVES_HEIGHT = 60  # pixels at 100 % text


def uncut(page, widget) -> bool:
    """Whether a widget is inside the page, and not narrower than its minimum."""
    left = widget.mapTo(page.content, QPoint(0, 0)).x()
    min_width = widget.minimumSizeHint().width()
    return left >= 0 and left + widget.width() <= page.viewport().width() and widget.width() >= min_width


@pytest.mark.parametrize("cards", [1, 2, 8])
def test_large_text_is_not_cut(monitor, language, qapp, qtbot, cards):
    window, page = monitor
    theme.set_text_scale(qapp, 2.0)
    feed(window, sample(*(gpu(index, mem_used=23 * GIB, mem_total=24 * GIB) for index in range(cards))))
    parts = [
        page.status_pill,
        *page.toolbar.findChildren(type(page.toolbar.pause_button)),
        *page.plot_cards,
        *page.gpu_headers,
    ]
    parts += [tile for _, _, tile in page.tiles] + [page.toolbar.range_control]

    def fits():
        shown = [part for part in parts if part.isVisible()]
        return page.horizontalScrollBar().maximum() == 0 and all(uncut(page, part) for part in shown)

    for code in ("en", "zh_CN"):
        language.set(code)
        for size in ((1180, 760), (1000, 700), (880, 520)):
            window.resize(*size)
            qtbot.waitUntil(fits, timeout=5000)


def test_toolbar_moves_below_narrow_status(monitor, qtbot):
    window, page = monitor
    feed(window, sample(gpu()))
    for size in ((1000, 700), (1180, 760), (1900, 900)):
        window.resize(*size)
        qtbot.waitUntil(lambda: page.subtitle_label.width() >= 300, timeout=5000)
    qtbot.waitUntil(lambda: page.header.indexOf(page.toolbar) >= 0, timeout=5000)
    window.resize(1000, 700)
    qtbot.waitUntil(lambda: page.column.indexOf(page.toolbar) == 0, timeout=5000)


@pytest.mark.parametrize("cards", [0, 1, 2])
def test_smallest_window_shows_a_whole_plot(monitor, language, qapp, qtbot, cards):
    """The size that a laptop's display has at 200 %."""
    window, page = monitor
    hot = [gpu(index, temp=90, temp_max=83) for index in range(cards)]  # the alarm's advice takes a row
    now = page.time_axis.view()[1]
    feed(window, *(sample(*hot, t=now - 20 + second) for second in range(20)))
    assert page.advice_panel.toggle_button.isVisible() == bool(cards)
    # With cards, the plot that shows their problem is seen first.
    first = page.plot_cards[2 if cards else 0]
    assert first.plotted_metric.key == ("temp" if cards else "cpu")
    for code in ("en", "zh_CN"):
        language.set(code)
        window.resize(880, 520)
        for _ in range(20):  # it was visible in the larger window, and must be after the layout
            qapp.processEvents()
        assert first.visibleRegion().boundingRect().size() == first.size()
    tiles = [tile for _, _, tile in page.tiles]
    window.resize(880, 760)
    qtbot.waitUntil(lambda: all(tile.isVisible() for tile in tiles), timeout=5000)


def test_tiles_wrap_when_value_does_not_fit(monitor, qtbot):
    window, page = monitor
    window.resize(1000, 700)
    feed(window, sample(gpu(mem_used=5 * GIB)))
    tiles = [tile for _, _, tile in page.tiles]
    qtbot.waitUntil(lambda: len({tile.y() for tile in tiles}) == 1, timeout=5000)
    feed(window, sample(gpu(mem_used=135 * GIB, mem_total=141 * GIB)))
    qtbot.waitUntil(lambda: len({tile.y() for tile in tiles}) == 2, timeout=5000)
    assert page.horizontalScrollBar().maximum() == 0


def test_hint_and_buttons_share_row_if_wide(monitor, qtbot):
    window, page = monitor
    feed(window, sample(gpu()))
    parts = page.hint_label, page.secondary_plots_button, page.gpu_details.toggle_button
    window.resize(1366, 768)
    qtbot.waitUntil(lambda: len({part.geometry().center().y() // 8 for part in parts}) == 1, timeout=5000)
    theme.set_text_scale(QApplication.instance(), 2.0)
    qtbot.waitUntil(lambda: len({part.geometry().center().y() // 8 for part in parts}) == 3, timeout=5000)
    qtbot.waitUntil(lambda: page.horizontalScrollBar().maximum() == 0, timeout=5000)


@pytest.mark.parametrize("width", [880, 1180, 1366])
@pytest.mark.parametrize("cards", [1, 2])
def test_export_and_table_have_labels_or_share_a_row_without(monitor, qtbot, width, cards):
    window, page = monitor
    window.resize(width, 760)
    feed(window, sample(*(gpu(index) for index in range(cards))))
    buttons = page.toolbar.export_button, page.toolbar.table_button

    def has_settled() -> bool:
        texts = tuple(button.text() for button in buttons)
        # With two cards and wide fonts the labels go rather than that a second row begins.
        parts = (page.toolbar.range_control, *buttons)
        is_one_row = len({part.geometry().center().y() // 8 for part in parts}) == 1
        return texts == ("Export", "Table") or (cards == 2 and texts == ("", "") and is_one_row)

    qtbot.waitUntil(has_settled, timeout=5000)
    assert all(button.accessibleName() and button.toolTip() for button in buttons)
    page.time_axis.zoom(0.5, page.time_axis.view()[0])
    assert page.toolbar.reset_button.isVisible()
    if width == 1366 and cards == 1:
        # It takes the place of the labels where needed, and no second row begins.
        row = (page.toolbar.reset_button, *buttons)
        qtbot.waitUntil(lambda: len({part.geometry().center().y() for part in row}) == 1, timeout=5000)
        page.toolbar.reset_button.click()
        qtbot.waitUntil(lambda: page.toolbar.export_button.text() == "Export", timeout=5000)


@pytest.mark.parametrize("cards", [0, 1, 2, 8])
def test_two_plots_are_whole_in_a_small_window(monitor, language, qapp, cards):
    window, page = monitor
    hot = [gpu(index, temp=90, temp_max=83) for index in range(cards)]
    now = page.time_axis.view()[1]
    feed(window, *(sample(*hot, t=now - 20 + second) for second in range(20)))
    for code in ("en", "zh_CN"):
        language.set(code)
        window.resize(880, 640)
        for _ in range(20):
            qapp.processEvents()
        whole = [card for card in page.plot_cards if card.visibleRegion().boundingRect().size() == card.size()]
        assert len(whole) >= 2


@pytest.mark.parametrize("height", [520, 640])
@pytest.mark.parametrize("cards", [1, 2, 8])
def test_curves_keep_their_height_beside_events(monitor, language, qapp, cards, height):
    """A hot card's labels of events and the advice above the plots do not take it."""
    window, page = monitor
    hot = [gpu(index, temp=90, temp_max=83, util=99, throttle=("thermal",)) for index in range(cards)]
    now = page.time_axis.view()[1]
    feed(window, *(sample(*hot, t=now - 20 + second) for second in range(20)))
    for code in ("en", "zh_CN"):
        language.set(code)
        window.resize(880, height)
        for _ in range(20):
            qapp.processEvents()
        first = next(card for card in page.plot_cards if card.plotted_metric.key == "temp")
        assert first.plot.events
        assert first.plot.area().height() >= theme.px(MIN_CURVES_HEIGHT)
