"""Other programs that matter: git, conda, the C++ compilers, Microsoft's C++ runtime."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ..core.errors import AppError
from ..core.machine import Tools
from ..system.base import System
from ..system.patience import answered
from .told import told

LIMIT_S: Final = 2.5  # for one program
ALL_S: Final = 3.0

# vswhere: every product that has the compiler for 64-bit programs, newest first.
_VSWHERE = (
    *("-products", "*", "-requires", "Microsoft.VisualStudio.Component.VC.Tools.x86.x64"),
    *("-sort", "-utf8", "-property", "installationPath"),
)

# The second word alone gives but the major on many builds, and old ones know no other.
_GCC = ("-dumpfullversion", "-dumpversion")

_RUNTIME = ("vcruntime140*.dll", "msvcp140*.dll")

_VERSION = re.compile(r"\d+\.\d+(\.\d+)?")


def found(system: System, stop: threading.Event) -> Any:  # noqa: ANN401 - Tools, or part of them
    """Versions of those that are here; they are asked side by side."""
    git, conda, gcc = (system.program(name) for name in ("git", "conda", "g++"))
    calls: dict[str, Callable[[], str | None]] = {"msvc": lambda: _msvc(system, stop)}
    if git is not None:
        calls["git"] = lambda: _asked(system, git, stop)
    if conda is not None:
        calls["conda"] = lambda: conda_version(conda) or _asked(system, conda, stop)
    if gcc is not None:
        calls["gcc"] = lambda: parse_version(_said(system, [gcc, *_GCC], stop))
    said = answered(calls, ALL_S)
    tools = Tools(
        git=said.get("git"),
        conda=said.get("conda"),
        vc_redist=system.visual_cpp(),
        vc_libraries=runtime_libraries(system.shared_libraries()),
        msvc=said.get("msvc"),
        gcc=said.get("gcc"),
    )
    return told(tools, [name for name in calls if name not in said])


def runtime_libraries(folder: Path | None) -> tuple[str, ...] | None:
    """The C++ runtime's files in a folder of shared libraries; None where there is no such folder."""
    if folder is None or not folder.is_dir():
        return None
    found = (path.name.lower() for pattern in _RUNTIME for path in folder.glob(pattern))
    return tuple(sorted(set(found)))


def _msvc(system: System, stop: threading.Event) -> str | None:
    """The compiler's version ("14.42.34433"): of the folders that vswhere names, else of the usual ones."""
    vswhere = system.vswhere()
    named = []
    if vswhere is not None:
        named = [Path(line.strip()) / "VC" for line in _said(system, [vswhere, *_VSWHERE], stop).splitlines() if line]
    versions = (msvc_version(folder) for folder in (*named, *system.msvc_folders()))
    return next((version for version in versions if version is not None), None)


def msvc_version(folder: Path) -> str | None:
    """By the compilers that lie in a Visual Studio's folder VC; its newest. 2015's has no number in its folder."""
    compilers = [path.parents[3].name for path in folder.glob("Tools/MSVC/*/bin/Host*64/x64/cl.exe")]
    newest = max((name for name in compilers if _VERSION.match(name)), key=_numbers, default=None)
    if newest is not None:
        return newest
    return "14.0" if (folder / "bin/amd64/cl.exe").is_file() else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def conda_version(program: Path) -> str | None:
    """From conda's own record beside the program; asking it takes most of a second."""
    names = sorted(path.name for path in (program.parent.parent / "conda-meta").glob("conda-[0-9]*.json"))
    return parse_version(names[-1]) if names else None


def parse_version(text: str) -> str | None:
    """The first thing in a text that looks like a version ("git version 2.39.5")."""
    match = _VERSION.search(text)
    return match[0] if match else None


def _asked(system: System, program: Path, stop: threading.Event) -> str | None:
    return parse_version(_said(system, [program, "--version"], stop))


def _said(system: System, words: list[str | Path], stop: threading.Event) -> str:
    try:
        finished = system.run(words, timeout=LIMIT_S, cancel=stop)
    except AppError as error:
        if error.code == "program-timeout":
            raise TimeoutError from error
        return ""
    return finished.out if finished.code == 0 else ""
