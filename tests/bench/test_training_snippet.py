"""The program to copy runs as it is, for each of the models, and does what its bar was measured with."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.bench.training_snippet import EXAMPLE_MODELS, memory_savings, training_snippet
from gpu_assistant.core.results import DType, FitVariant, MemoryFit

from ..fakes.benchmarks import memory_fits
from .child_code import inside

VARIANTS: tuple[FitVariant, ...] = ("plain", "mixed", "checkpointing", "accumulation", "together")
PLAIN = memory_fits().fits[0]


def fit(variant: FitVariant, model: str = "resnet50", device: str = "cpu", half: str = "bfloat16") -> MemoryFit:
    narrow = variant == "mixed" or (variant == "together" and device != "cpu")
    dtype: DType = f"mixed-{half}" if narrow else "float32"  # type: ignore[assignment]
    return replace(PLAIN, variant=variant, model=model, device=device, dtype=dtype, batch=5)


@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
@pytest.mark.parametrize("half", ["bfloat16", "float16"])
@pytest.mark.parametrize("model", EXAMPLE_MODELS)
def test_snippet_is_valid_and_matches_measurement(device: str, half: str, model: str) -> None:
    for variant in VARIANTS:
        measured = fit(variant, model, device, half)
        code, ways = training_snippet(measured), memory_savings(measured)
        ast.parse(code)
        assert f'device = "{device}"' in code
        assert code.find("CUDA_DEVICE_ORDER") < code.index("import torch")
        assert ("PCI_BUS" in code) == (device != "cpu")
        assert ("autocast" in code) == (f"dtype=torch.{half}" in code) == ("mixed" in ways)
        assert ("checkpoint" in code) == ("checkpointing" in ways)
        assert ("inputs.chunk(4)" in code) == ("accumulation" in ways)
        assert ("channels_last" in code) == (model == "resnet50" and "mixed" in ways and device != "cpu")
        assert ("BatchNorm" in code) == (model == "resnet50" and "accumulation" in ways)
        assert ("set_per_process_memory_fraction(0.95 * free / total, device)" in code) == (device != "cpu")
        assert ("max_memory_allocated" in code) == (device != "cpu")
        assert "torch.cuda.amp" not in code  # deprecated
        assert ("scaler" in code) == ("mixed" in ways and device != "cpu" and half == "float16")
        assert max(len(line) for line in code.splitlines()) <= 120


def test_combined_variant_matches_measurement() -> None:
    assert memory_savings(fit("together")) == {"checkpointing", "accumulation"}
    assert memory_savings(fit("together", device="cuda:0")) == {"mixed", "checkpointing", "accumulation"}


# The libraries that the programs import, with small models of the same shape: the same names and ways to call them.
LIBRARIES = """
import sys, types

class Parts(torch.nn.ModuleList):
    pass

class Pictures(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for number in range(1, 5):
            setattr(self, "layer%d" % number, torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(2))))
        self.fc = torch.nn.Linear(8, 1000)
        self.most = 0
    def forward(self, x):
        self.most = max(self.most, len(x))
        x = x.mean((1, 2))[:, :8]
        for number in range(1, 5):
            x = torch.tanh(getattr(self, "layer%d" % number)(x))
        return self.fc(x)

class Sentences(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.tokens = torch.nn.Embedding(32000, 8)
        self.bert = self.model = torch.nn.Module()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))
        self.bert.encoder = torch.nn.Module()
        self.bert.encoder.layer = self.model.layers = self.layers
        self.last = torch.nn.Linear(8, config.answers)
        self.whole = config.whole
        self.most = 0
    def forward(self, tokens):
        self.most = max(self.most, len(tokens))
        x = self.tokens(tokens)
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return types.SimpleNamespace(logits=self.last(x if self.whole else x.mean(1)))

vision, models, transformers = (types.ModuleType(name) for name in ("vision", "models", "transformers"))
models.resnet50 = Pictures
transformers.BertConfig = lambda: types.SimpleNamespace(answers=2, whole=False)
transformers.LlamaConfig = lambda **given: types.SimpleNamespace(answers=given["vocab_size"], whole=True)
transformers.BertForSequenceClassification = transformers.LlamaForCausalLM = Sentences
sys.modules.update({"torchvision": vision, "torchvision.models": models, "transformers": transformers})
"""
RUN = """
import contextlib, io
result = []
for code in json.loads({codes!r}):
    torch.manual_seed(0)
    names = {{}}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, names)
    loss = float(printed.getvalue().removeprefix("Loss of the last batch: "))
    model = names["model"]
    before = [each.detach().clone() for each in model.parameters()]
    more = [names["blocks"]] if "blocks" in names else []
    with contextlib.redirect_stdout(io.StringIO()):
        names["train"](model, names["loader"], names["optimizer"], torch.nn.CrossEntropyLoss(), *more)
    moved = any(bool((one != other.detach()).any()) for one, other in zip(before, model.parameters()))
    wrapped = [part.forward for part in model.modules() if hasattr(part.forward, "func")]
    nested = any(hasattr(getattr(each.args[0], "func", None), "func") for each in wrapped)
    left = any(each.grad is not None for each in model.parameters())
    total = float(sum(each.detach().double().abs().sum() for each in model.parameters()))
    result.append([total, model.most, bool(wrapped), moved, nested, left, loss])
"""


@pytest.mark.real_install
def test_snippet_runs_and_reaches_same_loss(torch_environment: Path) -> None:
    """Of each model in each way; a batch in parts is that batch, but for rounding."""
    combinations = [(model, variant) for model in EXAMPLE_MODELS for variant in VARIANTS]
    codes = json.dumps([training_snippet(fit(variant, model)) for model, variant in combinations])
    losses = dict(zip(combinations, inside(torch_environment, LIBRARIES + RUN.format(codes=codes)), strict=True))
    for (model, variant), (total, most, wrapped, moved, nested, left, loss) in losses.items():
        ways = memory_savings(fit(variant, model))
        assert total == pytest.approx(losses[model, "plain"][0], rel=2e-2 if "mixed" in ways else 1e-5), (
            model,
            variant,
        )
        assert most == (2 if "accumulation" in ways else 5), (model, variant)
        assert wrapped == ("checkpointing" in ways)
        assert loss == pytest.approx(losses[model, "plain"][6], rel=2e-2 if "mixed" in ways else 1e-4), (model, variant)
        assert moved
        assert not nested
        assert not left
