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
    from ..verify.child_runtime import visual_cpp
    from ..verify.child_talk import Talk, why
    from .child_device import Device, devices_of
    from .child_memory import patterns
    from .child_product import load, products_in_turn
else:  # started as a program, and isolated: nothing lies in its path yet
    sys.path[:0] = [str(Path(__file__).parents[1] / "verify"), str(Path(__file__).parent)]
    # By its place: this very file has the same name.
    import importlib.util

    spec = importlib.util.spec_from_file_location("proof", Path(__file__).parents[1] / "verify" / "child.py")
    proof = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(proof)
    from child_device import devices_of
    from child_memory import patterns
    from child_product import load, products_in_turn
    from child_runtime import visual_cpp
    from child_talk import Talk, why

    del sys.path[:2]


def main() -> int:
    """All checks of a level; exit status 3 for a device that is not there."""
    faulthandler.enable()
    given = arguments()
    talk = Talk()
    if not visual_cpp(talk):
        talk.send(end=True)
        return 0
    talk.send(begin="torch-import")
    started = time.perf_counter()
    # All of ours is loaded. What torch keeps lies in the environment: without it, each start would compile it anew.
    sys.dont_write_bytecode = False
    try:
        import torch

        version = str(torch.__version__)
        devices = devices_of(torch, given.cores, given.cpu_bytes)
    except Exception as error:  # noqa: BLE001 - a broken library raises whatever it likes
        talk.check("torch-import", "fail", reason=why(error))
        talk.send(end=True)
        return 0
    if given.device is not None:
        have = [device.id for device in devices]
        devices = [device for device in devices if device.id == given.device]
        if not devices:
            talk.send(missing=given.device, have=have)
            return 3
    elif len(devices) > 1:
        devices = devices[1:]  # where there is a card, it is the card that is asked about
    built = bool(torch.version.cuda or getattr(torch.version, "hip", None) or getattr(torch.version, "xpu", None))
    about = [device.about() for device in devices]
    talk.send(start={"torch": version, "devices": about, "for_cards": built})
    talk.check("torch-import", "pass", value=version, seconds=time.perf_counter() - started)
    run(talk, torch, devices, given)
    talk.send(end=True)
    return 0


def arguments() -> argparse.Namespace:
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


def run(talk: Talk, torch: Any, devices: list[Device], given: argparse.Namespace) -> None:  # noqa: ANN401
    """Each check on each device; what fails there stops none of the others."""

    def guarded(check_id: str, device: Device, work: Any) -> None:  # noqa: ANN401 - a function
        talk.send(begin=check_id, device=device.id)
        try:
            work()
        except (RuntimeError, AssertionError, AttributeError, MemoryError) as error:
            talk.check(check_id, "fail", device=device.id, reason=why(error))

    for device in devices:
        if device.id == "cpu":
            guarded("cpu-compute", device, lambda: proof.cpu_compute(talk, torch))
        else:
            guarded("device-query", device, lambda at=device: proof.query(talk, torch, torch.cuda, at.id))
            guarded("device-compute", device, lambda at=device: proof.compute(talk, torch, torch.cuda, at.id))
    if given.level < 2:
        return
    for device in devices:
        if device.id != "cpu":
            guarded("copy-bandwidth", device, lambda at=device: proof.copy(talk, torch, torch.cuda, at.id))
        products_in_turn(talk, torch, device, given.product_seconds)
        guarded("memory-test", device, lambda at=device: patterns(talk, torch, at, given.memory_share))
    if given.level > 2:
        load(talk, torch, devices, given.load_seconds)


if __name__ == "__main__":
    status = main()
    # Some builds' own clean-up crashes after all is said; the parent judges by the last line.
    sys.stdout.flush()
    os._exit(status)
