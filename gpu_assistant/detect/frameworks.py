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

LIMIT_S: Final = 4.0  # importing PyTorch from a cold disk takes longer; then it is unknown
LONGEST_ERROR: Final = 300

# The folder that the child is started in is nobody's package.
_START = """
import sys
sys.path[:] = [folder for folder in sys.path if folder]
def tell():
    try:
        told = ask()
    except BaseException as error:
        told = {"error": type(error).__name__ + ": " + str(error)}
    print("\\n" + ascii(told))
"""
TORCH = f"""{_START}
def ask():
    import torch
    number = torch.backends.cudnn.version() if torch.version.cuda else None
    return {{"cuda": torch.version.cuda, "available": bool(torch.cuda.is_available()), "cudnn": number}}
tell()
"""
TENSORFLOW = f"""{_START}
def ask():
    import tensorflow
    return {{"available": bool(tensorflow.config.list_physical_devices("GPU"))}}
tell()
"""


def asked(system: System, python: Python, stop: threading.Event) -> Python:
    """The Python with what its frameworks say. Raises TimeoutError where one is late; a broken one tells why."""
    torch, tensorflow = python.torch, python.tensorflow_build
    if torch is not None and torch.cuda_available is None:
        told = _ask(system, python, TORCH, stop)
        available = told.get("available")
        error = told.get("error")
        torch = replace(
            torch,
            cuda=torch.cuda or _text(told.get("cuda")),
            cuda_available=available if isinstance(available, bool) else None,
            cudnn=cudnn_version(told.get("cudnn")),
            error=error[:LONGEST_ERROR] if isinstance(error, str) else None,
        )
    if tensorflow is not None and tensorflow.gpu_available is None:
        available = _ask(system, python, TENSORFLOW, stop).get("available")
        tensorflow = replace(tensorflow, gpu_available=available if isinstance(available, bool) else None)
    return replace(python, torch=torch, tensorflow_build=tensorflow)


def unsettled(python: Python) -> bool:
    """Whether its files leave a question open."""
    torch, tensorflow = python.torch, python.tensorflow_build
    open_torch = torch is not None and torch.cuda_available is None
    return open_torch or (tensorflow is not None and tensorflow.gpu_available is None)


def _ask(system: System, python: Python, question: str, stop: threading.Event) -> dict[str, Any]:
    program = Path(python.path)
    quiet = {"PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    try:
        finished = system.run(
            [program, "-c", question], timeout=LIMIT_S, environ=quiet, cwd=program.parent, cancel=stop
        )
    except (AppError, Cancelled) as error:
        raise TimeoutError from error
    return parse(finished.out)


def parse(out: str) -> dict[str, Any]:
    """The child's last line; whatever libraries print before it is theirs."""
    lines = out.strip().splitlines()
    try:
        told = ast.literal_eval(lines[-1]) if lines else {}
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return {}
    return told if isinstance(told, dict) else {}


def cudnn_version(number: object) -> str | None:
    """cuDNN's own number: 91002 is 9.10.2 (from 9 on), 8907 is 8.9.7."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 1000:
        return None
    major, rest = divmod(number, 10_000) if number >= 90_000 else divmod(number, 1000)
    return f"{major}.{rest // 100}.{rest % 100}"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
