"""Which Python interpreters are installed: each one answers for itself, or its files do where it is too slow."""

from __future__ import annotations

import ast
import re
import threading
import time
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

from ..core.errors import AppError
from ..core.machine import Python
from ..system.base import Hardware, Processes
from ..system.processes import gather_with_timeout
from .frameworks import (
    FRAMEWORK_TIMEOUT_S,
    find_tensorflow,
    find_tensorflow_build,
    find_torch,
    needs_framework_query,
    query_frameworks,
)
from .partial_result import PartialResult, wrap_partial

INTERPRETER_TIMEOUT_S = 3.5  # for one interpreter, with a virus scanner that reads it first
QUERY_TIMEOUT_S: Final = 4.0  # for all interpreters to answer
FILES_TIMEOUT_S: Final = 1.0  # to identify the others by their files
TOTAL_TIMEOUT_S: Final = QUERY_TIMEOUT_S + FILES_TIMEOUT_S + FRAMEWORK_TIMEOUT_S  # frameworks get what the others leave
MAX_INTERPRETERS = 40
PARALLEL_QUERIES = 8
PARALLEL_FRAMEWORK_QUERIES = 2  # each loads gigabytes

PATCHLEVEL_VERSION: Final = re.compile(r'^#define\s+PY_VERSION\s+"([^"]+)"', re.MULTILINE)
PythonKind = Literal["system", "venv", "conda", "store", "managed"]

# Runs in any Python from 3.4 on and imports little. The answer is ASCII, whatever the console's encoding.
QUERY_SCRIPT = """
import sys, sysconfig, site
try:
    user = site.getusersitepackages()
except Exception:
    user = None
print(ascii((sys.version.split()[0], sysconfig.get_platform(), sys.maxsize > 2**32,
             sys.prefix, sys.base_prefix, list(sys.path), user)))
"""


class PythonSystem(Hardware, Processes, Protocol):
    """The roles of the operating system that finding Pythons uses."""


class InterpreterInfo(Struct, frozen=True, kw_only=True):
    """An interpreter's own answer; `packages` are the folders that it imports packages from."""

    version: str
    arch: str | None
    prefix: str
    base_prefix: str
    packages: tuple[str, ...]


def find_pythons(system: PythonSystem, stop: threading.Event) -> Any:  # noqa: ANN401 - Pythons, or a part of them
    """Every interpreter that answers in time; one with any other output (a broken shim, say) is left out.

    Where every NVIDIA GPU is asleep no framework is run: it would wake them.
    """
    deadline = time.monotonic() + TOTAL_TIMEOUT_S
    candidates = system.python_candidates()[:MAX_INTERPRETERS]
    if not candidates:
        return ()
    results = gather_with_timeout(
        {path: partial(query_interpreter, system, path, stop) for path in candidates}, QUERY_TIMEOUT_S, PARALLEL_QUERIES
    )
    unanswered = [path for path in candidates if path not in results]
    timed_out = [str(path) for path in unanswered]
    # On a busy computer it is chance which ones answer in time; the choice of a Python must not depend on that.
    results |= gather_with_timeout(
        {path: partial(identify_by_files, path) for path in unanswered}, FILES_TIMEOUT_S, PARALLEL_QUERIES
    )
    pythons = [python for path in candidates if (python := results.get(path)) is not None]
    to_query = [python for python in pythons if needs_framework_query(python)]
    if not to_query or system.are_gpus_asleep():
        return wrap_partial(tuple(pythons), timed_out)
    left_s = deadline - time.monotonic()
    calls = {python.path: partial(query_frameworks, system, python, stop, timeout_s=left_s) for python in to_query}
    queried = gather_with_timeout(calls, left_s, PARALLEL_FRAMEWORK_QUERIES)
    loading = [path for path in calls if path not in queried]
    completed = tuple(queried.get(python.path, python) for python in pythons)
    if loading and not timed_out:
        return PartialResult(value=completed, detail=", ".join(loading), reason="still-loading")
    return wrap_partial(completed, [*timed_out, *loading])


def query_interpreter(system: Processes, path: Path, stop: threading.Event) -> Python | None:
    """One interpreter; None where its output is no answer. Raises TimeoutError where it hangs."""
    try:
        completed = system.run([path, "-I", "-c", QUERY_SCRIPT], timeout=INTERPRETER_TIMEOUT_S, cancel=stop)
    except AppError as error:
        if error.code == "program-timeout":
            raise TimeoutError from error
        return None
    info = parse_interpreter_answer(completed.stdout) if completed.returncode == 0 else None
    return _build_python(path, info) if info is not None else None


def identify_by_files(path: Path) -> Python | None:
    """An interpreter that did not answer in time, by the header beside it; None for an environment's, and where there
    is no header. Raises OSError.
    """
    if any((folder / "pyvenv.cfg").is_file() for folder in (path.parent, path.parent.parent)):
        return None
    resolved = path.resolve()
    for prefix in (resolved.parent, resolved.parent.parent):
        include_folders = (
            "",
            f"{resolved.name}/",
            *(f"{folder.name}/" for folder in prefix.glob("include/python3.*[0-9]")),
        )
        headers = [prefix / "include" / f"{folder}patchlevel.h" for folder in include_folders]
        header = next((path for path in headers if path.is_file()), None)
        version = (
            PATCHLEVEL_VERSION.search(header.read_text(encoding="utf-8", errors="replace"))
            if header is not None
            else None
        )
        if version is not None:
            site_packages = (*prefix.glob("lib/python3*/site-packages"), *prefix.glob("Lib/site-packages"))
            folders = tuple(str(folder) for folder in site_packages)
            prefix_text = str(prefix)
            return _build_python(
                path,
                InterpreterInfo(
                    version=version[1], arch=None, prefix=prefix_text, base_prefix=prefix_text, packages=folders
                ),
            )
    return None


def _build_python(path: Path, info: InterpreterInfo) -> Python:
    folders = [Path(folder) for folder in info.packages]
    tensorflow = find_tensorflow(folders)
    return Python(
        path=str(path),
        version=info.version,
        arch=info.arch,
        kind=classify_python(path.parts, info, conda=(Path(info.prefix) / "conda-meta").is_dir()),
        torch=find_torch(folders),
        tensorflow=tensorflow,
        tensorflow_build=find_tensorflow_build(folders) if tensorflow is not None else None,
    )


def parse_interpreter_answer(text: str) -> InterpreterInfo | None:
    """The answer to `QUERY_SCRIPT`; None for any other text."""
    try:
        version, platform, is_64_bit, prefix, base_prefix, paths, user_site = ast.literal_eval(text.strip())
        if user_site and prefix == base_prefix:
            paths = [*paths, user_site]
        return InterpreterInfo(
            version=version,
            arch=normalize_arch(platform) if is_64_bit else "x86",
            prefix=prefix,
            base_prefix=base_prefix,
            packages=tuple(path for path in paths if path.endswith(("site-packages", "dist-packages"))),
        )
    except (ValueError, SyntaxError, TypeError, AttributeError, RecursionError, MemoryError):
        return None


def normalize_arch(platform: str) -> str | None:
    """The architecture in a platform tag: "linux-x86_64" and "win-amd64" are "x86_64"."""
    for suffix, name in (("x86_64", "x86_64"), ("amd64", "x86_64"), ("aarch64", "arm64"), ("arm64", "arm64")):
        if platform.endswith(suffix):
            return name
    return None


def classify_python(path: Sequence[str], info: InterpreterInfo, *, conda: bool) -> PythonKind:
    """What it belongs to: an environment, conda, the Store, a version manager (uv, pyenv), or the system."""
    parts = [part.lower() for part in path]
    if conda:
        return "conda"
    if info.prefix != info.base_prefix:
        return "venv"
    if "windowsapps" in parts:
        return "store"
    pairs = set(pairwise(parts))
    if pairs & {("uv", "python"), (".pyenv", "versions"), ("pyenv-win", "versions"), ("installs", "python")}:
        return "managed"
    return "system"
