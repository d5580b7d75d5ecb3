"""What the user picked by hand: carried out if it can work, refused with the reason and a way out if not."""

from __future__ import annotations

from msgspec.structs import replace

from ..catalog.versions import numbers
from ..core.errors import CallError, ChoiceImpossible
from ..core.recommendation import Choice, LocalWheel
from .builds import Build, builds_for, code_for
from .drivers import build_floor, reachable
from .others import without_code
from .pick import Pick, Site, best_pick, cpu_pick, cuda_pick
from .pythons import python_for
from .wheelhouse import local_builds


def chosen(where: Site, choice: Choice, wheels: tuple[LocalWheel, ...]) -> Pick:
    """The build for a choice; raises CallError("choice-impossible", choice=…, why=…, newest=…).

    A build that the wheelhouse holds is taken with the library versions that are there beside it.
    """
    local = local_builds(where, wheels)
    published = where.builds
    builds = [b for b in local if _wanted(b, choice)] if _names_build(choice) else []
    builds += [b for b in published if _wanted(b, choice)]
    if not builds:
        raise _refusal(where, choice, _why_missing(where, (*local, *published), choice))
    if choice.variant is None:
        builds = _preferred(where, builds)
    whys: list[str] = []
    for build in builds:
        pick, why = _tried(where, build)
        if pick is not None and _python_there(where, choice):
            return pick
        whys.append(why if pick is None else "no-python")
    raise _refusal(where, choice, whys[0])


def _names_build(choice: Choice) -> bool:
    return choice.pytorch is not None or choice.variant is not None


def _wanted(build: Build, choice: Choice) -> bool:
    return (
        _release_wanted(build, choice)
        and choice.variant in (None, build.variant)
        and (choice.python is None or choice.python in build.release.python)
    )


def _release_wanted(build: Build, choice: Choice) -> bool:
    """Whether this is the picked release, or one of the series that was picked like "2.14"."""
    return choice.pytorch in (None, build.version, build.version.rpartition(".")[0])


def _why_missing(where: Site, builds: tuple[Build, ...], choice: Choice) -> str:
    everywhere = builds_for(where.catalog, where.machine.os.system, where.arch)
    if any(_wanted(build, choice) for build in everywhere):
        return "glibc"
    versions = [b for b in builds if _release_wanted(b, choice)]
    if not versions:
        elsewhere = any(choice.pytorch in (r.version, r.version.rpartition(".")[0]) for r in where.catalog.releases)
        return "other-computer" if elsewhere else "no-release"
    if not any(choice.variant in (None, b.variant) for b in versions):
        return "no-build" if choice.pytorch is not None else "no-build-at-all"
    return "python" if _names_build(choice) else "python-unmade"


def _preferred(where: Site, builds: list[Build]) -> list[Build]:
    """Where no variant was picked: the kind that suits the machine, best first."""
    if where.card is None:
        return [b for b in builds if b.variant == "cpu"] or builds
    best = best_pick(where, lambda b: b in builds)
    if best is not None:
        return [best.build]
    if cuda_pick(where) is None:
        return [b for b in builds if b.variant == "cpu"] or builds
    # Falling back to the processor unasked would hide that this release has nothing for the card.
    return [b for b in builds if b.cuda is not None] or builds


def _tried(where: Site, build: Build) -> tuple[Pick | None, str]:
    """The build as a pick, or the code of the reason why it cannot run here."""
    if build.variant == "cpu":
        return Pick(build=build), ""
    if build.cuda is None:
        why = _why_not_other(where, build)
        return (Pick(build=build), "") if not why else (None, why)
    if where.card is None or where.state is None:
        return None, "other-gpu"
    device = where.card.capability
    code = code_for(where.catalog, build.record, device) if device is not None else "unknown"
    if code is None:
        return None, "no-code"
    lowest = build_floor(where.catalog, where.state, build, code)
    if lowest is None or not reachable(where.state, lowest):
        return None, "driver-limit" if where.state.picked is None else "driver-picked"
    return Pick(build=build, code=code, floor=lowest), ""


def _why_not_other(where: Site, build: Build) -> str:
    """Why a build for AMD's or Intel's cards cannot run here; empty where it may."""
    vendor = "intel" if build.variant == "xpu" else "amd"
    there = [gpu for gpu in where.machine.gpus if gpu.vendor == vendor]
    if not there:
        return "other-gpu"
    return "no-code" if all(without_code(where.catalog, gpu, build) for gpu in there) else ""


def _python_there(where: Site, choice: Choice) -> bool:
    if choice.python is None:
        return True
    return python_for(where.machine, where.catalog, where.arch, (choice.python,)) is not None


def _refusal(where: Site, choice: Choice, why: str) -> CallError:
    newest = _newest_like(where, choice)
    named = "+".join(part for part in (choice.pytorch, choice.variant) if part).lstrip("@")
    if choice.python is not None:
        named = ", ".join(part for part in (named, f"Python {choice.python}") if part)
    label = None
    if newest is not None:
        label = newest.build.label
        if choice.python is not None:
            series = python_for(where.machine, where.catalog, where.arch, newest.build.release.python)
            label = f"{label}, Python {series.series}" if series is not None else label
    alone = choice.pytorch is None and choice.variant is None
    if alone and why in ("no-code", "driver-limit", "driver-picked"):
        # A Python has no code for a card and needs no driver: the releases made for it do.
        why = f"python-{why}"
    part = "python" if alone or why in ("python", "no-python") else "variant" if choice.pytorch is None else "pytorch"
    return ChoiceImpossible(part=part, choice=named, why=f"@choice.{why}", newest=label)


def _newest_like(where: Site, choice: Choice) -> Pick | None:
    """The newest build that works here: with the picked variant if that ever does, else what we recommend."""
    if choice.variant == "cpu":
        return cpu_pick(where)
    if choice.variant is not None:
        like = best_pick(where, lambda b: b.variant == choice.variant)
        if like is not None:
            return like
    return best_pick(where) or cpu_pick(where)


def python_refused(where: Site, picked: str, series: tuple[str, ...]) -> ChoiceImpossible:
    """The refusal of a Python that TensorFlow is not made for; `series` are those that all packages support."""
    fitting = python_for(where.machine, where.catalog, where.arch, series)
    newest = f"Python {fitting.series}" if fitting is not None else None
    return ChoiceImpossible(part="python", choice=f"Python {picked}", why="@choice.python-tensorflow", newest=newest)


def sensible(choice: Choice | None) -> Choice:
    """The choice, or an empty one; raises CallError for a version that is no version."""
    if choice is None:
        return Choice()
    for text in (choice.pytorch, choice.python):
        if text is not None and numbers(text) is None:
            raise CallError("choice-unreadable", choice=text.lstrip("@"))
    # A build's name is written in small letters wherever it is published.
    return replace(choice, variant=choice.variant.lower()) if choice.variant is not None else choice
