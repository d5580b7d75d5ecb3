"""CUDA Toolkits and cuDNN on the disk, by their files."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from ..catalog.records.cuda import parse_cuda_header, parse_cudnn_header, parse_version_json
from ..core.errors import AppError
from ..core.machine import CudaToolkit, Cudnn
from ..system.base import Processes
from ..system.processes import gather_with_timeout
from .partial_result import wrap_partial

NVCC_TIMEOUT_S: Final = 2.0  # for one compiler
TOTAL_TIMEOUT_S: Final = 3.0

_CUDNN_LIBRARY = re.compile(r"libcudnn\.so\.(\d+\.\d+\.\d+)|(?i:cudnn64_(\d+)\.dll)")


def find_toolkits(system: Processes, stop: threading.Event) -> Any:  # noqa: ANN401 - CudaToolkits, or a part of them
    """Every toolkit; where its files do not tell its version, its compiler does."""
    toolkits = scan_toolkits(system.cuda_folders(), system.executable("nvcc"))
    without_version = [toolkit.path for toolkit in toolkits if toolkit.version is None and toolkit.nvcc]
    calls = {path: partial(_query_compiler, system, Path(path), stop) for path in without_version}
    versions = gather_with_timeout(calls, TOTAL_TIMEOUT_S, max_workers=4) if calls else {}
    timed_out = [path for path in calls if path not in versions]
    return wrap_partial(
        tuple(replace(toolkit, version=toolkit.version or versions.get(toolkit.path)) for toolkit in toolkits),
        timed_out,
    )


def _query_compiler(system: Processes, folder: Path, stop: threading.Event) -> str | None:
    try:
        completed = system.run(
            [folder / "bin" / system.executable("nvcc"), "--version"], timeout=NVCC_TIMEOUT_S, cancel=stop
        )
    except AppError as error:
        if error.code == "program-timeout":
            raise TimeoutError from error
        return None
    return parse_nvcc_version(completed.stdout) if completed.returncode == 0 else None


def parse_nvcc_version(text: str) -> str | None:
    """From "Cuda compilation tools, release 12.6, V12.6.85"; the longer version is the compiler's own."""
    match = re.search(r"release (\d+\.\d+)", text)
    return match[1] if match else None


def scan_toolkits(folders: Iterable[Path], compiler: str) -> tuple[CudaToolkit, ...]:
    """The folders that are toolkits: that have a compiler, a version file or a header."""
    toolkits = []
    for folder in folders:
        nvcc = (folder / "bin" / compiler).is_file()
        version = (
            parse_version_json(_read_text(folder / "version.json"))
            or parse_version_txt(_read_text(folder / "version.txt"))
            or parse_cuda_header(_read_text(folder / "include" / "cuda.h"))
        )
        if nvcc or version is not None:
            toolkits.append(CudaToolkit(version=version, path=str(folder), nvcc=nvcc))
    return tuple(toolkits)


def parse_version_txt(text: str) -> str | None:
    """From version.txt (up to CUDA 11.0): "CUDA Version 10.2.89"."""
    match = re.search(r"CUDA Version (\d+(?:\.\d+)+)", text)
    return match[1] if match else None


def find_cudnn(folders: Iterable[Path]) -> tuple[Cudnn, ...]:
    """cuDNN by its header; a library without a header (a runtime package) where no header has its version."""
    by_header = []
    by_library = []
    for folder in folders:
        for name in ("cudnn_version.h", "cudnn.h"):
            version = parse_cudnn_header(_read_text(folder / name))
            if version is not None:
                by_header.append(Cudnn(version=version, path=str(folder / name)))
                break
        by_library += [
            Cudnn(version=match[1] or match[2], path=str(library))
            for library in sorted([*folder.glob("libcudnn.so.*"), *folder.glob("cudnn64_*.dll")])
            if (match := _CUDNN_LIBRARY.fullmatch(library.name)) is not None
        ]
    # A library on Windows has only the major version in its name.
    header_versions = {cudnn.version for cudnn in by_header} | {
        (cudnn.version or "").split(".")[0] for cudnn in by_header
    }
    return (*by_header, *(cudnn for cudnn in by_library if cudnn.version not in header_versions))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
