"""Is the processor's figure in the headline the best that it can do? The quick benchmark, beside a tuned script.

    python benchmarks/headline_cpu.py ENVIRONMENT [--rounds 2] [--threads N]

The headline compares image training. A round is one quick benchmark, then the script: the same model in float32 and
bfloat16, with and without channels_last, with batches from 1 on for as long as a larger one gains. It runs in the
environment's own Python and shares nothing with the benchmark but the model. Prints a line of JSON after each round:
the seconds of each quick benchmark, to be at most 60; the best figure of either over all rounds; and `ratio`, the
benchmark's by the script's, to be at least 0.9. Other programs slow both down, at different moments: more rounds help.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# Isolated from everything but this folder.
sys.path.insert(0, str(Path(__file__).resolve().parent))
from bench_child import again_inside, child

BATCHES = (1, 2, 4, 8, 16, 32, 64)
WARM_STEPS, TIMED_STEPS = 1, 5
WORTHLESS = 0.5  # of the best rate: larger batches of such a way are not tried
LEARNING_RATE = 1e-9  # no step changes the numbers that the next one works with


def main() -> int:
    """All rounds, or the script where we are in the environment already."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environment", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        print(json.dumps(best_rate(given.threads)))
        return 0
    seconds, own, tuned = [], [], []
    for _ in range(given.rounds):
        round_seconds, figure = headline_figure(given.environment)
        seconds.append(round_seconds)
        own.append(figure)
        arguments = ["--threads", str(given.threads)] if given.threads else []
        tuned.append(json.loads("".join(again_inside(given.environment, __file__, arguments))))
        best_own, best_tuned = (max(each, key=lambda figure: figure["images_per_s"]) for each in (own, tuned))
        ratio = best_own["images_per_s"] / best_tuned["images_per_s"]
        print(json.dumps({"seconds": seconds, "headline": best_own, "tuned": best_tuned, "ratio": ratio}), flush=True)
    return 0


def headline_figure(environment: Path) -> tuple[float, dict[str, Any]]:
    """Seconds of a quick benchmark, and the processor's figure that it would show beside a card's."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from msgspec.structs import replace

    from gpu_assistant.bench.device_comparison import headline_comparison
    from gpu_assistant.bench.job import BenchmarkJob
    from gpu_assistant.core.jobs import JobContext
    from gpu_assistant.core.paths import DataDir
    from gpu_assistant.system import current_system

    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        job = BenchmarkJob(environment, current_system(), DataDir(Path(folder)), device="cpu")
        benchmark = job.run(JobContext())
    seconds = time.perf_counter() - started
    trained = next((each for each in benchmark.results if each.id == "resnet50"), None)
    if trained is None:
        sys.exit("the quick benchmark has no figure of image training")
    beside_card = replace(benchmark, results=(*benchmark.results, replace(trained, device="cuda:0")))
    comparison = headline_comparison(beside_card)
    if comparison is None or comparison.cpu is None or comparison.cpu.id != "resnet50":
        sys.exit("the headline has no figure of image training")
    cpu = comparison.cpu
    return seconds, {
        "images_per_s": cpu.median,
        "dtype": cpu.dtype,
        "batch": cpu.batch,
        "channels_last": cpu.settings.get("channels_last"),
        "notes": cpu.notes,
    }


def best_rate(threads: int | None) -> dict[str, Any]:
    """The best of all ways, and the best of each; inside."""
    import torch

    physical_cores = child("devices").usable_cores(threads)
    if physical_cores:
        torch.set_num_threads(physical_cores)
    best: dict[str, Any] = {"images_per_s": 0.0}
    ways = []
    for dtype in ("bfloat16", "float32"):
        for channels_last in (True, False):
            rates: dict[int, float] = {}
            for batch in BATCHES:
                rates[batch] = train(torch, dtype, channels_last=channels_last, batch=batch)
                if rates[batch] > best["images_per_s"]:
                    best = {
                        "images_per_s": rates[batch],
                        "dtype": dtype,
                        "batch": batch,
                        "channels_last": channels_last,
                    }
                gains = rates[batch] >= max(rates.values())
                if batch > 1 and (not gains or rates[batch] < WORTHLESS * best["images_per_s"]):
                    break
            ways.append({"dtype": dtype, "channels_last": channels_last, "images_per_s": rates})
    return {**best, "threads": torch.get_num_threads(), "ways": ways}


def train(torch: Any, dtype: str, *, channels_last: bool, batch: int) -> float:  # noqa: ANN401 - another Python's
    """Images a second of the median step."""
    torch.manual_seed(0)
    layout = torch.channels_last if channels_last else torch.contiguous_format
    model = child("models").ResNet50().to(memory_format=layout).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=0.9)
    images = torch.randn(batch, 3, 224, 224).to(memory_format=layout)
    labels = torch.randint(0, 1000, (batch,))
    times = []
    for _ in range(WARM_STEPS + TIMED_STEPS):
        started = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == "bfloat16"):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        times.append(time.perf_counter() - started)
    return batch / statistics.median(times[WARM_STEPS:])


if __name__ == "__main__":
    sys.exit(main())
