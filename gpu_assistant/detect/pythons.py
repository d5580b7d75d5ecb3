"""Which Pythons are here, and what they have of PyTorch and TensorFlow: their files first, they themselves second."""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from ..core.errors import AppError
from ..core.machine import Python
from ..system.base import System
from ..system.patience import answered
from . import frameworks, packages
from .told import told

LIMIT_S = 3.5  # for one interpreter, with a virus scanner that reads it first
NAMES_S: Final = 4.0  # for all of them to say who they are
FILES_S: Final = 1.0  # for those that did not, to be told by their files
ALL_S: Final = NAMES_S + FILES_S + frameworks.LIMIT_S
MOST = 40  # interpreters asked; nobody reads a longer list
AT_ONCE = 8
FRAMEWORKS_AT_ONCE = 2  # each loads gigabytes

VERSION: Final = re.compile(r'^#define\s+PY_VERSION\s+"([^"]+)"', re.MULTILINE)
Kind = Literal["system", "venv", "conda", "store", "managed"]

# Runs in any Python from 3.4 on and loads little. The answer is plain ASCII, whatever the console speaks.
QUESTION = """
import sys, sysconfig, site
try:
    user = site.getusersitepackages()
except Exception:
    user = None
print(ascii((sys.version.split()[0], sysconfig.get_platform(), sys.maxsize > 2**32,
             sys.prefix, sys.base_prefix, list(sys.path), user)))
"""


class Answer(Struct, frozen=True, kw_only=True):
    """What an interpreter says of itself; `packages` are the folders that it imports packages from."""

    version: str
    arch: str | None
    prefix: str
    base_prefix: str
    packages: tuple[str, ...]


def found(system: System, stop: threading.Event) -> Any:  # noqa: ANN401 - Pythons, or some that are not all told
    """Every interpreter that answers in time; one that says anything else (a broken shim, say) is left out.

    Where every NVIDIA card sleeps nobody is made to look for cards: that would wake them.
    """
    candidates = system.python_candidates()[:MOST]
    if not candidates:
        return ()
    said = answered({path: partial(ask, system, path, stop) for path in candidates}, NAMES_S, AT_ONCE)
    silent = [path for path in candidates if path not in said]
    late = [str(path) for path in silent]
    # On a busy machine it is chance who answers in time: which Python is chosen must not depend on that.
    said |= answered({path: partial(by_files, path) for path in silent}, FILES_S, AT_ONCE)
    pythons = [python for path in candidates if (python := said.get(path)) is not None]
    unsettled = [python for python in pythons if frameworks.unsettled(python)]
    if not unsettled or system.cards_asleep():
        return told(tuple(pythons), late)
    calls = {python.path: partial(frameworks.asked, system, python, stop) for python in unsettled}
    more = answered(calls, frameworks.LIMIT_S, FRAMEWORKS_AT_ONCE)
    late += [path for path in calls if path not in more]
    return told(tuple(more.get(python.path, python) for python in pythons), late)


def ask(system: System, path: Path, stop: threading.Event) -> Python | None:
    """One interpreter; None where it says something else. Raises TimeoutError where it hangs."""
    try:
        finished = system.run([path, "-I", "-c", QUESTION], timeout=LIMIT_S, cancel=stop)
    except AppError as error:
        if error.code == "program-timeout":
            raise TimeoutError from error
        return None
    answer = parse(finished.out) if finished.code == 0 else None
    return _python(path, answer) if answer is not None else None


def by_files(path: Path) -> Python | None:
    """One that does not answer in time, by the header that lies beside every standalone interpreter; None for an
    environment's, and where there is no such header. Raises OSError.
    """
    if any((folder / "pyvenv.cfg").is_file() for folder in (path.parent, path.parent.parent)):
        return None
    real = path.resolve()
    for prefix in (real.parent, real.parent.parent):
        series = ("", f"{real.name}/", *(f"{folder.name}/" for folder in prefix.glob("include/python3.*[0-9]")))
        headers = [prefix / "include" / f"{folder}patchlevel.h" for folder in series]
        header = next((each for each in headers if each.is_file()), None)
        version = VERSION.search(header.read_text(encoding="utf-8", errors="replace")) if header is not None else None
        if version is not None:
            sites = (*prefix.glob("lib/python3*/site-packages"), *prefix.glob("Lib/site-packages"))
            folders = tuple(str(folder) for folder in sites)
            at = str(prefix)
            return _python(path, Answer(version=version[1], arch=None, prefix=at, base_prefix=at, packages=folders))
    return None


def _python(path: Path, answer: Answer) -> Python:
    folders = [Path(folder) for folder in answer.packages]
    tensorflow = packages.tensorflow(folders)
    return Python(
        path=str(path),
        version=answer.version,
        arch=answer.arch,
        kind=kind(path.parts, answer, conda=(Path(answer.prefix) / "conda-meta").is_dir()),
        torch=packages.torch(folders),
        tensorflow=tensorflow,
        tensorflow_build=packages.tensorflow_build(folders) if tensorflow is not None else None,
    )


def parse(text: str) -> Answer | None:
    """An interpreter's answer; None where it said anything else."""
    try:
        version, platform, wide, prefix, base, paths, user = ast.literal_eval(text.strip())
        if user and prefix == base:
            paths = [*paths, user]
        return Answer(
            version=version,
            arch=arch(platform) if wide else "x86",
            prefix=prefix,
            base_prefix=base,
            packages=tuple(path for path in paths if path.endswith(("site-packages", "dist-packages"))),
        )
    except (ValueError, SyntaxError, TypeError, AttributeError, RecursionError, MemoryError):
        return None


def arch(platform: str) -> str | None:
    """The processor family of a platform tag: "linux-x86_64" and "win-amd64" are "x86_64"."""
    for ending, name in (("x86_64", "x86_64"), ("amd64", "x86_64"), ("aarch64", "arm64"), ("arm64", "arm64")):
        if platform.endswith(ending):
            return name
    return None


def kind(path: Sequence[str], answer: Answer, *, conda: bool) -> Kind:
    """Whose it is: an environment's, conda's, the Store's, a version manager's (uv, pyenv), or the system's."""
    parts = [part.lower() for part in path]
    if conda:
        return "conda"
    if answer.prefix != answer.base_prefix:
        return "venv"
    if "windowsapps" in parts:
        return "store"
    pairs = set(pairwise(parts))
    if pairs & {("uv", "python"), (".pyenv", "versions"), ("pyenv-win", "versions"), ("installs", "python")}:
        return "managed"
    return "system"
