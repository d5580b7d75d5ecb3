"""Versions of PyTorch and TensorFlow, read from the files of a Python's packages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ..core.machine import TensorFlowBuild, TorchBuild

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
