"""git, conda, CUDA Toolkits and cuDNN."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.catalog.records.software import parse_version_json
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import CudaToolkit, Cudnn, Tools
from gpu_assistant.detect import cuda, tools
from gpu_assistant.detect.partial_result import PartialResult
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
    found = tools.find_tools(FakeSystem(windows=FakeWindows(tmp_path, visual_cpp="14.20")), NEVER)
    assert found.vc_libraries == ("msvcp140.dll", "msvcp140_1.dll", "vcruntime140.dll")
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
    assert version in current_system().run([program, "--version"], timeout=30).stdout


def toolkit(folder: Path, *, compiler: bool = False, **files: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "include").mkdir()
    if compiler:
        (folder / "bin/nvcc").touch()
    for name, text in files.items():
        (folder / name.replace("__", "/").replace("_dot_", ".")).write_text(text, encoding="utf-8")
    return folder


def test_toolkits(tmp_path: Path) -> None:
    new = toolkit(
        tmp_path / "cuda-12.6", compiler=True, version_dot_json='{"cuda": {"name": "x", "version": "12.6.3"}}'
    )
    old = toolkit(tmp_path / "cuda-10.2", version_dot_txt="CUDA Version 10.2.89\n")
    bare = toolkit(tmp_path / "cuda-13.0", compiler=True, include__cuda_dot_h="#define CUDA_VERSION 13000\n")
    broken = toolkit(tmp_path / "cuda-x", compiler=True, version_dot_json='{"cuda": []}')
    empty = toolkit(tmp_path / "cuda-11.8")
    assert cuda.scan_toolkits([new, old, bare, broken, empty], "nvcc") == (
        CudaToolkit(version="12.6.3", path=str(new), nvcc=True),
        CudaToolkit(version="10.2.89", path=str(old), nvcc=False),
        CudaToolkit(version="13.0", path=str(bare), nvcc=True),
        CudaToolkit(version=None, path=str(broken), nvcc=True),
    )


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cuda": 1}', '{"cuda": {"version": 12}}', "\x00"])
def test_a_broken_version_file_is_unknown(text: str) -> None:
    assert parse_version_json(text) is None


HEADER = "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 6\n#define CUDNN_PATCHLEVEL 0\n"


def test_cudnn(tmp_path: Path) -> None:
    include, libraries = tmp_path / "include", tmp_path / "lib"
    include.mkdir()
    libraries.mkdir()
    (include / "cudnn_version.h").write_text(HEADER, encoding="utf-8")
    (include / "cudnn.h").write_text('#include "cudnn_version.h"', encoding="utf-8")
    for name in ("libcudnn.so", "libcudnn.so.9", "libcudnn.so.9.6.0", "libcudnn.so.8.9.7", "libcudnn_ops.so.9.6.0"):
        (libraries / name).touch()
    assert cuda.find_cudnn([include, libraries]) == (
        Cudnn(version="9.6.0", path=str(include / "cudnn_version.h")),
        Cudnn(version="8.9.7", path=str(libraries / "libcudnn.so.8.9.7")),
    )
    assert cuda.find_cudnn([tmp_path]) == ()


def test_incomplete_cudnn_header_is_unknown() -> None:
    assert cuda.parse_cudnn_header(HEADER.replace("CUDNN_MINOR", "OTHER")) is None
