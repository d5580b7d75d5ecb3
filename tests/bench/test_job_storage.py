"""One benchmark at a time, and what becomes of its result where it cannot be kept."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from gpu_assistant.core.ownership import MARKER_NAME

from ..install.small_disk import tmpfs
from .run import Run


def test_unsaved_result_is_still_returned(with_card: Path, tmp_path: Path) -> None:
    (tmp_path / "benchmarks").write_text("a file where the folder should be", encoding="utf-8")
    result = Run(with_card, tmp_path, device="cpu", workloads=["matmul"]).go()
    assert result.results
    assert result.notes[-1] == "bench.note.unsaved"


def test_unwritable_data_folder_stops_before_measuring(with_card: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("a file where the folder should be", encoding="utf-8")
    run = Run(with_card, data, device="cpu", workloads=["matmul"])
    assert run.fails().code == "storage"
    assert run.system.ran == []


def test_second_benchmark_is_refused(with_card: Path, tmp_path: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\nfrom gpu_assistant.core.paths import DataDir\n"
        "from gpu_assistant.system.locks import data_folder_lock\n"
        f"with data_folder_lock(DataDir(Path({str(tmp_path)!r})), 'benchmark'):\n"
        "    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        error = Run(with_card, tmp_path, device="cpu", workloads=["copy"]).fails()
        assert (error.code, error.data["pid"]) == ("bench-running", other.pid)
        other.stdin.close()
    assert Run(with_card, tmp_path, device="cpu", workloads=["copy"]).go().results


def fill(file: Path) -> None:
    with suppress(OSError), file.open("ab", buffering=0) as disk:
        while True:
            disk.write(bytes(4096))


def test_full_disk_is_reported_at_start(with_card: Path, tmp_path: Path) -> None:
    with tmpfs(tmp_path / "small", "size=1m") as small:
        fill(small / "filler")
        run = Run(with_card, small, device="cpu", workloads=["copy"])
        assert run.fails().code == "disk-full"
        assert run.system.ran == []
        (small / "filler").unlink()
        assert Run(with_card, small, device="cpu", workloads=["copy"]).go().results
        assert not list(small.glob("*room*"))


def test_disk_filling_up_loses_no_result(with_card: Path, tmp_path: Path) -> None:
    with tmpfs(tmp_path / "small", "size=1m") as small:
        # How busy the processor is is asked when the room was found and nothing runs yet.
        result = Run(
            with_card, small, device="cpu", workloads=["copy"], read_cpu_load=lambda _: fill(small / "filler")
        ).go()
        assert result.results
        assert result.notes[-1] == "bench.note.unsaved"
        assert {path.name for path in small.rglob("*") if path.is_file()} <= {
            "filler",
            "benchmark.lock",
            MARKER_NAME,
        }
