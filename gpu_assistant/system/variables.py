"""Environment variables, by the same rules on every system: PATH, the proxy, which names and values are allowed, which
ones would falsify what is measured.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

# CUDA_LAUNCH_BLOCKING waits after every launch; NVIDIA_TF32_OVERRIDE, TORCH_ALLOW_TF32_CUBLAS_OVERRIDE,
# CUBLAS_EMULATE_* and *_DEFAULT_FPMATH_MODE change the precision of products; PYTORCH_NO_CUDA_MEMORY_CACHING asks the
# driver for every tensor; CUBLAS_WORKSPACE_CONFIG and CUDNN_DETERMINISTIC choose slower kernels;
# CUDA_DEVICE_MAX_CONNECTIONS limits the queues.
# https://docs.pytorch.org/docs/stable/cuda_environment_variables.html
# https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables
# https://docs.nvidia.com/cuda/cublas/#floating-point-emulation
# https://uxlfoundation.github.io/oneDNN/dev_guide_attributes_fpmath_mode.html
FALSIFYING_VARIABLES = (
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "NVIDIA_TF32_OVERRIDE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUBLASLT_WORKSPACE_SIZE",
    "CUBLAS_EMULATE_SINGLE_PRECISION",
    "CUBLAS_EMULATE_DOUBLE_PRECISION",
    "CUDNN_DETERMINISTIC",
    "ONEDNN_DEFAULT_FPMATH_MODE",
    "DNNL_DEFAULT_FPMATH_MODE",
)
PROXY_VARIABLES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy", "HTTP_PROXY")


def absolute_path_folders(environ: Mapping[str, str]) -> list[Path]:
    """The folders of PATH in order, without relative ones."""
    folders = (Path(entry) for entry in environ.get("PATH", "").split(os.pathsep) if entry)
    return [folder for folder in folders if folder.is_absolute()]


def find_on_path(file_names: Iterable[str], environ: Mapping[str, str]) -> Path | None:
    """The first program of one of these file names on PATH."""
    names = tuple(file_names)
    for folder in absolute_path_folders(environ):
        for name in names:
            path = folder / name
            if path.is_file() and os.access(path, os.X_OK):
                return path
    return None


def proxy_from_environment(environ: Mapping[str, str]) -> str | None:
    """The proxy that the environment names for https, without user name and password."""
    for name in PROXY_VARIABLES:
        if value := environ.get(name):
            return strip_credentials(value)
    return None


def strip_credentials(address: str) -> str:
    """An address without the user name and password in it."""
    if "@" not in address:
        return address
    if "://" not in address:
        return address.rpartition("@")[2]
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def falsifying_variables(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names of those that are set and would falsify what a program of ours measures or tests."""
    return tuple(name for name in FALSIFYING_VARIABLES if name in environ)


def check_variable_name(name: str) -> str:
    """A variable's name that every system accepts; raises ValueError."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"not a variable's name: {name!r}")
    return name


def check_variable_value(value: str) -> str:
    """A value of one line; raises ValueError."""
    if re.search(r"[\0\r\n]", value):
        raise ValueError("a variable's value is one line")
    return value
