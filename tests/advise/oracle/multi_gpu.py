"""Several NVIDIA cards in one computer: it has one driver and one PyTorch for all of them.

An older card counts where that costs nothing: a build that serves all cards is right where it is as new as what an
older one could have by itself and the older one's drivers run the newest release, and a driver that serves all is
right where the newest release runs on it. A driver that is there and refuses the older card already is not taken back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .published import PublishedFacts, Version, number
from .torch_rules import Box, Fit, best, candidates, choose, packages

Package = dict[str, Any]


def answer(published: PublishedFacts, box: Box, others: list[tuple[int, int]]) -> tuple[Fit | None, Package | None]:
    """The build for a computer whose newest chip is the box's, and the driver that serves the older ones, too."""
    alone = best(published, box)
    device = box.device
    if alone is None or device is None:
        return alone, None
    older = sorted({chip for chip in others if chip < device}, reverse=True)
    if all(_has(published, box, chip, alone) for chip in older):
        return alone, None
    older = [
        chip for chip in older if _one_driver(published, box.host, device, chip) and not _dropped(published, box, chip)
    ]
    for count in range(len(older), 0, -1):
        crowd = older[:count]
        shared = _shared(published, box, crowd[-1])
        if not _loses_nothing(published, box, crowd[-1], alone):
            continue
        fit = _together(published, box, crowd, shared)
        own = [mine for chip in crowd if (mine := best(published, replace(box, device=chip, dark=False))) is not None]
        if fit is not None and any(number(fit.release) >= number(mine.release) for mine in own):
            return _with_the_oldest(published, box, crowd, older[count:], fit) or (fit, shared)
    if older:
        shared = _shared(published, box, older[-1])
        fit = _together(published, box, [], shared)
        if fit is not None and number(fit.release) >= number(alone.release):
            return fit, shared
    return alone, None


def _with_the_oldest(
    published: PublishedFacts, box: Box, crowd: list[tuple[int, int]], rest: list[tuple[int, int]], fit: Fit
) -> tuple[Fit, Package | None] | None:
    """The same release on a driver that still serves the oldest of the cards which it has no code for."""
    for chip in sorted(rest):
        shared = _shared(published, box, chip)
        result = _together(published, box, crowd, shared)
        if result is not None and number(result.release) >= number(fit.release):
            return result, shared
    return None


def _loses_nothing(published: PublishedFacts, box: Box, oldest: tuple[int, int], alone: Fit) -> bool:
    """Whether the newest card has its release within the last branch of the oldest, too."""
    last = (published.generation(oldest) or {}).get("last_branch")
    return last is None or any(
        number(fit.release) >= number(alone.release) and fit.floor[:1] <= (last,)
        for fit in candidates(published, box.system, box.arch, box.host, box.device or (0, 0), box.glibc)
    )


def _has(published: PublishedFacts, box: Box, chip: tuple[int, int], fit: Fit) -> bool:
    mine = candidates(published, box.system, box.arch, box.host, chip, box.glibc)
    return any((other.release, other.variant) == (fit.release, fit.variant) for other in mine)


def _dropped(published: PublishedFacts, box: Box, chip: tuple[int, int]) -> bool:
    """Whether the driver that is there no longer serves a chip."""
    return published.left_behind(box.host, chip, box.driver)


def _one_driver(published: PublishedFacts, host: str, newer: tuple[int, int], older: tuple[int, int]) -> bool:
    """Whether one driver serves both: the last branch of the older chip knows the newer one (the toolkit of its CUDA
    compiles for it), and on Linux they have a kind of kernel modules in common.
    """
    kinds = published.modules(newer), published.modules(older)
    if host == "linux" and all(kinds) and not kinds[0] & kinds[1]:
        return False
    row = published.generation(older)
    if row is None or row["last_branch"] is None or row == published.generation(newer):
        return row is not None
    native = published.native((row["last_branch"],))
    spans = [span for span in published.spans() if native is not None and span.first <= native <= span.last]
    return any(newer <= span.newest for span in spans)


def _shared(published: PublishedFacts, box: Box, oldest: tuple[int, int]) -> Package | None:
    """The newest driver for the oldest chip that is known to serve the newest one: on Linux the branch itself does,
    on Windows only a package that is named for both.
    """
    other_generation, mine = published.generation(oldest), published.generation(box.device or oldest)
    known = packages(published, replace(box, device=oldest))
    if box.host == "windows" and other_generation != mine:
        both = {p["version"] for p in packages(published, box)}
        known = tuple(p for p in known if p["version"] in both)
    return known[0] if known else None


def _together(published: PublishedFacts, box: Box, crowd: list[tuple[int, int]], shared: Package | None) -> Fit | None:
    """The build with code for every chip, on the driver that is there or the shared one."""
    highest: Version = max(number(shared["version"]) if shared else (), box.works or ())
    fits_found = candidates(published, box.system, box.arch, box.host, box.device or (0, 0), box.glibc)
    for chip in crowd:
        fits_of_other = {
            (f.release, f.variant): f for f in candidates(published, box.system, box.arch, box.host, chip, box.glibc)
        }
        fits_found = tuple(
            replace(fit, floor=max(fit.floor, fits_of_other[fit.release, fit.variant].floor))
            for fit in fits_found
            if (fit.release, fit.variant) in fits_of_other
        )
    fitting = [fit for fit in fits_found if fit.floor <= highest]
    return choose(published, box, fitting, number(shared["version"]) if shared else None)
