"""A training step of a model: forward, loss, backward, optimizer. The benchmark and the memory's measuring share it."""

from __future__ import annotations

import copy
from typing import Any, Callable, Dict, NamedTuple, Tuple

from .devices import Device
from .precision import autocast, gradient_scaler

# So little that the loss stays where it is. At a usual rate one example is learnt by heart within a few steps; its
# gradients then shrink until a processor computes with subnormal numbers, and a step takes thirty times as long.
LEARNING_RATE = 1e-9


class ModelSpec(NamedTuple):
    """A model and how it is trained: `inputs(torch, batch)` are images or words, each example has `answers` classes."""

    create_model: Callable[[], Any]
    size: Tuple[int, ...]
    classes: int
    targets_per_example: int
    make_inputs: Callable[[Any, int], Any]
    create_optimizer: Callable[[Any, Any], Any]
    optimizer_name: str

    def make_targets(self, torch: Any, batch: int) -> Any:
        """Right answers, made up."""
        return torch.randint(0, self.classes, (batch * self.targets_per_example,))


def _create_resnet50() -> Any:
    from .resnet50 import ResNet50

    return ResNet50()


def _create_bert() -> Any:
    from .bert import BertClassifier

    return BertClassifier()


def _create_language_model() -> Any:
    from .decoder import LanguageModel

    return LanguageModel()


def _create_adamw(torch: Any, parameters: Any) -> Any:
    return torch.optim.AdamW(parameters, lr=LEARNING_RATE)


MODEL_SPECS: Dict[str, ModelSpec] = {
    "resnet50": ModelSpec(
        _create_resnet50,
        (3, 224, 224),
        1000,
        1,
        lambda torch, batch: torch.randn(batch, 3, 224, 224),
        lambda torch, parameters: torch.optim.SGD(parameters, lr=LEARNING_RATE, momentum=0.9),
        "SGD",
    ),
    "bert-base": ModelSpec(_create_bert, (128,), 2, 1, lambda torch, batch: torch.randint(1, 30522, (batch, 128)), _create_adamw, "AdamW"),
    "language-model": ModelSpec(
        _create_language_model,
        (128,),
        32000,
        128,
        lambda torch, batch: torch.randint(0, 32000, (batch, 128)),
        _create_adamw,
        "AdamW",
    ),
}


class TrainingStep:
    """A model on a device with its optimizer and one batch of made-up data, all from a fixed seed.

    `wrap` gets the model before the optimizer sees it (DistributedDataParallel).
    """

    def __init__(
        self, device: Device, model_name: str, dtype: str, *, wrap: Callable[[Any], Any] = lambda model: model
    ) -> None:
        self.torch, self.device, self.dtype, self.spec = device.torch, device, dtype, MODEL_SPECS[model_name]
        self.torch.manual_seed(0)
        # Tensor cores read images channel by channel last.
        self.channels_last = device.kind == "gpu" and dtype != "float32" and len(self.spec.size) == 3
        self.base_model = self.spec.create_model().to(device.id)
        if self.channels_last:
            self.base_model = self.base_model.to(memory_format=self.torch.channels_last)
        self.model = wrap(self.base_model)
        self.optimizer = self.spec.create_optimizer(self.torch, self.model.parameters())
        self._scaler = gradient_scaler(device, dtype)
        self._loss = self.torch.nn.CrossEntropyLoss()

    def make_batch(self, batch: int, seed: int = 1) -> Tuple[Any, Any]:
        """Inputs and classes on the device, for a seed the same ones each time."""
        self.torch.manual_seed(seed)
        inputs = self.spec.make_inputs(self.torch, batch).to(self.device.id)
        if self.channels_last:
            inputs = inputs.contiguous(memory_format=self.torch.channels_last)
        return inputs, self.spec.make_targets(self.torch, batch).to(self.device.id)

    def forward(self, inputs: Any, classes: Any) -> Any:
        """The loss."""
        with autocast(self.device, self.dtype):
            return self._loss(self.model(inputs), classes)

    def backward(self, loss: Any) -> None:
        """The gradients."""
        (loss if self._scaler is None else self._scaler.scale(loss)).backward()

    def update(self) -> None:
        """The optimizer's part; the gradients are let go."""
        if self._scaler is None:
            self.optimizer.step()
        else:
            self._scaler.step(self.optimizer)
            self._scaler.update()
        self.optimizer.zero_grad(set_to_none=True)

    def run(self, inputs: Any, classes: Any) -> None:
        """One whole step."""
        self.backward(self.forward(inputs, classes))
        self.update()


def disable_dropout(torch: Any, model: Any) -> None:
    """Training without dropout, whose dice fall differently on each device."""
    model.train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.eval()
        if hasattr(module, "dropout_p"):
            module.dropout_p = 0.0


_REFERENCE_LOSSES: Dict[str, float] = {}


def reference_loss(step: TrainingStep, model_name: str, batch: int) -> float:
    """The loss of the untrained model on the first `batch` made-up examples, in float64 on the processor.

    The same on every device and in every format: weights and examples come from fixed seeds.
    """
    key = "%s-%d" % (model_name, batch)
    if key not in _REFERENCE_LOSSES:
        torch = step.torch
        model = copy.deepcopy(step.base_model).cpu().double()
        disable_dropout(torch, model)
        inputs, classes = (tensor.cpu() for tensor in step.make_batch(batch))
        with torch.no_grad():
            logits = model(inputs.double() if inputs.is_floating_point() else inputs)
            _REFERENCE_LOSSES[key] = float(torch.nn.functional.cross_entropy(logits, classes))
    return _REFERENCE_LOSSES[key]
