"""The probes for a real card, on the real PyTorch: the processor in its place, what CUDA alone has is empty."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ..child_code import inside

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"

CARD_ON_PROCESSOR = f"""
import contextlib, sys, types
sys.path.insert(0, {str(BENCHMARKS)!r})
import card_probes

class Card(devices.CpuDevice):
    kind, capability, is_full = "gpu", (8, 6), False

    def time_runs(self, work, count=1):
        if self.is_full:  # once: half of the batch fits
            self.is_full = False
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return super().time_runs(work, count)

card = Card(torch, 1)
stream = types.SimpleNamespace(wait_stream=lambda other: None)
torch.cuda.Stream = torch.cuda.current_stream = lambda: stream
torch.cuda.CUDAGraph = lambda: types.SimpleNamespace(replay=lambda: None)
torch.cuda.stream = torch.cuda.graph = lambda _: contextlib.nullcontext()
torch.cuda.synchronize = torch.cuda.reset_peak_memory_stats = lambda *_: None
torch.cuda.max_memory_allocated = torch.cuda.max_memory_reserved = lambda _: 1
card_probes.PRODUCT_SIDE = card_probes.CACHED_SIDE = 64
card_probes.REST_S, card_probes.RAMP_S, card_probes.SUSTAINED_S, card_probes.STEPS = 0.0, 0.3, 1.2, 2
card_probes.COPY_BYTES, card_probes.BATCHES, card_probes.PEAK_BATCH = (2**20, 2**22), (1, 2), 2
"""


def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("on_a_card", BENCHMARKS / "on_a_card.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.real_install
def test_probes_of_the_benchmarks_choices(torch_environment: Path) -> None:
    expected = program().EXPECTED_FIGURES
    code = f"{CARD_ON_PROCESSOR}\nresult = {{name: card_probes.PROBES[name](card) for name in {list(expected)!r}}}"
    figures: dict[str, Any] = inside(torch_environment, code)
    assert all(rate > 0 for rate in figures["ramp"]["tflops"])
    assert figures["float8"] == {"supported": False}  # of this compute capability
    assert figures["copies"]["gb_s"]["copy-to-device-pinned"] is None  # nothing pins memory without a driver
    assert set(figures["copies"]["gb_s"]["copy-within"]) == {str(2**20), str(2**22)}
    assert figures["decode"]["difference"] == 0
    assert set(figures["batches"]["images_per_s"]) == {"1", "2"}
    for name, (_, is_expected) in expected.items():
        assert is_expected(figures[name]) in (True, False)


@pytest.mark.real_install
def test_probes_of_memory_and_clocks(torch_environment: Path) -> None:
    code = f"""{CARD_ON_PROCESSOR}
card_probes.LEFT_BYTES = 2**60
card_probes.child("training").TRAINING_BATCHES["gpu"] = 2
card.is_full = True
result = {{"halving": card_probes.halving(card)}}
result.update({{name: card_probes.PROBES[name](card) for name in ("peak", "sustained")}})
rates = [60, 80, 96, 98, 100, 101, 99, 100, 100]
result["settled"] = card_probes.settled_after([(index + 1.0, rate) for index, rate in enumerate(rates)])
"""
    figures: dict[str, Any] = inside(torch_environment, code)
    assert (figures["halving"]["standard_batch"], figures["halving"]["batch"]) == (2, 1)
    assert figures["peak"] == {"batch": 2, "allocated_bytes": 1, "reserved_bytes": 1}
    assert figures["sustained"]["burst_tflops"] > 0
    assert figures["sustained"]["sustained_tflops"] > 0
    assert figures["settled"] == 3.0  # after the slice that ends then, all are within 3 % of the end
