"""CUDA Toolkits and cuDNN by their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_assistant.catalog.records.cuda import parse_cudnn_header, parse_version_json
from gpu_assistant.core.machine import CudaToolkit, Cudnn
from gpu_assistant.detect import cuda


def toolkit(folder: Path, *, compiler: bool = False, **files: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "include").mkdir()
    if compiler:
        (folder / "bin/nvcc").touch()
    for name, text in files.items():
        (folder / name.replace("__", "/").replace("_dot_", ".")).write_text(text, encoding="utf-8")
    return folder


def test_toolkits(tmp_path: Path) -> None:
    new = toolkit(
        tmp_path / "cuda-12.6", compiler=True, version_dot_json='{"cuda": {"name": "x", "version": "12.6.3"}}'
    )
    old = toolkit(tmp_path / "cuda-10.2", version_dot_txt="CUDA Version 10.2.89\n")
    bare = toolkit(tmp_path / "cuda-13.0", compiler=True, include__cuda_dot_h="#define CUDA_VERSION 13000\n")
    broken = toolkit(tmp_path / "cuda-x", compiler=True, version_dot_json='{"cuda": []}')
    empty = toolkit(tmp_path / "cuda-11.8")
    assert cuda.scan_toolkits([new, old, bare, broken, empty], "nvcc") == (
        CudaToolkit(version="12.6.3", path=str(new), nvcc=True),
        CudaToolkit(version="10.2.89", path=str(old), nvcc=False),
        CudaToolkit(version="13.0", path=str(bare), nvcc=True),
        CudaToolkit(version=None, path=str(broken), nvcc=True),
    )


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cuda": 1}', '{"cuda": {"version": 12}}', "\x00"])
def test_a_broken_version_file_is_unknown(text: str) -> None:
    assert parse_version_json(text) is None


HEADER = "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 6\n#define CUDNN_PATCHLEVEL 0\n"


def test_cudnn(tmp_path: Path) -> None:
    include, libraries = tmp_path / "include", tmp_path / "lib"
    include.mkdir()
    libraries.mkdir()
    (include / "cudnn_version.h").write_text(HEADER, encoding="utf-8")
    (include / "cudnn.h").write_text('#include "cudnn_version.h"', encoding="utf-8")
    for name in ("libcudnn.so", "libcudnn.so.9", "libcudnn.so.9.6.0", "libcudnn.so.8.9.7", "libcudnn_ops.so.9.6.0"):
        (libraries / name).touch()
    assert cuda.find_cudnn([include, libraries]) == (
        Cudnn(version="9.6.0", path=str(include / "cudnn_version.h")),
        Cudnn(version="8.9.7", path=str(libraries / "libcudnn.so.8.9.7")),
    )
    assert cuda.find_cudnn([tmp_path]) == ()


def test_incomplete_cudnn_header_is_unknown() -> None:
    assert parse_cudnn_header(HEADER.replace("CUDNN_MINOR", "OTHER")) is None
