"""Versions of PyTorch and TensorFlow, read from the files of a Python's packages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ..core.machine import TorchBuild

_TENSORFLOW = re.compile(r"tensorflow(_cpu|_intel|_gpu|_rocm)?-(?P<version>[^-]+)\.dist-info", re.IGNORECASE)
_TORCH = re.compile(r"torch-(?P<version>[^-]+)\.dist-info", re.IGNORECASE)


def torch(folders: Iterable[Path]) -> TorchBuild | None:
    """The first PyTorch that would be imported; whether CUDA is available only a run can tell."""
    for folder in folders:
        package = folder / "torch"
        if not package.is_dir():
            continue
        build = torch_version(_text(package / "version.py"))
        if build is not None:
            return build
        if version := _listed(folder, _TORCH):
            return TorchBuild(version=version)
    return None


def torch_version(text: str) -> TorchBuild | None:
    """From torch/version.py, which the build writes; older ones have no type annotations."""
    fields: dict[str, str] = dict(re.findall(r"^(\w+)(?:\s*:[^=\n]+)?\s*=\s*['\"]([^'\"]*)['\"]", text, re.MULTILINE))
    version = fields.get("__version__")
    return TorchBuild(version=version, cuda=fields.get("cuda")) if version else None


def tensorflow(folders: Iterable[Path]) -> str | None:
    """The version of TensorFlow; its own packages carry different names for the same import."""
    for folder in folders:
        if (folder / "tensorflow").is_dir() and (version := _listed(folder, _TENSORFLOW)):
            return version
    return None


def _listed(folder: Path, pattern: re.Pattern[str]) -> str | None:
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return None
    return next((match["version"] for name in names if (match := pattern.fullmatch(name))), None)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
