"""CUDA Toolkits and cuDNN on disk, by the files that they bring."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from ..core.machine import CudaToolkit, Cudnn

_CUDNN_PARTS = ("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL")
_LIBRARY = re.compile(r"libcudnn\.so\.(\d+\.\d+\.\d+)")


def toolkits(folders: Iterable[Path], compiler: str) -> tuple[CudaToolkit, ...]:
    """The toolkits among these folders; one that has neither compiler nor version file nor header is none."""
    found = []
    for folder in folders:
        nvcc = (folder / "bin" / compiler).is_file()
        version = (
            version_json(_text(folder / "version.json"))
            or version_txt(_text(folder / "version.txt"))
            or version_header(_text(folder / "include" / "cuda.h"))
        )
        if nvcc or version is not None:
            found.append(CudaToolkit(version=version, path=str(folder), nvcc=nvcc))
    return tuple(found)


def version_json(text: str) -> str | None:
    """From version.json (CUDA 11.1 and newer)."""
    try:
        version: Any = msgspec.json.decode(text)["cuda"]["version"]
    except (msgspec.DecodeError, KeyError, TypeError):
        return None
    return version if isinstance(version, str) else None


def version_txt(text: str) -> str | None:
    """From version.txt (up to CUDA 11.0): "CUDA Version 10.2.89"."""
    match = re.search(r"CUDA Version (\d+(?:\.\d+)+)", text)
    return match[1] if match else None


def version_header(text: str) -> str | None:
    """From cuda.h, which knows major and minor only: 13000 is "13.0"."""
    match = re.search(r"#define\s+CUDA_VERSION\s+(\d+)", text)
    return f"{int(match[1]) // 1000}.{int(match[1]) % 1000 // 10}" if match else None


def cudnns(folders: Iterable[Path]) -> tuple[Cudnn, ...]:
    """cuDNN by its header; a library without header (a runtime package) counts where no header has its version."""
    by_header = []
    by_library = []
    for folder in folders:
        for name in ("cudnn_version.h", "cudnn.h"):
            version = cudnn_header(_text(folder / name))
            if version is not None:
                by_header.append(Cudnn(version=version, path=str(folder / name)))
                break
        by_library += [
            Cudnn(version=match[1], path=str(library))
            for library in sorted(folder.glob("libcudnn.so.*"))
            if (match := _LIBRARY.fullmatch(library.name))
        ]
    known = {cudnn.version for cudnn in by_header}
    return (*by_header, *(cudnn for cudnn in by_library if cudnn.version not in known))


def cudnn_header(text: str) -> str | None:
    """From the header's three numbers."""
    numbers = [re.search(rf"#define\s+{part}\s+(\d+)", text) for part in _CUDNN_PARTS]
    return ".".join(match[1] for match in numbers if match) if all(numbers) else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
