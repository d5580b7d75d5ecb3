"""Loads each library of NVIDIA's in an environment, after the framework that uses it: `load_libraries.py MODULE`.

Run by the environment's own Python; exit status 1 names those that do not load.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from importlib import metadata
from pathlib import Path

# They take what a data centre has: InfiniBand's, MPI's and AWS' libraries.
OPTIONAL = ("nvshmem_bootstrap", "nvshmem_transport", "libcufile_rdma")


def main() -> int:
    """See the module."""
    importlib.import_module(sys.argv[1])
    loaded, failed = 0, []
    for distribution in metadata.distributions():
        if not str(distribution.metadata["Name"]).startswith("nvidia"):
            continue
        for file in distribution.files or ():
            path = Path(str(distribution.locate_file(file)))
            is_library = ".so" in path.suffixes and path.name.startswith("lib") and "stubs" not in path.parts
            if not is_library or any(word in path.name for word in OPTIONAL):
                continue
            try:
                ctypes.CDLL(str(path))
                loaded += 1
            except OSError as error:
                if "libcuda.so.1" not in str(error):  # the driver's own, which is not there
                    failed.append(str(error))
    sys.stdout.write("".join(f"{line}\n" for line in failed))
    sys.stdout.write(f"{sys.argv[1]}: {loaded} libraries of NVIDIA's found and loaded\n")
    return 1 if failed or not loaded else 0


if __name__ == "__main__":
    sys.exit(main())
