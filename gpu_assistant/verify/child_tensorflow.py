"""Verifies TensorFlow; runs in an environment's own Python and writes one JSON line for each check.

A program of its own beside `child.py`: PyTorch and TensorFlow in one process take each other's libraries and memory.
"""

from __future__ import annotations

import os
import sys

# Read at import: log errors only, and do not allocate all of the GPU's memory.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
# Keras, which comes with it, would leave ~/.keras/keras.json. Below a file it can make none, and goes on (its own
# backend/config.py).
os.environ["KERAS_HOME"] = os.path.join(__file__, "keras")  # noqa: PTH118 - pathlib is not imported yet

import argparse
import faulthandler
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

# No bytecode in our program's folder.
sys.dont_write_bytecode = True
if TYPE_CHECKING:
    from .child_libraries import check_libraries, driver_failure, import_failure, missing_tensorflow_libraries
    from .child_protocol import CheckWriter, exception_summary
else:  # started as a program, and isolated: nothing lies in its path yet
    sys.path.append(str(Path(__file__).parent))
    from child_libraries import check_libraries, driver_failure, import_failure, missing_tensorflow_libraries
    from child_protocol import CheckWriter, exception_summary

    sys.path.pop()

MATRIX_SIZE = 64
REASON_NO_DEVICE = "@verify.reason.tensorflow-no-device"


def matrix_product(tensorflow: Any, device: str) -> list[list[float]]:  # noqa: ANN401
    """A product of small whole numbers: every float format holds it exactly, so it must agree to the last bit."""
    left_rows = [[(row * MATRIX_SIZE + column) % 7 for column in range(MATRIX_SIZE)] for row in range(MATRIX_SIZE)]
    right_rows = [[(row * MATRIX_SIZE + column) % 5 for column in range(MATRIX_SIZE)] for row in range(MATRIX_SIZE)]
    with tensorflow.device(device):
        left, right = (tensorflow.constant(matrix_rows, tensorflow.float32) for matrix_rows in (left_rows, right_rows))
        result: list[list[float]] = tensorflow.linalg.matmul(left, right).numpy().tolist()
    return result


def expected_product() -> list[list[float]]:
    """The same product in plain Python."""
    columns = [[(inner * MATRIX_SIZE + column) % 5 for inner in range(MATRIX_SIZE)] for column in range(MATRIX_SIZE)]
    rows = [[(row * MATRIX_SIZE + inner) % 7 for inner in range(MATRIX_SIZE)] for row in range(MATRIX_SIZE)]
    return [[float(sum(a * b for a, b in zip(row, column, strict=True))) for column in columns] for row in rows]


def check_compute(writer: CheckWriter, tensorflow: Any) -> None:  # noqa: ANN401
    """Check a product against plain Python, and a gradient, on the CPU."""
    writer.send(begin="tensorflow-compute")
    started = time.perf_counter()
    is_correct = matrix_product(tensorflow, "/CPU:0") == expected_product()
    with tensorflow.GradientTape() as tape:
        x = tensorflow.Variable([1.0, 2.0, 3.0])
        y = tensorflow.reduce_sum(x * x)
    is_correct = is_correct and tape.gradient(y, x).numpy().tolist() == [2.0, 4.0, 6.0]
    if is_correct:
        writer.report("tensorflow-compute", "pass", seconds=time.perf_counter() - started)
    else:
        writer.report("tensorflow-compute", "fail", reason="@verify.reason.wrong-result")


def check_devices(writer: CheckWriter, tensorflow: Any, *, gpu_expected: bool) -> None:  # noqa: ANN401
    """Check that GPUs are found, and that each computes the same as the CPU."""
    writer.send(begin="tensorflow-devices")
    count = len(tensorflow.config.list_physical_devices("GPU"))
    if count == 0 and not gpu_expected:
        writer.report_skipped("tensorflow-devices", reason="@verify.reason.tensorflow-cpu")
    elif count == 0:
        report_no_device(writer, tensorflow)
    elif all(matrix_product(tensorflow, f"/GPU:{index}") == expected_product() for index in range(count)):
        writer.report("tensorflow-devices", "pass", value=count)
    else:
        writer.report("tensorflow-devices", "fail", value=count, reason="@verify.reason.wrong-result")


def report_no_device(writer: CheckWriter, tensorflow: Any) -> None:  # noqa: ANN401
    """Say why no card was found: the driver, a library that TensorFlow did not find, or nothing that is known."""
    built_for = tensorflow.sysconfig.get_build_info().get("cuda_version")
    data = driver_failure(built_for, no_device=REASON_NO_DEVICE)
    if not data:
        data = {"reason": REASON_NO_DEVICE}
        missing = missing_tensorflow_libraries()
        if missing:
            data |= {"case": "library-missing", "library": missing[0]}
    writer.report("tensorflow-devices", "fail", value=0, **data)


def main() -> None:
    """Run all checks; returns the exit status."""
    faulthandler.enable()
    parser = argparse.ArgumentParser()
    parser.add_argument("--version")
    parser.add_argument("--gpu", action="store_true")
    options = parser.parse_args()
    writer = CheckWriter()
    writer.send(begin="tensorflow-import")
    started = time.perf_counter()
    try:
        import tensorflow

        version = str(tensorflow.__version__)
    except Exception as error:  # noqa: BLE001 - a broken library raises whatever it likes
        writer.report("tensorflow-import", "fail", reason=exception_summary(error), **import_failure(error))
        writer.send(end=True)
        return
    # "2.20" is every release of that series.
    version_matches = options.version is None or f"{version}.".startswith(f"{options.version}.")
    state, seconds = "pass" if version_matches else "warn", time.perf_counter() - started
    writer.report("tensorflow-import", state, value=version, expected=options.version, seconds=seconds)
    try:
        check_compute(writer, tensorflow)
    except Exception as error:  # noqa: BLE001 - as above
        writer.report("tensorflow-compute", "fail", reason=exception_summary(error))
    try:
        check_devices(writer, tensorflow, gpu_expected=options.gpu)
    except Exception as error:  # noqa: BLE001 - as above
        writer.report("tensorflow-devices", "fail", reason=exception_summary(error))
    check_libraries(writer, only_faults=True)
    writer.send(end=True)


if __name__ == "__main__":
    main()
    # TensorFlow's clean-up may crash after the last line, by which the parent knows that the checks are complete.
    sys.stdout.flush()
    os._exit(0)
