"""A benchmark whose torch is missing or broken, or whose child dies, hangs or talks nonsense."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.bench import job
from gpu_assistant.bench.child_protocol import TorchLoading, is_plausible
from gpu_assistant.core.errors import Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.types import Language
from gpu_assistant.system import current_system
from gpu_assistant.system.processes import MAX_FOREIGN_LINES, ChildExit
from gpu_assistant.texts.localized import Texts

from ..fakes.environments import environment_with
from .run import Run

HANG = "import threading; threading.Event().wait()"


START = {"torch": "2", "devices": [{"id": "cpu"}], "of": 1, "limit_s": 0.5}


def instead(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> Path:
    """An environment in which this is run in place of the child."""
    child = folder / "child.py"
    child.write_text(program, encoding="utf-8")
    monkeypatch.setattr(job, "CHILD_PROGRAM", child)
    return environment_with(folder / "env", None)


def test_missing_environment(tmp_path: Path) -> None:
    assert Run(tmp_path / "nothing", tmp_path).fails().code == "environment-missing"


def test_missing_torch(tmp_path: Path) -> None:
    assert Run(environment_with(tmp_path / "env", None), tmp_path).fails().code == "bench-torch-missing"


@pytest.mark.parametrize(
    "torch",
    [
        "raise MemoryError",
        "raise OSError('libtorch_cpu.so: failed to map segment from shared object')",
        "raise ImportError('libtorch_cpu.so: cannot allocate memory: Cannot allocate memory')",
    ],
)
def test_out_of_memory_loading_torch(tmp_path: Path, torch: str) -> None:
    assert Run(environment_with(tmp_path / "env", torch), tmp_path).fails().code == "bench-memory"


@pytest.mark.parametrize(
    "torch",
    [
        "raise OSError('libcudart.so.13: cannot open shared object file')",
        "raise ImportError('DLL load failed while importing _C')",
        "raise SyntaxError('invalid syntax')",
        "raise SystemExit(0)",
        "import nothing_of_that_name",
        "pass",  # a folder of that name, with nothing in it
    ],
)
def test_broken_torch(tmp_path: Path, torch: str) -> None:
    error = Run(environment_with(tmp_path / "env", torch), tmp_path).fails()
    assert error.code == "bench-no-torch"
    assert error.data["reason"]


def test_early_exit_reports_status(tmp_path: Path) -> None:
    torch = "import os, sys; print('out of luck', file=sys.stderr, flush=True); os._exit(6)"
    error = Run(environment_with(tmp_path / "env", torch), tmp_path).fails()
    assert (error.code, error.data["status"], error.data["reason"]) == ("bench-ended", 6, "out of luck")


@pytest.mark.parametrize(
    ("language", "expected"), [("en", "(status 6: no message was given)"), ("zh_CN", "（状态 6：没有留下任何信息）")]
)
def test_silent_exit(tmp_path: Path, language: Language, expected: str) -> None:
    error = Run(environment_with(tmp_path / "env", "import os; os._exit(6)"), tmp_path).fails()
    assert expected in Texts(language).error_text(error)


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGABRT, "bench-crashed"), (signal.SIGSEGV, "bench-crashed"), (9, "bench-killed")]
)
def test_child_killed_by_signal(tmp_path: Path, number: int, code: str) -> None:
    torch = f"import os; os.kill(os.getpid(), {int(number)})"
    assert Run(environment_with(tmp_path / "env", torch), tmp_path).fails().code == code


def test_windows_crash_status() -> None:
    assert [ChildExit(status, 0, "").reason for status in (0xC0000005, 1, None)] == ["crashed", "stopped", "stopped"]


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
def test_python_is_not_an_interpreter(tmp_path: Path) -> None:
    environment = tmp_path / "env"
    python = current_system().environment_python(environment)
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho garbage\n", encoding="utf-8")
    python.chmod(0o755)
    assert Run(environment, tmp_path).fails().code == "bench-garbled"


def test_garbage_output(tmp_path: Path) -> None:
    torch = 'import os\nprint("{[")\nos.write(1, b"\\xff\\xfe\\n" * 1000)\nprint(\'{"end": true}\')\nos._exit(0)'
    assert Run(environment_with(tmp_path / "env", torch), tmp_path).fails().code == "bench-ended"


def test_endless_garbage_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(instead(monkeypatch, tmp_path, 'while True:\n    print("garbage")'), tmp_path)
    assert run.fails().code == "bench-garbled"
    assert len(run.log) <= MAX_FOREIGN_LINES + 1


def test_endless_line_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = 'import sys\nwhile True:\n    sys.stdout.write("\\0" * 65536)'
    run = Run(instead(monkeypatch, tmp_path, code), tmp_path)
    assert run.fails().code == "bench-garbled"


def test_implausible_results_are_rejected(with_card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One child says them; what is right beside them stays."""
    result = Run(with_card, tmp_path, device="cpu", workloads=["copy"]).go().results[0]
    for wrong in (
        {"median": -5.0},
        {"q1": 9e9},
        {"id": "unknown"},
        {"unit": "bananas"},
        {"runs": 0},
        {"size": (0,)},
        {"samples": (0.0,)},
        {"batch": -1},
        {"efficiency": -0.5},
        {"q3": float("inf")},
    ):
        assert not is_plausible(replace(result, **wrong)), wrong
    assert is_plausible(result)


def test_implausible_result_is_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = {"id": "unknown", "device": "cpu", "dtype": "float32", "size": [1], "unit": "GB/s", "median": 1.0}
    result |= {"q1": 1.0, "q3": 1.0, "runs": 3, "seconds": 1.0}
    lines = [json.dumps(each) for each in ({"start": START}, {"result": result}, {"end": True})]
    run = Run(instead(monkeypatch, tmp_path, f"for line in {lines!r}: print(line)"), tmp_path)
    assert run.fails().code == "bench-garbled"
    assert any("unknown" in text for text in run.log)
    assert not run.data.benchmarks.exists()


def test_hung_child_times_out(tmp_path: Path) -> None:
    started = time.monotonic()
    error = Run(environment_with(tmp_path / "env", HANG), tmp_path, start_limit=2).fails()
    assert (error.code, error.data["limit_seconds"]) == ("bench-silent", 2)
    assert time.monotonic() - started < 20


def test_cancel_while_torch_loads(tmp_path: Path) -> None:
    cancel, run = threading.Event(), Run(environment_with(tmp_path / "env", HANG), tmp_path, start_limit=200)
    threading.Timer(1.0, cancel.set).start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        run.job.run(JobContext(run.events.append, cancel=cancel))
    assert run.events == [TorchLoading(limit_s=200)]
    assert time.monotonic() - began < 1 + 4


def test_child_past_its_deadline_is_terminated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = time.monotonic()
    program = f"print({json.dumps({'start': START})!r}, flush=True)\n{HANG}"
    assert Run(instead(monkeypatch, tmp_path, program), tmp_path).fails().code == "bench-silent"
    assert time.monotonic() - started < 30
