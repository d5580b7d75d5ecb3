"""Training steps, in images or sequences a second."""

from __future__ import annotations

import copy
import math
import time
from typing import Any, Dict, List, Optional, Tuple

from .devices import Device
from .precision import MIXED, in_hardware, tolerance
from .step import KINDS, Step, reference_loss, settle
from .timing import FEW, HOPED
from .workload import LeftOut, Workload

UNITS = {"resnet50": "images/s", "bert-base": "sequences/s"}
BATCHES = {"cpu": 8, "gpu": 64}
CHECKED = 1  # examples whose loss is computed again in float64
SMALL = 1  # a processor that is slow takes so many at a time
FASTER = 1.5  # than the last model the next one may be, for the same operations
STEPS = 4  # as many steps of the full batch should fit into the time
# Operations of one example's step, about: three times those of its forward pass.
STEP_OPERATIONS = {"resnet50": 25e9, "bert-base": 66e9}
# Per example, about: what a training step keeps in float32 beyond weights, gradients and the optimizer's state.
KEPT_BYTES = {"resnet50": 110 * 2**20, "bert-base": 130 * 2**20}
WEIGHTS_BYTES = {"resnet50": 510 * 2**20, "bert-base": 2240 * 2**20}


class Training(Workload):
    """One step of the whole model on made-up data that lies on the device already."""

    version = 2  # 2: the model does not learn its few examples by heart, which slowed a processor's steps down

    def __init__(self, device: Device, name: str, dtype: str, limit_s: float) -> None:
        super().__init__(device, dtype, KINDS[name].size, limit_s)
        self.id, self.unit = name, UNITS[name]
        self.checked_last = device.kind == "cpu"

    def needs(self) -> int:
        """The model with its smallest batch."""
        return WEIGHTS_BYTES[self.id] + SMALL * KEPT_BYTES[self.id]

    def operations(self) -> float:
        """A forward pass for the check, a first step and the fewest that are a figure."""
        return STEP_OPERATIONS[self.id] * (CHECKED / 3 + SMALL * (1 + FEW))

    def prepare(self) -> None:
        """The model, its optimizer, and the largest batch that memory and time allow."""
        if not in_hardware(self.device, self.dtype):
            raise LeftOut("hardware")
        if self.device.kind == "gpu":
            self.torch.backends.cudnn.benchmark = True
        self.step = Step(self.device, self.id, self.dtype)
        self.loss = self._first_loss()
        if self.checked_last:
            self.untrained = copy.deepcopy(self.step.plain)
        else:
            self.error_and_tolerance = self._compared()
        self.step.model.train()
        self.batch = BATCHES[self.device.kind]
        if self.device.kind == "cpu":
            self._take(SMALL)
            (seconds,) = self.device.seconds(self.run)
            left = self.deadline - time.perf_counter()
            if seconds * HOPED > left:
                raise LeftOut("time", wanted_s=seconds * HOPED, had_s=max(0.0, left))
            if seconds * STEPS < self.limit_s:  # the first step is no measure of those that follow
                (seconds,) = self.device.seconds(self.run)
            free = self.device.free_bytes()
            fits = free is None or self.batch * KEPT_BYTES[self.id] < free * 0.8
            if not fits or seconds / SMALL * self.batch * STEPS > self.limit_s:
                self.batch = SMALL
                self.last_s = seconds
        self._take(self.batch)
        while self.device.kind == "gpu":
            try:
                self.device.seconds(self.run)
                break
            except RuntimeError as error:
                if "memory" not in str(error).lower() or self.batch <= 1:
                    raise
            self.step.optimizer.zero_grad(set_to_none=True)
            self.torch.cuda.empty_cache()
            self._take(self.batch // 2)

    def _take(self, batch: int) -> None:
        self.batch = batch
        self.amount = float(batch)
        self.inputs, self.classes = self.step.data(batch)

    def _first_loss(self) -> float:
        settle(self.torch, self.step.plain)
        inputs, classes = self.step.data(CHECKED)
        with self.torch.no_grad():
            loss = float(self.step.forward(inputs, classes))
        for part in self.step.plain.modules():
            if hasattr(part, "dropout_p"):
                part.dropout_p = 0.1
        return loss

    def _compared(self) -> Tuple[float, float]:
        reference = reference_loss(self.step, self.id, CHECKED)
        error = abs(self.loss - reference) / abs(reference)
        return (error if math.isfinite(error) else 1.0), tolerance(self.dtype)

    def check(self) -> Tuple[float, float]:
        """The first loss against that of the same model in float64."""
        if self.checked_last:
            # What was trained makes room for the model as it was.
            self.step.plain = self.step.model = self.untrained
            self.step.optimizer = None
            self.error_and_tolerance = self._compared()
        return self.error_and_tolerance

    def check_s(self, run_s: float) -> float:
        """A forward pass is a third of a step, and float64 counts double."""
        return run_s * CHECKED / max(self.batch or 1, 1)

    def run(self) -> None:
        """One step."""
        self.step.run(self.inputs, self.classes)

    def result(
        self, samples: List[float], checked: Tuple[Optional[float], Optional[float]], seconds: float
    ) -> Dict[str, Any]:
        """The next model will not be much faster."""
        found = super().result(samples, checked, seconds)
        self.pace = FASTER * STEP_OPERATIONS[self.id] * float(found["median"])
        return found

    def settings(self) -> Dict[str, Any]:
        """Precision, optimizer and how images lie."""
        known = {"optimizer": self.step.kind.optimizer_name, "channels_last": self.step.channels_last}
        if self.dtype.startswith(MIXED):
            known["autocast"] = self.dtype[len(MIXED) :]
        if self.device.kind == "gpu":
            known["cudnn_benchmark"] = True
        return {**super().settings(), **known}
