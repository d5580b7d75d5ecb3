"""Python interpreters: what they answer, and what their files tell."""

from __future__ import annotations

import platform
import sys
import threading
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.machine import TorchBuild
from gpu_assistant.detect import pythons
from gpu_assistant.detect.partial_result import PartialResult
from gpu_assistant.system import current_system
from gpu_assistant.system.base import ProcessResult
from tests.fakes.system import FakeSystem

NEVER = threading.Event()


def test_running_python_is_described() -> None:
    result = pythons.query_interpreter(current_system(), Path(sys.executable), NEVER)
    assert result is not None
    assert result.version == platform.python_version()
    assert result.arch in ("x86_64", "arm64")
    assert result.kind == ("venv" if sys.prefix != sys.base_prefix else result.kind)


def test_an_environment_with_a_torch_in_it(tmp_path: Path) -> None:
    """A real environment; the torch in it would fail to import, and that is not tried."""
    environment = tmp_path / "环境 one"
    venv.create(environment, symlinks=current_system().name != "windows")
    python = current_system().environment_python(environment)
    completed = current_system().run(
        [python, "-c", "import sysconfig; print(ascii(sysconfig.get_path('purelib')))"], timeout=60
    )
    site = Path(eval(completed.stdout))
    (site / "torch").mkdir()
    (site / "torch/__init__.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    (site / "torch/version.py").write_text(
        "__version__ = '2.9.1+cu126'\ncuda: Optional[str] = '12.6'\nhip: Optional[str] = None\n", encoding="utf-8"
    )
    (site / "tensorflow").mkdir()
    (site / "tensorflow_cpu-2.20.0.dist-info").mkdir()
    result = pythons.query_interpreter(current_system(), python, NEVER)
    assert result is not None
    assert result.kind == "venv"
    assert result.torch == TorchBuild(version="2.9.1+cu126", cuda="12.6", cuda_available=None)
    assert result.tensorflow == "2.20.0"


def answer(out: str = "", code: int = 0, error: AppError | None = None) -> FakeSystem:
    def run(*_: Any, **__: Any) -> ProcessResult:
        if error is not None:
            raise error
        return ProcessResult(returncode=code, stdout=out, stderr="")

    return FakeSystem(run=run, python_candidates=(Path(sys.executable),))


GOOD = (
    "('3.12.7', 'win-amd64', True, 'C:\\\\P', 'C:\\\\P', ['C:\\\\P\\\\Lib', 'C:\\\\P\\\\Lib\\\\site-packages'], None)"
)


@pytest.mark.parametrize(
    "system",
    [
        answer(out=GOOD, code=1),
        answer(out="pyenv: python3: command not found"),
        answer(out=""),
        answer(out="('3.12.7',)"),
        answer(out="(1, 2, 3, 4, 5, 6, 7)"),
        answer(out=GOOD[:-9]),
        answer(error=AppError("program-missing", program="x", detail=None)),
    ],
)
def test_failing_interpreter_is_left_out(system: FakeSystem) -> None:
    assert pythons.find_pythons(system, NEVER) == ()


def test_hanging_interpreter_is_reported() -> None:
    system = answer(error=AppError("program-timeout", program="x", limit_seconds=2))
    assert pythons.find_pythons(system, NEVER) == PartialResult(value=(), detail=sys.executable)


def standalone(folder: Path, version: str) -> Path:
    """The files of an interpreter that nobody runs."""
    series = ".".join(version.split(".")[:2])
    header = folder / "include" / f"python{series}" / "patchlevel.h"
    header.parent.mkdir(parents=True)
    header.write_text(f'#define PY_MAJOR_VERSION\t3\n#define PY_VERSION      \t"{version}"\n', encoding="utf-8")
    (folder / "lib" / f"python{series}" / "site-packages").mkdir(parents=True)
    program = folder / "bin" / "python3"
    program.parent.mkdir()
    program.touch()
    return program


def test_timeouts_do_not_change_the_selected_python(tmp_path: Path) -> None:
    older, newer = standalone(tmp_path / "a", "3.11.7"), standalone(tmp_path / "b", "3.12.1")
    shim = tmp_path / "shims" / "python3"
    shim.parent.mkdir()
    shim.touch()

    def run(arguments: Sequence[str | Path], **_: Any) -> ProcessResult:
        if arguments[0] == older:
            return ProcessResult(returncode=0, stdout=GOOD.replace("3.12.7", "3.11.7"), stderr="")
        raise AppError("program-timeout", program=str(arguments[0]), limit_seconds=2)

    result = pythons.find_pythons(FakeSystem(run=run, python_candidates=(newer, shim, older)), NEVER)
    assert isinstance(result, PartialResult)
    assert [(python.path, python.version) for python in result.value] == [
        (str(newer), "3.12.1"),
        (str(older), "3.11.7"),
    ]
    assert result.detail == f"{newer}, {shim}"


def loading_torch(site: Path, seconds: float) -> FakeSystem:
    """A Python that answers at once, whose PyTorch takes so long to load."""
    (site / "torch").mkdir(parents=True)
    (site / "torch/version.py").write_text(
        "__version__ = '2.11.0+cu130'\ncuda = '13.0'\nhip = None\n", encoding="utf-8"
    )

    def run(arguments: Sequence[str | Path], *, timeout: float, **_: Any) -> ProcessResult:
        if "-I" in arguments:
            found = ("3.12.3", "linux-x86_64", True, "/env", "/usr", [str(site)], None)
            return ProcessResult(returncode=0, stdout=ascii(found), stderr="")
        if timeout < seconds:
            raise AppError("program-timeout", program=str(arguments[0]), limit_seconds=timeout)
        loaded = {"cuda": "13.0", "available": True, "cudnn": 91900, "archs": ["sm_90"]}
        return ProcessResult(returncode=0, stdout=ascii(loaded), stderr="")

    return FakeSystem(run=run, python_candidates=(Path(sys.executable),))


def test_torch_gets_the_time_that_the_interpreters_left(tmp_path: Path) -> None:
    (python,) = pythons.find_pythons(loading_torch(tmp_path / "site-packages", seconds=6.0), NEVER)
    assert python.torch == TorchBuild(
        version="2.11.0+cu130", cuda="13.0", cuda_available=True, arch_list=("sm_90",), cudnn="9.19.0"
    )


def test_torch_that_is_still_loading_is_told_apart_from_a_python_that_does_not_answer(tmp_path: Path) -> None:
    result = pythons.find_pythons(loading_torch(tmp_path / "site-packages", seconds=60.0), NEVER)
    assert isinstance(result, PartialResult)
    assert (result.reason, result.detail) == ("still-loading", sys.executable)
    assert result.value[0].torch == TorchBuild(version="2.11.0+cu130", cuda="13.0")


def test_answering_interpreter_is_listed_when_alone() -> None:
    system = answer(out=GOOD + "\r\n")
    (result,) = pythons.find_pythons(system, NEVER)
    assert (result.version, result.arch, result.path) == ("3.12.7", "x86_64", sys.executable)
    assert system.ran[0][1:3] == ("-I", "-c")


def test_no_candidates_no_pythons() -> None:
    assert pythons.find_pythons(FakeSystem(), NEVER) == ()


def parsed(platform_tag: str = "linux-x86_64", wide: bool = True, user: str | None = None) -> pythons.InterpreterInfo:
    paths = ["/usr/lib/python3.11", "/usr/lib/python3/dist-packages"]
    result = pythons.parse_interpreter_answer(ascii(("3.11.2", platform_tag, wide, "/usr", "/usr", paths, user)))
    assert result is not None
    return result


def test_user_site_counts_outside_environments() -> None:
    assert parsed().packages == ("/usr/lib/python3/dist-packages",)
    assert parsed(user="/home/张三/.local/lib/python3.11/site-packages").packages[-1].startswith("/home/张三")


@pytest.mark.parametrize(
    ("tag", "wide", "arch"),
    [
        ("linux-x86_64", True, "x86_64"),
        ("linux-x86_64", False, "x86"),
        ("win-amd64", True, "x86_64"),
        ("win32", False, "x86"),
        ("win-arm64", True, "arm64"),
        ("linux-aarch64", True, "arm64"),
        ("linux-riscv64", True, None),
    ],
)
def test_arch(tag: str, wide: bool, arch: str | None) -> None:
    assert parsed(tag, wide).arch == arch


@pytest.mark.parametrize(
    ("path", "prefix", "conda", "kind"),
    [
        ("/usr/bin/python3", "/usr", False, "system"),
        ("/home/lin/env/bin/python", "/home/lin/env", False, "venv"),
        ("/home/lin/miniconda3/bin/python", "/usr", True, "conda"),
        ("/home/lin/.pyenv/versions/3.12.1/bin/python3", "/usr", False, "managed"),
        ("/home/lin/.local/share/uv/python/cpython-3.13/bin/python3", "/usr", False, "managed"),
        ("C:/Users/l/Microsoft/WindowsApps/PythonSoftwareFoundation.Python.3.12/python.exe", "/usr", False, "store"),
    ],
)
def test_kind(path: str, prefix: str, conda: bool, kind: str) -> None:
    answer = pythons.InterpreterInfo(version="3", arch=None, prefix=prefix, base_prefix="/usr", packages=())
    assert pythons.classify_python(path.split("/"), answer, conda=conda) == kind
