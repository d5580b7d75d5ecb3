"""The guides' product, where the processor is too slow for it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpu_assistant.bench.child import matmul, schedule
from gpu_assistant.bench.child.matmul import REFERENCE_SIDE, MatmulWorkload
from gpu_assistant.bench.child.workload import WorkloadSkipped


def measured(side: int, tflops: float, before: MatmulWorkload | None = None) -> MatmulWorkload:
    workload = MatmulWorkload(SimpleNamespace(kind="cpu", id="cpu", torch=None), "float32", side, 2.5, before)
    seconds = workload.amount / tflops
    figures: dict[str, Any] = {"median": tflops, "q1": 0.9 * tflops, "q3": 1.1 * tflops, "samples": [seconds] * 3}
    workload.stored_result = {**figures, "size": [side] * 3}
    return workload


def guides(before: MatmulWorkload) -> MatmulWorkload:
    return MatmulWorkload(SimpleNamespace(kind="cpu", id="cpu", torch=None), "float32", REFERENCE_SIDE, 2.5, before)


def test_one_size_is_not_extrapolated() -> None:
    with pytest.raises(WorkloadSkipped) as left:
        guides(measured(4096, 0.2)).measure()
    assert left.value.reason == "time"
    assert left.value.figures["wanted_s"] > left.value.figures["had_s"]


def test_large_size_uses_spare_time() -> None:
    large = guides(measured(4096, 0.2))
    large.spare_s = schedule.spare_seconds(40.0, [measured(4096, 0.2), measured(4096, 0.2)])
    with pytest.raises(WorkloadSkipped) as left:
        large.measure()  # it wants some 50 seconds
    assert left.value.figures["had_s"] == 40.0 - 2 * 2.5
    assert schedule.spare_seconds(3.0, [measured(4096, 0.2)] * 2) == 0.0


def test_extrapolation_within_two_largest_sizes() -> None:
    result = guides(measured(4096, 0.2, measured(2048, 0.3))).measure()
    assert (result["extrapolated"], result["q1"], result["q3"]) == (True, pytest.approx(0.18), pytest.approx(0.33))


@pytest.mark.parametrize(
    ("windows_driver", "tflops", "reason"), [(True, 3.0, "long-kernel"), (False, 3.0, "time"), (True, 15.0, "time")]
)
def test_no_kernel_takes_longer_than_windows_allows(
    monkeypatch: pytest.MonkeyPatch, windows_driver: bool, tflops: float, reason: str
) -> None:
    """16384³ is 8.8 TFLOP: three seconds on a slow card, which Windows would reset after two."""
    monkeypatch.setattr(matmul, "has_windows_driver", lambda: windows_driver)
    card = SimpleNamespace(kind="gpu", id="cuda:0", torch=None)
    large = MatmulWorkload(card, "float32", 16384, 2.5, measured(8192, tflops))
    large.deadline = 0.0
    with pytest.raises(WorkloadSkipped) as left:
        large.measure()
    assert left.value.reason == reason


class Float8Torch(SimpleNamespace):
    """`_scaled_mm` as of a release: torch 2.1 has no `use_fast_accum` and returns a tuple, 2.5 and later a tensor."""

    def __init__(self, release: tuple[int, int]) -> None:
        names = {"scale_a", "scale_b", "out_dtype"} | ({"use_fast_accum"} if release >= (2, 2) else set())
        self.asked: list[Any] = []

        def scaled_mm(left: Any, right: Any, **options: Any) -> Any:
            if set(options) - names:
                raise TypeError("_scaled_mm() got an unexpected keyword argument 'use_fast_accum'")
            self.asked.append(options.get("use_fast_accum"))
            return Matrix() if release >= (2, 5) else (Matrix(), Matrix())

        matmul = SimpleNamespace(allow_fp16_reduced_precision_reduction=True)
        super().__init__(
            _scaled_mm=scaled_mm,
            manual_seed=lambda seed: None,
            randn=lambda *size, device, dtype: Matrix(),
            ones=lambda size, device: 1.0,
            float32="float32",
            bfloat16="bfloat16",
            float8_e4m3fn="float8_e4m3fn",
            backends=SimpleNamespace(cuda=SimpleNamespace(matmul=matmul)),
        )


class Matrix:
    def to(self, dtype: Any) -> Matrix:
        return self

    def t(self) -> Matrix:
        return self

    contiguous = t


@pytest.mark.parametrize(("release", "stated"), [((2, 1), None), ((2, 4), False), ((2, 15), False)])
def test_accumulation_of_fp8_is_stated(release: tuple[int, int], stated: bool | None) -> None:
    torch = Float8Torch(release)
    device: Any = SimpleNamespace(kind="gpu", id="cuda:0", torch=torch, capability=(8, 9))
    workload = MatmulWorkload(device, "float8", 2048, 2.5, None)
    workload.prepare()
    workload.run()
    assert isinstance(workload.product, Matrix)
    assert torch.asked == [stated, stated]
    assert workload.settings()["use_fast_accum"] is stated
    assert "use_fast_accum" not in MatmulWorkload(device, "bfloat16", 2048, 2.5, None).settings()
