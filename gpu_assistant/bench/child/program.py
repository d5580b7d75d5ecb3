"""The program: all measurements, one after the other, as JSON lines.

First a `{"start": …}` with the devices, which measurements come and in how many seconds it ends at the latest, then
`{"begin": …}` and `{"result": …}` or `{"left": code}` (with what it wanted and had) for each, last `{"end": true}`. A
torch that does not load is `{"broken": …}`, a wanted device that is not there `{"missing": …}`.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import math
import os
import platform
import sys
import time
from typing import Any, Dict, List

from . import limit
from .devices import Device, devices_of
from .talk import Talk
from .workload import LeftOut, Workload


def main() -> int:
    """Exit status 3 for a device that is not there, 4 for a torch that does not load."""
    faulthandler.enable()
    given = _arguments()
    if given.together is not None:
        from .parallel import launch

        return launch(given.together, given.dtype, given.device or "cuda:0", given.processes, given.cores)
    talk = Talk()
    if given.yielding:
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # read when torch is loaded
    try:
        sys.dont_write_bytecode = False  # what torch keeps lies in the environment, and makes the next start quicker
        try:
            import torch
        finally:
            sys.dont_write_bytecode = True
        devices = devices_of(torch, given.cores)
        about = [device.about() for device in devices]
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a broken library raises whatever it likes
        lines = str(error).strip().splitlines()
        talk.send(broken="%s: %s" % (type(error).__name__, lines[0] if lines else ""))
        return 4
    if given.device is not None:
        devices = wanted(devices, about, given.device)
        if not devices:
            talk.send(missing=given.device, have=[one["id"] for one in about])
            return 3
    if given.fit is not None:
        from .fit import VARIANTS, answer

        talk.send(start={"torch": str(torch.__version__), "devices": about, "of": len(VARIANTS), "limit_s": 0.0})
        answer(talk, devices[-1], given.fit, (given.spare_share, given.spare_least))
        return 0
    if given.take_part is not None:
        from .parallel import take_part

        take_part(talk, devices[0].kind, given.cores, given.take_part, given.dtype)
        return 0
    measure_all(talk, torch, devices, about, given)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--device")
    parser.add_argument("--cores", type=int)
    parser.add_argument("--since", type=float, help="when somebody began to wait for us, in seconds since the epoch")
    parser.add_argument("--yielding", action="store_true", help="threads that wait for each other leave the processor")
    parser.add_argument("--only", action="append", help="a workload or a family of them; may be given again")
    parser.add_argument("--fit", help="what a training step of this model needs of the device's memory")
    parser.add_argument("--spare-share", type=float, default=0.0, help="of the free memory, not planned with")
    parser.add_argument("--spare-least", type=int, default=0, help="bytes of it, at the least")
    parser.add_argument("--together", help="a model that several processes train, started by torchrun")
    parser.add_argument("--dtype", default="float32", help="what they train it in")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--take-part", help="we are one of those processes")
    return parser.parse_args()


def wanted(devices: List[Device], about: List[Dict[str, Any]], name: str) -> List[Device]:
    """The device of this name; "cuda" is the card with the most memory, of equal ones the first."""
    if name != "cuda":
        return [device for device in devices if device.id == name]
    cards = [pair for pair in zip(devices, about) if pair[0].kind == "gpu"]
    return [max(cards, key=lambda pair: pair[1]["memory_bytes"])[0]] if cards else []


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
    from .eager import without_compiler

    without_compiler(torch)
    work = {device.id: schedule.of_device(device, full=given.full, only=given.only) for device in devices}
    begins = [each.begin() for every in work.values() for each in every]
    begins = [{"n": number, **begin} for number, begin in enumerate(begins, 1)]
    first_s, more_s = schedule.FULL_DEVICE_S if given.full else schedule.QUICK_DEVICE_S
    # Loading torch counts too: who waits does not care what for. But a cold disk must not eat the measurement.
    began = max(limit.clock_of(given.since), time.perf_counter() - schedule.LOADING_S)
    last = began + first_s + more_s * (len(devices) - 1)
    limit.at(last + limit.AIR_S, lambda: talk.stop(begins))
    talk.send(
        start={
            "torch": str(torch.__version__),
            "versions": versions(torch),
            "devices": about,
            "of": len(begins),
            "work": begins,
            "limit_s": max(0.0, last + limit.AIR_S - time.perf_counter()),
        }
    )
    number = 0
    for place, device in enumerate(devices):
        deadline = min(last, time.perf_counter() + more_s if place else began + first_s)
        lost, pace = False, math.inf
        for at, each in enumerate(work[device.id], 1):
            talk.send(begin=begins[number])
            number += 1
            if lost:
                talk.send(left="lost")
                continue
            left = max(0.0, deadline - time.perf_counter()) * each.share
            if left < each.least_s(pace):
                wanted = each.operations() / pace
                # Where it is the time that is over, nobody knows what it would have taken.
                talk.send(left="time", **({"wanted_s": wanted, "had_s": left} if wanted > left > 0 else {}))
                continue
            each.deadline = time.perf_counter() + left
            if given.full:
                each.spare_s = schedule.spare_s(left, work[device.id][at:])
            lost = not _one(talk, each)
            if device.kind == "cpu" and each.pace is not None:
                pace = min(pace, each.pace)
            if not lost and device.kind == "gpu":
                torch.cuda.empty_cache()
        work.pop(device.id)
    talk.send(end=True)


def _one(talk: Talk, work: Workload) -> bool:
    """One that cannot run says why and stops none of the others; whether its device still answers."""
    try:
        talk.send(result=work.measure())
    except LeftOut as left:
        talk.send(left=left.why, **left.figures)
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
