"""What `bench` prints for people."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.bench import scaling
from gpu_assistant.bench.expected_ranges import repair_steps
from gpu_assistant.cli.main import run
from gpu_assistant.cli.output import Output
from gpu_assistant.cli.progress import BenchmarkStatusLine
from gpu_assistant.cli.render import benchmark
from gpu_assistant.core.json import decode, encode
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.results import Benchmark, BenchmarkHistory, BenchResult, SkippedWorkload
from gpu_assistant.core.types import Language
from gpu_assistant.system.locks import data_folder_lock
from gpu_assistant.texts.format import format_duration
from gpu_assistant.texts.localized import Texts
from tests.cli.conftest import ROOT
from tests.fakes.benchmarks import card_benchmark, slow_benchmark, two_cards
from tests.fakes.environments import environment_with, torch_with_card
from tests.fakes.examples import cpu_benchmark


def printed(capsysbinary: pytest.CaptureFixture[bytes], value: Benchmark, language: Language = "en") -> list[str]:
    benchmark.render_benchmark(value, Output(Texts(language), json=False, quiet=False))
    return capsysbinary.readouterr().out.decode().splitlines()


def test_headline_names_comparison(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    batched = [replace(r, batch=8 if r.device == "cpu" else 64) for r in card_benchmark().results]
    first = printed(capsysbinary, replace(card_benchmark(), results=tuple(batched)))[0]
    assert first == (
        "Training ResNet-50: NVIDIA GeForce RTX 4060 (mixed precision (bfloat16), batch 64) "
        "is 31 times as fast as the CPU (float32, batch 8)"
    )


def test_unmeasured_gpu_is_named(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    alone = replace(cpu_benchmark(), verdict="bench.verdict.cpu-build", watched=card_benchmark().watched)
    output = printed(capsysbinary, alone, "zh_CN")
    assert "你的 RTX 4060 没有测到：这个 PyTorch 是 CPU 版。请安装 CUDA 版。" in output


def test_figures_have_readable_units(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    output = "\n".join(printed(capsysbinary, card_benchmark()))
    assert "720 GFLOP/s" in output
    assert "TFLOP/s (middle" in output
    assert "256 MB" in output
    assert "MB and GB of memory are 2^20 and 2^30 bytes" in output
    assert "268435456" not in output
    assert "uint8" not in output
    assert "4096 × 4096" in output
    assert "AMD Ryzen 5 7500F: 6 threads" in output
    assert "usual for this card: 11.3 to 14.4 TFLOP/s" in output
    assert "Took 58 seconds." in output


def test_result_that_was_not_judged_has_no_range(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    results = tuple(
        replace(each, judgement="unknown") if each.dtype == "float16" else each for each in card_benchmark().results
    )
    output = "\n".join(printed(capsysbinary, replace(card_benchmark(), results=results)))
    assert "11.3 to 14.4 TFLOP/s" in output
    assert "22.7 to 28.7 TFLOP/s" not in output
    assert "22.7 to 28.7 TFLOP/s" in "\n".join(printed(capsysbinary, card_benchmark()))


def test_equal_gpus_are_numbered(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    output = printed(capsysbinary, two_cards())
    for card in ("GPU 0", "GPU 1"):
        assert any(line.startswith(f"{card} (NVIDIA GeForce RTX 4060): Training") for line in output)
    assert not any("cuda:" in line for line in output)
    at = next(number for number, line in enumerate(output) if line.startswith("2 GPUs together: "))
    assert output[at + 1].strip() == "scaling efficiency: 96% of the same number of cards on their own"


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_slow_gpu_gets_advice(capsysbinary: pytest.CaptureFixture[bytes], language: Language) -> None:
    slow = slow_benchmark()
    output = printed(capsysbinary, slow, language)
    assert slow.causes
    for cause in slow.causes:
        assert f"  • {Texts(language).translate(cause)}" in output
    steps = [f"    {number}. {Texts(language).translate(step)}" for number, step in enumerate(repair_steps(slow), 1)]
    assert [line for line in output if line in steps] == steps


def test_left_out_has_reason(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    left = SkippedWorkload(id="bert-base", device="cpu", dtype="float32", size=(128,), why="bench.note.time")
    noisy = replace(cpu_benchmark().results[0], notes=("spread",))
    late = replace(left, wanted_s=21.0, had_s=6.0)
    large = replace(left, id="decode", size=(64, 32), why="bench.note.memory", wanted_bytes=3 * 2**30, had_bytes=2**30)
    plain = replace(noisy, size=(64, 64, 64), notes=())
    value = replace(
        cpu_benchmark(),
        results=(noisy, plain),
        left_out=(late, replace(late, id="resnet50"), large),
        notes=("bench.note.time", "bench.note.spread", "bench.note.memory"),
    )
    output = printed(capsysbinary, value)
    missing = "Training BERT-base, Training ResNet-50 (no time was left)"
    missing += "; Small language model (not enough free memory)"
    assert f"Not in this result: {missing}." in output
    assert sum("There was not enough time" in line for line in output) == 1
    assert sum("The results vary" in line for line in output) == 1
    assert any(
        line.endswith("Training BERT-base, float32, 128 words: takes about 21 seconds here; only 6 seconds remained")
        for line in output
    )
    assert any(line.endswith("96 words: needs about 3 GB; 1 GB could be used") for line in output)
    at = next(number for number, line in enumerate(output) if "The results vary" in line)
    assert "Matrix multiplication" in output[at + 1]
    assert "64 × 64" not in output[at + 1]
    assert sum(line.endswith(", doubtful") for line in output) == 1


def test_unsaved_result_fails(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    environment = environment_with(tmp_path / "env", torch_with_card())
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "benchmarks").write_text("a file where the folder should be", encoding="utf-8")
    arguments = [
        "--data-dir",
        str(tmp_path / "data"),
        "--lang",
        "en",
        "bench",
        "--env",
        str(environment),
        "--device",
        "cpu",
    ]
    assert run([*arguments, "--json"]) == 1
    captured = capsysbinary.readouterr()
    assert b"gpu-assistant/benchmark/1" in captured.out
    assert b"The result could not be saved" in captured.err


def test_gpu_log_line(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    card = replace(card_benchmark().watched[0], clock_sm=2505, power_max_w=113.4, power_limit_w=115.0)
    hot = replace(card, throttle=("power-cap", "thermal"))
    output = printed(capsysbinary, replace(card_benchmark(), watched=(hot,)))
    assert (
        "NVIDIA GeForce RTX 4060 during the run: 41 → 66 °C (at most 67 °C), 2,505 MHz and memory — MHz under load, "
        "at most 113 W of 115 W, limited by: At its power limit; Slowed down by heat"
    ) in output
    assert any(line.endswith("限制频率的原因：没有") for line in printed(capsysbinary, card_benchmark(), "zh_CN"))


def test_history_table(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    """Kept on the disk by three runs; the middle one cannot be compared: its workload has another version."""
    now = 1_763_800_000.0
    first, last = card_benchmark(), card_benchmark(0.8)
    left = SkippedWorkload(id="bert-base", device="cpu", dtype="float32", size=(128,), why="bench.note.time")
    newer = tuple(replace(result, version=9) for result in first.results if result.id != "bert-base")
    other = replace(first, results=newer, left_out=(left,))
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    for age, each in ((3, first), (2, other), (1, last)):
        dated = replace(each, started=now - 86_400 * age)
        (folder / f"{age}.json").write_bytes(encode(dated))
    (folder / "broken.json").write_text("{", encoding="utf-8")
    arguments = ["--data-dir", str(tmp_path), "bench", "--history"]
    assert run([*arguments, "--lang", "en"]) == 0
    head, one, two, three, equal, left_out = capsysbinary.readouterr().out.decode().splitlines()
    assert head.split() == ["When", "Test", "Versions", "Result", "Change"]
    assert "PyTorch 2.15.0+cu132 · CUDA 13.2 · driver 617.42" in one
    figure = "Training ResNet-50, mixed precision (bfloat16) · NVIDIA GeForce RTX 4060 · 262 images/s"
    assert f"{figure} · 31 times as fast as the CPU" in one
    assert one.endswith("no earlier result to compare with")
    assert "without Training BERT-base" in two
    assert two.endswith("no earlier result to compare with")
    assert f"20% slower than {one[:16]}" in three
    assert "only if the measurement, its version" in equal
    assert left_out == "Not shown: 1 result, damaged or saved by another version of this program."
    assert run([*arguments, "--json"]) == 0
    history = decode(capsysbinary.readouterr().out, BenchmarkHistory)
    assert [(each.compared_with, each.change) for each in history.runs[:2]] == [(None, None), (None, None)]
    assert history.left_out == 1
    assert history.runs[2].compared_with == history.runs[0].started
    assert history.runs[2].change == pytest.approx(0.8)
    capsysbinary.readouterr()
    assert run([*arguments, "--device", "cpu"]) == 2
    assert "so --device has no effect with it" in capsysbinary.readouterr().err.decode()
    assert run([*arguments, "--full"]) == 2
    empty = ["--data-dir", str(tmp_path / "nothing"), "bench", "--history", "--lang"]
    capsysbinary.readouterr()
    for language, sentence in (("en", "There are no benchmark results yet"), ("zh_CN", "还没有保存过测速结果")):
        assert run([*empty, language]) == 0
        assert sentence in capsysbinary.readouterr().out.decode()


def test_incomparable_run_has_reason(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    for age, note in ((2, "spread"), (1, "busy-cpu")):
        noted = tuple(replace(each, notes=(note,)) for each in card_benchmark().results)
        older = replace(card_benchmark(), results=noted, started=1_763_800_000.0 - 86_400 * age)
        (folder / f"{age}.json").write_bytes(encode(older))
    assert run(["--data-dir", str(tmp_path), "bench", "--history", "--lang", "en"]) == 0
    last = capsysbinary.readouterr().out.decode().splitlines()[2]
    assert "cannot be compared with " in last
    assert last.endswith(": other programs used the CPU; the runs vary by more than 10%")


def test_only_complete_equal_runs_are_compared(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    """The newest but one was killed; it and the last have products of two sizes, whose figures say nothing together."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    small = cpu_benchmark().results[0]
    large = replace(small, size=(4096, 4096, 4096), median=0.0367, q1=0.0365, q3=0.0369)
    whole = replace(cpu_benchmark(), notes=(), results=(replace(small, median=0.2, q1=0.199, q3=0.201), large))
    faster = replace(large, median=0.0734, q1=0.073, q3=0.0738)
    killed = replace(whole, results=(faster,), notes=("bench.note.killed",))
    only_large = replace(whole, results=(replace(faster, median=0.0547, q1=0.0545, q3=0.055),))
    for age, each in ((3, whole), (2, killed), (1, only_large)):
        (folder / f"{age}.json").write_bytes(encode(replace(each, started=1_763_800_000.0 - 86_400 * age)))
    arguments = ["--data-dir", str(tmp_path), "bench", "--history"]
    assert run([*arguments, "--lang", "en"]) == 0
    _, one, two, three, *_ = capsysbinary.readouterr().out.decode().splitlines()
    assert "not finished" in two
    assert "not finished" not in one + three
    assert "Matrix multiplication, float32, 4096 × 4096 · " in three
    assert f"49% faster than {one[:16]}" in three
    assert run([*arguments, "--json"]) == 0
    runs = decode(capsysbinary.readouterr().out, BenchmarkHistory).runs
    assert [each.finished for each in runs] == [True, False, True]
    assert runs[2].compared is not None
    assert (runs[2].compared.size, runs[2].compared_with) == ((4096, 4096, 4096), runs[0].started)


def test_chinese_punctuation_and_units(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    output = printed(capsysbinary, card_benchmark(), "zh_CN")
    assert not [line for line in output if ": " in line]
    text = "\n".join(output)
    assert "262 张/秒" in text
    assert "5.10 条/秒" in text
    for english in ("images/s", "sequences/s", "tokens/s"):
        assert english not in text


@pytest.mark.parametrize(("full", "expected"), [(False, "at most 1 minute"), (True, "15 minutes")])
def test_duration_is_announced(capsys: pytest.CaptureFixture[str], full: bool, expected: str) -> None:
    benchmark.render_announcement(Path("env"), Output(Texts("en"), json=False, quiet=False), full=full)
    output = capsys.readouterr().err
    assert expected in output
    assert f"up to {format_duration(scaling.max_total_s(full=full), 'en')} more for all of them together" in output


def test_single_device_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    for full in (False, True):
        benchmark.render_announcement(
            Path("env"), Output(Texts("en"), json=False, quiet=False), full=full, device="cpu"
        )
        output = capsys.readouterr().err
        assert "on CPU" in output
        assert "card" not in output


def test_refused_run_is_not_announced(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    environment = environment_with(tmp_path / "env", torch_with_card())
    arguments = ["--data-dir", str(tmp_path / "data"), "--lang", "en", "bench", "--env", str(environment)]
    with data_folder_lock(DataDir(tmp_path / "data"), "benchmark"):
        assert run(arguments) == 1
    assert "Measures" not in capsys.readouterr().err
    assert run([*arguments, "--device", "cuda:7"]) == 2
    assert "Measures" not in capsys.readouterr().err
    assert run([*arguments, "--device", ""]) == 2
    assert run([*arguments, "--device", "cpu"]) == 0
    assert "Measures" in capsys.readouterr().err


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_early_end_fails_and_shows_results(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: Language
) -> None:
    monkeypatch.setenv("FAKE_CARD", "dies")
    environment = environment_with(tmp_path / "env", torch_with_card())
    arguments = [
        "--data-dir",
        str(tmp_path / "data"),
        "--lang",
        language,
        "bench",
        "--env",
        str(environment),
        "--device",
        "cuda:0",
    ]
    assert run([*arguments, "--json"]) == 1
    captured = capsys.readouterr()
    assert decode(captured.out, Benchmark).results
    assert Texts(language).translate("bench.note.stopped") in captured.err
    assert len(list((tmp_path / "data" / "benchmarks").glob("*Z.json"))) == 1


def test_ctrl_c_keeps_partial_results(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = BenchmarkStatusLine.show_progress

    def on_event(line: BenchmarkStatusLine, what: object) -> None:
        heard(line, what)
        if isinstance(what, BenchResult):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(BenchmarkStatusLine, "show_progress", on_event)
    environment = environment_with(tmp_path / "env", torch_with_card())
    arguments = [
        "--data-dir",
        str(tmp_path / "data"),
        "--lang",
        "en",
        "bench",
        "--env",
        str(environment),
        "--device",
        "cuda:0",
    ]
    assert run([*arguments, "--full", "--json"]) == 3
    captured = capsys.readouterr()
    assert "bench.note.cancelled" in decode(captured.out, Benchmark).notes
    assert "are kept and marked as unfinished" in captured.err
    assert len(list((tmp_path / "data" / "benchmarks").glob("*Z.json"))) == 1


def test_simulated_machine_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    machine = ROOT / "tests/machines/windows11-rtx4060-566.json"
    assert run(["--machine", str(machine), "bench", "--data-dir", str(tmp_path / "data")]) == 2
    assert "simulated computer" in capsys.readouterr().err
