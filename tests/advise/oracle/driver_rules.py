"""What may be said about the driver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .expect import Answer, box_of, deciding, driver_action, is_cuda
from .parts import needs
from .torch_rules import Box, cuda_of, fits, packages
from .world import Version, World, version


def driver_faults(
    world: World, machine: dict[str, Any], goal: str, channel: str, found: dict[str, Any], right: Answer | None
) -> Iterator[str]:
    """An update only where it is needed, to a driver that exists for this card, of the right channel."""
    advice = found["driver"]
    gpu = deciding(world, machine)
    if gpu is None or (found["accelerator"] != "cuda" and found["cuda_toolkit"]["action"] == "none"):
        if advice["action"] != "none" or advice["recommended"] is not None:
            yield f"driver {advice['action']} without CUDA"
        return
    box = box_of(world, machine, channel, gpu)
    if advice["installed"] != box.installed:
        yield f"driver {advice['installed']} said to be there, {box.installed} is"
    if box.device is None:
        yield from _unknown_card(box, advice)
        return
    floor = _floor(world, box, goal, found, right)
    if floor is not None:
        yield from _action(box, advice, floor)
    known = [right.shared] if right is not None and right.shared is not None else packages(world, box)
    yield from _number(box, known, advice, floor)


def _unknown_card(box: Box, advice: dict[str, Any]) -> Iterator[str]:
    wanted = "install" if box.installed is None else "keep"
    if box.driver is not None and advice["action"] != wanted and advice["recommended"] is not None:
        floor = version(advice["minimum"])
        if floor is None or box.driver >= floor:
            yield f"driver {advice['action']} for a card that nobody knows"


def _floor(world: World, box: Box, goal: str, found: dict[str, Any], right: Answer | None) -> Version | None:
    """The lowest driver for everything that was chosen."""
    floors = list(needs(world, box, goal, found))
    if right is not None and right.fit is not None and is_cuda(found):
        floors.append(right.fit.floor)
    return max(floors, default=None)


def _action(box: Box, advice: dict[str, Any], floor: Version) -> Iterator[str]:
    wanted = "install" if box.installed is None else "update" if box.driver and box.driver < floor else "keep"
    if advice["action"] != wanted:
        yield f"driver {advice['action']}, expected {wanted} ({box.installed}, at least {floor})"
    least = version(advice["minimum"])
    if least != floor:
        yield f"lowest driver {advice['minimum']}, expected {floor}"


def _number(box: Box, known: Sequence[dict[str, Any]], advice: dict[str, Any], floor: Version | None) -> Iterator[str]:
    """The number that is named: real, for this card, new enough, no step back."""
    newest = known[0] if known else None
    said = version(advice["recommended"])
    if said is None:
        if advice["recommended"] is not None:
            if advice["action"] != "keep" or advice["recommended"] != box.installed:
                yield f"driver {advice['recommended']} is no number"
        elif newest is not None:
            yield f"driver {newest['version']} exists for this card and is not named"
        return
    if box.driver is not None and said < box.driver:
        yield f"a step back from {box.installed} to {advice['recommended']}"
    if floor is not None and said < floor:
        yield f"driver {advice['recommended']} is too old for the build"
    if said == box.driver:
        return
    if newest is None or advice["recommended"] != newest["version"]:
        yield f"driver {advice['recommended']}, expected {newest and newest['version']} ({box.segment}, {box.channel})"
    elif (advice["url"], advice["channel"]) != (newest["url"], newest["channel"]):
        yield f"driver address or channel: {advice['url']}, {advice['channel']}"


def alternatives_faults(world: World, machine: dict[str, Any], channel: str, found: dict[str, Any]) -> Iterator[str]:
    """What is offered beside must work, too; with the present driver where that is what it says."""
    gpu = deciding(world, machine)
    if gpu is None:
        return
    box = box_of(world, machine, channel, gpu)
    if box.device is None:
        return
    for other in found["alternatives"]:
        variant = other["change"].get("variant")
        if not variant or cuda_of(variant) is None:
            continue
        label = (other["change"]["pytorch"], variant)
        fit = next((f for f in fits(world, box) if (f.release, f.variant) == label), None)
        if fit is None:
            yield f"alternative {other['code']}: {label[0]}+{label[1]} does not run on capability {box.device}"
        elif other["code"] == "keep-driver" and (box.driver is None or driver_action(box, fit) != "keep"):
            yield f"alternative keep-driver: {label[0]}+{label[1]} needs {fit.floor}"
        elif other["code"] == "keep-driver":
            better = next((f for f in fits(world, box) if box.driver and box.driver >= f.floor), fit)
            if better.release != fit.release:
                yield f"alternative keep-driver: {better.release} runs, too, and is newer than {fit.release}"
