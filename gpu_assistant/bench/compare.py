"""What measured figures say side by side; pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.results import BenchResult


def speedup(results: Sequence[BenchResult]) -> dict[str, float]:
    """How many times faster the fastest GPU is than the processor, by "workload-dtype".

    Both did the same workload at the same size, the largest that both did. The processor's figure is always its
    float32, since that is what one would compute with there.
    """
    found: dict[str, tuple[int, float]] = {}
    on_cpu = {(r.id, r.size): r.median for r in results if r.device == "cpu" and r.dtype == "float32"}
    for result in results:
        here = on_cpu.get((result.id, result.size))
        if result.device == "cpu" or not here:
            continue
        key = f"{result.id}-{result.dtype}"
        found[key] = max(found.get(key, (0, 0.0)), (result.size[0], result.median / here))
    return {key: factor for key, (_, factor) in found.items()}
