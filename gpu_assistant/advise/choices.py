"""What the user picked by hand: carried out if it can work, refused with the reason and a way out if not.

What the user picked by hand beside PyTorch: driver, CUDA Toolkit, cuDNN, TensorFlow.

The driver that the user picked by hand, and those that a card can have.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..catalog.records.catalog import DriverPackage, GpuGeneration
from ..catalog.store import Catalog
from ..catalog.versions import parse_capability, parse_version
from ..core.errors import UnsatisfiableChoice, UsageError
from ..core.machine import SystemName
from ..core.recommendation import Choice, LocalWheel, PartAdvice
from .builds import Build, code_kind, list_builds
from .candidates import Candidate, TargetSystem, best_candidate, best_cpu_build, best_cuda_build, lacks_rocm_code
from .drivers import (
    branch_supports,
    build_minimum_driver,
    dropping_driver,
    find_generation,
    is_reachable,
    native_cuda,
    parse_series,
    with_download_url,
    with_server_url,
)
from .gpus import NvidiaGpu
from .python import list_local_builds, select_python
from .tensorflow import (
    TensorFlowCandidate,
    best_tensorflow,
    evaluate_tensorflow,
    exact_version,
    list_tensorflow_builds,
)
from .toolkit import (
    ToolkitAdvice,
    advise_cudnn,
    advise_toolkit,
    compiles_for,
    find_cudnn_releases,
    may_compile,
    supports_chips,
    target_chips,
    toolkit_minimum_driver,
)


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
    part = (
        "python"
        if python_only or reason in ("python", "no-python")
        else "variant"
        if choice.pytorch is None
        else "pytorch"
    )
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
    return UnsatisfiableChoice(
        part="python", choice=f"Python {requested}", why="@choice.python-tensorflow", newest=suggestion
    )


def validate_choice(choice: Choice | None) -> Choice:
    """The choice, or an empty one; raises CallError for a version that is no version."""
    if choice is None:
        return Choice()
    for text in (choice.pytorch, choice.python):
        if text is not None and parse_version(text) is None:
            raise UsageError("choice-unreadable", choice=text.lstrip("@"))
    # A build's name is written in small letters wherever it is published.
    return replace(choice, variant=choice.variant.lower()) if choice.variant is not None else choice


def part_choice_error(part: str, choice: str | None, reason: str, suggestion: str | None) -> UsageError:
    """The refusal of one part, with the reason and what works instead."""
    return UnsatisfiableChoice(part=part, choice=(choice or "").lstrip("@"), why=f"@choice.{reason}", newest=suggestion)


def apply_toolkit_choice(
    target: TargetSystem, candidate: Candidate | None, choice: Choice, *, required: bool
) -> ToolkitAdvice:
    """Toolkit and cuDNN as picked, else as the goal wants them (`wanted`) or left out."""
    cuda = candidate.build.cuda if candidate is not None else None
    parts = advise_toolkit(target, cuda) if required else ToolkitAdvice()
    if choice.cuda_toolkit is not None:
        parts = _apply_toolkit_version(target, cuda, choice.cuda_toolkit, parts)
    if choice.cudnn is not None:
        parts = replace(parts, cudnn=_apply_cudnn_version(target, cuda, choice.cudnn, parts))
    elif choice.cuda_toolkit == "none":
        parts = replace(parts, cudnn=PartAdvice(action="none"))
    return _apply_install_method(target, choice.toolkit_way, parts)


def _apply_install_method(target: TargetSystem, method: str | None, parts: ToolkitAdvice) -> ToolkitAdvice:
    """How the toolkit gets here as picked; what is not installed has no way."""
    if method not in (None, "archives", "installer"):
        raise UsageError("choice-unreadable", choice=str(method).lstrip("@"))
    if method != "installer" or parts.toolkit.action != "install":
        return parts
    system, version = target.machine.os.system, parts.toolkit.version
    toolkit = next((t for t in target.catalog.cuda.toolkits if t.version == version), None)
    settings = target.catalog.cuda.installer_settings(system)
    if (
        toolkit is None
        or toolkit.find_installer(system, target.arch) is None
        or settings is None
        or not settings.can_run_unattended
    ):
        raise part_choice_error("toolkit_way", version, "no-checked-installer", None)
    return replace(parts, toolkit=replace(parts.toolkit, way="installer"))


def _apply_toolkit_version(
    target: TargetSystem, cuda: tuple[int, int] | None, requested: str, parts: ToolkitAdvice
) -> ToolkitAdvice:
    if requested == "none":
        return replace(
            parts, toolkit=PartAdvice(action="none"), is_other_minor=False, minimum_driver=None, is_impossible=False
        )
    suggestion = advise_toolkit(target, cuda).installable_version
    series = parse_series(requested)
    if series is None:
        raise UsageError("choice-unreadable", choice=requested.lstrip("@"))
    if target.gpu is None or target.driver_state is None:
        raise part_choice_error("cuda_toolkit", requested, "no-card", suggestion)
    chips = target_chips(target)
    version = parse_version(requested)
    installed = next(
        (t for t in target.machine.cuda_toolkits or () if t.nvcc and parse_version(t.version) == version), None
    )
    release = next(
        (t for t in target.catalog.cuda.toolkits if parse_version(t.version) == version and not t.preview), None
    )
    if installed is None and release is None:
        raise part_choice_error("cuda_toolkit", requested, "no-toolkit", suggestion)
    same_series = [t for t in target.catalog.cuda.toolkits if parse_series(t.version) == series]
    is_certain = any(compiles_for(t, chips) for t in same_series)
    if not is_certain and not any(may_compile(t, chips) for t in same_series):
        raise part_choice_error("cuda_toolkit", requested, "toolkit-chip", suggestion)
    minimum = toolkit_minimum_driver(target, series)
    if minimum is None or not is_reachable(target.driver_state, minimum):
        reason = "driver-limit" if target.driver_state.requested is None else "toolkit-driver-picked"
        raise part_choice_error("cuda_toolkit", requested, reason, suggestion)
    platform = (target.machine.os.system, target.arch)
    if (
        installed is None
        and release is not None
        and not any((i.system, i.arch) == platform for i in release.installers)
    ):
        raise part_choice_error("cuda_toolkit", requested, "no-installer", suggestion)
    return replace(
        parts,
        toolkit=PartAdvice(action="keep" if installed is not None else "install", version=requested),
        cudnn=advise_cudnn(target, series[0], chips) if parts.cudnn.action != "none" else parts.cudnn,
        is_other_minor=cuda is not None and series != cuda,
        minimum_driver=minimum,
        is_impossible=False,
        is_chip_unknown=not is_certain,
    )


def _apply_cudnn_version(
    target: TargetSystem, cuda: tuple[int, int] | None, requested: str, parts: ToolkitAdvice
) -> PartAdvice:
    if requested == "none":
        return PartAdvice(action="none")
    if parse_version(requested) is None:
        raise UsageError("choice-unreadable", choice=requested.lstrip("@"))
    series = parse_series(parts.toolkit.version) if parts.toolkit.version is not None else cuda
    if target.gpu is None or series is None:
        raise part_choice_error("cudnn", requested, "no-card", None)
    chips = target_chips(target)
    best = advise_cudnn(target, series[0], chips).version
    releases = [r for r in find_cudnn_releases(target.catalog, requested) if not r.yanked]
    if not releases:
        raise part_choice_error("cudnn", requested, "no-cudnn", best)
    if not any(series[0] in r.cuda_majors for r in releases):
        reason = "@choice.cudnn-cuda"
        raise UnsatisfiableChoice(part="cudnn", choice=requested, why=reason, newest=best, cuda=series[0])
    release = next((r for r in releases if supports_chips(r, series[0], chips)), None)
    if release is None:
        is_unknown = any(
            r.lowest_capability.get(str(series[0])) is None for r in releases if series[0] in r.cuda_majors
        )
        raise part_choice_error("cudnn", requested, "cudnn-chip-unknown" if is_unknown else "cudnn-chip", best)
    version = parse_version(requested)
    is_installed = any(parse_version(c.version) == version for c in target.machine.cudnn or ())
    return PartAdvice(
        action="keep" if is_installed else "install", version=requested if is_installed else release.version
    )


def resolve_tensorflow_choice(target: TargetSystem, requested: str | None) -> TensorFlowCandidate | None:
    """The TensorFlow that was picked, else the newest for this system."""
    if requested is None:
        return best_tensorflow(target)
    version, newest = parse_version(requested), best_tensorflow(target)
    if version is None:
        raise UsageError("choice-unreadable", choice=requested.lstrip("@"))
    for build in list_tensorflow_builds(target):
        if version in (parse_version(build.version), parse_version(exact_version(target.catalog, build))):
            return replace(evaluate_tensorflow(target, build), is_chosen=True)
    raise part_choice_error("tensorflow", requested, "no-tensorflow", newest.version if newest is not None else None)


def driver_packages_for(catalog: Catalog, system: SystemName, card: NvidiaGpu) -> Iterator[DriverPackage]:
    """The packages known to serve a card: Windows' name the cards, Linux's branches know those of their time."""
    own_generation = find_generation(catalog, card.capability) if card.capability is not None else None
    if card.capability is not None and own_generation is None:
        return
    generations = {generation.id: generation for generation in catalog.drivers.generations}
    for package in catalog.drivers.packages:
        if package.system != system or package.segment not in (None, card.segment):
            continue
        other = generations.get(package.generation) if own_generation is not None else None
        if other in (None, own_generation) or (
            system == "linux" and _supports_newer_chip(catalog, other, card.capability)
        ):
            yield package


def _supports_newer_chip(catalog: Catalog, generation: GpuGeneration | None, chip: tuple[int, int] | None) -> bool:
    """Whether drivers for an older generation of cards know a newer chip."""
    lowest = parse_capability(generation.from_capability) if generation is not None else None
    if generation is None or chip is None or lowest is None:
        return False
    return chip >= lowest and branch_supports(catalog, generation, chip)


def apply_driver_choice(target: TargetSystem, requested: str | None) -> TargetSystem:
    """The place as it is with the driver that the user picked: "keep" or an exact version."""
    state = target.driver_state
    if requested is None:
        return target
    newest_version = state.package.version if state is not None and state.package is not None else None
    if target.gpu is None or state is None:
        raise part_choice_error("driver", requested, "no-card", newest_version)
    if requested == "keep":
        if state.installed is None:
            raise part_choice_error("driver", requested, "no-driver", newest_version)
        if state.dropped_from is not None:
            raise part_choice_error("driver", requested, "driver-drops-card", newest_version)
        return (
            replace(target, driver_state=replace(state, requested=state.installed))
            if state.version is not None
            else target
        )
    version = parse_version(requested)
    if version is None:
        raise UsageError("choice-unreadable", choice=requested.lstrip("@"))
    if dropping_driver(target.catalog, version, target.gpu.capability, state.system) is not None:
        raise part_choice_error("driver", requested, "driver-drops-card", newest_version)
    if state.first_driver is not None and version < state.first_driver.version:
        raise part_choice_error("driver", requested, "driver-before-card", newest_version)
    package = next(
        (p for p in driver_packages_for(target.catalog, state.system, target.gpu) if p.version == requested), None
    )
    is_listed = any((p.system, p.version) == (state.system, requested) for p in target.catalog.drivers.packages)
    if is_listed and package is None and target.gpu.capability is not None:
        raise part_choice_error("driver", requested, "driver-other-card", newest_version)
    if package is not None:
        package = with_download_url(target.catalog, package, target.gpu.segment, package.channel or "studio")
        package = with_server_url(target.catalog, package, target.machine)
    cuda, generation = native_cuda(target.catalog, version), state.generation
    if generation is not None and target.gpu.capability is not None and generation.last_branch is not None:
        # One that leaves an older card behind is had as the strongest card alone has it.
        dropped_from = parse_version(generation.first_without.get(state.system))
        is_dropped = dropped_from is not None and version >= dropped_from
        generation = find_generation(target.catalog, target.gpu.capability) if is_dropped else generation
    state = replace(
        state,
        version=version,
        cuda=cuda,
        package=package,
        dropped_from=None,
        requested=requested,
        generation=generation,
    )
    return replace(target, driver_state=state)
