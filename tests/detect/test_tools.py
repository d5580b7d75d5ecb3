"""Versions of git, conda, the compilers and the C++ runtime."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import Tools
from gpu_assistant.detect import tools
from gpu_assistant.detect.partial_result import PartialResult
from gpu_assistant.detect.tools import find_compiler_version
from gpu_assistant.system import current_system
from gpu_assistant.system.base import ProcessResult
from tests.fakes.system import FakeSystem, FakeWindows

NEVER = threading.Event()


def says(text: str, code: int = 0) -> Any:
    return lambda *_, **__: ProcessResult(returncode=code, stdout=text, stderr="")


@pytest.mark.parametrize(
    ("text", "code", "version"),
    [
        ("git version 2.39.5\n", 0, "2.39.5"),
        ("git version 2.47.1.windows.2\n", 0, "2.47.1"),
        ("git version 2.39.5 (Apple Git-154)", 0, "2.39.5"),
        ("git version 2.39.5\n", 1, None),
        ("", 0, None),
    ],
)
def test_git(tmp_path: Path, text: str, code: int, version: str | None) -> None:
    system = FakeSystem(run=says(text, code), programs={"git": tmp_path / "git"})
    assert tools.find_tools(system, NEVER) == Tools(git=version)
    assert system.ran == [(str(tmp_path / "git"), "--version")]


def test_present_vc_runtime_files(tmp_path: Path) -> None:
    for name in ("vcruntime140.dll", "msvcp140.dll", "msvcp140_1.dll", "msvcp120.dll", "kernel32.dll"):
        (tmp_path / name).touch()
    result = tools.find_tools(FakeSystem(windows=FakeWindows(tmp_path, visual_cpp="14.20")), NEVER)
    assert result.vc_libraries == ("msvcp140.dll", "msvcp140_1.dll", "vcruntime140.dll")
    assert tools.list_runtime_libraries(tmp_path / "none") is None


def test_missing_programs_are_not_run() -> None:
    system = FakeSystem(windows=FakeWindows(visual_cpp="14.42"))
    assert tools.find_tools(system, NEVER) == Tools(vc_redist="14.42")
    assert system.ran == []


def test_conda_version_from_metadata(tmp_path: Path) -> None:
    (tmp_path / "conda-meta").mkdir()
    for name in ("conda-24.9.2-py312h7900ff3_0.json", "conda-libmamba-solver-24.9.0-pyhd3eb1b0_0.json", "history"):
        (tmp_path / "conda-meta" / name).touch()
    system = FakeSystem(programs={"conda": tmp_path / "bin/conda"})
    assert tools.find_tools(system, NEVER).conda == "24.9.2"
    assert system.ran == []


def test_conda_without_metadata_is_run(tmp_path: Path) -> None:
    system = FakeSystem(run=says("conda 24.9.2\n"), programs={"conda": tmp_path / "bin/conda"})
    assert tools.find_tools(system, NEVER).conda == "24.9.2"


def test_hanging_program_is_reported(tmp_path: Path) -> None:
    def run(*_: Any, **__: Any) -> ProcessResult:
        raise AppError("program-timeout", program="git", limit_seconds=3)

    system = FakeSystem(run=run, programs={"git": tmp_path / "git"})
    assert tools.find_tools(system, NEVER) == PartialResult(value=Tools(), detail="git")


def test_installed_git_version() -> None:
    program = current_system().find_program("git")
    if program is None:
        pytest.skip("no git on PATH here")
    version = tools.find_tools(FakeSystem(programs={"git": program}), NEVER).git
    assert version is not None
    assert version in current_system().run([program, "--version"], timeout=120).stdout


def test_newest_msvc_is_used(tmp_path: Path) -> None:
    for version in ("14.9.1", "14.42.34433", "x"):
        (tmp_path / f"Tools/MSVC/{version}/bin/Hostx64/x64").mkdir(parents=True)
        (tmp_path / f"Tools/MSVC/{version}/bin/Hostx64/x64/cl.exe").touch()
    assert find_compiler_version(tmp_path) == "14.42.34433"
    assert find_compiler_version(tmp_path / "Tools") is None
