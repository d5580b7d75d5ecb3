"""What a job says for the log is in the log file, whoever runs it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from gpu_assistant.cli.jobs import run_job
from gpu_assistant.core.jobs import MAX_JOB_LOG_CHARS, MAX_LINE_CHARS, JobContext
from gpu_assistant.core.log import start_logging

from ..install.small_disk import tmpfs

ROOT = Path(__file__).resolve().parents[2]


class Says:
    def __init__(self, *lines: str) -> None:
        self._lines = lines

    def run(self, context: JobContext[None]) -> None:
        for line in self._lines:
            context.log(line)


def logged(folder: Path, *lines: str) -> str:
    start_logging(folder, verbose=False)
    run_job(Says(*lines))
    return (folder / "gpu-assistant.log").read_text(encoding="utf-8")


def test_job_log_lines_redact_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "somebody"))
    text = logged(tmp_path / "logs", f"No module named torch in {tmp_path / 'somebody' / 'env'}", "\x1b[31mred\rfalse")
    assert "No module named torch in ~" in text
    assert "somebody" not in text
    assert "\\x1b[31mred\\rfalse" in text
    assert text.count("\n") == 2


def test_job_log_is_limited_per_job(tmp_path: Path) -> None:
    text = logged(tmp_path, "first " + "x" * 10 * MAX_LINE_CHARS, *["and on"] * 10_000)
    assert "first x" in text
    assert max(map(len, text.splitlines())) < MAX_LINE_CHARS + 200
    assert sum(line.endswith("…") for line in text.splitlines()) == 1
    assert len(text) < 2 * MAX_JOB_LOG_CHARS


def test_full_disk_logs_no_traceback(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "small", "size=64k") as small:
        with suppress(OSError):
            (small / "filler").write_bytes(bytes(1 << 20))
        program = (
            "import logging, pathlib, sys\nfrom gpu_assistant.core.log import start_logging\n"
            "start_logging(pathlib.Path(sys.argv[1]), verbose=False)\n"
            "for _ in range(100): logging.info('many words ' * 100)\n"
        )
        command = [sys.executable, "-c", program, str(small / "logs")]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
