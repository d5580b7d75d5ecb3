"""PyTorch and TensorFlow in a Python: from the files of its packages, else from a run of that Python.

They are run only where the files do not tell: a build without CUDA has no CUDA to be available.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from ..core.errors import AppError, Cancelled
from ..core.machine import Python, TensorFlowBuild, TorchBuild
from ..core.versions import format_cudnn_version
from ..system.base import Processes

_TENSORFLOW_DIST_INFO = re.compile(r"tensorflow(_cpu|_intel|_gpu|_rocm)?-(?P<version>[^-]+)\.dist-info", re.IGNORECASE)
_TORCH_DIST_INFO = re.compile(r"torch-(?P<version>[^-]+)\.dist-info", re.IGNORECASE)
FRAMEWORK_TIMEOUT_S: Final = 4.0  # at least; importing PyTorch from a cold disk takes longer, then it is unknown
MAX_ERROR_CHARS: Final = 300

# The child's working folder must not be imported from.
_SCRIPT_PREFIX = """
import sys
sys.path[:] = [folder for folder in sys.path if folder]
def report():
    try:
        answer = query()
    except BaseException as error:
        answer = {"error": type(error).__name__ + ": " + str(error)}
    print("\\n" + ascii(answer))
"""
TORCH_SCRIPT = f"""{_SCRIPT_PREFIX}
def query():
    import torch
    number = torch.backends.cudnn.version() if torch.version.cuda else None
    available = bool(torch.cuda.is_available())
    archs = list(torch.cuda.get_arch_list()) if available else None
    return {{"cuda": torch.version.cuda, "available": available, "cudnn": number, "archs": archs}}
report()
"""
TENSORFLOW_SCRIPT = f"""{_SCRIPT_PREFIX}
def query():
    import tensorflow
    return {{"available": bool(tensorflow.config.list_physical_devices("GPU"))}}
report()
"""


def find_torch(folders: Iterable[Path]) -> TorchBuild | None:
    """The PyTorch that would be imported; whether a build with CUDA works shows only when it runs."""
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
    # None means: built without. ROCm uses torch.cuda as well.
    disabled_backends = set(re.findall(r"^(cuda|hip)(?:\s*:[^=\n]+)?\s*=\s*None\b", text, re.MULTILINE))
    return TorchBuild(
        version=version, cuda=fields.get("cuda"), cuda_available=False if disabled_backends == {"cuda", "hip"} else None
    )


def find_tensorflow(folders: Iterable[Path]) -> str | None:
    """The version of TensorFlow, which several packages provide."""
    for folder in folders:
        if (folder / "tensorflow").is_dir() and (version := _dist_info_version(folder, _TENSORFLOW_DIST_INFO)):
            return version
    return None


def find_tensorflow_build(folders: Iterable[Path]) -> TensorFlowBuild | None:
    """How TensorFlow was built, from the file that its build writes."""
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


def needs_framework_query(python: Python) -> bool:
    """Whether the files of its frameworks do not tell everything."""
    torch, tensorflow = python.torch, python.tensorflow_build
    torch_unknown = torch is not None and torch.cuda_available is None
    return torch_unknown or (tensorflow is not None and tensorflow.gpu_available is None)


def query_frameworks(
    system: Processes, python: Python, stop: threading.Event, *, timeout_s: float = FRAMEWORK_TIMEOUT_S
) -> Python:
    """The Python completed by its frameworks. Raises TimeoutError where one is late; a broken one has `error`.

    No bytecode is written into folders that are not ours, so that a PyTorch whose installer compiled none (uv's
    default) is compiled anew each time: 3.5 to 4.2 s instead of 1.2 to 1.5 s on a computer with 16 cores.
    """
    torch, tensorflow = python.torch, python.tensorflow_build
    if torch is not None and torch.cuda_available is None:
        answer = _run_framework_script(system, python, TORCH_SCRIPT, stop, timeout_s)
        available = answer.get("available")
        error = answer.get("error")
        torch = replace(
            torch,
            cuda=torch.cuda or _optional_text(answer.get("cuda")),
            cuda_available=available if isinstance(available, bool) else None,
            arch_list=_text_list(answer.get("archs")),
            cudnn=format_cudnn_version(answer.get("cudnn")),
            error=error[:MAX_ERROR_CHARS] if isinstance(error, str) else None,
        )
    if tensorflow is not None and tensorflow.gpu_available is None:
        available = _run_framework_script(system, python, TENSORFLOW_SCRIPT, stop, timeout_s).get("available")
        tensorflow = replace(tensorflow, gpu_available=available if isinstance(available, bool) else None)
    return replace(python, torch=torch, tensorflow_build=tensorflow)


def _run_framework_script(
    system: Processes, python: Python, script: str, stop: threading.Event, timeout_s: float
) -> dict[str, Any]:
    program = Path(python.path)
    environ = {"PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    try:
        completed = system.run(
            [program, "-c", script], timeout=timeout_s, environ=environ, cwd=program.parent, cancel=stop
        )
    except (AppError, Cancelled) as error:
        raise TimeoutError from error
    return parse_framework_answer(completed.stdout)


def parse_framework_answer(out: str) -> dict[str, Any]:
    """The child's last line; libraries may print before it."""
    lines = out.strip().splitlines()
    try:
        answer = ast.literal_eval(lines[-1]) if lines else {}
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _text_list(value: object) -> tuple[str, ...] | None:
    """A list of texts that is not empty; None for anything else."""
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        return None
    return tuple(value)


def _optional_text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
