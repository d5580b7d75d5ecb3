"""Runs in an environment's own Python and tests its devices, one JSON line for each thing it finds.

Started as a program; it needs nothing but the standard library and torch. First a `{"start": …}` with the devices.
Before each check it says `{"begin": id, "device": …}`, meanwhile `{"at": …}` how far it is and `{"load": …}` each
second of the long load; the last line is `{"end": true}`.
"""

from __future__ import annotations

import os
import sys

# Read when torch is loaded: cards in the driver's own order, and products that come out the same each time.
os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import argparse
import faulthandler
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

# The program's own folder is none of this Python's to write in.
sys.dont_write_bytecode = True
if TYPE_CHECKING:
    from ..verify import child as proof
    from ..verify.child_protocol import CheckWriter, exception_summary
    from ..verify.child_runtime import check_visual_cpp
    from .child_device import StressDevice, list_stress_devices
    from .child_memory import run_memory_test
    from .child_product import run_load, run_product_tests
else:  # started as a program, and isolated: nothing lies in its path yet
    sys.path[:0] = [str(Path(__file__).parents[1] / "verify"), str(Path(__file__).parent)]
    # By its place: this very file has the same name.
    import importlib.util

    spec = importlib.util.spec_from_file_location("proof", Path(__file__).parents[1] / "verify" / "child.py")
    proof = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(proof)
    from child_device import StressDevice, list_stress_devices
    from child_memory import run_memory_test
    from child_product import run_load, run_product_tests
    from child_protocol import CheckWriter, exception_summary
    from child_runtime import check_visual_cpp

    del sys.path[:2]


def main() -> int:
    """All checks of a level; exit status 3 for a device that is not there."""
    faulthandler.enable()
    options = parse_arguments()
    writer = CheckWriter()
    if not check_visual_cpp(writer):
        writer.send(end=True)
        return 0
    writer.send(begin="torch-import")
    started = time.perf_counter()
    # All of ours is loaded. What torch keeps lies in the environment: without it, each start would compile it anew.
    sys.dont_write_bytecode = False
    try:
        import torch

        version = str(torch.__version__)
        devices = list_stress_devices(torch, options.cores, options.cpu_bytes)
    except Exception as error:  # noqa: BLE001 - a broken library raises whatever it likes
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
        devices = devices[1:]  # where there is a card, it is the card that is asked about
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
    """What the parent decided, from the rules' data."""
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
    """Each check on each device; what fails there stops none of the others."""

    def run_guarded(check_id: str, device: StressDevice, action: Any) -> None:  # noqa: ANN401 - a function
        writer.send(begin=check_id, device=device.id)
        try:
            action()
        except (RuntimeError, AssertionError, AttributeError, MemoryError) as error:
            writer.report(check_id, "fail", device=device.id, reason=exception_summary(error))

    for device in devices:
        if device.id == "cpu":
            run_guarded("cpu-compute", device, lambda: proof.check_cpu_compute(writer, torch))
        else:
            run_guarded("device-query", device, lambda at=device: proof.check_query(writer, torch, torch.cuda, at.id))
            run_guarded(
                "device-compute", device, lambda at=device: proof.check_compute(writer, torch, torch.cuda, at.id)
            )
    if options.level < 2:
        return
    for device in devices:
        if device.id != "cpu":
            run_guarded(
                "copy-bandwidth", device, lambda at=device: proof.check_copies(writer, torch, torch.cuda, at.id)
            )
        run_product_tests(writer, torch, device, options.product_seconds)
        run_guarded("memory-test", device, lambda at=device: run_memory_test(writer, torch, at, options.memory_share))
    if options.level > 2:
        run_load(writer, torch, devices, options.load_seconds)


if __name__ == "__main__":
    status = main()
    # Some builds' own clean-up crashes after all is said; the parent judges by the last line.
    sys.stdout.flush()
    os._exit(status)
