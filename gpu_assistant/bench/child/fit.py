"""What fits in memory: what a training step needs of a device, measured on small batches.

What that tells of any batch is worked out by the parent.
"""

from __future__ import annotations

import functools
import gc
import sys
from typing import Any, Dict, Iterator, List, Tuple

from .devices import Device
from .precision import has_hardware_support, mixed_dtype, set_precision
from .step import TrainingStep
from .talk import MessageWriter
from .timeline import MemoryEvent, has_same_allocations, record_step, possible_peaks

FIRST_BATCHES, FALLBACK_BATCHES = (1, 2), (2, 3)
PLAIN, MIXED, CHECKPOINTING, ACCUMULATION = "plain", "mixed", "checkpointing", "accumulation"
COMBINED = "together"  # all of them, mixed precision only where it is worth something
VARIANTS = (PLAIN, MIXED, CHECKPOINTING, ACCUMULATION, COMBINED)
ACCUMULATION_STEPS = 4  # a batch is gathered in so many


class MemoryMeasurement:
    """One model in one variant on one device; `events` are those of the batches in `small`."""

    def __init__(self, device: Device, model_name: str, variant: str) -> None:
        self.device, self.model_name = device, model_name
        mixed_format = mixed_dtype(device)
        uses_mixed = variant == MIXED or (variant == COMBINED and has_hardware_support(device, mixed_format))
        self.dtype = mixed_format if uses_mixed else "float32"
        self.uses_accumulation = variant in (ACCUMULATION, COMBINED)
        set_precision(device.torch, self.dtype)
        self.step = TrainingStep(device, model_name, self.dtype)
        self.step.model.train()
        if variant in (CHECKPOINTING, COMBINED):
            enable_checkpointing(self.step.base_model)
        self.step.run(*self.step.make_batch(FIRST_BATCHES[0]))  # makes the optimizer's state
        tensors = list(self.step.base_model.parameters()) + list(self.step.base_model.buffers())
        self.parameter_bytes = _tensor_bytes(tensors)
        self.gradient_bytes = _tensor_bytes(self.step.base_model.parameters())
        self.optimizer_bytes = _tensor_bytes(_state_tensors(self.step.optimizer.state))
        self.batches = FIRST_BATCHES
        self.events = [self.record_events(batch) for batch in self.batches]
        if not has_same_allocations(*self.events):  # a batch of 1 may be computed in another way than any other
            self.batches = FALLBACK_BATCHES
            self.events = [self.events[1], self.record_events(FALLBACK_BATCHES[1])]

    def record_events(self, batch: int) -> List[MemoryEvent]:
        """One step's events with this batch."""
        if self.uses_accumulation:
            self.step.backward(self.step.forward(*self.step.make_batch(batch)))  # gradients that lie there already
        return record_step(self.step, batch)

    def to_message(self) -> Dict[str, Any]:
        """What the recorded steps tell of any batch, in bytes.

        `example` are inputs and answers of one, `parts` as many as a batch is gathered in (then all gradients lie
        there from before), `tops` the points that may be the highest.
        """
        peaks = possible_peaks((self.events[0], self.batches[0]), (self.events[1], self.batches[1]))
        return {
            "model": self.model_name,
            "device": self.device.id,
            "dtype": self.dtype,
            "exact": has_same_allocations(*self.events),
            "parameters": self.parameter_bytes,
            "gradients": self.gradient_bytes,
            "optimizer": self.optimizer_bytes,
            "example": _tensor_bytes(self.step.make_batch(1)),
            "parts": ACCUMULATION_STEPS if self.uses_accumulation else 1,
            "cached": self.cached_share(),
            "tops": [peak._asdict() for peak in peaks],
        }

    def cached_share(self) -> float:
        """The share that a card's allocator keeps beyond what is in use; the processor's keeps nothing."""
        if self.device.kind == "cpu":
            return 0.0
        cuda = self.device.torch.cuda
        return max(0.0, cuda.max_memory_reserved(self.device.id) / cuda.max_memory_allocated(self.device.id) - 1)


def measure_variants(writer: MessageWriter, device: Device, model_name: str, reserve: Tuple[float, int]) -> None:
    """Each variant as `{"variant": …}` when it begins, then `{"fit": …}` or `{"left": code, "variant": …}`; last
    `{"end": true}`. Of what is free, `kept`, a share of it and no less than so many bytes, is not planned with.
    """
    reserve_share, min_reserve_bytes = reserve
    capacity = device.free_bytes()
    reserve_bytes = None if capacity is None else min(capacity, max(int(capacity * reserve_share), min_reserve_bytes))
    for variant in VARIANTS:
        writer.send(variant=variant)
        if variant == MIXED and not has_hardware_support(device, mixed_dtype(device)):
            writer.send(left="hardware", variant=variant)
            continue
        try:
            measurement = MemoryMeasurement(device, model_name, variant)
        except Exception as error:  # noqa: BLE001 - torch raises whatever it likes
            print("%s: %s" % (type(error).__name__, error), file=sys.stderr)
            is_out_of_memory = "memory" in str(error).lower() or isinstance(error, MemoryError)
            writer.send(left="memory" if is_out_of_memory else "failed", variant=variant)
            continue
        writer.send(fit={**measurement.to_message(), "variant": variant, "capacity": capacity, "spare": reserve_bytes})
        del measurement
        gc.collect()
        if device.kind == "gpu":
            device.torch.cuda.empty_cache()
            device.torch.cuda.reset_peak_memory_stats(device.id)
    writer.send(end=True)


def enable_checkpointing(model: Any) -> None:
    """Keep only what lies between a model's blocks, and compute the rest again on the way back."""
    from torch.utils.checkpoint import checkpoint

    for block in model.blocks():
        block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)


def _state_tensors(state: Any) -> Iterator[Any]:
    for state_of_parameter in state.values():
        yield from (value for value in state_of_parameter.values() if hasattr(value, "element_size"))


def _tensor_bytes(tensors: Any) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
