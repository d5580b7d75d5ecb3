"""What the user picked by hand: carried out if it can work, refused with the reason and a way out if not."""

from __future__ import annotations

from msgspec.structs import replace

from ..catalog.versions import parse_version
from ..core.errors import UsageError, UnsatisfiableChoice
from ..core.recommendation import Choice, LocalWheel
from .builds import Build, list_builds, code_kind
from .drivers import build_minimum_driver, is_reachable
from .others import lacks_rocm_code
from .pick import Candidate, TargetSystem, best_candidate, best_cpu_build, best_cuda_build
from .pythons import select_python
from .wheelhouse import list_local_builds


def resolve_build_choice(target: TargetSystem, choice: Choice, wheels: tuple[LocalWheel, ...]) -> Candidate:
    """The build for a choice; raises CallError("choice-impossible", choice=…, why=…, newest=…).

    A build that the wheelhouse holds is taken with the library versions that are there beside it.
    """
    local_list = list_local_builds(target, wheels)
    published_builds = target.builds
    builds = [b for b in local_list if _matches_choice(b, choice)] if _has_build_choice(choice) else []
    builds += [b for b in published_builds if _matches_choice(b, choice)]
    if not builds:
        raise _choice_error(target, choice, _missing_build_reason(target, (*local_list, *published_builds), choice))
    if choice.variant is None:
        builds = _prefer_suitable(target, builds)
    reasons: list[str] = []
    for build in builds:
        candidate, reason = _try_build(target, build)
        if candidate is not None and _has_python(target, choice):
            return candidate
        reasons.append(reason if candidate is None else "no-python")
    raise _choice_error(target, choice, reasons[0])


def _has_build_choice(choice: Choice) -> bool:
    return choice.pytorch is not None or choice.variant is not None


def _matches_choice(build: Build, choice: Choice) -> bool:
    return (
        _matches_release(build, choice)
        and choice.variant in (None, build.variant)
        and (choice.python is None or choice.python in build.release.python)
    )


def _matches_release(build: Build, choice: Choice) -> bool:
    """Whether this is the picked release, or one of the series that was picked like "2.14"."""
    return choice.pytorch in (None, build.version, build.version.rpartition(".")[0])


def _missing_build_reason(target: TargetSystem, builds: tuple[Build, ...], choice: Choice) -> str:
    all_builds = list_builds(target.catalog, target.machine.os.system, target.arch)
    if any(_matches_choice(build, choice) for build in all_builds):
        return "glibc"
    same_release = [b for b in builds if _matches_release(b, choice)]
    if not same_release:
        published = any(choice.pytorch in (r.version, r.version.rpartition(".")[0]) for r in target.catalog.releases)
        return "other-computer" if published else "no-release"
    if not any(choice.variant in (None, b.variant) for b in same_release):
        return "no-build" if choice.pytorch is not None else "no-build-at-all"
    return "python" if _has_build_choice(choice) else "python-unmade"


def _prefer_suitable(target: TargetSystem, builds: list[Build]) -> list[Build]:
    """Where no variant was picked: the kind that suits the machine, best first."""
    if target.gpu is None:
        return [b for b in builds if b.variant == "cpu"] or builds
    best = best_candidate(target, lambda b: b in builds)
    if best is not None:
        return [best.build]
    if best_cuda_build(target) is None:
        return [b for b in builds if b.variant == "cpu"] or builds
    # Falling back to the processor unasked would hide that this release has nothing for the card.
    return [b for b in builds if b.cuda is not None] or builds


def _try_build(target: TargetSystem, build: Build) -> tuple[Candidate | None, str]:
    """The build as a pick, or the code of the reason why it cannot run here."""
    if build.variant == "cpu":
        return Candidate(build=build), ""
    if build.cuda is None:
        reason = _non_nvidia_obstacle(target, build)
        return (Candidate(build=build), "") if not reason else (None, reason)
    if target.gpu is None or target.driver_state is None:
        return None, "other-gpu"
    device = target.gpu.capability
    code = code_kind(target.catalog, build.record, device) if device is not None else "unknown"
    if code is None:
        return None, "no-code"
    minimum = build_minimum_driver(target.catalog, target.driver_state, build, code)
    if minimum is None or not is_reachable(target.driver_state, minimum):
        return None, "driver-limit" if target.driver_state.requested is None else "driver-picked"
    return Candidate(build=build, code_kind=code, minimum_driver=minimum), ""


def _non_nvidia_obstacle(target: TargetSystem, build: Build) -> str:
    """Why a build for AMD's or Intel's cards cannot run here; empty where it may."""
    vendor = "intel" if build.variant == "xpu" else "amd"
    gpus = [gpu for gpu in target.machine.gpus if gpu.vendor == vendor]
    if not gpus:
        return "other-gpu"
    return "no-code" if all(lacks_rocm_code(target.catalog, gpu, build) for gpu in gpus) else ""


def _has_python(target: TargetSystem, choice: Choice) -> bool:
    if choice.python is None:
        return True
    return select_python(target.machine, target.catalog, target.arch, (choice.python,)) is not None


def _choice_error(target: TargetSystem, choice: Choice, reason: str) -> UsageError:
    best = _newest_similar(target, choice)
    label_of_choice = "+".join(part for part in (choice.pytorch, choice.variant) if part).lstrip("@")
    if choice.python is not None:
        label_of_choice = ", ".join(part for part in (label_of_choice, f"Python {choice.python}") if part)
    label = None
    if best is not None:
        label = best.build.label
        if choice.python is not None:
            python = select_python(target.machine, target.catalog, target.arch, best.build.release.python)
            label = f"{label}, Python {python.series}" if python is not None else label
    python_only = choice.pytorch is None and choice.variant is None
    if python_only and reason in ("no-code", "driver-limit", "driver-picked"):
        # A Python has no code for a card and needs no driver: the releases made for it do.
        reason = f"python-{reason}"
    part = "python" if python_only or reason in ("python", "no-python") else "variant" if choice.pytorch is None else "pytorch"
    return UnsatisfiableChoice(part=part, choice=label_of_choice, why=f"@choice.{reason}", newest=label)


def _newest_similar(target: TargetSystem, choice: Choice) -> Candidate | None:
    """The newest build that works here: with the picked variant if that ever does, else what we recommend."""
    if choice.variant == "cpu":
        return best_cpu_build(target)
    if choice.variant is not None:
        candidate = best_candidate(target, lambda b: b.variant == choice.variant)
        if candidate is not None:
            return candidate
    return best_candidate(target) or best_cpu_build(target)


def python_choice_error(target: TargetSystem, requested: str, series: tuple[str, ...]) -> UnsatisfiableChoice:
    """The refusal of a Python that TensorFlow is not made for; `series` are those that all packages support."""
    python = select_python(target.machine, target.catalog, target.arch, series)
    suggestion = f"Python {python.series}" if python is not None else None
    return UnsatisfiableChoice(part="python", choice=f"Python {requested}", why="@choice.python-tensorflow", newest=suggestion)


def validate_choice(choice: Choice | None) -> Choice:
    """The choice, or an empty one; raises CallError for a version that is no version."""
    if choice is None:
        return Choice()
    for text in (choice.pytorch, choice.python):
        if text is not None and parse_version(text) is None:
            raise UsageError("choice-unreadable", choice=text.lstrip("@"))
    # A build's name is written in small letters wherever it is published.
    return replace(choice, variant=choice.variant.lower()) if choice.variant is not None else choice
