"""Runs in an environment's own Python and proves its TensorFlow, one JSON line for each thing it finds.

A program of its own beside `child.py`: PyTorch and TensorFlow in one process take each other's libraries and memory.
"""

from __future__ import annotations

import os
import sys

# Read when it is loaded: only errors are said, and the card's memory is left to others.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")

import argparse
import faulthandler
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

# The program's own folder is none of this Python's to write in.
sys.dont_write_bytecode = True
if TYPE_CHECKING:
    from .child_talk import Talk, why
else:  # started as a program, and isolated: nothing lies in its path yet
    sys.path.append(str(Path(__file__).parent))
    from child_talk import Talk, why

    sys.path.pop()

SIDE = 64


def product(tensorflow: Any, device: str) -> list[list[float]]:  # noqa: ANN401
    """A product of small whole numbers: every float format holds it exactly, so it must agree to the last bit."""
    numbers = [[(row * SIDE + column) % 7 for column in range(SIDE)] for row in range(SIDE)]
    others = [[(row * SIDE + column) % 5 for column in range(SIDE)] for row in range(SIDE)]
    with tensorflow.device(device):
        left, right = (tensorflow.constant(each, tensorflow.float32) for each in (numbers, others))
        found: list[list[float]] = tensorflow.linalg.matmul(left, right).numpy().tolist()
    return found


def expected_product() -> list[list[float]]:
    """The same in plain Python."""
    columns = [[(inner * SIDE + column) % 5 for inner in range(SIDE)] for column in range(SIDE)]
    rows = [[(row * SIDE + inner) % 7 for inner in range(SIDE)] for row in range(SIDE)]
    return [[float(sum(a * b for a, b in zip(row, column, strict=True))) for column in columns] for row in rows]


def compute(talk: Talk, tensorflow: Any) -> None:  # noqa: ANN401
    """A product against plain Python, and a gradient, on the processor."""
    talk.send(begin="tensorflow-compute")
    started = time.perf_counter()
    right = product(tensorflow, "/CPU:0") == expected_product()
    with tensorflow.GradientTape() as tape:
        x = tensorflow.Variable([1.0, 2.0, 3.0])
        y = tensorflow.reduce_sum(x * x)
    right = right and tape.gradient(y, x).numpy().tolist() == [2.0, 4.0, 6.0]
    if right:
        talk.check("tensorflow-compute", "pass", seconds=time.perf_counter() - started)
    else:
        talk.check("tensorflow-compute", "fail", reason="@verify.reason.wrong-result")


def devices(talk: Talk, tensorflow: Any, *, wanted: bool) -> None:  # noqa: ANN401
    """The cards that it sees; each one computes what the processor does."""
    talk.send(begin="tensorflow-devices")
    count = len(tensorflow.config.list_physical_devices("GPU"))
    if count == 0 and not wanted:
        talk.skip("tensorflow-devices", reason="@verify.reason.tensorflow-cpu")
    elif count == 0:
        talk.check("tensorflow-devices", "fail", value=0, reason="@verify.reason.tensorflow-no-device")
    elif all(product(tensorflow, f"/GPU:{index}") == expected_product() for index in range(count)):
        talk.check("tensorflow-devices", "pass", value=count)
    else:
        talk.check("tensorflow-devices", "fail", value=count, reason="@verify.reason.wrong-result")


def main() -> None:
    """All checks in order."""
    faulthandler.enable()
    parser = argparse.ArgumentParser()
    parser.add_argument("--version")
    parser.add_argument("--gpu", action="store_true")
    given = parser.parse_args()
    talk = Talk()
    talk.send(begin="tensorflow-import")
    started = time.perf_counter()
    try:
        import tensorflow

        version = str(tensorflow.__version__)
    except Exception as error:  # noqa: BLE001 - a broken library raises whatever it likes
        talk.check("tensorflow-import", "fail", reason=why(error))
        talk.send(end=True)
        return
    # "2.20" is every release of that series.
    fits = given.version is None or f"{version}.".startswith(f"{given.version}.")
    state, seconds = "pass" if fits else "warn", time.perf_counter() - started
    talk.check("tensorflow-import", state, value=version, expected=given.version, seconds=seconds)
    try:
        compute(talk, tensorflow)
    except Exception as error:  # noqa: BLE001 - as above
        talk.check("tensorflow-compute", "fail", reason=why(error))
    try:
        devices(talk, tensorflow, wanted=given.gpu)
    except Exception as error:  # noqa: BLE001 - as above
        talk.check("tensorflow-devices", "fail", reason=why(error))
    talk.send(end=True)


if __name__ == "__main__":
    main()
    # Its own clean-up may crash after all is said; the parent judges by the last line.
    sys.stdout.flush()
    os._exit(0)
