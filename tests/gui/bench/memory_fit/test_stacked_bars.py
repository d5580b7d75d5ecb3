"""The bars of the memory estimate: rows, parts, notes."""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from gpu_assistant.core.errors import AppError
from gpu_assistant.gui import theme
from gpu_assistant.gui.bench.memory_fit.memory_parts import fill_part
from gpu_assistant.gui.bench.memory_fit.messages import MEMORY_PARTS
from gpu_assistant.gui.bench.memory_fit.stacked_bars import StackedBarRow
from tests.fakes.benchmarks import GIB, memory_fits, worked_out

pytestmark = pytest.mark.gui


def test_memory_fit_shows_bars(memory, app, seen, measure):
    memory.batch_box.setValue(32)
    measure()
    assert app.fitted == ("resnet50", 32, "cuda")
    rows = memory.findChildren(StackedBarRow)
    assert len(rows) == 5
    text = rows[1].accessibleName()
    assert text.startswith("Mixed precision: Fits, max. batch size about 128, 1.1 GB, −34%, ")
    assert "Optimizer state 98 MB" in text
    assert (rows[4].answer_label.text(), rows[4].largest_label.text()) == ("Fits", "1,152")
    assert rows[4].answer_label.tone == "ok"
    assert (
        "Free when measured: 7.6 GB. A step can use it up to the dashed line; the rest is left for the display"
        in seen(memory)
    )
    assert "1 GB of memory is 1,024 MB" in seen(memory)


@pytest.mark.parametrize(("batch", "is_beside"), [(16, True), (4096, False)])
def test_usable_memory_stands_in_the_line_of_the_description_where_it_ends_behind_it(
    memory, app, measure, qtbot, batch, is_beside
):
    app.results["fit"] = worked_out(batch)
    memory.batch_box.setValue(batch)
    measure()
    row, other = memory.bars.rows["plain"], memory.bars.rows["accumulation"]
    assert row.limit_label.text() == "6.8 GB usable"
    assert not other.limit_label.isVisible()

    def shares_line():
        return row.limit_label.geometry().top() <= row.detail_label.geometry().bottom()

    qtbot.waitUntil(lambda: shares_line() == is_beside, timeout=5000)
    for part in (row.detail_label, row.limit_label):
        assert part.geometry().bottom() < row.bar.geometry().top()


def test_memory_parts_have_values_and_focus(memory, measure, qtbot):
    measure()
    row = memory.bars.rows["plain"]
    assert [text for text, _ in row.legend.parts] == [
        "Parameters 98 MB",
        "Gradients 98 MB",
        "Optimizer state 98 MB",
        "Activations 1.4 GB",
        "Temporary 12 MB",
        "Cache 54 MB",
    ]
    assert row.bar.toolTip().splitlines() == [text for text, _ in row.legend.parts]
    bars = memory.bars
    expected = [memory.measure_button, bars.meanings_button, *bars.rows.values(), memory.variant_dropdown]
    memory.device_dropdown.setFocus()
    stops = [memory.device_dropdown]
    while stops[-1] is not memory.variant_dropdown and len(stops) <= len(expected):
        qtbot.keyClick(stops[-1], Qt.Key.Key_Tab)
        stops.append(QApplication.focusWidget())
    assert stops[1:] == expected


def test_batch_that_fits_is_said_by_the_title_alone(memory, measure):
    measure()
    assert memory.bars.card_title.text() == "ResNet-50 fits with batch size 16 (GPU 1\xa0·\xa0RTX 3090)"
    assert not memory.bars.refusal_banner.isVisible()


def test_largest_batches_stand_below_one_heading(memory, app, measure, qtbot):
    measure()
    bars = memory.bars
    parts = (bars.largest_heading, *(row.largest_label for row in bars.rows.values()))
    assert bars.largest_heading.text() == "Max. batch (approx.)"
    qtbot.waitUntil(lambda: len({part.mapTo(bars, part.rect().topRight()).x() for part in parts}) == 1, timeout=5000)
    result = memory_fits()
    unknown = tuple(replace(fit, capacity=None, reserve=None, largest_batch=None) for fit in result.fits)
    app.results["fit"] = replace(result, fits=unknown)
    measure()
    assert not bars.largest_heading.isVisible()
    assert not bars.rows["plain"].answer_label.isVisible()


def test_usable_memory_is_said_once(memory, measure, seen):
    measure()
    plain, *others = memory.bars.rows.values()
    assert "6.8 GB usable" in plain.accessibleName()
    assert all("usable" not in row.accessibleName() for row in others)
    assert seen(memory.bars).count("usable") == 1


@pytest.mark.parametrize("batch", [16, 72, 256])
def test_value_has_room_before_each_bar(memory, app, measure, batch):
    app.results["fit"] = worked_out(batch)
    memory.batch_box.setValue(batch)
    measure()
    bars = [row.bar for row in memory.bars.rows.values()]
    assert len({bar.track.left() for bar in bars}) == 1
    assert bars[0].track.left() > theme.advance("strong", "22.0 GB") + theme.advance("small", "−74%")


def test_row_without_a_largest_batch_has_no_figure(memory, app, measure):
    result = memory_fits()
    app.results["fit"] = replace(result, fits=tuple(replace(fit, largest_batch=0) for fit in result.fits))
    measure()
    row = memory.bars.rows["plain"]
    assert row.answer_label.text() == "Does not fit, not even a batch of 1"
    assert not row.largest_label.isVisible()


def test_colours_are_named_once_and_sizes_stand_below_the_bars_on_demand(memory, measure, seen):
    measure()
    bars = memory.bars
    assert seen(bars).count("Activations") == 1
    assert not any(row.legend.isVisible() for row in bars.rows.values())
    bars.meanings_button.click()
    assert all(row.legend.isVisible() for row in bars.rows.values())
    assert not bars.key.isVisible()  # the list of meanings names the colours
    assert seen(bars).count("Activations") == 1
    bars.meanings_button.click()
    assert not any(row.legend.isVisible() for row in bars.rows.values())
    assert bars.key.isVisible()


def test_legend_wraps_into_the_same_columns_for_all_bars(memory, measure):
    measure()
    legends = [row.legend for row in memory.bars.rows.values()]
    one_line = legends[0].heightForWidth(3000)
    assert {legend.heightForWidth(3000) for legend in legends} == {one_line}
    wrapped = {legend.heightForWidth(300) for legend in legends}
    assert len(wrapped) == 1
    assert wrapped.pop() > one_line


def test_parts_are_explained_on_demand(memory, app, measure, seen, qtbot):
    app.results["fit"] = worked_out(16)
    measure()
    bars = memory.bars
    meaning = "The numbers in which the model stores what it has learned."
    assert meaning not in seen(bars)
    bars.meanings_button.setFocus()
    qtbot.keyClick(bars.meanings_button, Qt.Key.Key_Space)
    assert meaning in seen(bars)
    assert bars.meanings_button.hasFocus()
    memory.batch_box.setValue(4)  # another answer leaves it open
    assert meaning in seen(bars)
    qtbot.keyClick(bars.meanings_button, Qt.Key.Key_Space)
    assert meaning not in seen(bars)


def test_parts_differ_by_pattern_in_a_contrast_theme(qapp):
    theme.set_theme(qapp, "contrast")
    pictures = []
    for part, _ in MEMORY_PARTS:
        picture = QImage(24, 24, QImage.Format.Format_RGB32)
        picture.fill(theme.color("sunken"))
        painter = QPainter(picture)
        fill_part(painter, QRectF(picture.rect()), part, "text")  # of all parts, as a contrast theme of the system may
        painter.end()
        assert picture not in pictures
        pictures.append(picture)


def test_part_that_is_not_in_memory_yet_has_zero_megabytes(memory, app, measure):
    app.results["fit"] = worked_out(256)
    memory.batch_box.setValue(256)
    measure()
    assert "Gradients 0 MB" in memory.bars.rows["plain"].accessibleName()


def test_way_that_costs_least_is_marked(memory, app, measure):
    app.results["fit"] = worked_out(256)
    memory.batch_box.setValue(256)
    measure()
    rows = memory.bars.rows
    assert rows["accumulation"].fastest_pill.isVisible()
    assert "Costs least time" in rows["accumulation"].accessibleName()
    assert not rows["plain"].fastest_pill.isVisible()
    memory.batch_box.setValue(16)  # fits as it is
    assert not rows["accumulation"].fastest_pill.isVisible()


def test_only_way_that_fits_is_not_marked_as_the_fastest(memory, app, measure):
    result = worked_out(256)
    kept = [index for index, fit in enumerate(result.fits) if fit.variant in ("plain", "mixed", "accumulation")]
    fits, steps = (tuple(each[index] for index in kept) for each in (result.fits, result.steps))
    app.results["fit"] = replace(result, fits=fits, steps=steps)
    memory.batch_box.setValue(256)
    measure()
    row = memory.bars.rows["accumulation"]
    assert row.answer_label.text() == "Fits"
    assert not row.fastest_pill.isVisible()


@pytest.mark.parametrize(("exact", "ending"), [(True, "this computer."), (False, "varied a little: approximate.")])
def test_sizes_are_said_to_be_calculated(memory, app, measure, exact, ending):
    result = memory_fits()
    app.results["fit"] = replace(result, fits=tuple(replace(fit, exact=exact) for fit in result.fits))
    measure()
    text = memory.bars.basis_label.text()
    assert text.startswith("Calculated from small batches")
    assert text.endswith(ending)


@pytest.mark.parametrize(("batch", "icon"), [(16, "ok"), (256, "error")])
def test_answer_has_icon_and_word(memory, app, measure, batch, icon):
    app.results["fit"] = worked_out(batch)
    memory.batch_box.setValue(batch)
    measure()
    row = memory.bars.rows["plain"]
    assert row.answer_icon.name == icon
    assert row.answer_icon.isVisible()


def test_rows_begin_at_the_edge_of_the_title(memory, measure, qtbot):
    measure()
    row = memory.bars.rows["plain"]
    title = memory.bars.card_title
    qtbot.waitUntil(
        lambda: row.name_label.mapTo(memory, QPoint()).x() == title.mapTo(memory, QPoint()).x(), timeout=5000
    )


def test_not_fitting_variant_is_marked(memory, app, measure):
    app.results["fit"] = memory_fits(GIB)
    measure()
    row = memory.bars.rows["plain"]
    assert "Does not fit" in row.accessibleName()
    assert "922 MB usable" in row.accessibleName()


@pytest.mark.parametrize(("batch", "limit"), [(16, 1.0), (256, 0.31)])
def test_line_stands_where_the_usable_memory_ends(memory, app, qtbot, measure, batch, limit):
    app.results["fit"] = worked_out(batch)
    memory.batch_box.setValue(batch)
    measure()
    bar = memory.bars.rows["accumulation"].bar  # fits with either batch
    qtbot.waitUntil(lambda: bar.isVisible() and bar.height() >= bar.sizeHint().height())
    picture = bar.grab().toImage()
    error = theme.color("error").name()
    marked = [
        x
        for x in range(picture.width())
        if any(picture.pixelColor(x, y).name() == error for y in range(picture.height()))
    ]
    assert marked
    assert all(abs(x - bar.track.left() - limit * bar.track.width()) <= 4 for x in marked)  # the line's width


def test_missing_gradients_are_explained(memory, app, seen, measure):
    app.results["fit"] = worked_out(256)
    measure()
    assert "not all gradients exist by then" in seen(memory.bars)


@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
def test_cpu_note_mentions_libraries(memory, app, device, measure):
    result = memory_fits()
    app.results["fit"] = replace(result, fits=tuple(replace(each, device=device) for each in result.fits))
    measure()
    assert ("libraries take a few hundred MB more" in memory.bars.notes_label.text()) == (device == "cpu")


def test_omitted_variant_shows_own_reason(memory, app, qtbot, seen, measure):
    result = memory_fits()
    app.results["fit"] = replace(result, fits=result.fits[:1], left_out={"mixed": "bench.note.memory"})
    measure()
    qtbot.waitUntil(lambda: "Mixed precision: Does not fit in the free memory" in seen(memory), timeout=5000)


def test_previous_bars_stay_until_new_results(memory, app, seen, measure, wait_for_end):
    measure()
    known = memory.bars.rows["plain"].accessibleName()
    app.gate, app.results["fit"] = threading.Event(), AppError("bench-killed")
    memory.measure_button.click()
    assert "The earlier result: ResNet-50 fits" in seen(memory.bars)
    app.gate.set()
    wait_for_end()
    assert memory.message_banner.isVisible()
    assert "The earlier result" in seen(memory.bars)
    assert memory.bars.rows["plain"].accessibleName() == known
    app.results["fit"] = replace(memory_fits(), fits=memory_fits().fits[:1])
    measure()
    assert "The earlier result" not in seen(memory.bars)
    assert [*memory.bars.rows] == ["plain"]


def test_partial_gradients_are_explained(memory, app, seen, measure):
    result = memory_fits()
    app.results["fit"] = replace(result, fits=tuple(replace(fit, gradients=fit.gradients // 2) for fit in result.fits))
    measure()
    assert "not all gradients exist by then" in seen(memory.bars)
