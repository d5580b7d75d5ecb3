"""Environment variables that change what is measured: they are cleared before torch is loaded, and reported."""

from __future__ import annotations

from typing import List, MutableMapping

# CUDA_LAUNCH_BLOCKING waits after every launch, NVIDIA_TF32_OVERRIDE and TORCH_ALLOW_TF32_CUBLAS_OVERRIDE change the
# precision of float32, PYTORCH_NO_CUDA_MEMORY_CACHING asks the driver for every tensor, CUBLAS_WORKSPACE_CONFIG and
# CUDNN_DETERMINISTIC choose slower kernels, CUDA_DEVICE_MAX_CONNECTIONS limits the queues.
# https://docs.pytorch.org/docs/stable/cuda_environment_variables.html
# https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables
FALSIFYING_VARIABLES = (
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "NVIDIA_TF32_OVERRIDE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUBLASLT_WORKSPACE_SIZE",
    "CUDNN_DETERMINISTIC",
)


def clear_falsifying_variables(environment: MutableMapping[str, str]) -> List[str]:
    """Remove them from `environment`; returns the names of those that were set."""
    return [name for name in FALSIFYING_VARIABLES if environment.pop(name, None) is not None]
