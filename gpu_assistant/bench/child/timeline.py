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


class Point(NamedTuple):
    """A moment of one step: bytes above what lies there between two steps, of finished gradients; whether it
    updates.
    """

    bytes: int
    gradients: int
    updating: bool


class Top(NamedTuple):
    """The same moment with any batch: `constant` bytes, and so many more for each example."""

    constant: int
    example: int
    gradients: int
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


def highest(events: List[Event]) -> int:
    """Bytes above what lies there between two steps, at the highest point of a recorded step."""
    total = most = 0
    for event in events:
        total += event.bytes
        most = max(most, total)
    return most


def alike(one: List[Event], other: List[Event]) -> bool:
    """Whether two batches made the same allocations in the same order."""
    return len(one) == len(other) and all(
        (a.bytes > 0) == (b.bytes > 0) and a.updating == b.updating for a, b in zip(one, other)
    )


def tops(one: Tuple[List[Event], int], other: Tuple[List[Event], int]) -> List[Top]:
    """The points of a step that are its highest with some batch from 1 on, from two recorded steps and their batches.

    Where their allocations do not match, the highest points of each stretch are drawn out, each for itself: in a
    stretch little is done, while the step's highest point moves from one to another.
    """
    (first, small), (second, large) = one, other
    if alike(first, second):
        pairs = list(zip(_points(first), _points(second)))
    else:
        low, high = _highest(first), _highest(second)
        pairs = [(low[stretch], each) for stretch, each in high.items() if stretch in low]
    found = [Top(0, 0, 0, False)]
    for a, b in pairs:
        each = (b.bytes - a.bytes) // (large - small)
        found.append(Top(a.bytes - each * small, each, b.gradients, b.updating))
    return _outline(found)


def _outline(points: List[Top]) -> List[Top]:
    """Of these, those that are the highest with some batch, by that batch."""
    found, batch = [], 1
    while True:
        top = max(points, key=lambda each: (each.constant + each.example * batch, each.example))
        found.append(top)
        steeper = [each for each in points if each.example > top.example]
        if not steeper:
            return found
        batch = min((top.constant - each.constant) // (each.example - top.example) + 1 for each in steeper)


def _points(events: List[Event]) -> List[Point]:
    """How much is taken after each event."""
    found, total = [], 0
    for event in events:
        total += event.bytes
        found.append(Point(total, event.gradients, event.updating))
    return found


def _highest(events: List[Event]) -> Dict[int, Point]:
    """The highest point of each stretch."""
    found: Dict[int, Point] = {}
    for event, point in zip(events, _points(events)):
        if event.stretch not in found or point.bytes > found[event.stretch].bytes:
            found[event.stretch] = point
    return found
