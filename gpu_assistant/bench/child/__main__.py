"""Entry point: clears the environment variables that change what is measured, imports this folder as a package under a
unique name, and runs it.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import List, MutableMapping

NAME = "gpu_assistant_bench"
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


def load() -> None:
    """Import the folder without putting its parent on sys.path, where the modules beside it would be found, too."""
    sys.dont_write_bytecode = True  # the folder is our program's, whose uninstaller does not know such files
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    init_file = os.path.join(folder, "__init__.py")  # noqa: PTH118
    spec = importlib.util.spec_from_file_location(NAME, init_file, submodule_search_locations=[folder])
    if spec is None or spec.loader is None:
        raise ImportError(folder)
    sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[NAME])


if __name__ == "__main__":
    # Read by the CUDA runtime: number GPUs as the driver does, by whose numbers they are logged.
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    load()
    cleared = clear_falsifying_variables(os.environ)
    sys.exit(importlib.import_module(NAME + ".program").main(cleared))
