"""What fits in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gpu_assistant.bench import fit as fitting
from gpu_assistant.bench.fit import FitJob
from gpu_assistant.core.errors import AppError, CallError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.json import encode
from gpu_assistant.core.machine import Cpu
from gpu_assistant.core.paths import resources
from gpu_assistant.core.results import MemoryFit
from gpu_assistant.texts import Texts

from ..fakes.benchmarks import memory_fits
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
    assert broken.value.code == "bench-torch-missing"
    environment = environment_with(tmp_path / "card", torch_with_card())
    with pytest.raises(CallError) as other:
        job(environment, device="cuda:5").run(JobContext())
    assert other.value.data == {"device": "cuda:5", "have": "cpu, cuda:0"}
    with pytest.raises(AppError) as failed:
        job(environment).run(JobContext())  # the stand-in has no layers
    assert (failed.value.code, failed.value.data) == ("bench-stopped", {"reason": "@bench.note.failed"})


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
def test_a_child_that_gives_nothing(tmp_path: Path, torch: str, code: str) -> None:
    asked = FitJob(
        environment_with(tmp_path / "env", torch),
        FakeSystem(cpu=Cpu(cores=1)),
        model="resnet50",
        batch=8,
        device="cpu",
        start_limit=5,
    )
    with pytest.raises(AppError) as caught:
        asked.run(JobContext())
    assert caught.value.code == code
    for language in ("en", "zh_CN"):
        assert Texts(language).error(caught.value)


@pytest.mark.parametrize("after", ["os._exit(6)", "time.sleep(600)"], ids=["killed", "hangs"])
def test_what_was_measured_before_the_end_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: str) -> None:
    plain = memory_fits().fits[0]
    child = tmp_path / "child.py"
    lines = encode({"torch": "2.13.0"}).decode(), encode({"fit": plain}).decode()
    child.write_text(f"import os, time\nfor line in {lines!r}: print(line, flush=True)\n{after}\n", encoding="utf-8")
    monkeypatch.setattr(fitting, "CHILD", child)
    asked = FitJob(
        environment_with(tmp_path / "env", None),
        FakeSystem(cpu=Cpu(cores=1)),
        model="resnet50",
        batch=16,
        device="cpu",
        time_limit=5,
    )
    found = asked.run(JobContext())
    assert found.fits == (plain,)
    assert found.left_out == dict.fromkeys(("mixed", "checkpointing", "accumulation"), "bench.note.stopped")
