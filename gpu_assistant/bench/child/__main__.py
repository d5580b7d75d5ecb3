"""The start: makes the folder a package of a name of its own, whatever lies beside it, and runs it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

NAME = "gpu_assistant_bench"


def load() -> None:
    """Import the folder without a place on the module path, where its neighbours would be found too."""
    sys.dont_write_bytecode = True  # the folder is the program's own: nobody would take such files away again
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    init_file = os.path.join(folder, "__init__.py")  # noqa: PTH118
    spec = importlib.util.spec_from_file_location(NAME, init_file, submodule_search_locations=[folder])
    if spec is None or spec.loader is None:
        raise ImportError(folder)
    sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[NAME])


if __name__ == "__main__":
    # Read when torch is loaded: cards in the driver's own order, by whose numbers they are watched meanwhile.
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    load()
    sys.exit(importlib.import_module(NAME + ".program").main())
