"""Benchmarks of computers with cards, and what fits in their memory: figures that such cards may well have."""

from __future__ import annotations

from msgspec.structs import replace

from gpu_assistant.bench.memory_fit import ACCUMULATION_STEPS, project_memory
from gpu_assistant.core.results import (
    MEMORY_SCHEMA,
    BenchDevice,
    BenchGpuLog,
    Benchmark,
    BenchResult,
    FitVariant,
    Judgement,
    MemoryFit,
    MemoryFits,
    MemoryPeakModel,
    MemoryProfile,
)

MIB, GIB = 2**20, 2**30
# Of an RTX 4060 that drives a display of Windows, and what is kept of that by `resources/catalog/fit.json`.
FREE_BYTES, RESERVE_BYTES = round(7.6 * GIB), round(0.8 * GIB)
FIT_BATCH = 16  # of `memory_fits`


def figure(name: str, device: str, dtype: str, size: tuple[int, ...], unit: str, median: float) -> BenchResult:
    return BenchResult(
        id=name,
        device=device,
        dtype=dtype,  # type: ignore[arg-type]
        size=size,
        unit=unit,
        median=median,
        q1=median * 0.99,
        q3=median * 1.008,
        runs=24,
        seconds=2.0,
        error=1e-6,
    )


def card_benchmark(speed: float = 1.0) -> Benchmark:
    """An RTX 4060 beside a processor of six cores, all of its figures times `speed`."""
    gpu, cpu, side = "cuda:0", "cpu", (4096, 4096, 4096)
    of_card = [
        figure("resnet50", gpu, "float32", (3, 224, 224), "images/s", 121.0),
        figure("resnet50", gpu, "mixed-bfloat16", (3, 224, 224), "images/s", 262.0),
        figure("bert-base", gpu, "mixed-bfloat16", (128,), "sequences/s", 168.0),
        figure("matmul", gpu, "float32", side, "TFLOP/s", 11.8),
        figure("matmul", gpu, "float16", side, "TFLOP/s", 27.5),
        figure("copy-to-device-pinned", gpu, "uint8", (268435456,), "GB/s", 12.6),
        figure("copy-within", gpu, "uint8", (268435456,), "GB/s", 239.0),
    ]
    of_processor = [
        figure("resnet50", cpu, "float32", (3, 224, 224), "images/s", 8.4),
        figure("bert-base", cpu, "float32", (128,), "sequences/s", 5.1),
        figure("matmul", cpu, "float32", side, "TFLOP/s", 0.72),
    ]
    expected = {
        "cuda:0/matmul-float32": (11.3, 14.4),
        "cuda:0/matmul-float16": (22.7, 28.7),
        "cuda:0/copy-within-uint8": (217.6, 253.0),
    }
    results = [*(replace(r, median=r.median * speed, q1=r.q1 * speed, q3=r.q3 * speed) for r in of_card), *of_processor]
    return Benchmark(
        schema="gpu-assistant/benchmark/1",
        torch="2.15.0+cu132",
        devices=(
            BenchDevice(id=cpu, name="AMD Ryzen 5 7500F", threads=6),
            BenchDevice(id=gpu, name="NVIDIA GeForce RTX 4060", memory_bytes=8 * GIB),
        ),
        results=tuple(replace(r, judgement=_judgement(r, expected)) for r in results),
        speedup={"resnet50-mixed-bfloat16": 31.2 * speed},
        expected=expected,
        verdict="bench.verdict.as-expected",
        seconds=58.0,
        scope="quick",
        versions={"torch": "2.15.0+cu132", "cuda": "13.2", "driver": "617.42"},
        watched=(
            BenchGpuLog(
                index=0,
                name="NVIDIA GeForce RTX 4060",
                samples=116,
                util_before=1,
                temp_start=41,
                temp_end=66,
                temp_max=67,
                pcie_gen=4,
                pcie_width=8,
            ),
        ),
        on_battery=False,
    )


def processor_benchmark() -> Benchmark:
    """The processor of `card_benchmark` alone, with a language model."""
    whole = card_benchmark()
    decoding = figure("decode", "cpu", "float32", (32,), "tokens/s", 14.2)
    results = (*(each for each in whole.results if each.device == "cpu"), decoding)
    return Benchmark(
        schema=whole.schema,
        torch="2.15.0+cpu",
        devices=whole.devices[:1],
        results=results,
        verdict="bench.verdict.cpu-only",
        seconds=52.0,
        scope="quick",
    )


def _judgement(result: BenchResult, expected: dict[str, tuple[float, float]]) -> Judgement:
    low, high = expected.get(f"{result.device}/{result.id}-{result.dtype}", (None, None))
    if low is None or high is None:
        return "unknown"
    return "below" if result.median < low else "above" if result.median > high else "as-expected"


def slow_benchmark(*causes: str) -> Benchmark:
    """The same card at three fifths of its speed."""
    named = tuple(f"bench.cause.{each}" for each in causes or ("unknown",))
    slow = card_benchmark(0.6)
    hot = tuple(replace(card, temp_end=86, temp_max=88, throttle=("hardware-thermal",)) for card in slow.watched)
    watched = hot if "heat" in causes else slow.watched
    return replace(slow, verdict="bench.verdict.below", causes=named, watched=watched)


def two_cards() -> Benchmark:
    """Two such cards in like slots, and both together."""
    one = card_benchmark()
    second = [
        replace(r, device="cuda:1", median=r.median * 0.98, q1=r.q1 * 0.98, q3=r.q3 * 0.98)
        for r in one.results
        if r.device == "cuda:0"
    ]
    both = figure("resnet50-parallel", "cuda", "mixed-bfloat16", (3, 224, 224), "images/s", 503.0)
    both = replace(both, processes=2, efficiency=0.96)
    devices = (*one.devices, BenchDevice(id="cuda:1", name="NVIDIA GeForce RTX 4060", memory_bytes=8 * GIB))
    ranges = one.expected or {}
    return replace(
        one,
        devices=devices,
        results=(*one.results, *second, both),
        expected={**ranges, **{key.replace("cuda:0", "cuda:1"): value for key, value in ranges.items()}},
        watched=(*one.watched, *(replace(log, index=1) for log in one.watched)),
    )


def memory_fits(capacity: int | None = FREE_BYTES) -> MemoryFits:
    """ResNet-50 with a batch of FIT_BATCH in all ways, on the second of two cards."""
    return MemoryFits(
        schema=MEMORY_SCHEMA,
        torch="2.15.0+cu132",
        fits=(
            _fit("plain", 1400, 54, capacity),
            _fit("mixed", 790, 60, capacity),
            _fit("checkpointing", 520, 60, capacity),
            _fit("accumulation", 350, 54, capacity),
            _fit("together", 90, 54, capacity),
        ),
        devices=two_gpus(),
        seconds=75.0,
    )


def worked_out(batch: int) -> MemoryFits:
    """The same card's answer with the steps that it was worked out from."""
    plain = MemoryProfile(
        model="resnet50",
        device="cuda:1",
        variant="plain",
        dtype="float32",
        exact=True,
        parameters=98 * MIB,
        gradients=98 * MIB,
        optimizer=98 * MIB,
        example=602120,
        micro_batches=1,
        cached=0.02,
        peaks=_peaks(85, 70),
        capacity=FREE_BYTES,
        reserve=RESERVE_BYTES,
    )
    steps = (
        plain,
        replace(plain, variant="mixed", dtype="mixed-bfloat16", peaks=_peaks(48, 40)),
        replace(plain, variant="checkpointing", peaks=_peaks(23, 20)),
        replace(plain, variant="accumulation", micro_batches=4),
        replace(plain, variant="together", dtype="mixed-bfloat16", micro_batches=4, peaks=_peaks(14, 12)),
    )
    return replace(memory_fits(), fits=tuple(project_memory(each, batch) for each in steps), steps=steps)


def _peaks(highest: int, later: int) -> tuple[MemoryPeakModel, ...]:
    """The peak before there are gradients, and the one with all of them; both in MiB for each example."""
    return (
        MemoryPeakModel(constant=98 * MIB, example=later * MIB, gradients=98 * MIB, updating=False),
        MemoryPeakModel(constant=20 * MIB, example=highest * MIB, gradients=0, updating=False),
    )


def two_gpus() -> tuple[BenchDevice, ...]:
    """The second has more memory."""
    return (
        BenchDevice(id="cpu", threads=6),
        BenchDevice(id="cuda:0", name="NVIDIA GeForce RTX 4060", memory_bytes=8 * GIB),
        BenchDevice(id="cuda:1", name="NVIDIA GeForce RTX 3090", memory_bytes=24 * GIB),
    )


def _fit(variant: FitVariant, activations: int, cache: int, free: int | None) -> MemoryFit:
    """`activations` and `cache` in MiB; of a larger batch only the activations take more."""
    counts = [count * MIB for count in (98, 98, 98, activations, 12, cache)]
    reserve = None if free is None else min(RESERVE_BYTES, free // 10)
    parts = ACCUMULATION_STEPS if variant in ("accumulation", "together") else 1
    largest = None
    if free is not None and reserve is not None:
        for_activations = free - reserve - (sum(counts) - counts[3])
        largest = max(for_activations * (FIT_BATCH // parts) // counts[3], 0) * parts
    return MemoryFit(
        model="resnet50",
        device="cuda:1",
        variant=variant,
        dtype="mixed-bfloat16" if variant in ("mixed", "together") else "float32",
        batch=FIT_BATCH,
        parameters=counts[0],
        gradients=counts[1],
        optimizer=counts[2],
        activations=counts[3],
        temporary=counts[4],
        cache=counts[5],
        peak=sum(counts),
        capacity=free,
        reserve=reserve,
        largest_batch=largest,
        exact=True,
    )
