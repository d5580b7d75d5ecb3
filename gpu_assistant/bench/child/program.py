"""The program: all measurements, one after the other, as JSON lines.

First a `{"start": …}` with the devices and how many measurements come, then `{"begin": …}` and `{"result": …}` or
`{"left": code}` for each, last `{"end": true}`. A torch that does not load is `{"broken": …}`, a wanted device that
is not there `{"missing": …}`.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import math
import platform
import sys
import time
from typing import Any, Dict, List, Optional

from .devices import Device, devices_of
from .talk import Talk
from .workload import LeftOut, Workload

STARTED = time.perf_counter()  # loading torch counts too: who waits does not care what for
SHARE = 0.4  # of the speed of products, what a processor makes of a whole model at the least


def main() -> int:
    """Exit status 3 for a device that is not there, 4 for a torch that does not load."""
    faulthandler.enable()
    given = _arguments()
    if given.together is not None:
        from .parallel import launch

        return launch(given.together, given.device or "cuda:0", given.processes, given.cores)
    talk = Talk()
    try:
        sys.dont_write_bytecode = False  # what torch keeps lies in the environment, and makes the next start quicker
        try:
            import torch
        finally:
            sys.dont_write_bytecode = True
        devices = devices_of(torch, given.cores)
        about = [device.about() for device in devices]
    except Exception as error:  # noqa: BLE001 - a broken library raises whatever it likes
        lines = str(error).strip().splitlines()
        talk.send(broken="%s: %s" % (type(error).__name__, lines[0] if lines else ""))
        return 4
    if given.device is not None:
        devices = [device for device in devices if device.id == given.device]
        if not devices:
            talk.send(missing=given.device, have=[one["id"] for one in about])
            return 3
    if given.fit is not None:
        from .fit import answer

        answer(talk, devices[-1], given.fit, given.batch)
        return 0
    if given.take_part is not None:
        from .parallel import take_part

        take_part(talk, devices[0].kind, given.cores, given.take_part)
        return 0
    measure_all(talk, torch, devices, about, given)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--device")
    parser.add_argument("--cores", type=int)
    parser.add_argument("--only", action="append", help="a workload or a family of them; may be given again")
    parser.add_argument("--fit", help="what a training step of this model needs of the device's memory")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--together", help="a model that several processes train, started by torchrun")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--take-part", help="we are one of those processes")
    return parser.parse_args()


def versions(torch: Any) -> Dict[str, str]:
    """What the figures depend on beside the devices."""
    found = {"python": platform.python_version(), "torch": str(torch.__version__)}
    if torch.version.cuda:
        found["cuda"] = str(torch.version.cuda)
    if torch.version.hip:
        found["hip"] = str(torch.version.hip)
    cudnn = torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None
    if cudnn:
        found["cudnn"] = str(cudnn)
    return found


def measure_all(
    talk: Talk, torch: Any, devices: List[Device], about: List[Dict[str, Any]], given: argparse.Namespace
) -> None:
    """Every device, one after the other."""
    from . import schedule

    work = {device.id: schedule.of_device(device, full=given.full, only=given.only) for device in devices}
    of = sum(len(each) for each in work.values())
    talk.send(start={"torch": str(torch.__version__), "versions": versions(torch), "devices": about, "of": of})
    limit_s = schedule.FULL_DEVICE_S if given.full else schedule.QUICK_DEVICE_S
    number = 0
    for place, device in enumerate(devices):
        began = time.perf_counter() if place else STARTED
        lost, pace = False, math.inf
        for each in work[device.id]:
            number += 1
            talk.send(begin={"n": number, **each.begin()})
            least = max(each.limit_s / 2, each.operations() / pace)
            if lost or time.perf_counter() - began + least > limit_s:
                talk.send(left="lost" if lost else "time")
                continue
            each.deadline = began + limit_s
            lost = not _one(talk, each)
            pace = _pace(each) or pace
            if not lost and device.kind == "gpu":
                torch.cuda.empty_cache()
        work.pop(device.id)
    talk.send(end=True)


def _pace(work: Workload) -> Optional[float]:
    """Operations a second that a processor may be expected to make of a model, from a product of matrices."""
    outcome = getattr(work, "outcome", None)
    if outcome is None or work.device.kind != "cpu":
        return None
    return float(outcome["median"]) * 1e12 * SHARE


def _one(talk: Talk, work: Workload) -> bool:
    """One that cannot run says why and stops none of the others; whether its device still answers."""
    try:
        talk.send(result=work.measure())
    except LeftOut as left:
        talk.send(left=left.why)
    except Exception as error:  # noqa: BLE001 - torch raises whatever it likes
        # torch.OutOfMemoryError is a RuntimeError; the processor's allocator has no class of its own.
        memory = "memory" in str(error).lower() or isinstance(error, MemoryError)
        print("%s: %s" % (type(error).__name__, error), file=sys.stderr)
        gone = not isinstance(error, MemoryError) and work.device.lost()
        talk.send(left="lost" if gone else "memory" if memory else "failed")
        return not gone
    finally:
        work.close()
        gc.collect()
    return True
