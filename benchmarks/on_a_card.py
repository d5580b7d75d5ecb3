"""What a real card shows: ten checks in at most ten minutes, in the order of what they teach, kept in one JSON file.

    python benchmarks/on_a_card.py --python ENV/bin/python OUTPUT.json

`--python` is the Python of an environment with PyTorch. Neither Qt nor a network is needed. The file is written before
the first check and replaced after each, so that a run that is killed keeps what it has; every check says what is
expected of it. Exit status: 0 where all is as expected, 1 where something is not, 2 for a bad call.

States: "as-expected", "differs", "needs-card" (it came to the first call that needs one), "late" (its time was up),
"failed" (with the reason), "not-run". Nothing in the file names the computer, its user, or a card's serial number.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import msgspec
import psutil

from gpu_assistant.bench.gpu_log import GpuLogger
from gpu_assistant.bench.job import BenchmarkJob
from gpu_assistant.bench.memory_fit import MemoryFitJob
from gpu_assistant.bench.scaling import measure_parallel
from gpu_assistant.catalog.estimates import load_durations
from gpu_assistant.catalog.records.health import HealthRules
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core import json
from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.results import BenchResult, Check, MemoryFit
from gpu_assistant.detect.nvidia import query_nvidia_smi
from gpu_assistant.health.child_protocol import HealthProgress
from gpu_assistant.health.job import HealthJob
from gpu_assistant.monitor.sampler import Sampler
from gpu_assistant.system import current_system
from gpu_assistant.system.base import System
from gpu_assistant.system.nvml.monitor import NvmlMonitor
from gpu_assistant.system.processes import DeadlineEvent, run_json_lines
from gpu_assistant.texts.localized import Texts
from gpu_assistant.verify.job import VerifyJob

CARD = "cuda:0"
PROBES_PROGRAM = Path(__file__).resolve().with_name("card_probes.py")
CANCEL_LIMIT_S = 5.0  # from the cancel until nothing of the test is left
FREED_TOLERANCE_BYTES = 64 * 2**20  # a driver's own memory varies
PEAK_TOLERANCE = 0.10
FASTER, AS_FAST = 1.0, 0.97
EFFICIENCY = (0.85, 1.10)  # of one process under DistributedDataParallel, beside the same one alone
LASTING_CLOCK_SHARE = 0.6  # of the highest clock; less under load has a cause that the log names
MAX_RAMP_S = 2.0  # as long as the benchmark warms up
MAX_REST_S, REST_POLL_S = 10.0, 0.5  # until the load of the check before is no longer in the driver's figures

Found = dict[str, Any]


class NeedsCard(Exception):
    """The check came to a call that needs a card, and there is none."""


class ProbeLine(msgspec.Struct, frozen=True):
    """One line of `card_probes.py`."""

    device: dict[str, Any] | None = None
    probe: str | None = None
    figures: Found | None = None
    failed: str | None = None
    missing: str | None = None
    lost: bool = False
    end: bool = False


class Workplace:
    """What the checks share: the environment, the system, the catalog, and a data folder that goes with the run."""

    def __init__(self, system: System, environment: Path, data: Path) -> None:
        self.system, self.environment, self.data = system, environment, DataDir(data)
        self.python = system.environment_python(environment)
        self.catalog = load_catalog(resources_dir() / "catalog")
        self.rules = self.catalog.read("health.json", HealthRules)
        self.start_limit = load_durations(self.catalog).torch_load_limit_seconds
        self.has_card = False

    def context(self, cancel: threading.Event, report: Callable[[Any], None] = lambda _: None) -> JobContext[Any]:
        """A job's context; other output of programs goes to stderr."""
        return JobContext(report, lambda line: print(line, file=sys.stderr), cancel)

    def health_job(self, sampler: Sampler) -> HealthJob:
        """The health test of level 2 on the card."""
        return HealthJob(
            self.environment,
            self.system,
            self.rules,
            sampler,
            level=2,
            device=CARD,
            start_limit=self.start_limit,
        )

    def sampler(self) -> Sampler:
        """A sampler that reads the driver of this computer."""
        return Sampler(NvmlMonitor(self.system))

    def probe(self, names: Sequence[str], found: Found, cancel: threading.Event) -> dict[str, Any] | None:
        """Run these probes, fill `found` with their figures by name, return the device; raises NeedsCard."""
        lines: list[ProbeLine] = []

        def keep(line: ProbeLine) -> None:
            lines.append(line)
            if line.probe is not None:
                found[line.probe] = line.figures if line.figures is not None else {"failed": line.failed}

        run_json_lines(
            self.system,
            [self.python, PROBES_PROGRAM, *names],
            ProbeLine,
            keep,
            timeout=threading.TIMEOUT_MAX,
            cancel=cancel,
            log=lambda line: print(line, file=sys.stderr),
        )
        if any(line.missing is not None for line in lines):
            raise NeedsCard
        for name in names:
            found.setdefault(name, {"failed": "the program ended before it"})
        return next((line.device for line in lines if line.device is not None), None)


def verify(place: Workplace, found: Found, cancel: threading.Event) -> bool:
    """The environment's own checks, its card among them."""

    def report(event: Any) -> None:  # noqa: ANN401 - a job's news
        if isinstance(event, Check):
            found[event.id] = event.state

    checks = VerifyJob(place.environment, place.system).run(place.context(cancel, report))
    values = {check.id: check.value for check in checks.checks}
    named = {"torch": "torch-import", "cuda": "cuda-version", "cudnn": "cudnn", "copy_gb_s": "copy-bandwidth"}
    found["values"] = {name: values.get(check_id) for name, check_id in named.items()}
    place.has_card = found.get("torch-cuda") == "pass"
    if not place.has_card and found.get("torch-import") == "pass":
        found["why"] = next(check.data.get("reason") for check in checks.checks if check.id == "torch-cuda")
        raise NeedsCard
    return checks.verdict != "fail"


def quick_benchmark(place: Workplace, found: Found, cancel: threading.Event) -> bool:
    """The whole quick benchmark; its file is what `bench --judge` reads."""
    kept: list[str] = []
    found["measured"] = kept

    def report(event: Any) -> None:  # noqa: ANN401 - a job's news
        if isinstance(event, BenchResult):
            kept.append(f"{event.id} {event.dtype} {event.size} {event.device}: {event.median:.4g} {event.unit}")

    job = BenchmarkJob(
        place.environment, place.system, place.data, catalog=place.catalog, start_limit=place.start_limit
    )
    benchmark = job.run(place.context(cancel, report))
    found["benchmark"] = msgspec.to_builtins(benchmark)
    if all(device.id == "cpu" for device in benchmark.devices):
        raise NeedsCard
    faults = {"bench.note.failed", "bench.note.lost", "bench.note.memory"}
    found["faults"] = [f"{each.id} {each.dtype} {each.device}" for each in benchmark.left_out if each.why in faults]
    below = [each for each in benchmark.results if each.judgement == "below" or "wrong" in each.notes]
    found["doubtful"] = [f"{each.id} {each.dtype} {each.size} {each.device}" for each in below]
    return not found["faults"] and not below


def _is_best(figures: Found) -> bool:
    rates: dict[str, float] = figures["images_per_s"]
    chosen = max(rates.get(str(figures[name]), 0.0) for name in ("standard_batch", "large_batch"))
    return chosen >= 0.9 * max(rates.values())


def _is_best_copy(figures: Found) -> bool:
    standard = str(figures["standard_bytes"])
    # Pageable memory of a few megabytes lies in the processor's cache, and is copied faster than any larger block.
    possible = [rates for kind, rates in figures["gb_s"].items() if rates and kind.endswith(("-within", "-pinned"))]
    return all(rates.get(standard, max(rates.values())) >= 0.95 * max(rates.values()) for rates in possible)


# What each probe is expected to show, and whether it did.
EXPECTED_FIGURES: dict[str, tuple[str, Callable[[Found], bool]]] = {
    "ramp": (
        "a rested card computes at its lasting rate before the benchmark's warm-up is over",
        lambda it: it["settled_s"] <= MAX_RAMP_S,
    ),
    "caches": (
        "with a filled L2 cache a product is not slower than with a cleared one",
        lambda it: it["hot_tflops"] is None or it["hot_tflops"] >= AS_FAST * it["cold_tflops"],
    ),
    "float8": (
        "fast accumulation is not slower than float32's, and both are within the tolerance of the check",
        lambda it: (
            not it["supported"]
            or (
                it["fast_tflops"] >= AS_FAST * it["exact_tflops"]
                and max(it["fast_error"], it["exact_error"]) <= it["tolerance"]
            )
        ),
    ),
    "copies": (
        "the benchmark's 256 MiB copy at least at 95 % of the best size's rate, within the card and from pinned memory",
        _is_best_copy,
    ),
    "decode": (
        "a token replayed as a graph has the same scores and is not slower than one launched kernel by kernel",
        lambda it: it["graph_tokens_per_s"] >= FASTER * it["eager_tokens_per_s"] and it["difference"] == 0,
    ),
    "batches": (
        "of the benchmark's two batches the better one trains at least at 90 % of the best batch's rate",
        _is_best,
    ),
}


def probes(place: Workplace, found: Found, cancel: threading.Event) -> bool:
    """Figures that the benchmark's choices rest on."""
    place.probe(tuple(EXPECTED_FIGURES), found, cancel)
    for name, (expected, is_expected) in EXPECTED_FIGURES.items():
        found[name]["expected"] = expected
        found[name]["as_expected"] = "failed" not in found[name] and is_expected(found[name])
    return all(found[name]["as_expected"] for name in EXPECTED_FIGURES)


def halving(place: Workplace, found: Found, cancel: threading.Event) -> bool:
    """Training in float32 where 6 GB of the card's memory are left."""
    place.probe(("halving",), found, cancel)
    figures = found["halving"]
    return "failed" not in figures and 1 <= figures["batch"] < figures["standard_batch"]


def health(place: Workplace, found: Found, cancel: threading.Event) -> bool:
    """The health test of level 2, once the card is at rest: the driver's load is that of the last second."""

    def report(event: Any) -> None:  # noqa: ANN401 - a job's news
        if isinstance(event, Check):
            found.setdefault(event.id, []).append(event.state)

    with NvmlMonitor(place.system) as nvml:
        resting_until = time.monotonic() + MAX_REST_S
        while time.monotonic() < resting_until and any(gpu.util for gpu in nvml.sample(processes=False)):
            cancel.wait(REST_POLL_S)
    with closing(place.sampler()) as sampler:
        checks = place.health_job(sampler).run(place.context(cancel, report))
    found |= {"verdict": checks.verdict, "covers": checks.covers, "curves": msgspec.to_builtins(checks.curves)}
    return checks.verdict == "pass" and {"matmul-bits", "memory-test", "card-held-back"} <= set(checks.covers)


def cancel_test(place: Workplace, found: Found, cancel: threading.Event) -> bool:
    """Cancel the health test in the midst of a product; what is left of it a moment later?"""
    stop = threading.Event()
    cancelled_at: list[float] = []

    def report(event: Any) -> None:  # noqa: ANN401 - a job's news
        if isinstance(event, HealthProgress) and event.check == "matmul-bits" and event.done and not cancelled_at:
            cancelled_at.append(time.perf_counter())
            stop.set()

    class Either(threading.Event):
        def is_set(self) -> bool:
            return stop.is_set() or cancel.is_set()

    own = psutil.Process()
    before = {child.pid for child in own.children(recursive=True)}
    with NvmlMonitor(place.system) as nvml:
        used_before = [gpu.mem_used for gpu in nvml.sample(processes=False)]
        with closing(place.sampler()) as sampler:
            try:
                place.health_job(sampler).run(place.context(Either(), report))
            except Cancelled:
                if not cancelled_at:
                    raise
            else:
                found["why"] = "the test ended by itself before it could be cancelled"
                return False
        found["seconds_until_gone"] = time.perf_counter() - cancelled_at[0]
        found["processes_left"] = len({child.pid for child in own.children(recursive=True)} - before)
        used_after = [gpu.mem_used for gpu in nvml.sample(processes=False)]
    found["memory_left_bytes"] = [
        None if one is None or other is None else one - other
        for one, other in zip(used_after, used_before, strict=False)
    ]
    return (
        found["seconds_until_gone"] <= CANCEL_LIMIT_S
        and not found["processes_left"]
        and all(left is None or left <= FREED_TOLERANCE_BYTES for left in found["memory_left_bytes"])
    )


def fit(place: Workplace, found: Found, cancel: threading.Event) -> bool:
    """The projected memory of a training step beside its real peak."""
    place.probe(("peak",), found, cancel)
    if "failed" in found["peak"]:
        return False
    projected: list[MemoryFit] = []

    class Enough(threading.Event):  # the plain variant is what was measured; the others come after it
        def is_set(self) -> bool:
            return bool(projected) or cancel.is_set()

    def report(event: Any) -> None:  # noqa: ANN401 - a job's news
        if isinstance(event, MemoryFit) and event.variant == "plain":
            projected.append(event)

    job = MemoryFitJob(
        place.environment,
        place.system,
        place.data,
        place.catalog,
        model="resnet50",
        batch=found["peak"]["batch"],
        device=CARD,
        start_limit=place.start_limit,
    )
    try:
        job.run(place.context(Enough(), report))
    except (AppError, Cancelled):
        if not projected:
            raise
    found["projected"] = msgspec.to_builtins(projected[0])
    found["ratio"] = (projected[0].peak - projected[0].cache) / found["peak"]["allocated_bytes"]
    found["ratio_reserved"] = projected[0].peak / found["peak"]["reserved_bytes"]
    return bool(abs(found["ratio"] - 1) <= PEAK_TOLERANCE)


def nccl(place: Workplace, found: Found, cancel: threading.Event) -> bool:
    """A training step under DistributedDataParallel with one process."""
    result = measure_parallel(
        place.system, place.python, place.context(cancel), processes=1, model="resnet50", dtypes=("float32",)
    )
    if result is None:
        if not place.has_card:
            raise NeedsCard
        found["why"] = "no result; the reason is on stderr"
        return False
    found |= {"backend": result.settings.get("backend"), "efficiency": result.efficiency, "error": result.error}
    backend = "gloo" if place.system.windows is not None else "nccl"
    low, high = EFFICIENCY
    return found["backend"] == backend and not result.error and low <= (result.efficiency or 0.0) <= high


def driver_answers(place: Workplace, found: Found, cancel: threading.Event) -> bool:
    """What NVML and nvidia-smi say of driver and cards; UUIDs are compared and not kept."""
    with NvmlMonitor(place.system) as nvml:
        by_nvml = nvml.snapshot()
        found["nvml"] = nvml.state
    if by_nvml is None or not by_nvml.gpus:
        raise NeedsCard
    found["driver"] = by_nvml.driver.version
    found["cards"] = [
        {"name": gpu.name, "memory_bytes": gpu.memory_bytes, "compute_capability": gpu.compute_capability}
        for gpu in by_nvml.gpus
    ]
    program = place.system.nvidia_smi()
    by_program = query_nvidia_smi(place.system, program, cancel) if program is not None else None
    if by_program is None:
        found["why"] = "there is no nvidia-smi here" if program is None else "nvidia-smi did not answer"
        return False
    found["differences"] = [
        *(
            name
            for name in ("version", "cuda_max", "model")
            if getattr(by_nvml.driver, name) != getattr(by_program.driver, name)
        ),
        *(
            f"{one.index}.{name}"
            for one, other in zip(by_nvml.gpus, by_program.gpus, strict=False)
            for name in ("name", "uuid", "pci_id")
            if getattr(one, name) != getattr(other, name)
        ),
        *(
            f"{one.index}.memory_bytes"
            for one, other in zip(by_nvml.gpus, by_program.gpus, strict=False)
            # The program rounds to MiB.
            if one.memory_bytes and other.memory_bytes and abs(one.memory_bytes - other.memory_bytes) > 2**20
        ),
        *(["count"] if len(by_nvml.gpus) != len(by_program.gpus) else []),
    ]
    return not found["differences"]


def clocks(place: Workplace, found: Found, cancel: threading.Event) -> bool:
    """What the driver reports of the card while a product is timed on it."""
    with NvmlMonitor(place.system) as nvml:
        highest = [gpu.clock_sm_max for gpu in nvml.sample(processes=False)]
        with GpuLogger(nvml.sample) as logger:
            device = place.probe(("sustained",), found, cancel)
    logs = logger.gpu_logs({str(device["uuid"]): CARD} if device is not None and device["uuid"] else None)
    log = next((each for each in logs if each.device == CARD), logs[0] if len(logs) == 1 else None)
    if log is None or "failed" in found["sustained"]:
        found["why"] = "the driver reports no card that is torch's" if log is None else "the product failed"
        return False
    found["log"] = msgspec.to_builtins(log)
    maximum = highest[log.index] if log.index < len(highest) else None
    found["clock_sm_max"] = maximum
    if log.clock_sm is None or maximum is None:
        found["why"] = "the driver reports no clock under load"
        return False
    return log.clock_sm >= LASTING_CLOCK_SHARE * maximum and set(log.throttle) <= {"power-cap"}


class CardCheck(NamedTuple):
    """One check: what is expected, its time limit in seconds, and the function, whether all is as expected."""

    id: str
    expected: str
    limit_s: float
    run: Callable[[Workplace, Found, threading.Event], bool]


CHECKS = (
    CardCheck("verify", "no check of the environment fails, and torch computes on the card", 60, verify),
    CardCheck(
        "quick-benchmark",
        "no product or copy below its usual range, nothing wrong, failed or lost, and all in two minutes",
        130,
        quick_benchmark,
    ),
    CardCheck("probes", "each probe as it says itself", 110, probes),
    CardCheck("halving", "with 6 GB left, training in float32 halves its batch and goes on", 40, halving),
    CardCheck("health", "the health test of level 2 passes and covers products, memory and throttling", 90, health),
    CardCheck("cancel", "5 s after a cancel no process is left, and the card's memory is free again", 40, cancel_test),
    CardCheck("fit", "the projected peak within 10 % of what torch had allocated", 50, fit),
    CardCheck("nccl", "one process trains by NCCL (Windows: gloo), as fast as without, with equal weights", 45, nccl),
    CardCheck("driver", "NVML and nvidia-smi say the same of driver and cards", 10, driver_answers),
    CardCheck(
        "clocks", "under load at least 60 % of the highest clock, held back by its power limit alone", 25, clocks
    ),
)


def run_check(check: CardCheck, place: Workplace) -> dict[str, Any]:
    """The check's entry in the file."""
    found: Found = {}
    reason = None
    started = time.perf_counter()
    deadline = DeadlineEvent(threading.Event(), check.limit_s)
    try:
        state = "as-expected" if check.run(place, found, deadline) else "differs"
    except NeedsCard:
        state = "needs-card"
    except Cancelled:
        state = "late"
    except AppError as error:
        # A device that torch does not have.
        state = "needs-card" if error.code in ("bench-no-device", "health-no-device") else "failed"
        reason = error.code
        print(f"{check.id}: {Texts('en').error_text(error)}", file=sys.stderr)
    except Exception as error:  # noqa: BLE001 - one check must not end the others
        state, reason = "failed", f"{type(error).__name__}: {error}"
    return {**_entry(check, state), "seconds": time.perf_counter() - started, "reason": reason, "found": found}


def _entry(check: CardCheck, state: str) -> dict[str, Any]:
    return {"id": check.id, "state": state, "expected": check.expected, "limit_s": check.limit_s}


def environment_of(python: Path, system: System) -> Path | None:
    """The environment whose Python that is; None where it is not an environment's."""
    for folder in (python.parent.parent, python.parent):  # conda on Windows has it in the folder itself
        has_marker = (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()
        if has_marker and system.environment_python(folder).is_file():
            return folder
    return None


def main() -> int:
    """All checks, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, required=True, help="the Python of an environment with PyTorch")
    parser.add_argument("output", type=Path)
    given = parser.parse_args()
    system = current_system()
    environment = environment_of(given.python.absolute(), system)
    if environment is None:
        parser.error(f"{given.python} is not the Python of an environment (venv or conda)")
    result: dict[str, Any] = {
        "schema": "gpu-assistant/on-a-card/1",
        "started": time.time(),
        "system": system.name,
        "checks": [_entry(check, "not-run") for check in CHECKS],
    }
    json.write_file(given.output, json.encode_pretty(result))
    with tempfile.TemporaryDirectory() as folder:
        place = Workplace(system, environment, Path(folder))
        for index, check in enumerate(CHECKS):
            result["checks"][index] = run_check(check, place)
            json.write_file(given.output, json.encode_pretty(result))
            print(f"{check.id}: {result['checks'][index]['state']}", flush=True)
    return 0 if all(each["state"] == "as-expected" for each in result["checks"]) else 1


if __name__ == "__main__":
    sys.exit(main())
