"""The code to copy runs, and learns the same."""

from __future__ import annotations

import ast
import json
from itertools import combinations
from pathlib import Path

import pytest

from gpu_assistant.bench.snippet import snippet

from .inside import inside

VARIANTS = ("mixed", "checkpointing", "accumulation")
SETS = [frozenset(some) for count in range(4) for some in combinations(VARIANTS, count)]


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
@pytest.mark.parametrize("mixed", ["mixed-bfloat16", "mixed-float16"])
def test_it_is_python_and_says_what_was_chosen(device: str, mixed: str) -> None:
    for variants in SETS:
        code = snippet(device, variants, mixed=mixed)  # type: ignore[arg-type]
        ast.parse(code)
        assert ("autocast" in code) == ("mixed" in variants)
        assert ("checkpoint" in code) == ("checkpointing" in variants)
        assert ("number % 4" in code) == ("accumulation" in variants)
        assert ("scaler" in code) == ("mixed" in variants and device != "cpu" and mixed == "mixed-float16")


@pytest.mark.real_install
def test_it_runs_and_learns_the_same(torch_environment: Path) -> None:
    """Four small batches gathered are one large one; nothing else may change what is learned, but for rounding."""
    codes = [snippet("cpu", variants) for variants in SETS]
    code = f"""
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        for block in self.blocks:
            x = torch.tanh(block(x))
        return x

torch.manual_seed(1)
inputs, targets = torch.randn(16, 8), torch.randn(16, 8)
whole, parts = [(inputs, targets)], list(zip(inputs.chunk(4), targets.chunk(4)))
found = []
for code in json.loads({json.dumps(codes)!r}):
    torch.manual_seed(0)
    model = Model()
    names = {{}}
    exec(code, names)
    loader = parts if "number % 4" in code else whole
    names["train"](model, loader, torch.optim.SGD(model.parameters(), lr=0.5), torch.nn.functional.mse_loss)
    found.append([float(each.detach().sum()) for each in model.parameters()])
"""
    first, *others = inside(torch_environment, code)
    for variants, other in zip(SETS[1:], others, strict=True):
        assert other == pytest.approx(first, abs=5e-3 if "mixed" in variants else 1e-5), variants
    assert len(others) == 7
