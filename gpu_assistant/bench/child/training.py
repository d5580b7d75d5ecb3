"""Training steps (forward, loss, backward, optimizer) of the models, in images or sequences per second.

`TrainingStep` is shared with `memory_fit.py` and `parallel.py`.
"""

from __future__ import annotations

import copy
import math
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from .devices import CudaDevice, Device, is_out_of_memory
from .precision import MIXED_PREFIX, autocast, gradient_scaler, has_hardware_support, is_faster_in, tolerance
from .timing import FIRST_RUN_FACTOR, MIN_SAMPLES_LATE
from .workload import Workload, WorkloadSkipped

# So low that the loss does not change. At a usual rate one example is memorized within a few steps; its
# gradients then shrink until a processor computes with subnormal numbers, and a step takes thirty times as long.
LEARNING_RATE = 1e-9


class ModelSpec(NamedTuple):
    """A model and how it is trained, with synthetic inputs (images or tokens) and labels."""

    create_model: Callable[[], Any]
    size: Tuple[int, ...]
    classes: int
    targets_per_example: int
    make_inputs: Callable[[Any, int], Any]
    create_optimizer: Callable[[Any, Any], Any]
    optimizer_name: str

    def make_targets(self, torch: Any, batch: int) -> Any:
        """Synthetic labels for a batch."""
        return torch.randint(0, self.classes, (batch * self.targets_per_example,))


def _create_resnet50() -> Any:
    from .models import ResNet50

    return ResNet50()


def _create_bert() -> Any:
    from .models import BertClassifier

    return BertClassifier()


def _create_language_model() -> Any:
    from .models import LanguageModel

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
    "bert-base": ModelSpec(
        _create_bert, (128,), 2, 1, lambda torch, batch: torch.randint(1, 30522, (batch, 128)), _create_adamw, "AdamW"
    ),
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
    """A model on a device with its optimizer and synthetic data, all from a fixed seed.

    `wrap` is applied to the model before the optimizer is created (DistributedDataParallel). Images have the memory
    format channels_last on a GPU with half precision, whose tensor cores need it, and on a CPU with `fast_layout`:
    oneDNN computes them in it, and converts others in every layer. `scales_gradients`: as for float16.
    """

    def __init__(
        self,
        device: Device,
        model_name: str,
        dtype: str,
        *,
        wrap: Callable[[Any], Any] = lambda model: model,
        fast_layout: bool = False,
        scales_gradients: bool = False,
    ) -> None:
        self.torch, self.device, self.dtype, self.spec = device.torch, device, dtype, MODEL_SPECS[model_name]
        self.torch.manual_seed(0)
        has_fast_layout = fast_layout if device.kind == "cpu" else dtype != "float32"
        self.channels_last = has_fast_layout and len(self.spec.size) == 3
        self.base_model = self.spec.create_model().to(device.id)
        if self.channels_last:
            self.base_model = self.base_model.to(memory_format=self.torch.channels_last)
        self.model = wrap(self.base_model)
        self.optimizer = self.spec.create_optimizer(self.torch, self.model.parameters())
        self._scaler = gradient_scaler(device, MIXED_PREFIX + "float16" if scales_gradients else dtype)
        self._loss = self.torch.nn.CrossEntropyLoss()

    def make_batch(self, batch: int, seed: int = 1) -> Tuple[Any, Any]:
        """(inputs, labels) on the device, the same for the same seed."""
        self.torch.manual_seed(seed)
        inputs = self.spec.make_inputs(self.torch, batch).to(self.device.id)
        if self.channels_last:
            inputs = inputs.contiguous(memory_format=self.torch.channels_last)
        return inputs, self.spec.make_targets(self.torch, batch).to(self.device.id)

    def forward(self, inputs: Any, classes: Any) -> Any:
        """Compute the loss."""
        with autocast(self.device, self.dtype):
            return self._loss(self.model(inputs), classes)

    def backward(self, loss: Any) -> None:
        """Compute the gradients."""
        (loss if self._scaler is None else self._scaler.scale(loss)).backward()

    def update(self) -> None:
        """Run the optimizer and release the gradients."""
        if self._scaler is None:
            self.optimizer.step()
        else:
            self._scaler.step(self.optimizer)
            self._scaler.update()
        self.optimizer.zero_grad(set_to_none=True)

    def run(self, inputs: Any, classes: Any) -> None:
        """Run one complete step."""
        self.backward(self.forward(inputs, classes))
        self.update()


def disable_dropout(torch: Any, model: Any) -> None:
    """Put a model into training mode without dropout, whose random numbers differ between devices."""
    model.train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.eval()
        if hasattr(module, "dropout_p"):
            module.dropout_p = 0.0


_REFERENCE_LOSSES: Dict[str, float] = {}


def reference_loss(step: TrainingStep, model_name: str, batch: int) -> float:
    """The loss of the untrained model on the first `batch` synthetic examples, in float64 on the CPU.

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


TRAINING_UNITS = {"resnet50": "images/s", "bert-base": "sequences/s"}
TRAINING_BATCHES = {"cpu": 8, "gpu": 64}
CHECKED_EXAMPLES = 1  # examples whose loss is computed again in float64
SMALL_BATCH = 1  # batch size of a slow CPU
LARGE_BATCH_FACTOR = 4  # of a fast device's batch, relative to the usual one
# Plans that cuDNN tries for a convolution before it takes the fastest; it tries the most promising first, and each of
# them runs once, which takes long with a large batch on a slow GPU. Its own default is 10.
CUDNN_BENCHMARK_LIMIT = 4
MAX_MEMORY_SHARE = 0.9  # of the free memory that a larger batch may take by its estimate
MAX_SPEED_GAIN = 1.5  # upper bound of the next model's operations per second, relative to the last one's
FULL_BATCH_STEPS = 3  # steps of the full batch that must fit into the time limit
# Estimated operations of a training step for one example: three times those of its forward pass.
STEP_OPERATIONS = {"resnet50": 25e9, "bert-base": 66e9}
# Estimated activation memory of one example in float32.
ACTIVATION_BYTES = {"resnet50": 110 * 2**20, "bert-base": 130 * 2**20}
MODEL_STATE_BYTES = {"resnet50": 510 * 2**20, "bert-base": 2240 * 2**20}


class TrainingWorkload(Workload):
    """Training steps of a model on synthetic data that is on the device already."""

    version = 2  # 2: a lower learning rate, since memorized examples slowed the CPU's steps down

    def __init__(self, device: Device, model_name: str, dtype: str, limit_s: float) -> None:
        super().__init__(device, dtype, MODEL_SPECS[model_name].size, limit_s)
        self.id, self.unit = model_name, TRAINING_UNITS[model_name]
        self.is_checked_last = device.kind == "cpu"

    def required_bytes(self) -> int:
        """The model with the smallest batch."""
        return MODEL_STATE_BYTES[self.id] + SMALL_BATCH * ACTIVATION_BYTES[self.id]

    def operations(self) -> float:
        """A forward pass for the check, a first step, and the minimum number of timed steps."""
        return STEP_OPERATIONS[self.id] * (CHECKED_EXAMPLES / 3 + SMALL_BATCH * (1 + MIN_SAMPLES_LATE))

    def prepare(self) -> None:
        """Create the model and its optimizer, and choose the largest batch that memory and time allow."""
        if not has_hardware_support(self.device, self.dtype):
            raise WorkloadSkipped("hardware")
        if not is_faster_in(self.device, self.dtype):
            raise WorkloadSkipped("no-gain")
        if self.device.kind == "gpu":
            cudnn = self.torch.backends.cudnn
            cudnn.benchmark = True
            if getattr(cudnn, "benchmark_limit", None) is not None:  # None without cuDNN, as of ROCm
                cudnn.benchmark_limit = CUDNN_BENCHMARK_LIMIT
        self.step = TrainingStep(self.device, self.id, self.dtype, fast_layout=True)
        self.loss = self._initial_loss()
        if self.is_checked_last:
            self.untrained_model = copy.deepcopy(self.step.base_model)
        else:
            self.error_and_tolerance = self._compare_loss()
        self.step.model.train()
        if self.device.kind == "cpu":
            self._choose_cpu_batch()
        else:
            self._choose_gpu_batch()

    def _choose_cpu_batch(self) -> None:
        """One example on a slow CPU, else the usual batch, or a large one where that is faster per example."""
        self._set_batch(SMALL_BATCH)
        (seconds,) = self.device.time_runs(self.run)
        available_s = self.deadline - time.perf_counter()
        if seconds * FIRST_RUN_FACTOR > available_s:
            raise WorkloadSkipped("time", wanted_s=seconds * FIRST_RUN_FACTOR, had_s=max(0.0, available_s))
        if seconds * FULL_BATCH_STEPS < self.limit_s:  # the first step is no measure of those that follow
            (seconds,) = self.device.time_runs(self.run)
        batch = TRAINING_BATCHES["cpu"]
        usual_s = math.inf
        if self._fits_in_memory(batch) and self._has_time_for_two(batch, seconds):
            usual_s = self._warm_step_seconds(batch)
        if usual_s * FULL_BATCH_STEPS > self.limit_s or usual_s > seconds / SMALL_BATCH * batch:
            self._set_batch(SMALL_BATCH)
            self.last_s = seconds
            return
        large_batch = batch * LARGE_BATCH_FACTOR
        large_steps_s = usual_s * LARGE_BATCH_FACTOR * (2 + FULL_BATCH_STEPS)
        if large_steps_s < self._available_s() and self._fits_in_memory(large_batch):
            large_s = self._warm_step_seconds(large_batch)
            if large_s >= usual_s * LARGE_BATCH_FACTOR:
                self._set_batch(batch)

    def _has_time_for_two(self, batch: int, seconds: float) -> bool:
        """Whether two steps with this batch can be made, by the `seconds` of one example.

        As many examples one by one take at least as long. Where that is too long, a step of two tells how much each
        further example adds: little where other programs make every step slow, or the format gains from a batch.
        """
        estimated_s = seconds / SMALL_BATCH * batch
        if 2 * estimated_s >= self._available_s() and seconds * FULL_BATCH_STEPS < self.limit_s:
            added_s = self._warm_step_seconds(SMALL_BATCH + 1) - seconds
            estimated_s = seconds + (batch - SMALL_BATCH) * max(0.0, added_s)
        return 2 * estimated_s < self._available_s()

    def _available_s(self) -> float:
        return min(self.limit_s, self.deadline - time.perf_counter())

    def _warm_step_seconds(self, batch: int) -> float:
        """Seconds of a step with this batch, after a first one."""
        self._set_batch(batch)
        return self.device.time_runs(self.run, 2)[1]

    def _fits_in_memory(self, batch: int) -> bool:
        free_bytes = self.device.free_bytes()
        return free_bytes is None or batch * ACTIVATION_BYTES[self.id] < free_bytes * 0.8

    def _choose_gpu_batch(self) -> None:
        """The usual batch, halved until it fits into the GPU's memory; a large one where it fits and is faster.

        Two steps: the first ends with the optimizer's state, which the second has beside its activations.
        """
        batch = TRAINING_BATCHES["gpu"]
        self._set_batch(batch)
        while True:
            try:
                usual_s = self.device.time_runs(self.run, 2)[1]
                break
            except RuntimeError as error:
                if not is_out_of_memory(error) or batch <= 1:
                    raise
            self.step.optimizer.zero_grad(set_to_none=True)
            self.torch.cuda.empty_cache()
            batch //= 2
            self._set_batch(batch)
        if batch == TRAINING_BATCHES["gpu"]:
            self._try_large_batch(batch, usual_s)

    def _try_large_batch(self, batch: int, usual_s: float) -> None:
        """Take a large batch where memory and time allow it and an example takes less time in it than in `usual_s`."""
        device = self.device
        assert isinstance(device, CudaDevice)  # noqa: S101 - for the type checker
        before_bytes, peak_bytes = device.memory_of_run(self.run)
        available_s = min(self.limit_s, self.deadline - time.perf_counter())
        is_too_slow = usual_s * LARGE_BATCH_FACTOR * (2 + FULL_BATCH_STEPS) > available_s
        wanted_bytes = LARGE_BATCH_FACTOR * (peak_bytes - before_bytes)
        if is_too_slow or wanted_bytes > MAX_MEMORY_SHARE * device.free_bytes():
            return
        try:
            large_s = self._warm_step_seconds(batch * LARGE_BATCH_FACTOR)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            large_s = math.inf
        if large_s >= usual_s * LARGE_BATCH_FACTOR:
            self.step.optimizer.zero_grad(set_to_none=True)
            self._set_batch(batch)
            device.release_cached_memory()

    def _set_batch(self, batch: int) -> None:
        self.batch = batch
        self.amount = float(batch)
        self.inputs, self.classes = self.step.make_batch(batch)

    def _initial_loss(self) -> float:
        disable_dropout(self.torch, self.step.base_model)
        inputs, classes = self.step.make_batch(CHECKED_EXAMPLES)
        with self.torch.no_grad():
            loss = float(self.step.forward(inputs, classes))
        for module in self.step.base_model.modules():
            if hasattr(module, "dropout_p"):
                module.dropout_p = 0.1
        return loss

    def _compare_loss(self) -> Tuple[float, float]:
        reference = reference_loss(self.step, self.id, CHECKED_EXAMPLES)
        error = abs(self.loss - reference) / abs(reference)
        return (error if math.isfinite(error) else 1.0), tolerance(self.dtype)

    def check(self) -> Tuple[float, float]:
        """Compare the first loss with that of the same model in float64."""
        if self.is_checked_last:
            # Release the trained model for the untrained one.
            self.step.base_model = self.step.model = self.untrained_model
            self.step.optimizer = None
            self.error_and_tolerance = self._compare_loss()
        return self.error_and_tolerance

    def check_seconds(self, run_seconds: float) -> float:
        """A forward pass is a third of a step, and float64 counts double."""
        return run_seconds * CHECKED_EXAMPLES / max(self.batch or 1, 1)

    def run(self) -> None:
        """Run one step."""
        self.step.run(self.inputs, self.classes)

    def result(
        self, samples: List[float], check_result: Tuple[Optional[float], Optional[float]], seconds: float
    ) -> Dict[str, Any]:
        """The result; also estimates `operations_per_s` for the next model."""
        figures = super().result(samples, check_result, seconds)
        self.operations_per_s = MAX_SPEED_GAIN * STEP_OPERATIONS[self.id] * float(figures["median"])
        return figures

    def settings(self) -> Dict[str, Any]:
        """The precision switches, the optimizer, and the memory format of images."""
        extra = {"optimizer": self.step.spec.optimizer_name, "channels_last": self.step.channels_last}
        if self.dtype.startswith(MIXED_PREFIX):
            extra["autocast"] = self.dtype[len(MIXED_PREFIX) :]
        if self.device.kind == "gpu":
            extra["cudnn_benchmark"] = True
            extra["cudnn_benchmark_limit"] = getattr(self.torch.backends.cudnn, "benchmark_limit", None)
        return {**super().settings(), **extra}
