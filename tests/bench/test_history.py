"""What was kept is read as the foreign file that it may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.bench.child_protocol import SKIP_NOTES, VERDICTS
from gpu_assistant.bench.history import read_benchmark, read_benchmarks
from gpu_assistant.core.json import encode
from gpu_assistant.core.results import BenchGpuLog, Benchmark, SkippedWorkload
from gpu_assistant.texts.localized import Texts

from ..fakes.benchmarks import card_benchmark, slow_benchmark, two_cards
from ..fakes.examples import cpu_benchmark


def store_and_load(folder: Path, benchmark: Benchmark) -> Benchmark | None:
    path = folder / "20261121T220742.453123Z.json"
    path.write_bytes(encode(benchmark))
    return read_benchmark(path)


def test_own_results_round_trip(tmp_path: Path) -> None:
    for each in (card_benchmark(), slow_benchmark("heat"), two_cards(), cpu_benchmark()):
        assert store_and_load(tmp_path, each) == each


LEFT_OUT = SkippedWorkload(id="bert-base", device="cpu", dtype="float32", size=(128,), why="bench.note.time")


@pytest.mark.parametrize(
    "later",
    [
        {"verdict": "bench.verdict.future"},
        {"notes": ("bench.note.future",)},
        {"causes": ("bench.cause.future",)},
        {"left_out": (replace(LEFT_OUT, why="bench.note.future"),)},
        {"left_out": (replace(LEFT_OUT, why="bench.note.spread"),)},
        {"left_out": (replace(LEFT_OUT, id="future"),)},
        {"results": (replace(card_benchmark().results[0], id="future"),)},
        {"results": (replace(card_benchmark().results[0], notes=("future",)),)},
        {"started": 1e300},
    ],
)
def test_newer_version_is_skipped(tmp_path: Path, later: dict[str, Any]) -> None:
    assert store_and_load(tmp_path, replace(card_benchmark(), **later)) is None


def test_unreadable_files_are_counted(tmp_path: Path) -> None:
    stored = replace(card_benchmark(), started=2.0)
    older = replace(stored, started=1.0)
    (tmp_path / "a.json").write_bytes(encode(stored))
    (tmp_path / "b.json").write_bytes(encode(older))
    (tmp_path / "c.json").write_bytes(encode(replace(stored, verdict="bench.verdict.future")))
    (tmp_path / "d.json").write_bytes(b"{")
    assert read_benchmarks(tmp_path) == ((older, stored), 2)
    assert read_benchmarks(tmp_path / "nothing") == ((), 0)


def test_control_characters_are_removed(tmp_path: Path) -> None:
    evil = "RTX\x1b[31m 4060\u202e"
    stored = card_benchmark()
    devices = tuple(replace(each, name=evil) for each in stored.devices)
    watched = (BenchGpuLog(index=0, name=evil, samples=1, throttle=(evil,)),)
    loaded = store_and_load(
        tmp_path, replace(stored, torch=evil, devices=devices, watched=watched, versions={"driver": evil})
    )
    assert loaded is not None
    assert (loaded.torch, loaded.versions["driver"]) == ("RTX[31m 4060", "RTX[31m 4060")
    assert not set("\x1b\u202e") & set(repr(loaded).replace("\\x1b", "\x1b").replace("\\u202e", "\u202e"))


def test_every_code_has_text() -> None:
    texts = Texts("en")
    for verdict in VERDICTS:
        assert texts.translate(verdict, {"card": "GPU"})
    for why in SKIP_NOTES:
        assert texts.has_text(why)
        assert texts.has_text(why.replace("bench.note.", "bench.because.", 1))


@pytest.mark.parametrize("deep", [400, 800, 100_000])
def test_deeply_nested_file_is_skipped(tmp_path: Path, deep: int) -> None:
    store_and_load(tmp_path, card_benchmark())
    (tmp_path / "closed.json").write_text("[" * deep + "]" * deep, encoding="utf-8")
    (tmp_path / "open.json").write_text("[" * deep, encoding="utf-8")
    assert read_benchmarks(tmp_path) == ((card_benchmark(),), 2)
