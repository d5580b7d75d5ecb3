"""The program: runs all measurements one after the other and writes JSON lines.

First `{"start": …}` with the devices, the measurements to come and the time limit in seconds; then `{"begin": …}` and
`{"result": …, "timed": [begin, end]}` or `{"left": code}` (with what it required and what was available) for each; last
`{"end": true}`. `{"broken": …}`: torch does not load. `{"missing": …}`: there is no such device.

torch's optimizers import its compiler on every step only to be left out by it; that takes longer than torch itself, so
`defer_compiler` loads it only when something is compiled.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import importlib
import math
import os
import platform
import sys
import time
import types
from typing import Any, Dict, List, Optional

from . import timing
from .devices import CudaDevice, Device, is_driver_reset, is_out_of_memory, list_devices
from .protocol import MessageWriter
from .workload import Workload, WorkloadSkipped

DYNAMO_MODULE = "torch._dynamo"


class _LazyCompiler(types.ModuleType):
    """Replaces torch's compiler, which is not used here; access to any other name imports it."""

    @staticmethod
    def disable(work: Any = None, *_: Any, **__: Any) -> Any:
        """Return the function unchanged."""
        return (lambda function: function) if work is None else work

    @staticmethod
    def graph_break(*_: Any, **__: Any) -> None:
        """Do nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        if sys.modules.get(DYNAMO_MODULE) is self:
            del sys.modules[DYNAMO_MODULE]
            sys.modules["torch"]._dynamo = importlib.import_module(DYNAMO_MODULE)  # type: ignore[attr-defined]
        return getattr(sys.modules[DYNAMO_MODULE], name)


def defer_compiler(torch: Any) -> None:
    """Import torch's compiler only when something of it is used, which saves time at the start."""
    if DYNAMO_MODULE not in sys.modules:
        sys.modules[DYNAMO_MODULE] = torch._dynamo = _LazyCompiler(DYNAMO_MODULE)


def main() -> int:
    """Run; returns exit status 3 for an unknown device, 4 for a torch that cannot be imported."""
    faulthandler.enable()
    options = _arguments()
    if options.together is not None:
        from .parallel import launch

        return launch(options.together, options.dtype, options.device or "cuda:0", options.processes, options.cores)
    writer = MessageWriter()
    if options.yielding:
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # read when torch is loaded
    try:
        sys.dont_write_bytecode = False  # torch's bytecode is in the environment and speeds up the next start
        try:
            import torch
        finally:
            sys.dont_write_bytecode = True
        devices = list_devices(torch, options.cores)
        descriptions = [device.describe() for device in devices]
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a broken library may raise anything
        lines = str(error).strip().splitlines()
        writer.send(broken="%s: %s" % (type(error).__name__, lines[0] if lines else ""))
        return 4
    if options.device is not None:
        devices = select_devices(devices, descriptions, options.device)
        if not devices:
            writer.send(missing=options.device, have=[description["id"] for description in descriptions])
            return 3
    if options.fit is not None:
        from .memory_fit import VARIANTS, measure_variants

        writer.send(
            start={"torch": str(torch.__version__), "devices": descriptions, "of": len(VARIANTS), "limit_s": 0.0}
        )
        measure_variants(writer, devices[-1], options.fit)
        return 0
    if options.take_part is not None:
        from .parallel import run_worker

        run_worker(writer, devices[0].kind, options.cores, options.take_part, options.dtype)
        return 0
    measure_all(writer, torch, devices, descriptions, options)
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
    parser.add_argument("--together", help="a model that several processes train")
    parser.add_argument("--dtype", default="float32", help="what they train it in")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--take-part", help="we are one of those processes")
    return parser.parse_args()


def select_devices(devices: List[Device], descriptions: List[Dict[str, Any]], name: str) -> List[Device]:
    """The device with this id; "cuda" is the first GPU with the most memory."""
    if name != "cuda":
        return [device for device in devices if device.id == name]
    gpus = [pair for pair in zip(devices, descriptions) if pair[0].kind == "gpu"]
    return [max(gpus, key=lambda pair: pair[1]["memory_bytes"])[0]] if gpus else []


def software_versions(torch: Any) -> Dict[str, str]:
    """Versions of the software that the results depend on."""
    result = {"python": platform.python_version(), "torch": str(torch.__version__)}
    if torch.version.cuda:
        result["cuda"] = str(torch.version.cuda)
    if torch.version.hip:
        result["hip"] = str(torch.version.hip)
    cudnn = torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None
    if cudnn:
        result["cudnn"] = str(cudnn)
    return result


def measure_all(
    writer: MessageWriter,
    torch: Any,
    devices: List[Device],
    descriptions: List[Dict[str, Any]],
    options: argparse.Namespace,
) -> None:
    """Measure the devices one after the other."""
    from . import schedule

    defer_compiler(torch)
    workloads = {
        device.id: schedule.device_workloads(device, full=options.full, only=options.only) for device in devices
    }
    start_messages = [
        workload.start_message() for device_workloads in workloads.values() for workload in device_workloads
    ]
    start_messages = [{"n": index, **begin} for index, begin in enumerate(start_messages, 1)]
    first_s, more_s = schedule.FULL_DEVICE_S if options.full else schedule.QUICK_DEVICE_S
    # The time limit includes the import of torch, of which MAX_LOADING_S count at most.
    started_at = max(timing.clock_at_epoch(options.since), time.perf_counter() - schedule.MAX_LOADING_S)
    run_deadline = started_at + first_s + more_s * (len(devices) - 1)
    timing.call_at(run_deadline + timing.EXIT_MARGIN_S, lambda: writer.stop_program(start_messages))
    writer.send(
        start={
            "torch": str(torch.__version__),
            "versions": software_versions(torch),
            "pid": os.getpid(),
            "devices": descriptions,
            "of": len(start_messages),
            "work": start_messages,
            "limit_s": max(0.0, run_deadline + timing.EXIT_MARGIN_S - time.perf_counter()),
        }
    )
    index = 0
    for device_index, device in enumerate(devices):
        deadline = min(run_deadline, time.perf_counter() + more_s if device_index else started_at + first_s)
        loss: Optional[str] = None  # why the device computes no more
        operations_per_s = math.inf
        for position, workload in enumerate(workloads[device.id], 1):
            writer.send(begin=start_messages[index])
            index += 1
            if loss is not None:
                writer.send(left=loss)
                continue
            available_s = max(0.0, deadline - time.perf_counter()) * workload.time_share
            if available_s < workload.min_seconds(operations_per_s):
                estimated_s = workload.operations() / operations_per_s
                # After the deadline, the estimate tells nothing.
                writer.send(
                    left="time",
                    **({"wanted_s": estimated_s, "had_s": available_s} if estimated_s > available_s > 0 else {}),
                )
                continue
            workload.deadline = time.perf_counter() + available_s
            if options.full:
                workload.spare_s = schedule.spare_seconds(available_s, workloads[device.id][position:])
            loss = _measure_workload(writer, workload)
            if device.kind == "cpu" and workload.operations_per_s is not None:
                operations_per_s = min(operations_per_s, workload.operations_per_s)
            if loss is None and isinstance(device, CudaDevice):
                device.release_cached_memory()
        workloads.pop(device.id)
    writer.send(end=True)


def _measure_workload(writer: MessageWriter, workload: Workload) -> Optional[str]:
    """Measure one workload and send its result or why there is none.

    Returns None, "lost" or "reset": why the device cannot be used any more.
    """
    try:
        result = workload.measure()
        writer.send(result=result, timed=workload.timed_period)
    except WorkloadSkipped as skipped:
        writer.send(left=skipped.reason, **skipped.figures)
    except Exception as error:  # noqa: BLE001 - torch documents no exception types
        print("%s: %s" % (type(error).__name__, error), file=sys.stderr)
        loss = None
        if not isinstance(error, MemoryError) and workload.device.is_lost():
            loss = "reset" if is_driver_reset(error) else "lost"
        writer.send(left=loss or ("memory" if is_out_of_memory(error) else "failed"))
        return loss
    finally:
        workload.close()
        gc.collect()
    return None
