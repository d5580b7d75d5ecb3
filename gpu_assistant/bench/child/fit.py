"""What fits in memory: what a training step needs of a device, measured on small batches.

What that tells of any batch is worked out by the parent.
"""

from __future__ import annotations

import functools
import gc
import sys
from typing import Any, Dict, Iterator, List, Tuple

from .devices import Device
from .precision import in_hardware, mixed_dtype, set_precision
from .step import Step
from .talk import Talk
from .timeline import Event, alike, recorded, tops

SMALL, LARGER = (1, 2), (2, 3)
PLAIN, MIXED, CHECKPOINTING, ACCUMULATION = "plain", "mixed", "checkpointing", "accumulation"
TOGETHER = "together"  # all of them, mixed precision only where it is worth something
VARIANTS = (PLAIN, MIXED, CHECKPOINTING, ACCUMULATION, TOGETHER)
PARTS = 4  # a batch is gathered in so many


class Fit:
    """One model in one variant on one device; `events` are those of the batches in `small`."""

    def __init__(self, device: Device, name: str, variant: str) -> None:
        self.device, self.name = device, name
        mixed = mixed_dtype(device)
        narrow = variant == MIXED or (variant == TOGETHER and in_hardware(device, mixed))
        self.dtype = mixed if narrow else "float32"
        self.in_parts = variant in (ACCUMULATION, TOGETHER)
        set_precision(device.torch, self.dtype)
        self.step = Step(device, name, self.dtype)
        self.step.model.train()
        if variant in (CHECKPOINTING, TOGETHER):
            checkpointed(self.step.plain)
        self.step.run(*self.step.data(SMALL[0]))  # makes the optimizer's state
        tensors = list(self.step.plain.parameters()) + list(self.step.plain.buffers())
        self.parameters = _bytes(tensors)
        self.gradients = _bytes(self.step.plain.parameters())
        self.optimizer = _bytes(_tensors(self.step.optimizer.state))
        self.small = SMALL
        self.events = [self.record(batch) for batch in self.small]
        if not alike(*self.events):  # a batch of 1 may be computed in another way than any other
            self.small = LARGER
            self.events = [self.events[1], self.record(LARGER[1])]

    def record(self, batch: int) -> List[Event]:
        """One step's events with this batch."""
        if self.in_parts:
            self.step.backward(self.step.forward(*self.step.data(batch)))  # gradients that lie there already
        return recorded(self.step, batch)

    def steps(self) -> Dict[str, Any]:
        """What the recorded steps tell of any batch, in bytes.

        `example` are inputs and answers of one, `parts` as many as a batch is gathered in (then all gradients lie
        there from before), `tops` the points that may be the highest.
        """
        found = tops((self.events[0], self.small[0]), (self.events[1], self.small[1]))
        return {
            "model": self.name,
            "device": self.device.id,
            "dtype": self.dtype,
            "exact": alike(*self.events),
            "parameters": self.parameters,
            "gradients": self.gradients,
            "optimizer": self.optimizer,
            "example": _bytes(self.step.data(1)),
            "parts": PARTS if self.in_parts else 1,
            "cached": self.cached(),
            "tops": [top._asdict() for top in found],
        }

    def cached(self) -> float:
        """The share that a card's allocator keeps beyond what is in use; the processor's keeps nothing."""
        if self.device.kind == "cpu":
            return 0.0
        cuda = self.device.torch.cuda
        return max(0.0, cuda.max_memory_reserved(self.device.id) / cuda.max_memory_allocated(self.device.id) - 1)


def answer(talk: Talk, device: Device, name: str, kept: Tuple[float, int]) -> None:
    """Each variant as `{"variant": …}` when it begins, then `{"fit": …}` or `{"left": code, "variant": …}`; last
    `{"end": true}`. Of what is free, `kept`, a share of it and no less than so many bytes, is not planned with.
    """
    share, least = kept
    capacity = device.free_bytes()
    spare = None if capacity is None else min(capacity, max(int(capacity * share), least))
    for variant in VARIANTS:
        talk.send(variant=variant)
        if variant == MIXED and not in_hardware(device, mixed_dtype(device)):
            talk.send(left="hardware", variant=variant)
            continue
        try:
            found = Fit(device, name, variant)
        except Exception as error:  # noqa: BLE001 - torch raises whatever it likes
            print("%s: %s" % (type(error).__name__, error), file=sys.stderr)
            memory = "memory" in str(error).lower() or isinstance(error, MemoryError)
            talk.send(left="memory" if memory else "failed", variant=variant)
            continue
        talk.send(fit={**found.steps(), "variant": variant, "capacity": capacity, "spare": spare})
        del found
        gc.collect()
        if device.kind == "gpu":
            device.torch.cuda.empty_cache()
            device.torch.cuda.reset_peak_memory_stats(device.id)
    talk.send(end=True)


def checkpointed(model: Any) -> None:
    """Keep only what lies between a model's blocks, and compute the rest again on the way back."""
    from torch.utils.checkpoint import checkpoint

    for block in model.blocks():
        block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)


def _tensors(state: Any) -> Iterator[Any]:
    for kept in state.values():
        yield from (each for each in kept.values() if hasattr(each, "element_size"))


def _bytes(tensors: Any) -> int:
    return sum(each.numel() * each.element_size() for each in tensors)
