"""What the health test tells of its progress: on a terminal one line, elsewhere a line for each thing."""

from __future__ import annotations

import io
import sys

import pytest

from gpu_assistant.bench.child_protocol import TorchLoading
from gpu_assistant.cli.output import Output, display_width
from gpu_assistant.cli.progress import BenchmarkStatusLine, HealthStatusLine
from gpu_assistant.health.child_protocol import CHILD_CHECK_IDS, HealthProgress
from gpu_assistant.texts.localized import Texts
from gpu_assistant.texts.translate import load_texts


class Terminal(io.StringIO):
    """A stderr that is a terminal; `shown` is its line after each time that something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        line: list[str] = []
        for part in self.getvalue().split("\r"):  # each begins at the left, over what is there
            cells = [cell for letter in part for cell in ((letter, "") if display_width(letter) == 2 else (letter,))]
            line[: len(cells)] = cells
        self.shown.append("".join(line).rstrip())


NEWS = (
    HealthProgress(check="torch-import", temp=51),
    HealthProgress(check="matmul-bits", device="cuda:0"),
    HealthProgress(check="matmul-bits"),
    HealthProgress(check="matmul-bits", device="cuda:0", done=0.25, temp=70),
    HealthProgress(check="matmul-bits", device="cuda:0", done=0.5, temp=71),
    HealthProgress(check="load", device="cuda:0", done=0.01),
)


def rendered(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, *, quiet: bool = False) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    with HealthStatusLine(Output(Texts("en"), json=False, quiet=quiet)) as line:
        for event in NEWS:
            line.show_progress(event)
    return stream.getvalue()


def test_terminal_line_has_no_gaps_or_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    written = rendered(terminal, monkeypatch)
    assert "\033" not in written  # cmd shows it as it is
    assert terminal.shown == [
        "loading PyTorch · 51 °C",
        "calculations in each precision · GPU 0",
        "calculations in each precision",
        "calculations in each precision · GPU 0 · 25% · 70 °C",
        "calculations in each precision · GPU 0 · 50% · 71 °C",
        "calculations under a long full load · GPU 0 · 1%",
        "",
    ]


def test_chinese_line_is_wiped_cell_by_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with BenchmarkStatusLine(
        Output(Texts("zh_CN"), json=False, quiet=False), lambda: None, wait_for_device=False
    ) as line:
        line.show_progress(TorchLoading(limit_s=None))
    assert display_width(terminal.shown[-2]) > len(terminal.shown[-2])
    assert terminal.shown[-1] == ""
    assert terminal.getvalue().endswith("\r")


def test_pipe_gets_one_line_per_check(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rendered(io.StringIO(), monkeypatch).splitlines() == [
        "… loading PyTorch",
        "… calculations in each precision · GPU 0",
        "… calculations under a long full load · GPU 0",
    ]
    assert rendered(io.StringIO(), monkeypatch, quiet=True) == ""


def test_every_area_has_a_name() -> None:
    assert {f"health.area.{check_id}" for check_id in CHILD_CHECK_IDS} <= set(load_texts())
    assert {f"check.{check_id}.skip" for check_id in CHILD_CHECK_IDS} <= set(load_texts())  # where heat broke it off
