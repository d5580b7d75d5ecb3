"""Saving a result: file names, files, errors."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from gpu_assistant.gui.bench.export.exporter import BenchmarkExporter, export_name
from tests.fakes.benchmarks import card_benchmark
from tests.fakes.examples import cpu_benchmark

pytestmark = pytest.mark.gui


def test_file_name_has_gpu_and_date():
    assert export_name(card_benchmark(), "png") == "GPU-Assistant-RTX-4060.png"
    assert export_name(cpu_benchmark(), "html") == "GPU-Assistant-CPU.html"
    noon = time.mktime((2026, 11, 22, 12, 0, 0, 0, 0, -1))
    assert export_name(replace(card_benchmark(), started=noon), "png") == "GPU-Assistant-RTX-4060-2026-11-22.png"


def test_save_and_write_error(language, qtbot, tmp_path):
    parent = QWidget()
    qtbot.addWidget(parent)
    exporter = BenchmarkExporter(parent)
    with qtbot.waitSignal(exporter.saved) as saved:
        exporter.save_picture(card_benchmark(), (), None, tmp_path / "a.png")
    assert saved.args == [tmp_path / "a.png"]
    with qtbot.waitSignal(exporter.saved):
        exporter.save_report(card_benchmark(), (), None, tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with qtbot.waitSignal(exporter.failed) as failed:
        exporter.save_report(card_benchmark(), (), None, tmp_path / "file" / "a.html")
    assert failed.args[0].code in ("storage", "folder-unwritable")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.png", "file"]
