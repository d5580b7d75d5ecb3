"""`bench --report` and `health --report`: the window's page of a result, without a window."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_assistant.cli.main import run
from gpu_assistant.reports.page import is_report
from tests.cli.test_judge import BENCHMARK


def bench(tmp_path: Path, report: Path, *options: str) -> int:
    result = tmp_path / "result.json"
    result.write_text(json.dumps(BENCHMARK), encoding="utf-8")
    data = ["--data-dir", str(tmp_path / "data")]
    return run(["bench", "--judge", str(result), "--report", str(report), *data, *options])


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ('lang="en"', "How fast this computer is", "Is that normal for this card?", "53.8 TFLOP/s")),
        ("zh_CN", ('lang="zh-CN"', "这台电脑的计算速度", "这张卡正常吗？", "53.8 TFLOP/s")),
    ],
)
def test_benchmark_report_is_in_the_language_of_the_call(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, language: str, sentences: tuple[str, ...]
) -> None:
    report = tmp_path / "report.html"
    assert bench(tmp_path, report, "--lang", language) == 0
    text = report.read_text(encoding="utf-8")
    for sentence in sentences:
        assert sentence in text
    assert str(report) in capsys.readouterr().err


def test_json_alone_is_on_stdout_beside_a_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert bench(tmp_path, tmp_path / "report.html", "--json") == 0
    heard = capsys.readouterr()
    assert json.loads(heard.out)["verdict"] == "bench.verdict.below"
    assert "report.html" in heard.err


def test_report_replaces_an_earlier_report_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.write_text("<!doctype html>\n<html lang='en'><title>My thesis</title>", encoding="utf-8")
    assert bench(tmp_path, report, "--json") == 2
    assert json.loads(capsys.readouterr().out)["code"] == "file-exists"
    assert "My thesis" in report.read_text(encoding="utf-8")
    report.unlink()
    for _ in range(2):
        assert bench(tmp_path, report) == 0
        assert is_report(report.read_bytes())


@pytest.mark.parametrize(("name", "code"), [("result.json", "report-suffix"), ("none/x.html", "no-folder")])
@pytest.mark.parametrize("command", ["bench", "health"])
def test_name_that_cannot_be_a_report_stops_before_anything_is_measured(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, name: str, code: str
) -> None:
    arguments = [command, "--report", str(tmp_path / name), "--json", "--data-dir", str(tmp_path / "data")]
    assert run(arguments) == 2
    assert json.loads(capsys.readouterr().out)["code"] == code
    assert not (tmp_path / name).exists()


def test_health_report_has_the_verdict_and_each_check(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "health.html"
    arguments = ["health", "--report", str(report), "--json", "--lang", "en", "--data-dir", str(tmp_path / "data")]
    code = run(arguments)
    checks = json.loads(capsys.readouterr().out)
    assert code == (1 if checks["verdict"] == "fail" else 0)
    text = report.read_text(encoding="utf-8")
    assert "Is this graphics card healthy?" in text
    assert is_report(report.read_bytes())
    assert text.count('<tr><td style="color') == len(checks["checks"])


def test_reports_need_no_qt() -> None:
    code = (
        "import sys, gpu_assistant.reports.benchmark, gpu_assistant.reports.health; sys.exit('PySide6' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
