"""Saves a result where the user wants it: as a picture, or as a page for a browser."""

from __future__ import annotations

import time
from pathlib import Path

from ...core import json
from ...core.results import Benchmark
from ..main.file_saver import FileSaver
from . import scores
from .right_card import RangeSource


class BenchmarkExporter(FileSaver):
    """A benchmark as a file."""

    def ask_picture(self, benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> None:
        """Ask where the picture shall lie, and save it there; `kept` are the results of before, oldest first."""
        title, name = self.tr("Where shall the picture be saved?"), _export_name(benchmark, "png")
        self.choose_file(title, "PNG (*.png)", name, lambda path: self.save_picture(benchmark, stored, path))

    def ask_report(self, benchmark: Benchmark, stored: tuple[Benchmark, ...], range_source: RangeSource | None) -> None:
        """Ask where the report shall lie, and save it there; `source` is where the expected ranges are from."""
        title, name = self.tr("Where shall the report be saved?"), _export_name(benchmark, "html")
        self.choose_file(title, "HTML (*.html)", name, lambda path: self.save_report(benchmark, stored, range_source, path))

    def save_picture(self, benchmark: Benchmark, stored: tuple[Benchmark, ...], path: Path) -> None:
        """Save the picture."""
        from .picture import render_png

        self.write(path, lambda: json.write_file(path, render_png(benchmark, stored)))

    def save_report(
        self, benchmark: Benchmark, stored: tuple[Benchmark, ...], range_source: RangeSource | None, path: Path
    ) -> None:
        """Save the report."""
        from .report import render_html

        self.write(path, lambda: json.write_file(path, render_html(benchmark, stored, range_source).encode()))


def _export_name(benchmark: Benchmark, suffix: str) -> str:
    """A file name that says what it is and of which day: "GPU-Assistant-RTX-4060-2026-11-22.png"."""
    reference = scores.reference_result(benchmark)
    device = "CPU" if reference is None or reference.device == "cpu" else scores.gpu_name(benchmark, reference.device)
    device_slug = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in device).strip("-")
    day = "" if benchmark.started is None else time.strftime("-%Y-%m-%d", time.localtime(benchmark.started))
    return f"GPU-Assistant-{device_slug}{day}.{suffix}"
