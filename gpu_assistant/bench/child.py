"""Runs in an environment's own Python and measures matrix products, one JSON line for each thing it knows.

Started as a program; it needs nothing but the standard library and torch. First a `{"start": …}` with the
devices and how many measurements come, then `{"begin": …}` and `{"result": …}` or `{"note": code}` for each,
last `{"end": true}`.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

QUICK_SIZES = {"cpu": (1024, 2048, 4096), "gpu": (2048, 4096, 8192)}
FULL_SIZES = {"cpu": (512, 1024, 2048, 4096, 8192), "gpu": (1024, 2048, 4096, 8192, 10000, 16384)}
WARM_UP_S = 2.0
QUICK_S, FULL_S = 4.0, 15.0  # for one measurement with its warm-up, but for the run that is under way
LEAST_S, LEAST_RUNS, MOST_RUNS = 0.3, 7, 500
SPREAD_REACHED, SPREAD_NOTED = 0.05, 0.10  # interquartile range by median
CHECKED = 64  # rows and columns of the sub-block that is computed again in float64


class Talk:
    """The line to the parent, kept apart from whatever libraries print."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        os.dup2(2, 1)

    def send(self, **line: Any) -> None:  # noqa: ANN401 - JSON
        """One line."""
        self._out.write(json.dumps(line) + "\n")
        self._out.flush()


def usable_cores(given: int | None) -> int | None:
    """The physical cores, but no more than this process may use (containers, taskset)."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:
        return given
    return min(given, allowed) if given else None


class Cpu:
    """The processor, with one thread a physical core: a second one a core only disturbs a matrix product."""

    id = "cpu"
    sizes = "cpu"

    def __init__(self, torch: Any, cores: int | None) -> None:  # noqa: ANN401
        self._torch = torch
        threads = usable_cores(cores)
        if threads:
            torch.set_num_threads(threads)

    def about(self) -> dict[str, Any]:
        """The device as the parent reads it."""
        return {"id": self.id, "threads": self._torch.get_num_threads()}

    def dtypes(self) -> list[str]:
        """What to measure here."""
        return ["float32"]

    def free_bytes(self) -> int | None:
        """Memory that can be filled; unknown to the standard library on some systems."""
        try:
            return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):
            return None

    def seconds(self, work: Callable[[], Any]) -> float:
        """The time of one run."""
        started = time.perf_counter()
        work()
        return time.perf_counter() - started


class Cuda:
    """One CUDA (or ROCm) device, timed by its own events."""

    sizes = "gpu"

    def __init__(self, torch: Any, index: int) -> None:  # noqa: ANN401
        self._torch = torch
        self._index = index
        self.id = f"cuda:{index}"

    def about(self) -> dict[str, Any]:
        """The device as the parent reads it."""
        properties = self._torch.cuda.get_device_properties(self._index)
        return {"id": self.id, "name": properties.name, "memory_bytes": properties.total_memory}

    def dtypes(self) -> list[str]:
        """What the chip computes in hardware: TF32 and bfloat16 came with compute capability 8.0."""
        ampere = self._torch.version.hip is None and self._torch.cuda.get_device_capability(self._index) >= (8, 0)
        return ["float32", "tf32", "float16", "bfloat16"] if ampere else ["float32", "float16"]

    def free_bytes(self) -> int | None:
        """Memory that can be filled."""
        return int(self._torch.cuda.mem_get_info(self._index)[0])

    def seconds(self, work: Callable[[], Any]) -> float:
        """The time of one run on the device itself, without the time to get it there."""
        cuda = self._torch.cuda
        with cuda.device(self._index):
            start, stop = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
            cuda.synchronize()
            start.record()
            work()
            stop.record()
            stop.synchronize()
        return float(start.elapsed_time(stop)) / 1e3


def devices_of(torch: Any, cores: int | None) -> list[Cpu | Cuda]:  # noqa: ANN401
    """The processor, then every device that torch has."""
    devices: list[Cpu | Cuda] = [Cpu(torch, cores)]
    if torch.cuda.is_available():
        devices += [Cuda(torch, index) for index in range(torch.cuda.device_count())]
    return devices


def set_precision(torch: Any, dtype: str) -> None:  # noqa: ANN401
    """TF32 on for "tf32" alone; everything else keeps full float32."""
    matmul = torch.backends.cuda.matmul
    if hasattr(matmul, "fp32_precision"):
        matmul.fp32_precision = "tf32" if dtype == "tf32" else "ieee"
    else:
        matmul.allow_tf32 = dtype == "tf32"


def matmul(torch: Any, device: Cpu | Cuda, dtype: str, side: int, limit_s: float) -> dict[str, Any]:  # noqa: ANN401
    """One square product, measured until its spread is small or the time is up."""
    set_precision(torch, dtype)
    kind = getattr(torch, "float32" if dtype == "tf32" else dtype)
    torch.manual_seed(0)
    left = torch.randn(side, side, device=device.id, dtype=torch.float32).to(kind)
    right = torch.randn(side, side, device=device.id, dtype=torch.float32).to(kind)
    product = torch.empty(side, side, device=device.id, dtype=kind)

    def work() -> None:
        torch.mm(left, right, out=product)

    began = time.perf_counter()
    warm_up(device, work, WARM_UP_S)
    samples = measure(device, work, limit_s - (time.perf_counter() - began))
    q1, median, q3 = quartiles(samples)
    operations = 2.0 * side**3 / 1e12
    error = relative_error(left, right, product)
    return {
        "id": "matmul",
        "device": device.id,
        "dtype": dtype,
        "size": [side, side, side],
        "unit": "TFLOP/s",
        "median": operations / median,
        "q1": operations / q3,
        "q3": operations / q1,
        "runs": len(samples),
        "seconds": time.perf_counter() - began,
        "samples": samples,
        "error": error,
    }


def warm_up(device: Cpu | Cuda, work: Callable[[], Any], limit_s: float) -> None:
    """Run until two medians of three agree within 5 % or the time is up."""
    began = time.perf_counter()
    before = math.inf
    while True:
        group = []
        for _ in range(3):
            group.append(device.seconds(work))
            if time.perf_counter() - began > limit_s:
                return
        now = statistics.median(group)
        if abs(now - before) <= 0.05 * now:
            return
        before = now


def measure(device: Cpu | Cuda, work: Callable[[], Any], limit_s: float) -> list[float]:
    """Seconds of each run: until the quartiles are close, or the time or the runs are up; three at least."""
    began = time.perf_counter()
    samples: list[float] = []
    while True:
        samples.append(device.seconds(work))
        spent = time.perf_counter() - began
        if (len(samples) >= 3 and spent > limit_s) or len(samples) == MOST_RUNS:
            return samples
        enough = len(samples) >= LEAST_RUNS and spent > LEAST_S
        if enough and spread(samples) < SPREAD_REACHED:
            return samples


def quartiles(samples: list[float]) -> tuple[float, float, float]:
    """First quartile, median, third quartile."""
    q1, median, q3 = statistics.quantiles(samples, n=4, method="inclusive")
    return q1, median, q3


def spread(samples: list[float]) -> float:
    """Interquartile range by median."""
    q1, median, q3 = quartiles(samples)
    return (q3 - q1) / median


def relative_error(left: Any, right: Any, product: Any) -> float:  # noqa: ANN401
    """The largest deviation of a sub-block from its float64 product, by that block's largest entry."""
    rows = left[:CHECKED].cpu().double()
    columns = right[:, -CHECKED:].cpu().double()
    reference = rows @ columns
    block = product[:CHECKED, -CHECKED:].cpu().double()
    error = float((block - reference).abs().max() / reference.abs().max())
    # JSON knows no infinity; a result with holes is as wrong as can be.
    return error if math.isfinite(error) else 1.0


def tolerance(torch: Any, dtype: str, side: int) -> float:  # noqa: ANN401
    """What rounding explains: of the inputs and the result in `dtype`, of the sums in float32."""
    epsilon = 2.0**-10 if dtype == "tf32" else torch.finfo(getattr(torch, dtype)).eps
    return float(4 * epsilon + 4 * math.sqrt(side) * 2.0**-23)


def fits(device: Cpu | Cuda, side: int) -> bool:
    """Whether three matrices (made in float32) take less than half of what is free."""
    free = device.free_bytes()
    return free is None or 3 * side * side * 4 < free / 2


def affordable(last: dict[str, Any] | None, side: int, limit_s: float) -> bool:
    """Whether three runs would about fit into the time, going by the size before."""
    if last is None:
        return True
    seconds = statistics.median(last["samples"]) * float(side / last["size"][0]) ** 3
    return bool(seconds * 3 < limit_s * 1.5)


def main() -> int:
    """All measurements; exit status 3 for a device that is not there, 4 for a torch that does not load."""
    faulthandler.enable()
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--device")
    parser.add_argument("--cores", type=int)
    given = parser.parse_args()
    talk = Talk()
    try:
        import torch

        devices = devices_of(torch, given.cores)
    except Exception as error:  # noqa: BLE001 - a broken library raises whatever it likes
        lines = str(error).strip().splitlines()
        talk.send(broken=f"{type(error).__name__}: {lines[0] if lines else ''}")
        return 4
    about = [device.about() for device in devices]
    if given.device is not None:
        devices = [device for device in devices if device.id == given.device]
        if not devices:
            talk.send(missing=given.device, have=[one["id"] for one in about])
            return 3
    limit_s = FULL_S if given.full else QUICK_S
    sizes = FULL_SIZES if given.full else QUICK_SIZES
    work = [(device, dtype, side) for device in devices for dtype in device.dtypes() for side in sizes[device.sizes]]
    talk.send(start={"torch": str(torch.__version__), "devices": about, "of": len(work)})
    run_all(talk, torch, work, limit_s)
    talk.send(end=True)
    return 0


def run_all(talk: Talk, torch: Any, work: list[tuple[Cpu | Cuda, str, int]], limit_s: float) -> None:  # noqa: ANN401
    """Each measurement; one that cannot run says why and stops none of the others."""
    last: dict[tuple[str, str], dict[str, Any]] = {}
    for number, (device, dtype, side) in enumerate(work, 1):
        size = [side, side, side]
        talk.send(begin={"n": number, "workload": "matmul", "device": device.id, "dtype": dtype, "size": size})
        if not fits(device, side):
            talk.send(note="bench.note.memory")
            continue
        if not affordable(last.get((device.id, dtype)), side, limit_s):
            talk.send(note="bench.note.time")
            continue
        try:
            result = matmul(torch, device, dtype, side, limit_s)
        except (RuntimeError, MemoryError) as error:
            # torch.OutOfMemoryError is a RuntimeError; the CPU's allocator has no class of its own.
            memory = "memory" in str(error).lower() or isinstance(error, MemoryError)
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            talk.send(note="bench.note.memory" if memory else "bench.note.failed")
            gc.collect()
            continue
        last[device.id, dtype] = result
        talk.send(result=result)
        if spread(result["samples"]) > SPREAD_NOTED:
            talk.send(note="bench.note.spread")
        if result["error"] > tolerance(torch, dtype, side):
            talk.send(note="bench.note.wrong")


if __name__ == "__main__":
    sys.exit(main())
