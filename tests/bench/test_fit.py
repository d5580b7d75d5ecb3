"""What fits in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gpu_assistant.bench.fit import FitJob
from gpu_assistant.core.errors import AppError, CallError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.json import encode
from gpu_assistant.core.machine import Cpu
from gpu_assistant.core.paths import resources
from gpu_assistant.core.results import MemoryFit

from ..fakes.environments import environment_with, torch_with_card
from ..fakes.system import FakeSystem
from .inside import inside


def job(environment: Path, *, device: str = "cpu") -> FitJob:
    return FitJob(environment, FakeSystem(cpu=Cpu(cores=1)), model="resnet50", batch=8, device=device, time_limit=280)


@pytest.mark.real_install
def test_what_a_training_step_needs(torch_environment: Path) -> None:
    news: list[Any] = []
    found = job(torch_environment).run(JobContext(news.append))
    assert tuple(news) == found.fits
    schema = json.loads((resources() / "schemas" / "memory.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(encode(found)))
    fits = {fit.variant: fit for fit in found.fits}
    assert set(fits) | set(found.left_out) == {"plain", "mixed", "checkpointing", "accumulation"}
    for fit in found.fits:
        parts = (fit.parameters, fit.gradients, fit.optimizer, fit.activations, fit.temporary, fit.cache)
        assert sum(parts) == fit.peak
        assert min(parts) >= 0
        assert fit.exact
        assert fit.capacity is None or fit.largest_batch is not None
    plain = fits["plain"]
    assert plain.optimizer == 4 * 25_557_032  # SGD keeps one number for each
    assert plain.parameters == 4 * (25_557_032 + 2 * 26_560) + 8 * 53  # and what its norms keep
    assert largest(fits["checkpointing"]) > largest(plain)
    assert largest(fits["accumulation"]) > largest(plain)
    assert fits["checkpointing"].peak < plain.peak
    assert fits["accumulation"].peak < plain.peak


def largest(fit: MemoryFit) -> int:
    return fit.largest_batch or 0


PURE = """
from gpu_assistant_bench import timeline

def step(batch):  # two layers' activations, then gradients as activations are given back
    sizes = [10 * batch, 20 * batch, 100, -20 * batch, 300, -10 * batch, -400]
    return [timeline.Event(size, 100 if at > 2 else 0, at > 5) for at, size in enumerate(sizes)]

two, three = (step(2), 2), (step(3), 3)
other = [*step(3), timeline.Event(5, 0, True), timeline.Event(-5, 0, True)]
found = {
    "peaks": [timeline.projected(two, three, batch) for batch in (1, 4, 100)],
    "measured": [timeline.peak(step(batch)) for batch in (1, 4, 100)],
    "alike": [timeline.alike(two[0], three[0]), timeline.alike(two[0], other)],
    "outline": timeline.projected(two, (other, 3), 5)[0],
}
"""


@pytest.mark.real_install
def test_the_highest_point_moves_with_the_batch(torch_environment: Path) -> None:
    """With few examples the gradients are highest, with many the activations."""
    found = inside(torch_environment, PURE)
    assert found["peaks"] == found["measured"]
    assert [peak[0] for peak in found["peaks"]] == [410, 440, 3100]
    assert found["alike"] == [True, False]
    assert found["outline"] == 420 + (430 - 420) * 3


def test_troubles(tmp_path: Path) -> None:
    with pytest.raises(AppError) as missing:
        job(tmp_path / "nothing").run(JobContext())
    assert missing.value.code == "environment-missing"
    with pytest.raises(AppError) as broken:
        job(environment_with(tmp_path / "empty", None)).run(JobContext())
    assert broken.value.code == "bench-no-torch"
    environment = environment_with(tmp_path / "card", torch_with_card())
    with pytest.raises(CallError) as other:
        job(environment, device="cuda:5").run(JobContext())
    assert other.value.data == {"device": "cuda:5", "have": "cpu, cuda:0"}
    with pytest.raises(AppError) as failed:
        job(environment).run(JobContext())  # the stand-in has no layers
    assert (failed.value.code, failed.value.data) == ("bench-stopped", {"reason": "@bench.note.failed"})
