"""`bench --judge FILE`: anybody's benchmark beside what is usual for its cards, in both languages and as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.cli.main import run

PRODUCT: dict[str, Any] = {
    "id": "matmul",
    "device": "cuda:0",
    "dtype": "float32",
    "size": [8192, 8192, 8192],
    "unit": "TFLOP/s",
    "median": 53.8,
    "q1": 53.0,
    "q3": 54.0,
    "runs": 20,
    "seconds": 1.2,
}
HALF = PRODUCT | {"dtype": "float16", "median": 84.0, "q1": 83.0, "q3": 85.0}
BENCHMARK: dict[str, Any] = {
    "schema": "gpu-assistant/benchmark/1",
    "torch": "2.8.0",
    "devices": [{"id": "cuda:0", "name": "NVIDIA GeForce RTX 4090", "memory_bytes": 25_756_696_576}],
    "results": [PRODUCT, HALF],
    "verdict": "somebody else's verdict",
    "notes": ["a note of another version"],
}
LAPTOP = {"id": "cuda:0", "name": "NVIDIA GeForce RTX 4060 Laptop GPU", "memory_bytes": 8_585_740_288}


def judge(tmp_path: Path, content: object, *options: str) -> int:
    path = tmp_path / "result.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return run(["bench", "--judge", str(path), "--data-dir", str(tmp_path / "data"), *options])


def test_json_has_a_judgement_in_every_result(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert judge(tmp_path, BENCHMARK, "--json") == 0
    judged = json.loads(capsys.readouterr().out)
    assert [result["judgement"] for result in judged["results"]] == ["as-expected", "below"]
    assert judged["verdict"] == "bench.verdict.below"
    assert judged["causes"] == ["bench.cause.unknown"]
    assert set(judged["expected"]) == {"cuda:0/matmul-float32", "cuda:0/matmul-float16"}


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        (
            "en",
            (
                "usual for this card: 37.4 to 68.1",
                "% slower than the middle of the usual range for this card",
                "slower than usual",
            ),
        ),
        ("zh_CN", ("这张卡通常为 37.4 到 68.1", "比这张卡正常范围的中间值慢", "比这张卡的正常水平慢")),
    ],
)
def test_text_names_range_and_verdict(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, language: str, texts: tuple[str, ...]
) -> None:
    assert judge(tmp_path, BENCHMARK, "--lang", language) == 0
    out = capsys.readouterr().out
    assert all(text in out for text in texts), out


@pytest.mark.parametrize(("language", "text"), [("en", "must include its power limit"), ("zh_CN", "功率上限")])
def test_unjudged_result_says_why(capsys: pytest.CaptureFixture[str], tmp_path: Path, language: str, text: str) -> None:
    assert judge(tmp_path, BENCHMARK | {"devices": [LAPTOP]}, "--lang", language) == 0
    assert text in capsys.readouterr().out


FAULTS = {
    "no-json": (b"CPU: fast", "(1:1)"),
    "schema": (BENCHMARK | {"schema": "gpu-assistant/machine/1"}, "(schema)"),
    "missing": ({"schema": "gpu-assistant/benchmark/1", "torch": "2", "devices": []}, "(results)"),
    "kind": (BENCHMARK | {"results": [PRODUCT | {"median": "fast"}]}, "(results[0].median)"),
    "negative": (BENCHMARK | {"results": [PRODUCT, HALF | {"median": -1.0}]}, "(results[1])"),
    "other-unit": (BENCHMARK | {"results": [PRODUCT | {"unit": "GB/s"}]}, "(results[0])"),
    "year": (BENCHMARK | {"started": 1e300}, "(started)"),
    "empty": (BENCHMARK | {"results": []}, "(results)"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_wrong_file_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, fault: str, language: str
) -> None:
    content, where = FAULTS[fault]
    assert judge(tmp_path, content, "--lang", language) == 2
    heard = capsys.readouterr()
    assert heard.out == ""
    assert where.replace("(", "").replace(")", "") in heard.err
    assert heard.err.strip().count("\n") == 0
    assert bool(re.search(r"[\u4e00-\u9fff]", heard.err)) == (language == "zh_CN")


@pytest.mark.parametrize(
    "options", [("--device", "cpu"), ("--env", "x"), ("--full",), ("--history",)], ids=lambda options: options[0]
)
def test_judging_measures_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path, options: tuple[str, ...]) -> None:
    assert judge(tmp_path, BENCHMARK, *options, "--lang", "en") == 2
    assert options[0] in capsys.readouterr().err


def test_missing_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["bench", "--judge", str(tmp_path / "none.json"), "--data-dir", str(tmp_path / "data"), "--lang", "en"]
    assert run(arguments) == 2
    assert "cannot be read" in capsys.readouterr().err
