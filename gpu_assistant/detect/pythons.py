"""Which Pythons are here, and what they have of PyTorch and TensorFlow: their files first, they themselves second.

Versions of PyTorch and TensorFlow, read from the files of a Python's packages.

What a Python's PyTorch and TensorFlow say themselves, asked in a child process of that Python.

Asked only where their files cannot tell: a build without CUDA has no CUDA to be available.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from ..core.errors import AppError, Cancelled
from ..core.machine import Python, TensorFlowBuild, TorchBuild
from ..system.base import System
from ..system.processes import gather_with_timeout
from .partial_result import wrap_partial

_TENSORFLOW_DIST_INFO = re.compile(r"tensorflow(_cpu|_intel|_gpu|_rocm)?-(?P<version>[^-]+)\.dist-info", re.IGNORECASE)
_TORCH_DIST_INFO = re.compile(r"torch-(?P<version>[^-]+)\.dist-info", re.IGNORECASE)


def find_torch(folders: Iterable[Path]) -> TorchBuild | None:
    """The first PyTorch that would be imported; where it was built with CUDA, only a run tells whether that works."""
    for folder in folders:
        package = folder / "torch"
        if not package.is_dir():
            continue
        build = parse_torch_version(_read_text(package / "version.py"))
        if build is not None:
            return build
        if version := _dist_info_version(folder, _TORCH_DIST_INFO):
            return TorchBuild(version=version)
    return None


def parse_torch_version(text: str) -> TorchBuild | None:
    """From torch/version.py, which the build writes; older ones have no type annotations."""
    fields: dict[str, str] = dict(re.findall(r"^(\w+)(?:\s*:[^=\n]+)?\s*=\s*['\"]([^'\"]*)['\"]", text, re.MULTILINE))
    version = fields.get("__version__")
    if not version:
        return None
    # Written down as None: built without. ROCm answers through the same function as CUDA.
    disabled_backends = set(re.findall(r"^(cuda|hip)(?:\s*:[^=\n]+)?\s*=\s*None\b", text, re.MULTILINE))
    return TorchBuild(
        version=version, cuda=fields.get("cuda"), cuda_available=False if disabled_backends == {"cuda", "hip"} else None
    )


def find_tensorflow(folders: Iterable[Path]) -> str | None:
    """The version of TensorFlow; its own packages carry different names for the same import."""
    for folder in folders:
        if (folder / "tensorflow").is_dir() and (version := _dist_info_version(folder, _TENSORFLOW_DIST_INFO)):
            return version
    return None


def find_tensorflow_build(folders: Iterable[Path]) -> TensorFlowBuild | None:
    """How it was built, from the file that its build writes."""
    for folder in folders:
        if (folder / "tensorflow").is_dir():
            return parse_tensorflow_build_info(_read_text(folder / "tensorflow/python/platform/build_info.py"))
    return None


def parse_tensorflow_build_info(text: str) -> TensorFlowBuild | None:
    """From tensorflow/python/platform/build_info.py: pairs of a name and a value, or a dict."""
    flags = dict(re.findall(r"['\"](is_cuda_build|is_rocm_build)['\"]\s*[,:]\s*(True|False)", text))
    versions = dict(re.findall(r"['\"](cuda_version|cudnn_version)['\"]\s*[,:]\s*['\"](\d[\d.]*)['\"]", text))
    if "is_cuda_build" not in flags:
        return None
    is_cuda_build = flags["is_cuda_build"] == "True"
    return TensorFlowBuild(
        cuda=versions.get("cuda_version") if is_cuda_build else None,
        cudnn=versions.get("cudnn_version") if is_cuda_build else None,
        cuda_build=is_cuda_build,
        gpu_available=None if is_cuda_build or flags.get("is_rocm_build") != "False" else False,
    )


def _dist_info_version(folder: Path, pattern: re.Pattern[str]) -> str | None:
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return None
    return next((match["version"] for name in names if (match := pattern.fullmatch(name))), None)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


FRAMEWORK_TIMEOUT_S: Final = 4.0  # importing PyTorch from a cold disk takes longer; then it is unknown
MAX_ERROR_CHARS: Final = 300

# The folder that the child is started in is nobody's package.
_SCRIPT_PREFIX = """
import sys
sys.path[:] = [folder for folder in sys.path if folder]
def tell():
    try:
        told = ask()
    except BaseException as error:
        told = {"error": type(error).__name__ + ": " + str(error)}
    print("\\n" + ascii(told))
"""
TORCH_SCRIPT = f"""{_SCRIPT_PREFIX}
def ask():
    import torch
    number = torch.backends.cudnn.version() if torch.version.cuda else None
    return {{"cuda": torch.version.cuda, "available": bool(torch.cuda.is_available()), "cudnn": number}}
tell()
"""
TENSORFLOW_SCRIPT = f"""{_SCRIPT_PREFIX}
def ask():
    import tensorflow
    return {{"available": bool(tensorflow.config.list_physical_devices("GPU"))}}
tell()
"""


def query_frameworks(system: System, python: Python, stop: threading.Event) -> Python:
    """The Python with what its frameworks say. Raises TimeoutError where one is late; a broken one tells why."""
    torch, tensorflow = python.torch, python.tensorflow_build
    if torch is not None and torch.cuda_available is None:
        answer = _run_framework_script(system, python, TORCH_SCRIPT, stop)
        available = answer.get("available")
        error = answer.get("error")
        torch = replace(
            torch,
            cuda=torch.cuda or _optional_text(answer.get("cuda")),
            cuda_available=available if isinstance(available, bool) else None,
            cudnn=format_cudnn_version(answer.get("cudnn")),
            error=error[:MAX_ERROR_CHARS] if isinstance(error, str) else None,
        )
    if tensorflow is not None and tensorflow.gpu_available is None:
        available = _run_framework_script(system, python, TENSORFLOW_SCRIPT, stop).get("available")
        tensorflow = replace(tensorflow, gpu_available=available if isinstance(available, bool) else None)
    return replace(python, torch=torch, tensorflow_build=tensorflow)


def needs_framework_query(python: Python) -> bool:
    """Whether its files leave a question open."""
    torch, tensorflow = python.torch, python.tensorflow_build
    torch_unknown = torch is not None and torch.cuda_available is None
    return torch_unknown or (tensorflow is not None and tensorflow.gpu_available is None)


def _run_framework_script(system: System, python: Python, script: str, stop: threading.Event) -> dict[str, Any]:
    program = Path(python.path)
    environ = {"PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    try:
        completed = system.run(
            [program, "-c", script], timeout=FRAMEWORK_TIMEOUT_S, environ=environ, cwd=program.parent, cancel=stop
        )
    except (AppError, Cancelled) as error:
        raise TimeoutError from error
    return parse_framework_answer(completed.stdout)


def parse_framework_answer(out: str) -> dict[str, Any]:
    """The child's last line; whatever libraries print before it is theirs."""
    lines = out.strip().splitlines()
    try:
        answer = ast.literal_eval(lines[-1]) if lines else {}
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return {}
    return answer if isinstance(answer, dict) else {}


def format_cudnn_version(number: object) -> str | None:
    """cuDNN's own number: 91002 is 9.10.2 (from 9 on), 8907 is 8.9.7."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 1000:
        return None
    major, rest = divmod(number, 10_000) if number >= 90_000 else divmod(number, 1000)
    return f"{major}.{rest // 100}.{rest % 100}"


def _optional_text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


INTERPRETER_TIMEOUT_S = 3.5  # for one interpreter, with a virus scanner that reads it first
QUERY_TIMEOUT_S: Final = 4.0  # for all of them to say who they are
FILES_TIMEOUT_S: Final = 1.0  # for those that did not, to be told by their files
TOTAL_TIMEOUT_S: Final = QUERY_TIMEOUT_S + FILES_TIMEOUT_S + FRAMEWORK_TIMEOUT_S
MAX_INTERPRETERS = 40  # interpreters asked; nobody reads a longer list
PARALLEL_QUERIES = 8
PARALLEL_FRAMEWORK_QUERIES = 2  # each loads gigabytes

PATCHLEVEL_VERSION: Final = re.compile(r'^#define\s+PY_VERSION\s+"([^"]+)"', re.MULTILINE)
PythonKind = Literal["system", "venv", "conda", "store", "managed"]

# Runs in any Python from 3.4 on and loads little. The answer is plain ASCII, whatever the console speaks.
QUERY_SCRIPT = """
import sys, sysconfig, site
try:
    user = site.getusersitepackages()
except Exception:
    user = None
print(ascii((sys.version.split()[0], sysconfig.get_platform(), sys.maxsize > 2**32,
             sys.prefix, sys.base_prefix, list(sys.path), user)))
"""


class InterpreterInfo(Struct, frozen=True, kw_only=True):
    """What an interpreter says of itself; `packages` are the folders that it imports packages from."""

    version: str
    arch: str | None
    prefix: str
    base_prefix: str
    packages: tuple[str, ...]


def find_pythons(system: System, stop: threading.Event) -> Any:  # noqa: ANN401 - Pythons, or some that are not all told
    """Every interpreter that answers in time; one that says anything else (a broken shim, say) is left out.

    Where every NVIDIA card sleeps nobody is made to look for cards: that would wake them.
    """
    candidates = system.python_candidates()[:MAX_INTERPRETERS]
    if not candidates:
        return ()
    results = gather_with_timeout(
        {path: partial(query_interpreter, system, path, stop) for path in candidates}, QUERY_TIMEOUT_S, PARALLEL_QUERIES
    )
    unanswered = [path for path in candidates if path not in results]
    timed_out = [str(path) for path in unanswered]
    # On a busy machine it is chance who answers in time: which Python is chosen must not depend on that.
    results |= gather_with_timeout(
        {path: partial(identify_by_files, path) for path in unanswered}, FILES_TIMEOUT_S, PARALLEL_QUERIES
    )
    pythons = [python for path in candidates if (python := results.get(path)) is not None]
    to_query = [python for python in pythons if needs_framework_query(python)]
    if not to_query or system.are_gpus_asleep():
        return wrap_partial(tuple(pythons), timed_out)
    calls = {python.path: partial(query_frameworks, system, python, stop) for python in to_query}
    queried = gather_with_timeout(calls, FRAMEWORK_TIMEOUT_S, PARALLEL_FRAMEWORK_QUERIES)
    timed_out += [path for path in calls if path not in queried]
    return wrap_partial(tuple(queried.get(python.path, python) for python in pythons), timed_out)


def query_interpreter(system: System, path: Path, stop: threading.Event) -> Python | None:
    """One interpreter; None where it says something else. Raises TimeoutError where it hangs."""
    try:
        completed = system.run([path, "-I", "-c", QUERY_SCRIPT], timeout=INTERPRETER_TIMEOUT_S, cancel=stop)
    except AppError as error:
        if error.code == "program-timeout":
            raise TimeoutError from error
        return None
    info = parse_interpreter_answer(completed.stdout) if completed.returncode == 0 else None
    return _build_python(path, info) if info is not None else None


def identify_by_files(path: Path) -> Python | None:
    """One that does not answer in time, by the header that lies beside every standalone interpreter; None for an
    environment's, and where there is no such header. Raises OSError.
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
        header = next((each for each in headers if each.is_file()), None)
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
    """An interpreter's answer; None where it said anything else."""
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
    """The processor family of a platform tag: "linux-x86_64" and "win-amd64" are "x86_64"."""
    for suffix, name in (("x86_64", "x86_64"), ("amd64", "x86_64"), ("aarch64", "arm64"), ("arm64", "arm64")):
        if platform.endswith(suffix):
            return name
    return None


def classify_python(path: Sequence[str], info: InterpreterInfo, *, conda: bool) -> PythonKind:
    """Whose it is: an environment's, conda's, the Store's, a version manager's (uv, pyenv), or the system's."""
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
