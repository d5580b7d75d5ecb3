"""Training steps, in images or sequences a second."""

from __future__ import annotations

import copy
import math
import time
from typing import Any, Dict, List, Optional, Tuple

from .devices import Device
from .precision import MIXED_PREFIX, has_hardware_support, tolerance
from .step import MODEL_SPECS, TrainingStep, reference_loss, disable_dropout
from .timing import MIN_SAMPLES_LATE, FIRST_RUN_FACTOR
from .workload import WorkloadSkipped, Workload

TRAINING_UNITS = {"resnet50": "images/s", "bert-base": "sequences/s"}
TRAINING_BATCHES = {"cpu": 8, "gpu": 64}
CHECKED_EXAMPLES = 1  # examples whose loss is computed again in float64
SMALL_BATCH = 1  # a processor that is slow takes so many at a time
MAX_SPEED_GAIN = 1.5  # than the last model the next one may be, for the same operations
FULL_BATCH_STEPS = 4  # as many steps of the full batch should fit into the time
# Operations of one example's step, about: three times those of its forward pass.
STEP_OPERATIONS = {"resnet50": 25e9, "bert-base": 66e9}
# Per example, about: what a training step keeps in float32 beyond weights, gradients and the optimizer's state.
ACTIVATION_BYTES = {"resnet50": 110 * 2**20, "bert-base": 130 * 2**20}
MODEL_STATE_BYTES = {"resnet50": 510 * 2**20, "bert-base": 2240 * 2**20}


class TrainingWorkload(Workload):
    """One step of the whole model on made-up data that lies on the device already."""

    version = 2  # 2: the model does not learn its few examples by heart, which slowed a processor's steps down

    def __init__(self, device: Device, model_name: str, dtype: str, limit_s: float) -> None:
        super().__init__(device, dtype, MODEL_SPECS[model_name].size, limit_s)
        self.id, self.unit = model_name, TRAINING_UNITS[model_name]
        self.is_checked_last = device.kind == "cpu"

    def required_bytes(self) -> int:
        """The model with its smallest batch."""
        return MODEL_STATE_BYTES[self.id] + SMALL_BATCH * ACTIVATION_BYTES[self.id]

    def operations(self) -> float:
        """A forward pass for the check, a first step and the fewest that are a figure."""
        return STEP_OPERATIONS[self.id] * (CHECKED_EXAMPLES / 3 + SMALL_BATCH * (1 + MIN_SAMPLES_LATE))

    def prepare(self) -> None:
        """The model, its optimizer, and the largest batch that memory and time allow."""
        if not has_hardware_support(self.device, self.dtype):
            raise WorkloadSkipped("hardware")
        if self.device.kind == "gpu":
            self.torch.backends.cudnn.benchmark = True
        self.step = TrainingStep(self.device, self.id, self.dtype)
        self.loss = self._initial_loss()
        if self.is_checked_last:
            self.untrained_model = copy.deepcopy(self.step.base_model)
        else:
            self.error_and_tolerance = self._compare_loss()
        self.step.model.train()
        self.batch = TRAINING_BATCHES[self.device.kind]
        if self.device.kind == "cpu":
            self._set_batch(SMALL_BATCH)
            (seconds,) = self.device.time_runs(self.run)
            available_s = self.deadline - time.perf_counter()
            if seconds * FIRST_RUN_FACTOR > available_s:
                raise WorkloadSkipped("time", wanted_s=seconds * FIRST_RUN_FACTOR, had_s=max(0.0, available_s))
            if seconds * FULL_BATCH_STEPS < self.limit_s:  # the first step is no measure of those that follow
                (seconds,) = self.device.time_runs(self.run)
            free_bytes = self.device.free_bytes()
            is_batch_fitting = free_bytes is None or self.batch * ACTIVATION_BYTES[self.id] < free_bytes * 0.8
            if not is_batch_fitting or seconds / SMALL_BATCH * self.batch * FULL_BATCH_STEPS > self.limit_s:
                self.batch = SMALL_BATCH
                self.last_s = seconds
        self._set_batch(self.batch)
        while self.device.kind == "gpu":
            try:
                self.device.time_runs(self.run)
                break
            except RuntimeError as error:
                if "memory" not in str(error).lower() or self.batch <= 1:
                    raise
            self.step.optimizer.zero_grad(set_to_none=True)
            self.torch.cuda.empty_cache()
            self._set_batch(self.batch // 2)

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
        """The first loss against that of the same model in float64."""
        if self.is_checked_last:
            # What was trained makes room for the model as it was.
            self.step.base_model = self.step.model = self.untrained_model
            self.step.optimizer = None
            self.error_and_tolerance = self._compare_loss()
        return self.error_and_tolerance

    def check_seconds(self, run_seconds: float) -> float:
        """A forward pass is a third of a step, and float64 counts double."""
        return run_seconds * CHECKED_EXAMPLES / max(self.batch or 1, 1)

    def run(self) -> None:
        """One step."""
        self.step.run(self.inputs, self.classes)

    def result(
        self, samples: List[float], check_result: Tuple[Optional[float], Optional[float]], seconds: float
    ) -> Dict[str, Any]:
        """The next model will not be much faster."""
        figures = super().result(samples, check_result, seconds)
        self.pace = MAX_SPEED_GAIN * STEP_OPERATIONS[self.id] * float(figures["median"])
        return figures

    def settings(self) -> Dict[str, Any]:
        """Precision, optimizer and how images lie."""
        extra = {"optimizer": self.step.spec.optimizer_name, "channels_last": self.step.channels_last}
        if self.dtype.startswith(MIXED_PREFIX):
            extra["autocast"] = self.dtype[len(MIXED_PREFIX) :]
        if self.device.kind == "gpu":
            extra["cudnn_benchmark"] = True
        return {**super().settings(), **extra}
