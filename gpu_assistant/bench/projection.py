"""What a training step with any batch needs of the memory, from what small steps told; pure."""

from __future__ import annotations

from typing import NamedTuple

from ..core.memory import MemoryProfile, MemoryFit

MAX_BATCH = 2**20  # no batch is larger
ACCUMULATION_STEPS = 4  # a batch is gathered in so many, as `child/fit.py` measures it


class _MemoryParts(NamedTuple):
    """Bytes at the highest point by what they are for."""

    parameters: int
    gradients: int
    optimizer: int
    activations: int
    temporary: int
    cache: int


def project_memory(steps: MemoryProfile, batch: int) -> MemoryFit:
    """The highest point of a step with `batch` examples, and the largest batch whose one fits."""
    parts = _memory_parts(steps, batch)
    return MemoryFit(
        model=steps.model,
        device=steps.device,
        variant=steps.variant,
        dtype=steps.dtype,
        batch=batch,
        **parts._asdict(),
        peak=sum(parts),
        capacity=steps.capacity,
        spare=steps.spare,
        largest_batch=_largest_fitting_batch(steps),
        exact=steps.exact,
    )


def is_batch_fitting(fit: MemoryFit) -> bool | None:
    """Whether its batch fits into what is planned with; None where the free memory is not known."""
    return None if fit.largest_batch is None else fit.batch <= fit.largest_batch


def practical_batch(fit: MemoryFit) -> int | None:
    """The largest batch that fits, down to a number that one would type: its first four binary digits, and a
    multiple of the parts that it is gathered in.
    """
    parts = ACCUMULATION_STEPS if fit.variant in ("accumulation", "together") else 1
    if fit.largest_batch is None:
        return None
    steps_count = fit.largest_batch // parts
    if steps_count == 0:
        return fit.largest_batch
    step = 1 << max(steps_count.bit_length() - 4, 0)
    return steps_count // step * step * parts


def _memory_parts(steps: MemoryProfile, batch: int) -> _MemoryParts:
    micro_batch = -(-batch // steps.parts)  # so many are worked on at a time
    peak = max(steps.tops, key=lambda each: (each.constant + each.example * micro_batch, each.example))
    peak_bytes = peak.constant + peak.example * micro_batch
    # Gradients that lie there from before are none of the step's own allocations.
    accumulated_gradients = steps.gradients if steps.parts > 1 else 0
    new_gradients = 0 if accumulated_gradients else min(peak.gradients, max(peak_bytes, 0))
    other_bytes = peak_bytes - new_gradients
    memory = _MemoryParts(
        parameters=steps.parameters,
        gradients=accumulated_gradients + new_gradients,
        optimizer=steps.optimizer,
        activations=micro_batch * steps.example + (0 if peak.updating else other_bytes),
        temporary=other_bytes if peak.updating else 0,
        cache=0,
    )
    return memory._replace(cache=int(sum(memory) * steps.cached))


def _largest_fitting_batch(steps: MemoryProfile) -> int | None:
    """0 where not even one example fits."""
    if steps.capacity is None or steps.spare is None:
        return None
    usable = steps.capacity - steps.spare
    fitting, too_large = 0, 1
    while too_large <= MAX_BATCH and sum(_memory_parts(steps, too_large)) <= usable:
        fitting, too_large = too_large, too_large * 2
    while too_large - fitting > 1:
        middle = (fitting + too_large) // 2
        if sum(_memory_parts(steps, middle)) <= usable:
            fitting = middle
        else:
            too_large = middle
    return fitting
