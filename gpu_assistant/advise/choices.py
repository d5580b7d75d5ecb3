"""Versions that the user chose by hand: applied if they can work, else refused with the reason and what works instead.

One function for each part of a `Choice`: PyTorch with its Python (`resolve_build_choice`), the CUDA Toolkit with cuDNN
(`apply_toolkit_choice`), TensorFlow (`resolve_tensorflow_choice`) and the driver (`apply_driver_choice`). All raise
UnsatisfiableChoice, and UsageError("choice-unreadable") for a text that is no version.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..catalog.records.drivers import DriverPackage, GpuGeneration
from ..catalog.store import Catalog
from ..core.errors import UnsatisfiableChoice, UsageError
from ..core.machine import SystemName
from ..core.recommendation import Choice, LocalWheel, PartAdvice
from ..core.versions import Capability, Version
from .builds import Build, code_kind, list_builds
from .candidates import (
    Candidate,
    TargetSystem,
    best_candidate,
    best_cpu_build,
    best_cuda_build,
    best_non_nvidia_candidate,
    computes_without_gpu,
    lacks_rocm_code,
)
from .drivers import (
    branch_supports,
    build_minimum_driver,
    dropping_driver,
    find_generation,
    is_reachable,
    native_cuda,
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
    find_missing_cpu_feature,
    list_tensorflow_builds,
)
from .toolkit import (
    ToolkitAdvice,
    advise_cudnn,
    advise_toolkit,
    clashes_with_glibc,
    compiles_for,
    find_cudnn_releases,
    find_wheels_obstacle,
    may_compile,
    prefers_wheels,
    supports_chips,
    target_chips,
    toolkit_minimum_driver,
    with_wheels,
)


def resolve_build_choice(target: TargetSystem, choice: Choice, wheels: tuple[LocalWheel, ...]) -> Candidate:
    """The build for a choice. A build from the wheelhouse comes before the published one, with the companion packages
    that the wheelhouse has.
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
        (choice.variant is None or choice.variant == build.variant)
        and _matches_release(build, choice)
        and (choice.python is None or choice.python in build.release.python)
    )


def _matches_release(build: Build, choice: Choice) -> bool:
    """Whether this is the chosen release, or one of the chosen series ("2.14")."""
    chosen = choice.pytorch
    return chosen is None or chosen == build.version or chosen == build.version.rpartition(".")[0]


def _missing_build_reason(target: TargetSystem, builds: tuple[Build, ...], choice: Choice) -> str:
    all_builds = list_builds(target.catalog, target.machine.os.system, target.arch)
    if any(_matches_choice(build, choice) for build in all_builds):
        return "glibc"
    same_release = [b for b in builds if _matches_release(b, choice)]
    if not same_release:
        versions = (release.version.text for release in target.catalog.releases)
        published = any(choice.pytorch in (text, text.rpartition(".")[0]) for text in versions)
        return "other-computer" if published else "no-release"
    if not any(choice.variant in (None, b.variant) for b in same_release):
        return "no-build" if choice.pytorch is not None else "no-build-at-all"
    return "python" if _has_build_choice(choice) else "python-unmade"


def _prefer_suitable(target: TargetSystem, builds: list[Build]) -> list[Build]:
    """Without a chosen variant: the builds of the kind that suits the machine, best first."""
    if target.gpu is None:
        other = best_non_nvidia_candidate(target, lambda b: b in builds)
        return [other[0].build] if other is not None else [b for b in builds if b.variant == "cpu"] or builds
    best = best_candidate(target, lambda b: b in builds)
    if best is not None:
        return [best.build]
    if best_cuda_build(target) is None:
        return [b for b in builds if b.variant == "cpu"] or builds
    # A silent fall-back to the CPU build would hide that this release has none for the GPU.
    return [b for b in builds if b.cuda is not None] or builds


def _try_build(target: TargetSystem, build: Build) -> tuple[Candidate | None, str]:
    """The build as a candidate, or the code of the reason why it cannot run here."""
    on_cpu = build.cuda is not None and target.gpu is None and computes_without_gpu(target)
    if build.variant == "cpu" or on_cpu:
        return Candidate(build=build, on_cpu=on_cpu), ""
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
    """Why a build for AMD or Intel GPUs cannot run here; empty where it may."""
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
        # Code for the GPU and demands on the driver are those of the releases for this Python, not of Python itself.
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
    """The newest build that works here: of the chosen variant if one does, else the recommended one."""
    if choice.variant == "cpu":
        return best_cpu_build(target)
    if choice.variant is not None:
        candidate = best_candidate(target, lambda b: b.variant == choice.variant)
        if candidate is not None:
            return candidate
    return best_candidate(target) or best_cpu_build(target)


def python_choice_error(target: TargetSystem, requested: str, series: tuple[str, ...]) -> UnsatisfiableChoice:
    """The error for a Python that TensorFlow does not support; `series` are those that all packages support."""
    python = select_python(target.machine, target.catalog, target.arch, series)
    suggestion = f"Python {python.series}" if python is not None else None
    return UnsatisfiableChoice(
        part="python", choice=f"Python {requested}", why="@choice.python-tensorflow", newest=suggestion
    )


def validate_choice(choice: Choice | None) -> Choice:
    """The choice, or an empty one; raises UsageError for a PyTorch or Python that is no version."""
    if choice is None:
        return Choice()
    for text in (choice.pytorch, choice.python):
        if text is not None and Version.parse(text) is None:
            raise UsageError("choice-unreadable", choice=text.lstrip("@"))
    # Indexes publish variants in lower case.
    return replace(choice, variant=choice.variant.lower()) if choice.variant is not None else choice


def part_choice_error(
    part: str, choice: str | None, reason: str, suggestion: Version | str | None
) -> UnsatisfiableChoice:
    """The error for one part, with the reason and what works instead."""
    newest = str(suggestion) if suggestion is not None else None
    return UnsatisfiableChoice(part=part, choice=(choice or "").lstrip("@"), why=f"@choice.{reason}", newest=newest)


def apply_toolkit_choice(
    target: TargetSystem, candidate: Candidate | None, choice: Choice, *, required: bool
) -> ToolkitAdvice:
    """Toolkit and cuDNN as chosen, else the recommended ones if the goal needs them (`required`), else none."""
    cuda = candidate.build.cuda if candidate is not None else None
    parts = advise_toolkit(target, cuda) if required else ToolkitAdvice()
    if choice.cuda_toolkit is not None:
        parts = _apply_toolkit_version(target, cuda, choice.cuda_toolkit, parts)
    if choice.cudnn is not None:
        parts = replace(parts, cudnn=_apply_cudnn_version(target, cuda, choice.cudnn, parts))
    elif choice.cuda_toolkit == "none":
        parts = replace(parts, cudnn=PartAdvice(action="none"))
    return _apply_install_method(target, candidate, choice, parts)


def _apply_install_method(
    target: TargetSystem, candidate: Candidate | None, choice: Choice, parts: ToolkitAdvice
) -> ToolkitAdvice:
    """With the chosen way to the toolkit, where it is to be installed, else the recommended one."""
    method = choice.toolkit_way
    if method not in (None, "archives", "wheels", "installer"):
        raise UsageError("choice-unreadable", choice=str(method).lstrip("@"))
    if parts.toolkit.action != "install" or method == "archives":
        return parts
    if method == "installer":
        _check_installer(target, parts)
        return replace(parts, toolkit=replace(parts.toolkit, way="installer"))
    obstacle = find_wheels_obstacle(target, candidate, parts, is_picked=choice.cuda_toolkit is not None)
    if obstacle is not None and method == "wheels":
        raise part_choice_error("toolkit_way", parts.toolkit.version, obstacle, None)
    if obstacle is None and (method == "wheels" or prefers_wheels(target, candidate, parts)):
        return with_wheels(target, candidate, parts, cudnn_picked=choice.cudnn is not None)
    return parts


def _check_installer(target: TargetSystem, parts: ToolkitAdvice) -> None:
    """Raise UnsatisfiableChoice unless NVIDIA's own installer can be verified and run unattended."""
    system, version = target.machine.os.system, parts.toolkit.version
    toolkit = next((t for t in target.catalog.cuda.toolkits if t.version.text == version), None)
    settings = target.catalog.cuda.installer_settings(system)
    if (
        toolkit is None
        or toolkit.find_installer(system, target.arch) is None
        or settings is None
        or not settings.can_run_unattended
    ):
        raise part_choice_error("toolkit_way", version, "no-checked-installer", None)


def _apply_toolkit_version(
    target: TargetSystem, cuda: Version | None, requested: str, parts: ToolkitAdvice
) -> ToolkitAdvice:
    if requested == "none":
        return replace(
            parts, toolkit=PartAdvice(action="none"), is_other_minor=False, minimum_driver=None, is_impossible=False
        )
    suggestion = advise_toolkit(target, cuda).installable_version
    version = Version.parse(requested)
    if version is None:
        raise UsageError("choice-unreadable", choice=requested.lstrip("@"))
    if target.gpu is None or target.driver_state is None:
        raise part_choice_error("cuda_toolkit", requested, "no-card", suggestion)
    chips, series = target_chips(target), version.series
    installed = next(
        (t for t in target.machine.cuda_toolkits or () if t.nvcc and Version.parse(t.version) == version), None
    )
    release = next((t for t in target.catalog.cuda.toolkits if t.version == version and not t.preview), None)
    if installed is None and release is None:
        raise part_choice_error("cuda_toolkit", requested, "no-toolkit", suggestion)
    same_series = [t for t in target.catalog.cuda.toolkits if t.version.series == series]
    is_certain = any(compiles_for(t, chips) for t in same_series)
    if not is_certain and not any(may_compile(t, chips) for t in same_series):
        raise part_choice_error("cuda_toolkit", requested, "toolkit-chip", suggestion)
    minimum = toolkit_minimum_driver(target, series)
    if minimum is None or not is_reachable(target.driver_state, minimum):
        reason = "driver-limit" if target.driver_state.requested is None else "toolkit-driver-picked"
        raise part_choice_error("cuda_toolkit", requested, reason, suggestion)
    if installed is None and clashes_with_glibc(target, version):
        raise part_choice_error("cuda_toolkit", requested, "toolkit-glibc", suggestion)
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
        cudnn=advise_cudnn(target, series.major, chips) if parts.cudnn.action != "none" else parts.cudnn,
        is_other_minor=cuda is not None and series != cuda,
        minimum_driver=minimum,
        is_impossible=False,
        is_chip_unknown=not is_certain,
    )


def _apply_cudnn_version(
    target: TargetSystem, cuda: Version | None, requested: str, parts: ToolkitAdvice
) -> PartAdvice:
    if requested == "none":
        return PartAdvice(action="none")
    version = Version.parse(requested)
    if version is None:
        raise UsageError("choice-unreadable", choice=requested.lstrip("@"))
    toolkit = Version.parse(parts.toolkit.version) or cuda
    if target.gpu is None or toolkit is None:
        raise part_choice_error("cudnn", requested, "no-card", None)
    chips, major = target_chips(target), toolkit.major
    best = advise_cudnn(target, major, chips).version
    releases = [r for r in find_cudnn_releases(target.catalog, requested) if not r.yanked]
    if not releases:
        raise part_choice_error("cudnn", requested, "no-cudnn", best)
    if not any(major in r.cuda_majors for r in releases):
        reason = "@choice.cudnn-cuda"
        raise UnsatisfiableChoice(part="cudnn", choice=requested, why=reason, newest=best, cuda=major)
    release = next((r for r in releases if supports_chips(r, major, chips)), None)
    if release is None:
        is_unknown = any(r.lowest_capability.get(str(major)) is None for r in releases if major in r.cuda_majors)
        raise part_choice_error("cudnn", requested, "cudnn-chip-unknown" if is_unknown else "cudnn-chip", best)
    is_installed = any(Version.parse(c.version) == version for c in target.machine.cudnn or ())
    return PartAdvice(
        action="keep" if is_installed else "install", version=requested if is_installed else release.version.text
    )


def resolve_tensorflow_choice(target: TargetSystem, requested: str | None) -> TensorFlowCandidate | None:
    """The chosen TensorFlow, else the newest for this system."""
    if requested is None:
        return best_tensorflow(target)
    version, newest = Version.parse(requested), best_tensorflow(target)
    if version is None:
        raise UsageError("choice-unreadable", choice=requested.lstrip("@"))
    for build in list_tensorflow_builds(target):
        if version in (build.version, Version.parse(exact_version(target.catalog, build))):
            return replace(evaluate_tensorflow(target, build), is_chosen=True)
    if find_missing_cpu_feature(target) is not None:
        raise part_choice_error("tensorflow", requested, "tensorflow-cpu", None)
    raise part_choice_error("tensorflow", requested, "no-tensorflow", newest.version if newest is not None else None)


def driver_packages_for(catalog: Catalog, system: SystemName, card: NvidiaGpu) -> Iterator[DriverPackage]:
    """The packages known to support a GPU: on Windows those for its generation, on Linux also older branches that
    already know the chip.
    """
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


def _supports_newer_chip(catalog: Catalog, generation: GpuGeneration | None, chip: Capability | None) -> bool:
    """Whether the drivers for an older generation support a newer chip."""
    if generation is None or chip is None:
        return False
    return chip >= generation.from_capability and branch_supports(catalog, generation, chip)


def apply_driver_choice(target: TargetSystem, requested: str | None) -> TargetSystem:
    """The target with the driver that the user chose: "keep" or an exact version."""
    state = target.driver_state
    if requested is None:
        return target
    newest_version = state.newest_version if state is not None else None
    if target.gpu is None or state is None:
        raise part_choice_error("driver", requested, "no-card", newest_version)
    if state.host is not None and requested not in ("keep", state.installed):
        raise part_choice_error("driver", requested, f"driver-host-{state.host}", state.installed)
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
    version = Version.parse(requested)
    if version is None:
        raise UsageError("choice-unreadable", choice=requested.lstrip("@"))
    if dropping_driver(target.catalog, version, target.gpu.capability, state.system) is not None:
        raise part_choice_error("driver", requested, "driver-drops-card", newest_version)
    if state.first_driver is not None and version < state.first_driver:
        raise part_choice_error("driver", requested, "driver-before-card", newest_version)
    packages = driver_packages_for(target.catalog, state.system, target.gpu)
    package = next((p for p in packages if p.version.text == requested), None)
    is_listed = any((p.system, p.version.text) == (state.system, requested) for p in target.catalog.drivers.packages)
    if is_listed and package is None and target.gpu.capability is not None:
        raise part_choice_error("driver", requested, "driver-other-card", newest_version)
    if package is not None:
        package = with_download_url(target.catalog, package, target.gpu.segment, package.channel or "studio")
        package = with_server_url(target.catalog, package, target.machine)
    cuda, generation = native_cuda(target.catalog, version), state.generation
    if generation is not None and target.gpu.capability is not None and generation.last_branch is not None:
        # A driver that drops the older GPU is limited only by the generation of the strongest one.
        dropped_from = generation.first_without.get(state.system)
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
