"""A program started to live on without us: the bytes that were checked are those that run."""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.system import current_system

SYSTEM = current_system()


class StopHere(Exception):
    """The check says no."""


def until_said(path: Path, text: str) -> bool:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if path.is_file() and path.read_text(encoding="utf-8").strip() == text:
            return True
        time.sleep(0.02)
    return False


def script(path: Path, said: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\necho {text} > '{said}'\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def said(tmp_path: Path) -> Path:
    return tmp_path / "said.txt"


@pytest.fixture
def program(tmp_path: Path, said: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A real program that writes "good" into a file and ends; on Windows it is this Python, told so as it starts."""
    if sys.platform != "win32":
        return script(tmp_path / "program", said, "good")
    (tmp_path / "sitecustomize.py").write_text(
        f"import os\nopen({str(said)!r}, 'w', encoding='utf-8').write('good')\nos._exit(0)\n", encoding="utf-8"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return Path(sys.executable)


def test_program_runs_after_check(program: Path, said: Path) -> None:
    seen = []
    SYSTEM.start_checked(program, lambda file: seen.append(hashlib.sha256(file.read()).hexdigest()))
    assert seen == [hashlib.sha256(program.read_bytes()).hexdigest()]
    assert until_said(said, "good")


@pytest.mark.linux
@pytest.mark.skipif(sys.platform == "win32", reason="there the file cannot be replaced meanwhile: tested below")
def test_replaced_file_does_not_run(program: Path, tmp_path: Path, said: Path) -> None:
    SYSTEM.start_checked(program, lambda _file: script(tmp_path / "other", said, "evil").replace(program))
    assert until_said(said, "good")


@pytest.mark.windows
@pytest.mark.skipif(sys.platform != "win32", reason="Windows' own way of holding a file")
def test_file_is_locked_during_check(tmp_path: Path) -> None:
    program, other = tmp_path / "setup.exe", tmp_path / "other.exe"
    program.write_bytes(b"good")
    other.write_bytes(b"evil")

    def attacked(file) -> None:
        for attack in (
            lambda: program.write_bytes(b"evil"),
            lambda: other.replace(program),
            program.unlink,
            lambda: program.rename(tmp_path / "away.exe"),
        ):
            with pytest.raises(PermissionError):
                attack()
        assert file.read() == b"good"
        raise StopHere

    with pytest.raises(StopHere):
        SYSTEM.start_checked(program, attacked)
    program.unlink()  # and it is let go of afterwards


def test_failed_check_starts_nothing(program: Path, said: Path) -> None:
    def wrong(file) -> None:
        raise AppError("update-changed", path=str(program))

    with pytest.raises(AppError):
        SYSTEM.start_checked(program, wrong)
    # Had it been started, one that is started now would not be the first to speak.
    assert not said.exists()
    SYSTEM.start_checked(program, lambda file: None)
    assert until_said(said, "good")


def test_missing_file_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        SYSTEM.start_checked(tmp_path / "nothing.exe", lambda file: None)


def test_non_executable_raises(tmp_path: Path) -> None:
    (tmp_path / "text.exe").write_bytes(b"no program")
    with pytest.raises(OSError, match=r"193|Permission denied|format"):
        SYSTEM.start_checked(tmp_path / "text.exe", lambda file: None)


@pytest.mark.windows
@pytest.mark.skipif(sys.platform != "win32", reason="Windows' own kind of file")
def test_batch_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "setup.bat").write_bytes(b"echo hi")
    with pytest.raises(ValueError, match="batch"):
        SYSTEM.start_checked(tmp_path / "setup.bat", lambda file: None)
