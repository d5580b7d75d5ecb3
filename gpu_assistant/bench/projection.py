"""What a training step with any batch needs of the memory, from what small steps told; pure."""

from __future__ import annotations

from typing import NamedTuple

from ..core.memory import FitSteps, MemoryFit

MOST = 2**20  # no batch is larger
PARTS = 4  # a batch is gathered in so many, as `child/fit.py` measures it


class _Parts(NamedTuple):
    """Bytes at the highest point by what they are for."""

    parameters: int
    gradients: int
    optimizer: int
    activations: int
    temporary: int
    cache: int


def projected(steps: FitSteps, batch: int) -> MemoryFit:
    """The highest point of a step with `batch` examples, and the largest batch whose one fits."""
    parts = _parts(steps, batch)
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
        largest_batch=_largest(steps),
        exact=steps.exact,
    )


def fits(fit: MemoryFit) -> bool | None:
    """Whether its batch fits into what is planned with; None where the free memory is not known."""
    return None if fit.largest_batch is None else fit.batch <= fit.largest_batch


def usable_batch(fit: MemoryFit) -> int | None:
    """The largest batch that fits, down to a number that one would type: its first four binary digits, and a
    multiple of the parts that it is gathered in.
    """
    parts = PARTS if fit.variant in ("accumulation", "together") else 1
    if fit.largest_batch is None:
        return None
    whole = fit.largest_batch // parts
    if whole == 0:
        return fit.largest_batch
    step = 1 << max(whole.bit_length() - 4, 0)
    return whole // step * step * parts


def _parts(steps: FitSteps, batch: int) -> _Parts:
    once = -(-batch // steps.parts)  # so many are worked on at a time
    top = max(steps.tops, key=lambda each: (each.constant + each.example * once, each.example))
    size = top.constant + top.example * once
    # Gradients that lie there from before are none of the step's own allocations.
    kept = steps.gradients if steps.parts > 1 else 0
    fresh = 0 if kept else min(top.gradients, max(size, 0))
    rest = size - fresh
    held = _Parts(
        parameters=steps.parameters,
        gradients=kept + fresh,
        optimizer=steps.optimizer,
        activations=once * steps.example + (0 if top.updating else rest),
        temporary=rest if top.updating else 0,
        cache=0,
    )
    return held._replace(cache=int(sum(held) * steps.cached))


def _largest(steps: FitSteps) -> int | None:
    """0 where not even one example fits."""
    if steps.capacity is None or steps.spare is None:
        return None
    usable = steps.capacity - steps.spare
    fits, too_large = 0, 1
    while too_large <= MOST and sum(_parts(steps, too_large)) <= usable:
        fits, too_large = too_large, too_large * 2
    while too_large - fits > 1:
        middle = (fits + too_large) // 2
        if sum(_parts(steps, middle)) <= usable:
            fits = middle
        else:
            too_large = middle
    return fits
