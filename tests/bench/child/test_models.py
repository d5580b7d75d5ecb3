"""The models are those whose names they bear."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from ..child_code import inside

pytestmark = pytest.mark.real_install

RESNET50 = """
from gpu_assistant_bench.models import ResNet50
torch.manual_seed(0)
model = ResNet50()
torch.manual_seed(1)
images, classes = torch.randn(2, 3, 224, 224), torch.randint(0, 1000, (2,))
with torch.no_grad():
    scores = model(images)
    seeded = float(torch.nn.functional.cross_entropy(scores, classes))
    torch.nn.init.zeros_(model.fc.weight), torch.nn.init.zeros_(model.fc.bias)
    blank = float(torch.nn.functional.cross_entropy(model(images), classes))
state = model.state_dict()
result = {
    "parameters": sum(each.numel() for each in model.parameters()),
    "layers": sum(each.ndim == 4 for each in state.values()),
    "entries": len(state),
    "first": list(state)[0],
    "last": list(state)[-1],
    "shape": list(scores.shape),
    "seeded": seeded,
    "blank": blank,
    "inner": [list(getattr(model, "layer%d" % n)[0].conv2.stride) for n in range(1, 5)],
}
"""

OTHERS = """
from gpu_assistant_bench import models
torch.manual_seed(0)
model = models.BertClassifier().eval()
tokens = torch.randint(1, 30522, (2, 16))
changed = tokens.clone()
changed[:, -1] = 7
with torch.no_grad():
    seen, pooled = model.bert(tokens)
    other = model.bert(changed)[1]
writer = models.Decoder().eval().double()
prompt = torch.randint(0, 32000, (1, 12))
with torch.no_grad():
    at_once = writer(prompt)
    cache = writer.empty_cache(12)
    writer(prompt[:, :5], 0, cache)
    for at in range(5, 12):
        word_by_word = writer(prompt[:, at : at + 1], at, cache)
result = {
    "bert": sum(each.numel() for each in model.bert.parameters()),
    "shapes": [list(seen.shape), list(pooled.shape), list(model(tokens).shape)],
    "both_ways": float((pooled - other).abs().max()),
    "writer": sum(each.numel() for each in writer.parameters()),
    "cached": float((at_once - word_by_word).abs().max()),
}
"""

CHECKPOINTED = """
from gpu_assistant_bench import memory_fit, training
both = []
for again in (False, True):
    made = training.TrainingStep(cpu, "resnet50", "float32")
    made.model.train()
    if again:
        memory_fit.enable_checkpointing(made.base_model)
    loss = made.forward(*made.make_batch(2))
    made.backward(loss)
    both.append((float(loss), made.base_model.conv1.weight.grad))
result = {"losses": [each[0] for each in both], "gradient": float((both[0][1] - both[1][1]).abs().max())}
"""


@pytest.fixture(scope="module")
def resnet50(torch_environment: Path) -> Any:
    return inside(torch_environment, RESNET50)


def test_resnet50_matches_torchvision_layout(resnet50: Any) -> None:
    assert resnet50["parameters"] == 25_557_032
    assert resnet50["layers"] == 53  # and one dense layer: "50" does not count the four ways past
    assert resnet50["entries"] == 320
    assert (resnet50["first"], resnet50["last"]) == ("conv1.weight", "fc.bias")
    assert resnet50["shape"] == [2, 1000]
    assert resnet50["inner"] == [[1, 1], [2, 2], [2, 2], [2, 2]]


def test_resnet50_matches_torchvision_losses(resnet50: Any) -> None:
    # torchvision 0.28.0's resnet50() with the same seeds gives the very same weights and 6.410516738891602.
    assert resnet50["seeded"] == pytest.approx(6.4105167, rel=1e-4)
    # All classes alike: the logarithm of their number.
    assert resnet50["blank"] == pytest.approx(math.log(1000), rel=1e-6)


def test_bert_and_decoder(torch_environment: Path) -> None:
    result = inside(torch_environment, OTHERS)
    assert result["bert"] == 109_482_240  # bert-base-uncased without its heads
    assert result["shapes"] == [[2, 16, 768], [2, 768], [2, 2]]
    assert result["both_ways"] > 1e-4  # the first word sees the last one
    assert result["writer"] == 109_529_856
    assert result["cached"] < 1e-10  # with its cache it writes what it would without


def test_checkpointing_keeps_gradients(torch_environment: Path) -> None:
    result = inside(torch_environment, CHECKPOINTED)
    assert result["losses"][0] == pytest.approx(result["losses"][1], rel=1e-6)
    assert result["gradient"] < 1e-5
