"""Started as a program in the environment's own Python: runs a script with `show` and `device` among its globals.

The script is one that a person may read, copy and start alone; there it prints instead. Needs nothing but the standard
library and torch, and runs on Python 3.8.
"""

from __future__ import annotations

import argparse
import base64
import faulthandler
import json
import os
import runpy
import sys
from typing import Any, Dict, List, Optional

sys.dont_write_bytecode = True  # no bytecode of this Python in the program's own folder


# Words of errors of a full GPU, of CUDA and HIP, cuBLAS and cuDNN. Where they are from: bench/child/devices.py, which
# is no part of this program.
GPU_MEMORY_WORDS = (
    "cuda error: out of memory",
    "hip error: out of memory",
    "cudaerrormemoryallocation",
    "cuda_error_out_of_memory",
    "status_alloc_failed",
    "cublas_status_not_initialized when calling `cublascreate",
    "unable to find a valid cudnn algorithm",
    "unable to find an engine",
)


class ShownFigures:
    """The `show` of a script: each call is one JSON line on the original stdout; what is printed goes to stderr.

    A tensor of pictures, (count, 1 or 3, height, width) from 0 to 1, is sent as one base64 text of bytes for each.
    """

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        os.dup2(2, 1)

    def send(self, **message: Any) -> None:
        """Write one line."""
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()

    def __call__(self, pictures: Any = None, **figures: Any) -> None:
        if pictures is not None:
            _, channels, height, width = pictures.shape
            figures.update(channels=channels, height=height, width=width, pictures=_encode_pictures(pictures))
        self.send(shown=figures)


def _encode_pictures(pictures: Any) -> List[str]:
    pixels = (pictures.detach().float().clamp(0, 1) * 255).byte().permute(0, 2, 3, 1).cpu()
    return [base64.b64encode(bytes(picture.flatten().tolist())).decode("ascii") for picture in pixels]


def main() -> int:
    """Run the script; exit status 3 where torch does not load, 4 where the script fails."""
    faulthandler.enable()
    parser = argparse.ArgumentParser()
    parser.add_argument("script")
    parser.add_argument("--device")
    parser.add_argument("--cores", type=int)
    parser.add_argument("--settings", default="{}", help="JSON: more globals of the script")
    arguments = parser.parse_args()
    show = ShownFigures()
    sys.dont_write_bytecode = False  # torch's own belongs into the environment: the next start is faster
    try:
        import torch
    except BaseException as error:  # noqa: BLE001 - a broken library may raise anything
        show.send(broken=_summary(error))
        return 3
    sys.dont_write_bytecode = True
    if arguments.cores and torch.get_num_threads() > arguments.cores:
        torch.set_num_threads(arguments.cores)
    try:
        device = arguments.device or ("cuda:0" if torch.cuda.is_available() else "cpu")
        name = torch.cuda.get_device_name(device) if device != "cpu" else None
        show.send(start={"torch": str(torch.__version__), "device": device, "name": name})
        sys.argv = [arguments.script]
        settings: Dict[str, Any] = json.loads(arguments.settings)
        runpy.run_path(arguments.script, init_globals={**settings, "show": show, "device": device}, run_name="__main__")
    except ModuleNotFoundError as error:
        show.send(lacks=(error.name or "").partition(".")[0])
        return 4
    except Exception as error:  # noqa: BLE001 - torch documents no exception types
        show.send(error=_summary(error), memory=_exhausted_memory(torch, error))
        return 4
    show.send(end=True)
    return 0


def _summary(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return "%s: %s" % (type(error).__name__, lines[0] if lines else "")


def _exhausted_memory(torch: Any, error: BaseException) -> Optional[str]:
    """The memory that was too small: "gpu", or "computer", which a program on the GPU needs as well; None: neither."""
    kind: Optional[type] = getattr(torch, "OutOfMemoryError", getattr(torch.cuda, "OutOfMemoryError", None))
    text = str(error).lower()
    if (kind is not None and isinstance(error, kind)) or any(words in text for words in GPU_MEMORY_WORDS):
        return "gpu"
    is_cpu_failure = "can't allocate memory" in text or "not enough memory" in text
    return "computer" if isinstance(error, MemoryError) or is_cpu_failure else None


if __name__ == "__main__":
    # Read by the CUDA runtime: number GPUs as the driver does.
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    status = main()
    # Some builds crash while they clean up; the parent goes by the last line.
    sys.stdout.flush()
    os._exit(status)
