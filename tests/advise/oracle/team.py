"""Several NVIDIA cards in one computer: it has one driver and one PyTorch for all of them.

An older card counts where that costs nothing: a build that serves all cards is right where it is as new as what an
older one could have by itself and the older one's drivers run the newest release, and a driver that serves all is
right where the newest release runs on it. A driver that is there and refuses the older card already is not taken back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .torch_rules import Box, Fit, best, candidates, choose, packages
from .world import Version, World, number

Package = dict[str, Any]


def answer(world: World, box: Box, others: list[tuple[int, int]]) -> tuple[Fit | None, Package | None]:
    """The build for a computer whose newest chip is the box's, and the driver that serves the older ones, too."""
    alone = best(world, box)
    device = box.device
    if alone is None or device is None:
        return alone, None
    older = sorted({chip for chip in others if chip < device}, reverse=True)
    if all(_has(world, box, chip, alone) for chip in older):
        return alone, None
    older = [chip for chip in older if _one_driver(world, box.host, device, chip) and not _dropped(world, box, chip)]
    for count in range(len(older), 0, -1):
        crowd = older[:count]
        shared = _shared(world, box, crowd[-1])
        if not _loses_nothing(world, box, crowd[-1], alone):
            continue
        fit = _together(world, box, crowd, shared)
        own = [mine for chip in crowd if (mine := best(world, replace(box, device=chip, dark=False))) is not None]
        if fit is not None and any(number(fit.release) >= number(mine.release) for mine in own):
            return _with_the_oldest(world, box, crowd, older[count:], fit) or (fit, shared)
    if older:
        shared = _shared(world, box, older[-1])
        fit = _together(world, box, [], shared)
        if fit is not None and number(fit.release) >= number(alone.release):
            return fit, shared
    return alone, None


def _with_the_oldest(
    world: World, box: Box, crowd: list[tuple[int, int]], rest: list[tuple[int, int]], fit: Fit
) -> tuple[Fit, Package | None] | None:
    """The same release on a driver that still serves the oldest of the cards which it has no code for."""
    for chip in sorted(rest):
        shared = _shared(world, box, chip)
        found = _together(world, box, crowd, shared)
        if found is not None and number(found.release) >= number(fit.release):
            return found, shared
    return None


def _loses_nothing(world: World, box: Box, oldest: tuple[int, int], alone: Fit) -> bool:
    """Whether the newest card has its release within the last branch of the oldest, too."""
    last = (world.generation(oldest) or {}).get("last_branch")
    return last is None or any(
        number(fit.release) >= number(alone.release) and fit.floor[:1] <= (last,)
        for fit in candidates(world, box.system, box.arch, box.host, box.device or (0, 0), box.glibc)
    )


def _has(world: World, box: Box, chip: tuple[int, int], fit: Fit) -> bool:
    mine = candidates(world, box.system, box.arch, box.host, chip, box.glibc)
    return any((other.release, other.variant) == (fit.release, fit.variant) for other in mine)


def _dropped(world: World, box: Box, chip: tuple[int, int]) -> bool:
    """Whether the driver that is there no longer serves a chip."""
    return world.left_behind(box.host, chip, box.driver)


def _one_driver(world: World, host: str, newer: tuple[int, int], older: tuple[int, int]) -> bool:
    """Whether one driver serves both: the last branch of the older chip knows the newer one (the toolkit of its CUDA
    compiles for it), and on Linux they have a kind of kernel modules in common.
    """
    kinds = world.modules(newer), world.modules(older)
    if host == "linux" and all(kinds) and not kinds[0] & kinds[1]:
        return False
    row = world.generation(older)
    if row is None or row["last_branch"] is None or row == world.generation(newer):
        return row is not None
    native = world.native((row["last_branch"],))
    spans = [span for span in world.spans() if native is not None and span.first <= native <= span.last]
    return any(newer <= span.newest for span in spans)


def _shared(world: World, box: Box, oldest: tuple[int, int]) -> Package | None:
    """The newest driver for the oldest chip that is known to serve the newest one: on Linux the branch itself does,
    on Windows only a package that is named for both.
    """
    theirs, mine = world.generation(oldest), world.generation(box.device or oldest)
    known = packages(world, replace(box, device=oldest))
    if box.host == "windows" and theirs != mine:
        both = {p["version"] for p in packages(world, box)}
        known = tuple(p for p in known if p["version"] in both)
    return known[0] if known else None


def _together(world: World, box: Box, crowd: list[tuple[int, int]], shared: Package | None) -> Fit | None:
    """The build with code for every chip, on the driver that is there or the shared one."""
    highest: Version = max(number(shared["version"]) if shared else (), box.works or ())
    found = candidates(world, box.system, box.arch, box.host, box.device or (0, 0), box.glibc)
    for chip in crowd:
        theirs = {(f.release, f.variant): f for f in candidates(world, box.system, box.arch, box.host, chip, box.glibc)}
        found = tuple(
            replace(fit, floor=max(fit.floor, theirs[fit.release, fit.variant].floor))
            for fit in found
            if (fit.release, fit.variant) in theirs
        )
    fitting = [fit for fit in found if fit.floor <= highest]
    return choose(world, box, fitting, number(shared["version"]) if shared else None)
