"""CUDA Toolkits and cuDNN on disk, by the files that they bring."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from ..catalog.records.software import parse_version_json
from ..core.errors import AppError
from ..core.machine import CudaToolkit, Cudnn
from ..system.base import System
from ..system.processes import gather_with_timeout
from .partial_result import wrap_partial

NVCC_TIMEOUT_S: Final = 2.0  # for one compiler
TOTAL_TIMEOUT_S: Final = 3.0

_CUDNN_MACROS = ("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")
_CUDNN_LIBRARY_NAMES = (re.compile(r"libcudnn\.so\.(\d+\.\d+\.\d+)"), re.compile(r"cudnn64_(\d+)\.dll", re.IGNORECASE))


def find_toolkits(system: System, stop: threading.Event) -> Any:  # noqa: ANN401 - toolkits, or some that are not all told
    """Every toolkit; where its files say nothing of its version, its compiler is asked."""
    toolkits_on_disk = scan_toolkits(system.cuda_folders(), system.executable("nvcc"))
    without_version = [each for each in toolkits_on_disk if each.version is None and each.nvcc]
    calls = {each.path: partial(_query_compiler, system, Path(each.path), stop) for each in without_version}
    versions = gather_with_timeout(calls, TOTAL_TIMEOUT_S, max_workers=4) if calls else {}
    timed_out = [path for path in calls if path not in versions]
    return wrap_partial(
        tuple(replace(each, version=each.version or versions.get(each.path)) for each in toolkits_on_disk), timed_out
    )


def _query_compiler(system: System, folder: Path, stop: threading.Event) -> str | None:
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
    """From "Cuda compilation tools, release 12.6, V12.6.85"; the longer number is the compiler's own."""
    match = re.search(r"release (\d+\.\d+)", text)
    return match[1] if match else None


def scan_toolkits(folders: Iterable[Path], compiler: str) -> tuple[CudaToolkit, ...]:
    """The toolkits among these folders; one that has neither compiler nor version file nor header is none."""
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


def parse_cuda_header(text: str) -> str | None:
    """From cuda.h, which knows major and minor only: 13000 is "13.0"."""
    match = re.search(r"#define\s+CUDA_VERSION\s+(\d+)", text)
    return f"{int(match[1]) // 1000}.{int(match[1]) % 1000 // 10}" if match else None


def find_cudnn(folders: Iterable[Path]) -> tuple[Cudnn, ...]:
    """cuDNN by its header; a library without header (a runtime package) counts where no header has its version."""
    by_header = []
    by_library = []
    for folder in folders:
        for name in ("cudnn_version.h", "cudnn.h"):
            version = parse_cudnn_header(_read_text(folder / name))
            if version is not None:
                by_header.append(Cudnn(version=version, path=str(folder / name)))
                break
        by_library += [
            Cudnn(version=match[1], path=str(library))
            for library in sorted([*folder.glob("libcudnn.so.*"), *folder.glob("cudnn64_*.dll")])
            if (
                match := next(
                    (library_match for each in _CUDNN_LIBRARY_NAMES if (library_match := each.fullmatch(library.name))),
                    None,
                )
            )
        ]
    # A library of Windows names its major number only.
    header_versions = {cudnn.version for cudnn in by_header} | {
        (cudnn.version or "").split(".")[0] for cudnn in by_header
    }
    return (*by_header, *(cudnn for cudnn in by_library if cudnn.version not in header_versions))


def parse_cudnn_header(text: str) -> str | None:
    """From the header's three numbers."""
    numbers = [re.search(rf"#define\s+{part}\s+(\d+)", text) for part in _CUDNN_MACROS]
    return ".".join(match[1] for match in numbers if match) if all(numbers) else None


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
