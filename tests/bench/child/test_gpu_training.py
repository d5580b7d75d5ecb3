"""The batch of a GPU and cuDNN's search, on a stand-in for the model: a step takes time and memory by its batch."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpu_assistant.bench.child import training
from gpu_assistant.bench.child.devices import CudaDevice

GIB = 2**30
MODEL_BYTES, EXAMPLE_BYTES = GIB, 75 * 2**20


class Gpu(CudaDevice):
    """A GPU with so much memory, on which a step of `batch` examples takes `seconds(batch)`."""

    def __init__(self, memory_bytes: int, seconds: Any, *, has_cudnn: bool = True) -> None:
        self.memory_bytes, self.seconds = memory_bytes, seconds
        self.batch, self.peak, self.tried = 0, 0, []
        self.optimizer_bytes, self.state_bytes = 0, 0  # what the optimizer will take at its first step, and has
        self._index, self.id, self.capability, self.half_speedup = 0, "cuda:0", (8, 9), None
        cuda = SimpleNamespace(
            empty_cache=lambda: None,
            memory_allocated=lambda index: MODEL_BYTES,
            reset_peak_memory_stats=lambda index: None,
            max_memory_allocated=lambda index: self.peak,
            synchronize=lambda index: None,
        )
        self.torch = SimpleNamespace(
            cuda=cuda,
            backends=SimpleNamespace(
                cuda=SimpleNamespace(matmul=SimpleNamespace()),
                # Without cuDNN, as in builds for ROCm, torch has None here: backends/cudnn/__init__.py.
                cudnn=SimpleNamespace(benchmark=False, benchmark_limit=10 if has_cudnn else None),
            ),
        )

    def free_bytes(self) -> int:
        return self.memory_bytes - MODEL_BYTES

    def step(self) -> None:
        self.peak = MODEL_BYTES + self.state_bytes + self.batch * EXAMPLE_BYTES
        self.tried.append(self.batch)
        if self.peak > self.memory_bytes:
            raise RuntimeError("CUDA out of memory. Tried to allocate 256.00 MiB")
        self.state_bytes = self.optimizer_bytes

    def time_runs(self, work: Any, count: int = 1) -> list[float]:
        for _ in range(count):
            work()
        return [self.seconds(self.batch)] * count


def prepared(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> training.TrainingWorkload:
    class Step:
        """In place of the model."""

        def __init__(self, *_: Any, **__: Any) -> None:
            self.optimizer = SimpleNamespace(zero_grad=lambda set_to_none: None)
            self.model = SimpleNamespace(train=lambda: None)
            self.spec, self.channels_last = SimpleNamespace(optimizer_name="SGD"), True

        def make_batch(self, batch: int) -> tuple[int, int]:
            gpu.batch = batch
            return batch, batch

        def run(self, inputs: Any, classes: Any) -> None:
            gpu.step()

    monkeypatch.setattr(training, "TrainingStep", Step)
    monkeypatch.setattr(training.TrainingWorkload, "_initial_loss", lambda self: 1.0)
    monkeypatch.setattr(training.TrainingWorkload, "_compare_loss", lambda self: (0.0, 1.0))
    workload = training.TrainingWorkload(gpu, "resnet50", "mixed-bfloat16", 6.0)
    workload.prepare()
    return workload


def gains(batch: int) -> float:
    """Seconds of a step that takes less for each example of a large batch."""
    return 0.02 + 0.0012 * batch


@pytest.mark.parametrize(
    ("memory_gib", "seconds", "batch"),
    [
        (24, gains, 256),
        (16, gains, 64),  # 256 examples would fill it
        (4, gains, 32),  # does not even hold 64
        (24, lambda batch: 0.001 * batch + (0.1 if batch > 64 else 0), 64),  # gains nothing
        (24, lambda batch: 0.005 * batch, 64),  # six steps of 256 take longer than there is time
    ],
    ids=["fits", "does-not-fit", "small", "no-gain", "slow"],
)
def test_large_batch_where_memory_allows(
    monkeypatch: pytest.MonkeyPatch, memory_gib: int, seconds: Any, batch: int
) -> None:
    gpu = Gpu(memory_gib * GIB, seconds)
    workload = prepared(gpu, monkeypatch)
    assert (workload.batch, workload.amount, gpu.batch) == (batch, batch, batch)
    if memory_gib == 16:
        assert max(gpu.tried) == 64  # nothing that the estimate excludes is tried: on Windows it would spill


def test_batch_leaves_room_for_the_optimizers_state(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Gpu(6 * GIB, gains)  # 64 examples fit beside the model, and no longer when the optimizer has its state
    gpu.optimizer_bytes = GIB
    workload = prepared(gpu, monkeypatch)
    workload.run()
    assert workload.batch == 32


def test_batch_that_fails_all_the_same_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Gpu(24 * GIB, gains)
    real_step = gpu.step
    monkeypatch.setattr(gpu, "step", lambda: fail() if gpu.batch > 64 else real_step())
    assert prepared(gpu, monkeypatch).batch == 64


def fail() -> None:
    raise RuntimeError("GET was unable to find an engine to execute this computation")


@pytest.mark.parametrize(("has_cudnn", "limit"), [(True, 4), (False, None)])
def test_search_of_cudnn_is_limited(monkeypatch: pytest.MonkeyPatch, has_cudnn: bool, limit: int | None) -> None:
    gpu = Gpu(24 * GIB, gains, has_cudnn=has_cudnn)
    workload = prepared(gpu, monkeypatch)
    assert gpu.torch.backends.cudnn.benchmark is True
    assert gpu.torch.backends.cudnn.benchmark_limit == limit
    assert workload.settings()["cudnn_benchmark_limit"] == limit
