"""Probes of a card, run by `on_a_card.py` in an environment's own Python, with the benchmark's child as a package.

    ENV/bin/python -I benchmarks/card_probes.py PROBE …

Each probe is one line of JSON, {"probe": name, "figures": {…}} or {"probe": name, "failed": reason}; the first line
says on which device they are made, or that there is none. The last line is {"end": true}.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Isolated from everything but this folder.
sys.path.insert(0, str(Path(__file__).resolve().parent))
from bench_child import child

PRODUCT_SIDE = 4096
REST_S, RAMP_S, SUSTAINED_S, BURST_S = 2.0, 3.0, 8.0, 0.35
SLICE_S, STEADY_SHARE = 0.1, 0.03  # a slice's median counts as settled so close to that of the end
HOT_RUNS = 10
CACHED_SIDE = 1024
COPY_BYTES = tuple(2**power for power in range(20, 31, 2))  # 1 MiB to 1 GiB
BATCHES = (16, 32, 64, 128, 256)
TRAINED_MODEL, PEAK_BATCH = "resnet50", 16
LEFT_BYTES = 6 * 2**30
STEPS = 10

Figures = dict[str, Any]


def product(device: Any, dtype: str = "float32", side: int = PRODUCT_SIDE) -> Any:
    """A prepared product of the benchmark's."""
    workload = child("matmul").MatmulWorkload(device, dtype, side, 1.0, None)
    child("precision").set_precision(device.torch, dtype)
    workload.prepare()
    return workload


def rates_over_time(device: Any, workload: Any, seconds: float) -> list[tuple[float, float]]:
    """(seconds since the start, TFLOP/s of a run) for so long."""
    started, rates = time.perf_counter(), []
    while time.perf_counter() - started < seconds:
        (run_s,) = device.time_runs(workload.run)
        rates.append((time.perf_counter() - started, workload.amount / run_s))
    return rates


def slice_medians(rates: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """(end of a slice in seconds, median rate in it)."""
    slices: dict[int, list[float]] = {}
    for elapsed, rate in rates:
        slices.setdefault(int(elapsed / SLICE_S), []).append(rate)
    return [((index + 1) * SLICE_S, statistics.median(each)) for index, each in sorted(slices.items())]


def settled_after(medians: list[tuple[float, float]]) -> float:
    """Seconds after which every slice is as fast as the last third of them."""
    final = statistics.median(rate for _, rate in medians[-max(1, len(medians) // 3) :])
    settled = 0.0
    for end, rate in medians:
        if abs(rate - final) > STEADY_SHARE * final:
            settled = end
    return settled


def ramp(device: Any) -> Figures:
    """How soon a card that has rested computes at its lasting rate."""
    workload = product(device)
    device.time_runs(workload.run)  # loads the kernel
    time.sleep(REST_S)
    medians = slice_medians(rates_over_time(device, workload, RAMP_S))
    return {
        "rested_s": REST_S,
        "settled_s": settled_after(medians),
        "slice_s": SLICE_S,
        "tflops": [r for _, r in medians],
    }


def caches(device: Any) -> Figures:
    """A product whose matrices fit into the L2 cache: with the cache cleared before each run, and with it filled."""
    workload = product(device, "float32", CACHED_SIDE)
    device.time_runs(workload.run)
    cold_s = statistics.median(device.time_runs(workload.run, HOT_RUNS))

    def run_often() -> None:
        for _ in range(1 + HOT_RUNS):
            workload.run()

    hot_s = (statistics.median(device.time_runs(run_often, HOT_RUNS)) - cold_s) / HOT_RUNS
    amount = workload.amount
    return {"side": CACHED_SIDE, "cold_tflops": amount / cold_s, "hot_tflops": amount / hot_s if hot_s > 0 else None}


def float8(device: Any) -> Figures:
    """FP8 products with cuBLAS' fast accumulation and with that in float32: speed, and largest relative error."""
    torch = device.torch
    if "float8" not in child("precision").matmul_dtypes(device):
        return {"supported": False}
    workload = product(device, "float8")
    scale = torch.ones((), device=device.id)
    reference = workload.left[:64].cpu().double() @ workload.right[:, -64:].cpu().double()
    figures: Figures = {"supported": True}
    for name, fast in (("fast", True), ("exact", False)):
        outputs: list[Any] = []

        def multiply(fast: bool = fast, outputs: list[Any] = outputs) -> None:
            output = torch._scaled_mm(
                workload.left,
                workload.right,
                scale_a=scale,
                scale_b=scale,
                out_dtype=torch.bfloat16,
                use_fast_accum=fast,
            )
            outputs[:] = [output[0] if isinstance(output, tuple) else output]  # a tuple before torch 2.5

        device.time_runs(multiply, 3)
        figures[name + "_tflops"] = workload.amount / statistics.median(device.time_runs(multiply, STEPS))
        block = outputs[0][:64, -64:].cpu().double()
        figures[name + "_error"] = float((block - reference).abs().max() / reference.abs().max())
    figures["tolerance"] = workload.tolerance()
    return figures


def copies(device: Any) -> Figures:
    """GB/s of copies of several sizes, each in every way of the benchmark's; None: the way is not possible here."""
    module = child("copies")
    figures: dict[str, dict[str, float] | None] = {}
    for kind in module.copy_kinds(device):
        try:
            figures[kind] = copy_rates(device, kind)
        except child("workload").WorkloadSkipped:
            figures[kind] = None
    return {"standard_bytes": module.COPY_BYTES, "gb_s": figures}


def copy_rates(device: Any, kind: str) -> dict[str, float]:
    """GB/s of one kind of copy by its bytes, up to those for which there is room."""
    rates = {}
    for byte_count in COPY_BYTES:
        workload = child("copies").CopyWorkload(device, kind, 1.0)
        if 2 * byte_count > (device.free_bytes() or 0) // 2:
            break
        workload.amount *= byte_count / workload.size[0]
        workload.size = (byte_count,)
        workload.prepare()
        device.time_runs(workload.run, 2)
        rates[str(byte_count)] = workload.amount / statistics.median(device.time_runs(workload.run, STEPS))
        workload.close()
    return rates


def decode(device: Any) -> Figures:
    """One token of the language model: launched kernel by kernel, and replayed as a CUDA graph."""
    torch, module = device.torch, child("decoding")
    workload = module.DecodingWorkload(device, child("precision").inference_dtype(device), 4.0)
    child("precision").set_precision(torch, workload.dtype)
    workload.prepare()

    def step() -> None:
        with torch.inference_mode():
            workload.logits = workload.model(workload.first_token, module.PROMPT_TOKENS, workload.cache)

    started = time.perf_counter()
    workload.run()
    torch.cuda.synchronize()
    run_s = time.perf_counter() - started
    device.time_runs(step, 3)
    eager_s = statistics.median(device.time_runs(step, STEPS))
    eager_logits = workload.logits.clone()
    side_stream = torch.cuda.Stream()
    side_stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side_stream):
        step()
    torch.cuda.current_stream().wait_stream(side_stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    device.time_runs(graph.replay, 3)
    graph_s = statistics.median(device.time_runs(graph.replay, STEPS))
    difference = float((workload.logits - eager_logits).abs().max() / eager_logits.abs().max())
    return {
        "dtype": workload.dtype,
        "run_tokens_per_s": workload.amount / run_s,
        "eager_tokens_per_s": 1 / eager_s,
        "graph_tokens_per_s": 1 / graph_s,
        "difference": difference,
    }


def batches(device: Any) -> Figures:
    """Images a second that ResNet-50 trains with, by batch, in the format of the benchmark's headline."""
    training, dtype = child("training"), child("precision").mixed_dtype(device)
    child("precision").set_precision(device.torch, dtype)
    device.torch.backends.cudnn.benchmark = True
    step = training.TrainingStep(device, TRAINED_MODEL, dtype, fast_layout=True)
    step.model.train()
    rates: dict[str, float] = {}
    left_out = None
    for batch in BATCHES:
        try:
            inputs, classes = step.make_batch(batch)
            device.time_runs(lambda inputs=inputs, classes=classes: step.run(inputs, classes), 2)
            times = device.time_runs(lambda inputs=inputs, classes=classes: step.run(inputs, classes), 5)
        except RuntimeError as error:
            if not child("devices").is_out_of_memory(error):
                raise
            left_out = batch
            break
        rates[str(batch)] = batch / statistics.median(times)
    return {
        "dtype": dtype,
        "standard_batch": training.TRAINING_BATCHES["gpu"],
        "large_batch": training.TRAINING_BATCHES["gpu"] * training.LARGE_BATCH_FACTOR,
        "images_per_s": rates,
        "out_of_memory_at": left_out,
    }


def halving(device: Any) -> Figures:
    """The batch that training comes down to where all but 6 GB of the card's memory are in use."""
    torch = device.torch
    taken_bytes = max(0, device.free_bytes() - LEFT_BYTES)
    taken = torch.empty(taken_bytes, dtype=torch.uint8, device=device.id)
    left_bytes = device.free_bytes()
    training = child("training")
    workload = training.TrainingWorkload(device, TRAINED_MODEL, "float32", 6.0)
    result = workload.measure()
    del taken
    return {
        "left_bytes": left_bytes,
        "standard_batch": training.TRAINING_BATCHES["gpu"],
        "batch": result["batch"],
        "images_per_s": result["median"],
        "notes": result["notes"],
    }


def peak(device: Any) -> Figures:
    """The most memory that torch had in use in a training step of `PEAK_BATCH` images."""
    torch = device.torch
    child("precision").set_precision(torch, "float32")
    step = child("training").TrainingStep(device, TRAINED_MODEL, "float32")
    step.model.train()
    step.run(*step.make_batch(1))  # allocates the optimizer's state
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(device.id)
    step.run(*step.make_batch(PEAK_BATCH))
    torch.cuda.synchronize()
    return {
        "batch": PEAK_BATCH,
        "allocated_bytes": torch.cuda.max_memory_allocated(device.id),
        "reserved_bytes": torch.cuda.max_memory_reserved(device.id),
    }


def sustained(device: Any) -> Figures:
    """A product for some seconds: the rate of the first third of a second, and that of the last second."""
    workload = product(device)
    device.time_runs(workload.run)
    rates = rates_over_time(device, workload, SUSTAINED_S)
    first = [rate for elapsed, rate in rates if elapsed < BURST_S]
    last = [rate for elapsed, rate in rates if elapsed > SUSTAINED_S - 1]
    return {
        "seconds": SUSTAINED_S,
        # A run that takes longer than that is a slice of its own.
        "burst_tflops": statistics.median(first or [rates[0][1]]),
        "sustained_tflops": statistics.median(last or [rates[-1][1]]),
    }


PROBES: dict[str, Callable[[Any], Figures]] = {
    probe.__name__: probe for probe in (ramp, caches, float8, copies, decode, batches, halving, peak, sustained)
}


def send(**message: Any) -> None:
    """One line."""
    print(json.dumps(message), flush=True)


def main(names: list[str]) -> int:
    """Run the probes of these names; exit status 3 without a card."""
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # read by the CUDA runtime: number GPUs as the driver does
    import torch

    devices = child("devices").list_devices(torch, None)
    if len(devices) < 2:
        send(missing="cuda:0")
        return 3
    device = devices[1]
    send(device={"id": device.id, **device.describe()})
    child("program").defer_compiler(torch)
    for name in names:
        try:
            send(probe=name, figures=PROBES[name](device))
        except Exception as error:  # noqa: BLE001 - torch documents no exception types
            lines = str(error).strip().splitlines()
            send(probe=name, failed=f"{type(error).__name__}: {lines[0] if lines else ''}")
            if device.is_lost():
                send(lost=True)
                return 1
        gc.collect()
        torch.cuda.empty_cache()
    send(end=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
