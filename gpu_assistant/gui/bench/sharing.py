"""Saves a result where the user wants it: as a picture, or as a page for a browser."""

from __future__ import annotations

import time
from pathlib import Path

from ...core import json
from ...core.results import Benchmark
from ..main.file_saver import FileSaver
from . import scores
from .right_card import RangeSource


class Sharing(FileSaver):
    """A benchmark as a file."""

    def ask_picture(self, benchmark: Benchmark, kept: tuple[Benchmark, ...]) -> None:
        """Ask where the picture shall lie, and save it there; `kept` are the results of before, oldest first."""
        title, name = self.tr("Where shall the picture be saved?"), _name(benchmark, "png")
        self.ask(title, "PNG (*.png)", name, lambda path: self.save_picture(benchmark, kept, path))

    def ask_report(self, benchmark: Benchmark, kept: tuple[Benchmark, ...], source: RangeSource | None) -> None:
        """Ask where the report shall lie, and save it there; `source` is where the expected ranges are from."""
        title, name = self.tr("Where shall the report be saved?"), _name(benchmark, "html")
        self.ask(title, "HTML (*.html)", name, lambda path: self.save_report(benchmark, kept, source, path))

    def save_picture(self, benchmark: Benchmark, kept: tuple[Benchmark, ...], path: Path) -> None:
        """Save the picture."""
        from .picture import png

        self.write(path, lambda: json.write_file(path, png(benchmark, kept)))

    def save_report(
        self, benchmark: Benchmark, kept: tuple[Benchmark, ...], source: RangeSource | None, path: Path
    ) -> None:
        """Save the report."""
        from .report import html

        self.write(path, lambda: json.write_file(path, html(benchmark, kept, source).encode()))


def _name(benchmark: Benchmark, ending: str) -> str:
    """A file name that says what it is and of which day: "GPU-Assistant-RTX-4060-2026-11-22.png"."""
    best = scores.reference(benchmark)
    device = "CPU" if best is None or best.device == "cpu" else scores.card(benchmark, best.device)
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in device).strip("-")
    day = "" if benchmark.started is None else time.strftime("-%Y-%m-%d", time.localtime(benchmark.started))
    return f"GPU-Assistant-{plain}{day}.{ending}"
