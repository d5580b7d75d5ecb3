"""What one training step takes and gives back of a device's memory, allocation by allocation.

The same step with another batch makes the same allocations, each constant or in proportion to the batch. So two
small batches tell the sizes of all of them at any batch, and with that the highest point, wherever it moves to.
"""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Tuple

from .step import Step

MEMORY = "[memory]"  # torch's own name for an allocation among its profiler's events
MARK = "gpu-assistant:"
GRADIENT, PLACE, UPDATE = MARK + "gradient:", MARK + "place", MARK + "update"


class Event(NamedTuple):
    """Bytes that were taken (or, below zero, given back), those of finished gradients, and whether it updates.

    `stretch` counts the places passed before it, the same ones with any batch: blocks begun, scores, loss, gradients.
    """

    bytes: int
    gradients: int
    updating: bool
    stretch: int


class Peak(NamedTuple):
    """The highest point above what lies there between two steps: bytes in all, of gradients; where it is."""

    bytes: float
    gradients: float
    updating: bool


def recorded(step: Step, batch: int) -> List[Event]:
    """The events of one whole step. Its data is made before; the optimizer has its state already."""
    torch = step.torch
    inputs, classes = step.data(batch)
    cuda = step.device.kind == "gpu"
    kinds = [torch.profiler.ProfilerActivity.CPU] + ([torch.profiler.ProfilerActivity.CUDA] if cuda else [])
    mark = torch.profiler.record_function
    hooks = []
    for parameter in step.model.parameters():
        name = "%s%d" % (GRADIENT, parameter.numel() * parameter.element_size())

        def done(gradient: Any, name: str = name) -> None:
            with mark(name):
                del gradient

        hooks.append(parameter.register_hook(done))

    def passed(*_: Any) -> None:
        with mark(PLACE):
            pass

    def scored(_model: Any, _inputs: Any, scores: Any) -> None:
        passed()
        scores.register_hook(passed)

    hooks += [block.register_forward_pre_hook(passed) for block in step.plain.blocks()]
    hooks.append(step.plain.register_forward_hook(scored))
    with torch.profiler.profile(activities=kinds, profile_memory=True) as profile:
        loss = step.forward(inputs, classes)
        passed()
        step.backward(loss)
        with mark(UPDATE):
            pass
        step.update()
        if cuda:
            torch.cuda.synchronize()
    for hook in hooks:
        hook.remove()
    return _events(profile, "CUDA" if cuda else "CPU")


def _events(profile: Any, device: str) -> List[Event]:
    rows = []
    for event in profile.profiler.kineto_results.events():
        name = event.name()
        memory = name == MEMORY and str(event.device_type()).endswith("." + device)
        if memory or name.startswith(MARK):
            # Nanoseconds since torch 2.4.
            at = event.start_ns() if hasattr(event, "start_ns") else event.start_us()
            rows.append((at, name, event.nbytes() if memory else 0))
    rows.sort(key=lambda row: row[0])
    found, gradients, updating, stretch = [], 0, False, 0
    for _, name, size in rows:
        stretch += name.startswith(MARK)
        if name.startswith(GRADIENT):
            gradients += int(name[len(GRADIENT) :])
        elif name == UPDATE:
            updating = True
        elif name == MEMORY and size:
            found.append(Event(size, gradients, updating, stretch))
    return found


def peak(events: List[Event]) -> Peak:
    """The highest point of a recorded step."""
    return projected((events, 1), (events, 2), 1)


def alike(one: List[Event], other: List[Event]) -> bool:
    """Whether two batches made the same allocations in the same order."""
    return len(one) == len(other) and all(
        (a.bytes > 0) == (b.bytes > 0) and a.updating == b.updating for a, b in zip(one, other)
    )


def projected(one: Tuple[List[Event], int], other: Tuple[List[Event], int], batch: int) -> Peak:
    """The highest point with another batch, from two recorded steps and their batches.

    Where their allocations do not match, the highest points of each stretch are drawn out, each for itself: in a
    stretch little is done, while the step's highest point moves from one to another.
    """
    (first, small), (second, large) = one, other
    factor = (batch - small) / (large - small)
    if not alike(first, second):
        low, high = _highest(first), _highest(second)
        return max(
            (
                each._replace(bytes=low[stretch].bytes + (each.bytes - low[stretch].bytes) * factor)
                for stretch, each in high.items()
                if stretch in low
            ),
            key=lambda each: each.bytes,
        )
    highest, total = Peak(0.0, 0.0, False), 0.0
    for a, b in zip(first, second):
        total += a.bytes + (b.bytes - a.bytes) * factor
        if total > highest.bytes:
            highest = Peak(total, a.gradients, a.updating)
    return highest


def _highest(events: List[Event]) -> Dict[int, Peak]:
    """The highest point of each stretch."""
    found: Dict[int, Peak] = {}
    total = 0.0
    for event in events:
        total += event.bytes
        if event.stretch not in found or total > found[event.stretch].bytes:
            found[event.stretch] = Peak(total, event.gradients, event.updating)
    return found
