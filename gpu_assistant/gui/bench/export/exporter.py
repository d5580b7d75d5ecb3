"""Saves a result where the user chooses: as a picture (`image.py`) or as an HTML report (`report.py`).

Rendering and writing run on a worker thread (`gui.saving.FileSaver`).
"""

from __future__ import annotations

import time
from pathlib import Path

from ....core import json
from ....core.results import Benchmark
from ....reports import messages
from ....reports.benchmark import render_html
from ....reports.expected_ranges import RangeSource
from ...saving import FileSaver
from .image import render_png


class BenchmarkExporter(FileSaver):
    """Asks for a file and writes it; `saved(Path)` or `failed(AppError)` follows.

    `stored` are the earlier benchmarks, oldest first; `range_source` is where the expected ranges are from.
    """

    def ask_picture(
        self, benchmark: Benchmark, stored: tuple[Benchmark, ...], range_source: RangeSource | None
    ) -> None:
        """Ask for a file name, then save a picture."""
        title, name = self.tr("Save picture"), export_name(benchmark, "png")
        self.choose_file(
            title, "PNG (*.png)", name, lambda path: self.save_picture(benchmark, stored, range_source, path)
        )

    def ask_report(self, benchmark: Benchmark, stored: tuple[Benchmark, ...], range_source: RangeSource | None) -> None:
        """Ask for a file name, then save a report."""
        title, name = self.tr("Save report"), export_name(benchmark, "html")
        self.choose_file(
            title, "HTML (*.html)", name, lambda path: self.save_report(benchmark, stored, range_source, path)
        )

    def save_picture(
        self, benchmark: Benchmark, stored: tuple[Benchmark, ...], range_source: RangeSource | None, path: Path
    ) -> None:
        """Write a PNG file."""
        self.write(path, lambda: json.write_file(path, render_png(benchmark, stored, range_source)))

    def save_report(
        self, benchmark: Benchmark, stored: tuple[Benchmark, ...], range_source: RangeSource | None, path: Path
    ) -> None:
        """Write an HTML file in UTF-8."""
        self.write(path, lambda: json.write_file(path, render_html(benchmark, stored, range_source).encode()))


def export_name(benchmark: Benchmark, suffix: str) -> str:
    """The suggested file name, with device and day: "GPU-Assistant-RTX-4060-2026-11-22.png"."""
    reference = messages.reference_result(benchmark)
    device = "CPU" if reference is None or reference.device == "cpu" else messages.gpu_name(benchmark, reference.device)
    device_slug = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in device).strip("-")
    day = "" if benchmark.started is None else time.strftime("-%Y-%m-%d", time.localtime(benchmark.started))
    return f"GPU-Assistant-{device_slug}{day}.{suffix}"
