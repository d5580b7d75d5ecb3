"""What the user picked by hand beside PyTorch: driver, CUDA Toolkit, cuDNN, TensorFlow."""

from __future__ import annotations

from msgspec.structs import replace

from ..catalog.versions import parse_version
from ..core.errors import UsageError, UnsatisfiableChoice
from ..core.recommendation import Choice, PartAdvice
from .drivers import is_reachable, parse_series
from .pick import Candidate, TargetSystem
from .tensorflow import TensorFlowCandidate, exact_version, evaluate_tensorflow, list_tensorflow_builds, best_tensorflow
from .toolkit import (
    ToolkitAdvice,
    target_chips,
    compiles_for,
    advise_cudnn,
    may_compile,
    advise_toolkit,
    find_cudnn_releases,
    supports_chips,
    toolkit_minimum_driver,
)


def part_choice_error(part: str, choice: str | None, reason: str, suggestion: str | None) -> UsageError:
    """The refusal of one part, with the reason and what works instead."""
    return UnsatisfiableChoice(part=part, choice=(choice or "").lstrip("@"), why=f"@choice.{reason}", newest=suggestion)


def apply_toolkit_choice(target: TargetSystem, candidate: Candidate | None, choice: Choice, *, required: bool) -> ToolkitAdvice:
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
    if toolkit is None or toolkit.find_installer(system, target.arch) is None or settings is None or not settings.can_run_unattended:
        raise part_choice_error("toolkit_way", version, "no-checked-installer", None)
    return replace(parts, toolkit=replace(parts.toolkit, way="installer"))


def _apply_toolkit_version(target: TargetSystem, cuda: tuple[int, int] | None, requested: str, parts: ToolkitAdvice) -> ToolkitAdvice:
    if requested == "none":
        return replace(parts, toolkit=PartAdvice(action="none"), is_other_minor=False, minimum_driver=None, is_impossible=False)
    suggestion = advise_toolkit(target, cuda).installable_version
    series = parse_series(requested)
    if series is None:
        raise UsageError("choice-unreadable", choice=requested.lstrip("@"))
    if target.gpu is None or target.driver_state is None:
        raise part_choice_error("cuda_toolkit", requested, "no-card", suggestion)
    chips = target_chips(target)
    version = parse_version(requested)
    installed = next((t for t in target.machine.cuda_toolkits or () if t.nvcc and parse_version(t.version) == version), None)
    release = next((t for t in target.catalog.cuda.toolkits if parse_version(t.version) == version and not t.preview), None)
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
    if installed is None and release is not None and not any((i.system, i.arch) == platform for i in release.installers):
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


def _apply_cudnn_version(target: TargetSystem, cuda: tuple[int, int] | None, requested: str, parts: ToolkitAdvice) -> PartAdvice:
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
        is_unknown = any(r.lowest_capability.get(str(series[0])) is None for r in releases if series[0] in r.cuda_majors)
        raise part_choice_error("cudnn", requested, "cudnn-chip-unknown" if is_unknown else "cudnn-chip", best)
    version = parse_version(requested)
    is_installed = any(parse_version(c.version) == version for c in target.machine.cudnn or ())
    return PartAdvice(action="keep" if is_installed else "install", version=requested if is_installed else release.version)


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
