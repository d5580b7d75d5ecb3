"""Other programs that an installation may need: git, conda, C++ compilers, Microsoft's C++ runtime."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ..core.errors import AppError
from ..core.machine import Tools
from ..core.versions import version_key
from ..system.base import Processes, WindowsComponents
from ..system.processes import gather_with_timeout
from .partial_result import wrap_partial

PROGRAM_TIMEOUT_S: Final = 2.5  # for one program
TOTAL_TIMEOUT_S: Final = 3.0

# Every product that has the compiler for 64-bit programs, newest first.
_VSWHERE_ARGUMENTS = (
    *("-products", "*", "-requires", "Microsoft.VisualStudio.Component.VC.Tools.x86.x64"),
    *("-sort", "-utf8", "-property", "installationPath"),
)

# The second argument alone gives only the major version on many builds; old builds do not know the first.
_GCC_ARGUMENTS = ("-dumpfullversion", "-dumpversion")

_RUNTIME_PATTERNS = ("vcruntime140*.dll", "msvcp140*.dll")

_VERSION = re.compile(r"\d+\.\d+(\.\d+)?")


def find_tools(system: Processes, stop: threading.Event) -> Any:  # noqa: ANN401 - Tools, or part of them
    """Versions of the installed ones, read side by side."""
    git, conda, gcc = (system.find_program(name) for name in ("git", "conda", "g++"))
    windows = system.windows
    calls: dict[str, Callable[[], str | None]] = {}
    if windows is not None:
        calls["msvc"] = lambda: _find_msvc_version(system, windows, stop)
    if git is not None:
        calls["git"] = lambda: _query_version(system, git, stop)
    if conda is not None:
        calls["conda"] = lambda: read_conda_version(conda) or _query_version(system, conda, stop)
    if gcc is not None:
        calls["gcc"] = lambda: search_version(_run_output(system, [gcc, *_GCC_ARGUMENTS], stop))
    versions = gather_with_timeout(calls, TOTAL_TIMEOUT_S)
    tools = Tools(
        git=versions.get("git"),
        conda=versions.get("conda"),
        vc_redist=windows.visual_cpp() if windows is not None else None,
        vc_libraries=list_runtime_libraries(windows.system32_folder()) if windows is not None else None,
        msvc=versions.get("msvc"),
        gcc=versions.get("gcc"),
    )
    return wrap_partial(tools, [name for name in calls if name not in versions])


def list_runtime_libraries(folder: Path) -> tuple[str, ...] | None:
    """The C++ runtime's files in a folder of shared libraries; None where there is no such folder."""
    if not folder.is_dir():
        return None
    names = (path.name.lower() for pattern in _RUNTIME_PATTERNS for path in folder.glob(pattern))
    return tuple(sorted(set(names)))


def _find_msvc_version(system: Processes, windows: WindowsComponents, stop: threading.Event) -> str | None:
    """The compiler's version ("14.42.34433"): in the folders that vswhere lists, else in the default ones."""
    vswhere = windows.vswhere()
    folders = []
    if vswhere is not None:
        folders = [
            Path(line.strip()) / "VC"
            for line in _run_output(system, [vswhere, *_VSWHERE_ARGUMENTS], stop).splitlines()
            if line
        ]
    versions = (find_compiler_version(folder) for folder in (*folders, *windows.msvc_folders()))
    return next((version for version in versions if version is not None), None)


def find_compiler_version(folder: Path) -> str | None:
    """The newest compiler in a Visual Studio's folder VC; Visual Studio 2015's has no version in its path."""
    compilers = [path.parents[3].name for path in folder.glob("Tools/MSVC/*/bin/Host*64/x64/cl.exe")]
    newest = max((name for name in compilers if _VERSION.match(name)), key=version_key, default=None)
    if newest is not None:
        return newest
    return "14.0" if (folder / "bin/amd64/cl.exe").is_file() else None


def read_conda_version(program: Path) -> str | None:
    """From conda's own metadata beside the program; running it takes most of a second."""
    names = sorted(path.name for path in (program.parent.parent / "conda-meta").glob("conda-[0-9]*.json"))
    return search_version(names[-1]) if names else None


def search_version(text: str) -> str | None:
    """The first version in a text ("git version 2.39.5")."""
    match = _VERSION.search(text)
    return match[0] if match else None


def _query_version(system: Processes, program: Path, stop: threading.Event) -> str | None:
    return search_version(_run_output(system, [program, "--version"], stop))


def _run_output(system: Processes, command: list[str | Path], stop: threading.Event) -> str:
    try:
        completed = system.run(command, timeout=PROGRAM_TIMEOUT_S, cancel=stop)
    except AppError as error:
        if error.code == "program-timeout":
            raise TimeoutError from error
        return ""
    return completed.stdout if completed.returncode == 0 else ""
