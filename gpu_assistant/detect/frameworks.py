"""What a Python's PyTorch and TensorFlow say themselves, asked in a child process of that Python.

Asked only where their files cannot tell: a build without CUDA has no CUDA to be available.
"""

from __future__ import annotations

import ast
import threading
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from ..core.errors import AppError, Cancelled
from ..core.machine import Python
from ..system.base import System

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
