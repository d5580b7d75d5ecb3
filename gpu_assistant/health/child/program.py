"""Tests the devices of an environment's PyTorch, started as a program in the environment's own Python.

It needs nothing but the standard library and torch; modules of other children that it shares are loaded from their
folders. Its output is described in `__init__.py`.
"""

from __future__ import annotations

import os
import sys

# Read when torch is imported: GPUs in the driver's order, and matrix products that are reproducible (the user's own
# setting was removed).
os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"

import argparse
import faulthandler
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

# No bytecode of this Python in the program's own folder.
sys.dont_write_bytecode = True
if TYPE_CHECKING:
    from ...bench.child.cuda_driver import OWN_MEMORY_SHARE
    from ...verify import child as verify_child
    from ...verify.child_protocol import CheckWriter, exception_summary
    from ...verify.child_runtime import check_visual_cpp
    from .matrix_products import run_load, run_product_tests
    from .memory_patterns import run_memory_test
    from .stress_devices import StressDevice, list_stress_devices
else:  # started as a program, and isolated: its own folder is not on the path
    PACKAGE = Path(__file__).parents[2]
    sys.path[:0] = [str(PACKAGE / "verify"), str(PACKAGE / "health/child"), str(PACKAGE / "bench/child")]
    import child as verify_child
    from child_protocol import CheckWriter, exception_summary
    from child_runtime import check_visual_cpp
    from cuda_driver import OWN_MEMORY_SHARE
    from matrix_products import run_load, run_product_tests
    from memory_patterns import run_memory_test
    from stress_devices import StressDevice, list_stress_devices

    del sys.path[:3]


def main() -> int:
    """All checks of a level; exit status 3 for a device that does not exist."""
    faulthandler.enable()
    options = parse_arguments()
    writer = CheckWriter()
    if not check_visual_cpp(writer):
        writer.send(end=True)
        return 0
    writer.send(begin="torch-import")
    started = time.perf_counter()
    # All modules of ours are imported. Torch's bytecode goes into the environment: without it each start compiles it.
    sys.dont_write_bytecode = False
    try:
        import torch

        version = str(torch.__version__)
        devices = list_stress_devices(torch, options.cores, options.cpu_bytes)
    except Exception as error:  # noqa: BLE001 - a broken library may raise anything
        writer.report("torch-import", "fail", reason=exception_summary(error))
        writer.send(end=True)
        return 0
    if options.device is not None:
        available = [device.id for device in devices]
        devices = [device for device in devices if device.id == options.device]
        if not devices:
            writer.send(missing=options.device, have=available)
            return 3
    elif len(devices) > 1:
        devices = devices[1:]  # where there is a GPU, the CPU is not tested
    built_for_gpu = bool(
        torch.version.cuda or getattr(torch.version, "hip", None) or getattr(torch.version, "xpu", None)
    )
    descriptions = [device.describe() for device in devices]
    writer.send(start={"torch": version, "devices": descriptions, "for_cards": built_for_gpu})
    writer.report("torch-import", "pass", value=version, seconds=time.perf_counter() - started)
    run_checks(writer, torch, devices, options)
    writer.send(end=True)
    return 0


def parse_arguments() -> argparse.Namespace:
    """The parent's options, from the catalog's health rules."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--level", type=int, required=True)
    parser.add_argument("--device")
    parser.add_argument("--cores", type=int)
    parser.add_argument("--cpu-bytes", type=int, required=True)
    parser.add_argument("--memory-share", type=float, required=True)
    parser.add_argument("--product-seconds", type=float, required=True)
    parser.add_argument("--load-seconds", type=float, required=True)
    return parser.parse_args()


def run_checks(writer: CheckWriter, torch: Any, devices: list[StressDevice], options: argparse.Namespace) -> None:  # noqa: ANN401
    """Each check on each device; one that fails does not stop the others."""

    def run_guarded(check_id: str, device: StressDevice, action: Any) -> None:  # noqa: ANN401 - a function
        writer.send(begin=check_id, device=device.id)
        try:
            action()
        except (RuntimeError, AssertionError, AttributeError, MemoryError) as error:
            writer.report(check_id, "fail", device=device.id, reason=exception_summary(error))

    for device in devices:
        if device.id == "cpu":
            run_guarded("cpu-compute", device, partial(verify_child.check_cpu_compute, writer, torch))
        else:
            gpu = (writer, torch, torch.cuda, device.id)
            run_guarded("device-query", device, partial(verify_child.check_query, *gpu))
            run_guarded("device-compute", device, partial(verify_child.check_compute, *gpu))
    if options.level < 2:
        return
    for device in devices:
        if device.id != "cpu":
            copies = partial(verify_child.check_copies, writer, torch, torch.cuda, device.id)
            run_guarded("copy-bandwidth", device, copies)
        run_product_tests(writer, torch, device, options.product_seconds)
        test_memory = partial(run_memory_test, writer, torch, device, options.memory_share, OWN_MEMORY_SHARE)
        run_guarded("memory-test", device, test_memory)
    if options.level > 2:
        run_load(writer, torch, devices, options.load_seconds)


if __name__ == "__main__":
    status = main()
    # Some builds crash while they clean up; the parent goes by the last line.
    sys.stdout.flush()
    os._exit(status)
