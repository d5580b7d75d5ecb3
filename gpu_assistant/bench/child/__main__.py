"""Entry point: imports this folder as a package under a unique name and runs it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

NAME = "gpu_assistant_bench"


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
    sys.exit(importlib.import_module(NAME + ".program").main())
