"""The code to copy runs, and learns the same."""

from __future__ import annotations

import ast
import json
from itertools import combinations
from pathlib import Path

import pytest

from gpu_assistant.bench.snippet import BLOCKS, snippet

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
        assert ("inputs.chunk(4)" in code) == ("accumulation" in variants)
        assert "torch.cuda.amp" not in code  # deprecated
        assert ("scaler" in code) == ("mixed" in variants and device != "cpu" and mixed == "mixed-float16")


@pytest.mark.parametrize(("model", "blocks"), [(name, blocks) for name, (_, blocks) in BLOCKS.items()])
def test_checkpointing_names_the_blocks_of_the_model(model: str, blocks: str) -> None:
    code = snippet("cuda:0", frozenset({"checkpointing"}), model=model)
    ast.parse(blocks)
    assert blocks in code
    assert "model.blocks" not in code


@pytest.mark.real_install
def test_it_runs_and_learns_the_same(torch_environment: Path) -> None:
    """Two epochs of two batches, the last one an odd one: a batch in parts is that batch, but for rounding."""
    codes = [snippet("cpu", variants) for variants in SETS]
    code = f"""
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))
        self.most = 0

    def forward(self, x):
        self.most = max(self.most, len(x))
        for part in self.parts:
            x = torch.tanh(part(x))
        return x

torch.manual_seed(1)
inputs, targets = torch.randn(22, 8), torch.randn(22, 8)
loader = [(inputs[:16], targets[:16]), (inputs[16:], targets[16:])]
found = []
for code in json.loads({json.dumps(codes)!r}):
    torch.manual_seed(0)
    model = Model()
    names = {{}}
    exec(code, names)
    blocks = [list(model.parts)] if "blocks" in code else []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for epoch in range(2):
        names["train"](model, loader, optimizer, torch.nn.functional.mse_loss, *blocks)
    nested = any(getattr(part.forward, "args", ((),))[0].__class__.__name__ == "partial" for part in model.parts)
    left = any(each.grad is not None for each in model.parameters())
    found.append([[float(each.detach().sum()) for each in model.parameters()], model.most, nested, left])
"""
    first, *others = inside(torch_environment, code)
    assert first[1:] == [16, False, False]
    for variants, other in zip(SETS[1:], others, strict=True):
        assert other[0] == pytest.approx(first[0], abs=2e-2 if "mixed" in variants else 1e-5), variants
        assert other[1:] == [4 if "accumulation" in variants else 16, False, False], variants
    assert len(others) == 7
