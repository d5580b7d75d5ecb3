"""What fits in memory."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis.strategies import builds, integers, just, lists
from msgspec.structs import asdict, replace

from gpu_assistant.bench import memory_fit
from gpu_assistant.bench.child.memory_fit import LinearPeak, MemoryEvent, _upper_envelope, possible_peaks
from gpu_assistant.bench.child.program import select_devices
from gpu_assistant.bench.child_protocol import MemoryFitProgress
from gpu_assistant.bench.memory_fit import MemoryFitJob, practical_batch, project_memory
from gpu_assistant.catalog.estimates import load_memory_planning
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.json import encode
from gpu_assistant.core.machine import Cpu
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.results import BenchDevice, MemoryFit, MemoryPeakModel, MemoryProfile, StepMemory
from gpu_assistant.system.locks import data_folder_lock
from gpu_assistant.texts.localized import Texts

from ..fakes.benchmarks import memory_fits, two_gpus
from ..fakes.environments import environment_with, torch_with_card
from ..fakes.system import FakeSystem
from .child_code import inside

CATALOG = load_catalog(resources_dir() / "catalog")
VARIANTS = ("plain", "mixed", "checkpointing", "accumulation", "together")


def job(environment: Path, *, device: str = "cpu", **options: Any) -> MemoryFitJob:
    system = FakeSystem(cpu=Cpu(cores=1))
    options = {"batch": 8, "time_limit": 280, **options}
    data = DataDir(environment.parent / "data")
    return MemoryFitJob(environment, system, data, CATALOG, model="resnet50", device=device, **options)


@pytest.mark.real_install
def test_training_step_memory(torch_environment: Path) -> None:
    events: list[Any] = []
    result = job(torch_environment).run(JobContext(events.append))
    assert tuple(each for each in events if isinstance(each, MemoryFit)) == result.fits
    begun = [each for each in events if isinstance(each, MemoryFitProgress)]
    assert [(each.index, each.total, each.variant) for each in begun] == [
        (n, 5, each) for n, each in enumerate(VARIANTS, 1)
    ]
    assert tuple(project_memory(each, 8) for each in result.steps) == result.fits
    assert len(encode(result.steps)) < 5000  # the few points that may be the highest, not the whole step
    assert result.devices[0].id == "cpu"
    assert result.seconds is not None
    assert 0 < result.seconds < 280
    schema = json.loads((resources_dir() / "schemas" / "memory.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(encode(result)))
    fits = {fit.variant: fit for fit in result.fits}
    assert set(fits) | set(result.left_out) == set(VARIANTS)
    for fit in result.fits:
        parts = (fit.parameters, fit.gradients, fit.optimizer, fit.activations, fit.temporary, fit.cache)
        assert sum(parts) == fit.peak
        assert min(parts) >= 0
        assert fit.exact
        assert fit.capacity is not None
        assert fit.reserve is not None
        assert fit.reserve >= 0.19 * fit.capacity
        assert fit.largest_batch is not None
    plain = fits["plain"]
    assert plain.optimizer == 4 * 25_557_032  # SGD keeps one number for each
    assert plain.parameters == 4 * (25_557_032 + 2 * 26_560) + 8 * 53  # and what its norms keep
    assert largest(fits["checkpointing"]) > largest(plain)
    assert largest(fits["accumulation"]) > largest(plain)
    assert fits["checkpointing"].peak < plain.peak
    assert fits["accumulation"].peak < plain.peak
    together = fits["together"]
    assert together.peak <= min(each.peak for each in result.fits)
    assert together.dtype == (fits["mixed"].dtype if "mixed" in fits else "float32")


def largest(fit: MemoryFit) -> int:
    return fit.largest_batch or 0


PURE = """
from gpu_assistant_bench import memory_fit

def step(batch):  # two layers' activations, then gradients as activations are given back
    sizes = [10 * batch, 20 * batch, 100, -20 * batch, 300, -10 * batch, -400]
    return [memory_fit.MemoryEvent(size, 100 if at > 2 else 0, at > 5, at // 2) for at, size in enumerate(sizes)]

two, three = (step(2), 2), (step(3), 3)
other = [*step(3), memory_fit.MemoryEvent(5, 0, True, 3), memory_fit.MemoryEvent(-5, 0, True, 3)]
result = {
    "tops": [top._asdict() for top in memory_fit.possible_peaks(two, three)],
    "measured": [memory_fit.peak_bytes(step(batch)) for batch in (1, 4, 15, 16, 100)],
    "alike": [memory_fit.has_same_allocations(two[0], three[0]), memory_fit.has_same_allocations(two[0], other)],
    "outline": [top._asdict() for top in memory_fit.possible_peaks(two, (other, 3))],
}
"""


@pytest.mark.real_install
def test_peak_moves_with_batch(torch_environment: Path) -> None:
    """With few examples the gradients are highest, with many the activations."""
    result = inside(torch_environment, PURE)
    assert [highest(result["tops"], batch) for batch in (1, 4, 15, 16, 100)] == result["measured"]
    assert result["measured"] == [410, 440, 550, 580, 3100]
    # Two points are all that is told of the step, whatever the batch.
    assert [(top["constant"], top["example"], top["gradients"]) for top in result["tops"]] == [
        (400, 10, 100),
        (100, 30, 0),
    ]
    assert result["alike"] == [True, False]
    # Where the allocations of the two steps differ, the stretches of the step tell the same.
    assert [highest(result["outline"], batch) for batch in (1, 4, 100)] == [410, 440, 3100]


def highest(tops: list[dict[str, Any]], batch: int) -> int:
    return max(int(top["constant"] + top["example"] * batch) for top in tops)


def test_other_batch_needs_no_new_measurement(tmp_path: Path) -> None:
    """The child is not told for which batch somebody asks."""
    python = tmp_path / "python"
    assert job(tmp_path / "env", batch=2).child_argv(python) == job(tmp_path / "env", batch=6).child_argv(python)


@given(
    steps=lists(
        builds(
            MemoryPeakModel,
            constant=integers(0, 10**9),
            example=integers(0, 10**8),
            gradients=just(0),
            updating=just(False),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_every_possible_peak_is_reported(steps: list[MemoryPeakModel]) -> None:
    points = [LinearPeak(each.constant, each.example, each.gradients, each.updating) for each in steps]
    envelope = _upper_envelope(points)
    for batch in (*range(1, 40), 1000, 2**20):
        assert max(t.constant + t.example * batch for t in envelope) == max(
            t.constant + t.example * batch for t in points
        )
    assert len(envelope) == len(set(envelope))


def test_accumulated_gradients_are_not_new_memory() -> None:
    steps = small_steps()
    whole = project_memory(steps, 8)
    assert (whole.gradients, whole.activations, whole.peak) == (
        100,
        8 * 2 + 60 + 8 * 30 - 100,
        whole.parameters + 200 + 316,
    )
    parts = project_memory(replace(steps, micro_batches=4), 8)  # two at a time
    assert (parts.gradients, parts.activations) == (100, 2 * 2 + 60 + 2 * 30)
    updating = project_memory(replace(steps, peaks=(replace(steps.peaks[0], updating=True),)), 8)
    assert (updating.activations, updating.temporary) == (8 * 2, 60 + 8 * 30 - 100)
    assert project_memory(replace(steps, cached=0.5), 8).cache == whole.peak // 2


def test_largest_batch_is_last_that_fits() -> None:
    steps = replace(small_steps(), capacity=10_000, reserve=1_000)
    most = project_memory(steps, 1).largest_batch
    assert most is not None
    assert project_memory(steps, most).peak <= 9_000 < project_memory(steps, most + 1).peak
    assert project_memory(replace(steps, capacity=1_100), 1).largest_batch == 0
    assert project_memory(replace(steps, capacity=None), 1).largest_batch is None


def small_steps() -> MemoryProfile:
    return MemoryProfile(**asdict(small_measurement()), reserve=None)


def small_measurement() -> StepMemory:
    return StepMemory(
        model="resnet50",
        device="cpu",
        variant="plain",
        dtype="float32",
        exact=True,
        parameters=100,
        gradients=100,
        optimizer=200,
        example=2,
        micro_batches=1,
        cached=0.0,
        peaks=(MemoryPeakModel(constant=60, example=30, gradients=100, updating=False),),
        capacity=None,
    )


def test_failures(tmp_path: Path) -> None:
    with pytest.raises(AppError) as missing:
        job(tmp_path / "nothing").run(JobContext())
    assert missing.value.code == "environment-missing"
    with pytest.raises(AppError) as broken:
        job(environment_with(tmp_path / "empty", None)).run(JobContext())
    assert broken.value.code == "bench-torch-missing"
    environment = environment_with(tmp_path / "card", torch_with_card())
    with pytest.raises(UsageError) as other:
        job(environment, device="cuda:5").run(JobContext())
    assert other.value.data == {"device": "cuda:5", "have": "cpu, cuda:0"}
    with pytest.raises(AppError) as failed:
        job(environment).run(JobContext())  # the stand-in has no layers
    assert (failed.value.code, failed.value.data) == ("bench-stopped", {"reason": "@bench.note.failed"})


def test_running_benchmark_blocks_measurement(tmp_path: Path) -> None:
    environment = environment_with(tmp_path / "env", torch_with_card())
    with data_folder_lock(DataDir(tmp_path / "data"), "benchmark"), pytest.raises(AppError) as refused:
        job(environment).run(JobContext())
    assert refused.value.code == "bench-running"


@pytest.mark.parametrize(
    ("torch", "code"),
    [
        ("import os; os._exit(6)", "bench-ended"),
        ("import os; os.write(1, b'{[' + bytes([255, 10]) * 1000); os._exit(0)", "bench-ended"),
        ("import time; time.sleep(600)", "bench-silent"),
        ("raise OSError('libcudart.so.13: cannot open shared object file')", "bench-no-torch"),
    ],
    ids=["killed", "garbage", "hangs", "broken"],
)
def test_child_without_output(tmp_path: Path, torch: str, code: str) -> None:
    # A child that hangs need not be waited for; the others say what is wrong once Python has started.
    limit = {"start_limit": 5} if code == "bench-silent" else {}
    silent_job = job(environment_with(tmp_path / "env", torch), **limit)
    with pytest.raises(AppError) as caught:
        silent_job.run(JobContext())
    assert caught.value.code == code
    for language in ("en", "zh_CN"):
        assert Texts(language).error_text(caught.value)


@pytest.mark.parametrize(
    ("total_gib", "free_gib", "kept_gib"),
    [(140, 140, 2.0), (8, 8, 0.8), (8, 7.75, 0.55), (8, 7, 0.5), (8, 0.25, 0.25)],
    ids=["large card", "small card", "desktop", "other programs", "full"],
)
def test_what_others_take_counts_towards_the_reserve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, total_gib: int, free_gib: float, kept_gib: float
) -> None:
    """What can be used of a card that nobody else uses much is what the published figures are compared with."""
    measurement = replace(small_measurement(), device="cuda:0", capacity=round(free_gib * 2**30))
    child = tmp_path / "child.py"
    devices = (BenchDevice(id="cpu"), BenchDevice(id="cuda:0", memory_bytes=total_gib * 2**30))
    start = {"torch": "2.13.0", "devices": devices, "of": 5, "limit_s": 0.0}
    lines = [encode(each).decode() for each in ({"start": start}, {"variant": "plain"}, {"fit": measurement})]
    child.write_text(f"for line in {lines!r}: print(line, flush=True)\n", encoding="utf-8")
    monkeypatch.setattr(memory_fit, "CHILD_PROGRAM", child)
    events: list[Any] = []
    result = job(environment_with(tmp_path / "env", None), device="cuda:0").run(JobContext(events.append))
    assert result.steps[0].reserve == result.fits[0].reserve == round(kept_gib * 2**30)
    assert [each.reserve for each in events if isinstance(each, MemoryFit)] == [result.fits[0].reserve]


@pytest.mark.parametrize(
    ("after", "why"), [("os._exit(6)", "stopped"), ("time.sleep(600)", "over")], ids=["killed", "hangs"]
)
def test_results_before_abort_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: str, why: str) -> None:
    plain = small_steps()
    child = tmp_path / "child.py"
    start = {"torch": "2.13.0", "devices": two_gpus(), "of": 5, "limit_s": 0.0}
    lines = [encode(each).decode() for each in ({"start": start}, {"variant": "plain"}, {"fit": small_measurement()})]
    child.write_text(f"import os, time\nfor line in {lines!r}: print(line, flush=True)\n{after}\n", encoding="utf-8")
    monkeypatch.setattr(memory_fit, "CHILD_PROGRAM", child)
    result = job(environment_with(tmp_path / "env", None), time_limit=5).run(JobContext())
    assert result.steps == (plain,)
    assert result.fits == (project_memory(plain, 8),)
    assert result.devices == two_gpus()
    assert result.left_out == dict.fromkeys(VARIANTS[1:], f"bench.note.{why}")


@pytest.mark.parametrize(
    ("largest", "plain", "accumulated"),
    [(None, None, None), (0, 0, 0), (3, 3, 3), (13, 13, 12), (254, 240, 240), (648, 640, 640), (1012, 960, 960)],
)
def test_practical_batch_is_rounded(largest: int | None, plain: int | None, accumulated: int | None) -> None:
    """Never more than was projected, and no more than a ninth less."""
    one = replace(memory_fits().fits[0], largest_batch=largest)
    assert practical_batch(one) == plain
    assert practical_batch(replace(one, variant="accumulation")) == accumulated


def test_cuda_selects_gpu_with_most_memory() -> None:
    cards = [{"id": f"cuda:{number}", "memory_bytes": size} for number, size in enumerate((8, 24, 24))]
    about: list[dict[str, Any]] = [{"id": "cpu", "threads": 6}, *cards]
    devices: list[Any] = [
        SimpleNamespace(id=each["id"], kind="cpu" if each["id"] == "cpu" else "gpu") for each in about
    ]
    assert [each.id for each in select_devices(devices, about, "cuda")] == ["cuda:1"]  # of equal ones the first
    assert [each.id for each in select_devices(devices, about, "cuda:2")] == ["cuda:2"]
    assert select_devices(devices[:1], about[:1], "cuda") == []


def test_memory_reserve_depends_on_device_kind() -> None:
    planning = load_memory_planning(CATALOG)
    windows, linux = planning.find_reserve("gpu", "windows"), planning.find_reserve("gpu", "linux")
    assert windows is not None
    assert linux is not None
    assert windows.share > linux.share  # the display and other programs
    assert planning.find_reserve("cpu", "windows") == planning.find_reserve("cpu", "linux") is not None
    assert all(each.why for each in planning.reserves)


def test_differing_steps_extrapolate_by_stage() -> None:
    """The update may be the highest point of both small steps, and yet not of a large one."""

    def step(batch: int, more: int) -> list[MemoryEvent]:
        sizes = [10 * batch, *(more * [1, -1]), -10 * batch]
        return [
            *(MemoryEvent(size, 0, False, 0) for size in sizes),
            MemoryEvent(500, 0, True, 1),
            MemoryEvent(-500, 0, True, 1),
        ]

    peaks = possible_peaks((step(2, 0), 2), (step(3, 1), 3))
    assert peaks[0] == LinearPeak(500, 0, 0, True)
    assert peaks[-1].example >= 10
    assert not peaks[-1].updating
