"""The benchmark on the real PyTorch, on a stand-in with a card, and on everything that goes wrong."""

from __future__ import annotations

import json
import statistics
import threading
import time
from pathlib import Path

import jsonschema
import pytest

from gpu_assistant.bench.compare import speedup
from gpu_assistant.bench.parent import NOTES, BenchJob, BenchProgress
from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.json import decode, encode
from gpu_assistant.core.machine import Cpu
from gpu_assistant.core.paths import DataDir, resources
from gpu_assistant.core.results import Benchmark, BenchResult
from gpu_assistant.texts import Texts

from ..fakes.environments import environment_with, torch_with_card
from ..fakes.system import FakeSystem

HANG = "import threading; threading.Event().wait()"


class Run:
    """One benchmark and what it told meanwhile."""

    def __init__(self, environment: Path, data: Path, *, device: str | None = None, time_limit: float = 120.0) -> None:
        self.system = FakeSystem(cpu=Cpu(name="AMD Ryzen 5 7500F", cores=2))
        self.data = DataDir(data)
        self.news: list[BenchProgress | BenchResult] = []
        self.log: list[str] = []
        self.job = BenchJob(environment, self.system, self.data, device=device, time_limit=time_limit)

    def go(self, cancel: threading.Event | None = None) -> Benchmark:
        result = self.job.run(JobContext(self.news.append, self.log.append, cancel))
        assert [news for news in self.news if isinstance(news, BenchResult)] == list(result.results)
        schema = json.loads((resources() / "schemas" / "benchmark.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(json.loads(encode(result)))
        for code in (*result.notes, str(result.verdict)):
            for language in ("en", "zh_CN"):
                assert Texts(language).say(code)
        return result

    def fails(self, exit_code: int = 1) -> AppError:
        with pytest.raises(AppError) as caught:
            self.go()
        for language in ("en", "zh_CN"):
            assert Texts(language).error(caught.value)
        assert caught.value.exit_code == exit_code
        return caught.value


@pytest.fixture
def with_card(tmp_path: Path) -> Path:
    return environment_with(tmp_path / "env", torch_with_card())


@pytest.mark.real_install
def test_the_real_thing(torch_environment: Path, tmp_path: Path) -> None:
    run = Run(torch_environment, tmp_path)
    result = run.go()
    assert result.verdict == "bench.verdict.cpu-only"
    assert result.speedup == {}
    assert {(r.id, r.device, r.dtype, r.unit) for r in result.results} == {("matmul", "cpu", "float32", "TFLOP/s")}
    (device,) = result.devices
    assert (device.id, device.name) == ("cpu", "AMD Ryzen 5 7500F")
    assert device.threads in (1, 2)
    for measured in result.results:
        assert 0 < measured.q1 <= measured.median <= measured.q3
        assert measured.runs == len(measured.samples) >= 3
        operations = 2 * measured.size[0] * measured.size[1] * measured.size[2] / 1e12
        assert measured.median == pytest.approx(operations / statistics.median(measured.samples))
        assert measured.error is not None
        assert 0 < measured.error < 1e-5
    first = run.news[0]
    assert isinstance(first, BenchProgress)
    assert (first.n, first.workload, first.device, first.size) == (1, "matmul", "cpu", (1024, 1024, 1024))
    assert run.system.awake == 0
    (kept,) = run.data.benchmarks.iterdir()
    assert decode(kept.read_bytes(), Benchmark) == result


def test_a_card_in_every_precision(with_card: Path, tmp_path: Path) -> None:
    result = Run(with_card, tmp_path).go()
    assert {r.dtype for r in result.results if r.device == "cuda:0"} == {"float32", "tf32", "float16", "bfloat16"}
    assert {r.dtype for r in result.results if r.device == "cpu"} == {"float32"}
    assert set(result.speedup) == {f"matmul-{dtype}" for dtype in ("float32", "tf32", "float16", "bfloat16")}
    assert result.speedup["matmul-float32"] > 1
    assert result.verdict == "bench.verdict.measured"
    assert result.devices[1].name == "NVIDIA GeForce RTX 4060"
    assert result.devices[1].memory_bytes == 8585740288


def test_one_device_alone(with_card: Path, tmp_path: Path) -> None:
    result = Run(with_card, tmp_path, device="cuda:0").go()
    assert {r.device for r in result.results} == {"cuda:0"}
    assert result.speedup == {}


def test_a_device_that_is_not_there(with_card: Path, tmp_path: Path) -> None:
    error = Run(with_card, tmp_path, device="cuda:3").fails(exit_code=2)
    assert error.code == "bench-no-device"
    assert error.data == {"device": "cuda:3", "have": "cpu, cuda:0"}


def test_what_does_not_fit_is_left_out(with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CARD", "out-of-memory")
    result = Run(with_card, tmp_path, device="cuda:0").go()
    assert {r.size[0] for r in result.results} == {2048}
    assert "bench.note.memory" in result.notes


def test_a_wrong_result_is_said(with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CARD", "wrong")
    result = Run(with_card, tmp_path, device="cuda:0").go()
    assert "bench.note.wrong" in result.notes


def test_a_child_that_dies_midway_leaves_what_it_measured(
    with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CARD", "dies")
    result = Run(with_card, tmp_path, device="cuda:0").go()
    assert [r.size[0] for r in result.results] == [2048]
    assert "bench.note.stopped" in result.notes


def test_no_environment(tmp_path: Path) -> None:
    assert Run(tmp_path / "nothing", tmp_path).fails().code == "environment-missing"


def test_without_torch(tmp_path: Path) -> None:
    error = Run(environment_with(tmp_path / "env", None), tmp_path).fails()
    assert error.code == "bench-no-torch"
    assert "No module named 'torch'" in Texts("en").error(error)


@pytest.mark.parametrize("torch", ["import os; os._exit(6)", "import os, sys; os.abort()", "raise SystemExit(0)"])
def test_a_child_that_dies_at_once(tmp_path: Path, torch: str) -> None:
    assert Run(environment_with(tmp_path / "env", torch), tmp_path).fails().code == "bench-stopped"


def test_a_child_that_prints_garbage(tmp_path: Path) -> None:
    torch = 'import os\nprint("{[")\nos.write(1, b"\\xff\\xfe\\n" * 1000)\nprint(\'{"end": true}\')\nos._exit(0)'
    assert Run(environment_with(tmp_path / "env", torch), tmp_path).fails().code == "bench-stopped"


def test_a_child_that_hangs(tmp_path: Path) -> None:
    started = time.monotonic()
    assert Run(environment_with(tmp_path / "env", HANG), tmp_path, time_limit=4).fails().code == "program-timeout"
    assert time.monotonic() - started < 30


def test_cancel_is_quick(with_card: Path, tmp_path: Path) -> None:
    cancel = threading.Event()
    run = Run(with_card, tmp_path)
    asked = 0.0

    def news(what: object) -> None:
        nonlocal asked
        if isinstance(what, BenchProgress) and what.n == 2:
            asked = time.monotonic()
            cancel.set()

    with pytest.raises(Cancelled):
        run.job.run(JobContext(news, cancel=cancel))
    assert time.monotonic() - asked < 1 + 4  # one second is meant; a busy test machine may take longer
    assert not run.data.benchmarks.exists()


def test_a_result_that_cannot_be_saved_is_still_shown(with_card: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("a file where the folder should be", encoding="utf-8")
    result = Run(with_card, data, device="cpu").go()
    assert result.results
    assert result.notes[-1] == "bench.note.unsaved"


def measured(device: str, dtype: str, side: int, median: float) -> BenchResult:
    return BenchResult(
        id="matmul",
        device=device,
        dtype=dtype,  # type: ignore[arg-type]
        size=(side, side, side),
        unit="TFLOP/s",
        median=median,
        q1=median,
        q3=median,
        runs=3,
        seconds=1,
    )


def test_speedup_compares_equal_sizes_only() -> None:
    results = [
        measured("cpu", "float32", 1024, 0.1),
        measured("cpu", "float32", 4096, 0.2),
        measured("cuda:0", "float32", 4096, 10.0),
        measured("cuda:1", "float32", 4096, 12.0),
        measured("cuda:0", "float32", 8192, 99.0),
        measured("cuda:0", "float16", 1024, 5.0),
    ]
    assert speedup(results) == {"matmul-float32": pytest.approx(60), "matmul-float16": pytest.approx(50)}
    assert speedup(results[:2]) == {}
    assert speedup(results[2:]) == {}


def test_every_note_is_said() -> None:
    for code in NOTES:
        assert Texts("en").has(code)
