"""Exports of the monitor page: a picture, a CSV file."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QImage

from gpu_assistant.core.errors import AppError
from gpu_assistant.gui import theme
from tests.fakes.main_window import feed, gpu, sample

pytestmark = pytest.mark.gui


def test_picture_has_title_and_no_buttons(monitor):
    window, page = monitor
    feed(window, sample(*(gpu(index) for index in range(8))))
    shown = page.content.grab().toImage()
    picture = page.render_image()
    assert picture.width() == shown.width()
    corner = [picture.pixelColor(x, y).name() for x in range(16, 120) for y in range(10, 40)]
    assert theme.color("text").name() in corner


def test_plots_are_saved_as_a_picture(worked, tmp_path, qtbot):
    _, page = worked
    with qtbot.waitSignal(page.exporter.saved, timeout=10_000):
        page.exporter.save_picture(page.render_image(), tmp_path / "plots.png")
    saved = QImage(str(tmp_path / "plots.png"))
    assert (saved.width(), saved.height()) > (600, 300)
    assert "plots.png" in page.export_banner.label.text()


def test_figures_are_saved_as_a_table(worked, tmp_path, qtbot):
    window, page = worked
    history = window.main_area.sampling.history
    with qtbot.waitSignal(page.exporter.saved, timeout=10_000):
        page.exporter.save_table(history.store, 600, tmp_path / "figures.csv", history.gpus())
    header, *rows = (tmp_path / "figures.csv").read_text("utf-8-sig").splitlines()
    assert "GPU 0 NVIDIA GeForce RTX 4060.temp" in header
    assert len(rows) >= 118


def test_save_error_is_shown(worked, tmp_path, qtbot):
    window, page = worked
    (tmp_path / "a").write_text("in the way")
    with qtbot.waitSignal(page.exporter.failed, timeout=10_000):
        page.exporter.save_table(window.main_area.sampling.history.store, 600, tmp_path / "a" / "figures.csv")
    assert page.export_banner.kind == "warn"
    assert page.export_banner.isVisible()


def test_success_banner_hides_and_error_stays(monitor, tmp_path, qtbot):
    _, page = monitor
    page.exporter.saved.emit(tmp_path / "plots.png")
    assert page.export_banner.isVisible()
    page.export_banner.hide_timer.start(1)
    qtbot.waitUntil(lambda: not page.export_banner.isVisible(), timeout=5000)
    page.exporter.failed.emit(AppError("disk-full", path="D:"))
    assert page.export_banner.isVisible()
    assert not page.export_banner.hide_timer.isActive()
    page.export_banner.button.click()
    assert not page.export_banner.isVisible()


def test_what_was_saved_is_opened_by_the_button_beside_it(monitor, tmp_path, qtbot):
    window, page = monitor
    page.exporter.saved.emit(tmp_path / "plots.png")
    assert page.export_banner.button.text() == "Open"
    page.export_banner.button.click()
    qtbot.waitUntil(lambda: ("file", tmp_path / "plots.png") in window.app.system.opened)
