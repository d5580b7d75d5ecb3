"""TensorFlow: which release, for which Python, and whether it can use the card.

What becomes of the further NVIDIA cards of a computer under TensorFlow, and whether PyTorch uses what it leaves.

Other ways to TensorFlow: Linux inside Windows, the card on trial, PyTorch in its place, two environments.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.records.software import TensorFlowBuildRecord
from ..catalog.store import Catalog
from ..catalog.versions import parse_capability, parse_version
from ..core.errors import UnsatisfiableChoice, UsageError
from ..core.recommendation import Alternative, DriverAdvice, TensorFlowChoice
from ..core.recommendation import RecommendationWarning as Caution
from ..core.types import Value
from .builds import CodeKind, excluded_devices
from .candidates import TargetSystem, best_candidate, make_target
from .drivers import (
    MinimumDriver,
    dropping_driver,
    find_minimum_driver,
    has_no_common_modules,
    is_reachable,
    parse_series,
)
from .gpus import NvidiaGpu, nvidia_gpus
from .multi_gpu import planned_driver_version

TensorFlowStatus = Literal[
    "card",
    "no-card",
    "windows",
    "windows-chip",
    "windows-unknown",
    "windows-update",
    "old-windows",
    "chip",
    "no-code",
    "driver",
    "no-gpu-build",
]


class TensorFlowCandidate(Struct, frozen=True, kw_only=True):
    """One TensorFlow: `why` says why it uses the card ("card") or not; `floor` is the driver that it needs then,
    `may_try` that the wheels have portable code that could run on the card all the same. `cudnn` is the requirement
    that holds cuDNN back for a card (`held_for`) which newer ones do not support.
    """

    build: TensorFlowBuildRecord
    version: str
    status: TensorFlowStatus
    minimum_driver: MinimumDriver | None = None
    may_work: bool = False
    is_chosen: bool = False
    cudnn_constraint: str | None = None
    constrained_for: str | None = None

    @property
    def uses_gpu(self) -> bool:
        """Whether TensorFlow computes on the card."""
        return self.status == "card"

    @property
    def to_choice(self) -> TensorFlowChoice:
        """The release with the requirement that installs it."""
        requirement, bracket, suffix = self.build.requirement.partition("[")
        # Without a card the CUDA libraries would be gigabytes for nothing.
        requirement = (
            requirement + suffix.partition("]")[2] if bracket and not self.uses_gpu else self.build.requirement
        )
        constraints = (self.cudnn_constraint,) if self.cudnn_constraint is not None else ()
        return TensorFlowChoice(
            version=self.version, requirement=requirement, gpu=self.uses_gpu, constraints=constraints
        )


def list_tensorflow_builds(target: TargetSystem) -> tuple[TensorFlowBuildRecord, ...]:
    """The builds for this kind of computer, newest first."""
    platform = (target.machine.os.system, target.arch)
    builds = (b for b in target.catalog.tensorflow.builds if (b.system, b.arch) == platform)
    return tuple(b for b in builds if not _has_old_glibc(target, b))


def _has_old_glibc(target: TargetSystem, build: TensorFlowBuildRecord) -> bool:
    """Whether this Linux is known to have too old a glibc for a build."""
    version = parse_version(build.version) or ()
    for requirement in target.catalog.tensorflow.glibc:
        first_version, minimum = parse_version(requirement.from_release), parse_version(requirement.lowest)
        if target.glibc is not None and first_version is not None and minimum is not None and version >= first_version:
            return target.glibc < minimum
    return False


def exact_version(catalog: Catalog, build: TensorFlowBuildRecord) -> str:
    """The exact release of a series where it is known: "2.21" is 2.21.0."""
    newest = catalog.tensorflow.newest
    return newest if parse_series(newest) == parse_series(build.version) else build.version


def evaluate_tensorflow(target: TargetSystem, build: TensorFlowBuildRecord) -> TensorFlowCandidate:
    """A build with whether the card can be used, and the reason."""
    version = exact_version(target.catalog, build)

    def candidate(
        status: TensorFlowStatus, minimum: MinimumDriver | None = None, *, may_work: bool = False
    ) -> TensorFlowCandidate:
        return TensorFlowCandidate(
            build=build, version=version, status=status, minimum_driver=minimum, may_work=may_work
        )

    if target.gpu is None or target.driver_state is None:
        return candidate("no-card")
    if target.machine.os.system == "windows":
        # 2.10 needs a CUDA and a cuDNN that nobody here can install any more.
        if build.gpu:
            return candidate("old-windows")
        return candidate(_windows_status(target, target.gpu.capability, build))
    chip = target.gpu.capability
    code = _tensorflow_code_kind(target.catalog, build, chip)
    if not build.gpu or code is None or _is_unsupported_chip(target.catalog, chip):
        status: TensorFlowStatus = "no-gpu-build" if not build.gpu else "no-code" if code is None else "chip"
        return candidate(status, may_work=status == "chip")
    minimum = _tensorflow_minimum_driver(target, build, code)
    if minimum is None or not is_reachable(target.driver_state, minimum):
        return candidate("driver")
    return _with_cudnn_constraint(target, build, candidate("card", minimum))


def _with_cudnn_constraint(
    target: TargetSystem, build: TensorFlowBuildRecord, candidate: TensorFlowCandidate
) -> TensorFlowCandidate:
    """The pick with what holds cuDNN back for the oldest card that needs it."""
    for card in _supported_gpus_oldest_first(target, build):
        constraint = _cudnn_constraint(target.catalog, build, card.capability)
        if constraint is not None:
            return replace(candidate, cudnn_constraint=constraint, constrained_for=card.name)
    return candidate


def _windows_status(
    target: TargetSystem, chip: tuple[int, int] | None, build: TensorFlowBuildRecord
) -> TensorFlowStatus:
    """Why TensorFlow on Windows uses no card: one that the Linux builds do not suit either, or of which that is not
    known, is not sent to WSL2, and neither is anybody whose Windows has none yet.
    """
    if chip is None:
        return "windows-unknown"
    if _is_unsupported_chip(target.catalog, chip) or _tensorflow_code_kind(target.catalog, build, chip) is None:
        return "windows-chip"
    route = target.catalog.tensorflow.find_route("windows", "wsl2")
    windows_build, minimum_build = target.machine.os.build, route.lowest_windows_build if route is not None else None
    return (
        "windows-update"
        if windows_build is not None and minimum_build is not None and windows_build < minimum_build
        else "windows"
    )


def _supported_gpus_oldest_first(target: TargetSystem, build: TensorFlowBuildRecord) -> list[NvidiaGpu]:
    """The cards that the build has code for, oldest first."""
    supported = [
        (card.capability, card)
        for card in nvidia_gpus(target.machine, target.catalog)
        if card.capability is not None
        and _tensorflow_code_kind(target.catalog, build, card.capability) is not None
        and not _is_unsupported_chip(target.catalog, card.capability)
    ]
    return [card for _, card in sorted(supported, key=lambda pair: pair[0])]


def _cudnn_constraint(catalog: Catalog, build: TensorFlowBuildRecord, chip: tuple[int, int] | None) -> str | None:
    """[and-cuda] takes the newest cuDNN, which has no code for older chips: those need the last one that has."""
    last, cuda = catalog.cudnn.last_for_old_chips, parse_series(build.cuda) if build.cuda is not None else None
    below = parse_capability(last.below_capability)
    if chip is None or below is None or chip >= below or cuda is None or not build.bundled_cuda:
        return None
    package = catalog.cudnn.wheel_packages.get(str(cuda[0]))
    return f"{package}=={last.version}" if package is not None else None


def _is_unsupported_chip(catalog: Catalog, chip: tuple[int, int] | None) -> bool:
    for gap in catalog.tensorflow.not_for:
        lowest, limit = parse_capability(gap.from_capability), parse_capability(gap.below_capability)
        if chip is not None and lowest is not None and chip >= lowest and (limit is None or chip < limit):
            return True
    return False


def _tensorflow_code_kind(
    catalog: Catalog, build: TensorFlowBuildRecord, chip: tuple[int, int] | None
) -> CodeKind | None:
    """How the build runs on a chip, by the build itself or by the newest that somebody looked into."""
    reference_build = (
        build if build.arch_list is not None else next((b for b in catalog.tensorflow.builds if b.arch_list), None)
    )
    if chip is None or reference_build is None or reference_build.arch_list is None:
        return "unknown"
    compiled = [c for text in reference_build.arch_list if (c := parse_capability(text)) is not None]
    excluded = excluded_devices(catalog)
    if any(c[0] == chip[0] and c[1] <= chip[1] and chip not in excluded.get(c, ()) for c in compiled):
        return "binary"
    portable = [c for text in reference_build.ptx_for if (c := parse_capability(text)) is not None]
    return "ptx" if any(c <= chip for c in portable) else None


def _tensorflow_minimum_driver(
    target: TargetSystem, build: TensorFlowBuildRecord, code: CodeKind
) -> MinimumDriver | None:
    cuda = parse_series(build.cuda) if build.cuda is not None else None
    if target.driver_state is None or cuda is None:
        return None
    if code == "ptx":
        return find_minimum_driver(target.catalog, cuda, target.driver_state.system, "ptx")
    text = target.catalog.tensorflow.minimum_drivers.get("wsl" if target.machine.os.wsl else "linux")
    version = parse_version(text)
    return MinimumDriver(text, version) if text is not None and version is not None else None


def best_tensorflow(target: TargetSystem) -> TensorFlowCandidate | None:
    """The newest TensorFlow for this system; None where none is known."""
    return next((evaluate_tensorflow(target, build) for build in list_tensorflow_builds(target)), None)


def pytorch_support_text(target: TargetSystem) -> str:
    """Whether PyTorch can use the card that TensorFlow leaves, as the code of a text."""
    best = best_candidate(target)
    if best is None:
        return "@tensorflow.pytorch-cannot"
    return "@tensorflow.pytorch-may" if best.code_kind == "unknown" else "@tensorflow.pytorch-can"


def unsupported_gpu_warnings(
    target: TargetSystem, tensorflow: TensorFlowCandidate, cards: tuple[NvidiaGpu, ...]
) -> Iterator[Caution]:
    """The further cards that a TensorFlow which computes on one of them has no code for."""
    for card in _secondary_gpus(target, tensorflow, cards):
        gpu_target = make_target(target.machine, target.catalog, target.arch, card, "studio")
        if evaluate_tensorflow(replace(gpu_target, driver_state=target.driver_state), tensorflow.build).status in (
            "no-code",
            "chip",
        ):
            data: dict[str, Value] = {
                "gpu": card.label,
                "version": tensorflow.version,
                "pytorch": pytorch_support_text(gpu_target),
            }
            yield Caution(code="tensorflow-other-gpu", data=data)


def driverless_gpu_warnings(
    target: TargetSystem, tensorflow: TensorFlowCandidate, cards: tuple[NvidiaGpu, ...], advice: DriverAdvice
) -> Iterator[Caution]:
    """The further cards that the driver for TensorFlow does not serve, or has no kernel modules for."""
    state, primary = target.driver_state, target.gpu
    if state is None or primary is None or primary.capability is None:
        return
    planned_version, installed = planned_driver_version(state, advice), parse_version(state.installed)
    for card in _secondary_gpus(target, tensorflow, cards):
        if card.capability is None:
            continue
        data: dict[str, Value] = {"gpu": card.label}
        dropped_from = dropping_driver(target.catalog, planned_version, card.capability, state.system)
        if state.system == "linux" and has_no_common_modules(target.catalog, primary.capability, card.capability):
            yield Caution(code="other-gpu-modules", data={**data, "strong": primary.label})
        elif (
            dropped_from is not None
            and dropping_driver(target.catalog, installed, card.capability, state.system) is not None
        ):
            data |= {"installed": (state.installed or "").lstrip("@"), "without": dropped_from}
            yield Caution(code="other-gpu-dark", data=data)
        elif dropped_from is not None:
            yield Caution(code="driver-drops-other-only", data={**data, "recommended": advice.recommended})


def _secondary_gpus(
    target: TargetSystem, tensorflow: TensorFlowCandidate, cards: tuple[NvidiaGpu, ...]
) -> Iterator[NvidiaGpu]:
    """Each further card of another chip, once; nothing where TensorFlow computes on none."""
    chip = target.gpu.capability if target.gpu is not None else None
    if not tensorflow.uses_gpu or chip is None:
        return
    yield from (card for card in dict.fromkeys(cards) if card.capability not in (None, chip))


def tensorflow_alternatives(
    target: TargetSystem, tensorflow: TensorFlowCandidate, *, beside_pytorch: bool, wsl: str | None = None
) -> Iterator[Alternative]:
    """The alternatives to one TensorFlow; `beside_pytorch`: PyTorch with CUDA goes into the same environment. `wsl`
    is what the user picked of it.
    """
    gpu = target.gpu.name if target.gpu is not None else None
    if find_wsl_candidate(target, tensorflow) is not None:
        change: dict[str, Value] = {"wsl": "install"} if wsl is None else {}
        yield Alternative(code="tensorflow-wsl2", change=change, data={"gpu": gpu})
    if tensorflow.may_work:
        requirement = tensorflow.build.requirement
        yield Alternative(code="tensorflow-try", change={}, data={"gpu": gpu, "requirement": requirement})
    if not tensorflow.uses_gpu and not beside_pytorch and target.gpu is not None:
        best = best_candidate(target)
        if best is not None:
            code = "pytorch-instead" if target.gpu.capability is not None else "pytorch-instead-unknown"
            yield Alternative(code=code, change={}, data={"gpu": gpu, "build": best.build.label})
    if tensorflow.uses_gpu and beside_pytorch:
        yield Alternative(code="two-environments", change={}, data={})


def with_wsl_choice(target: TargetSystem, tensorflow: TensorFlowCandidate, wsl: str | None) -> TensorFlowChoice:
    """The choice, with WSL2 besides where the user picked that; raises CallError where it would not help."""
    if wsl not in (None, "install"):
        raise UsageError("choice-unreadable", choice=str(wsl).lstrip("@"))
    if wsl is not None and find_wsl_candidate(target, tensorflow) is None:
        raise UnsatisfiableChoice(part="wsl", choice="WSL2", why="@choice.no-wsl", newest=None)
    return replace(tensorflow.to_choice, wsl=wsl is not None)


def wsl_minimum_driver(
    target: TargetSystem, tensorflow: TensorFlowCandidate | None, wsl: str | None
) -> MinimumDriver | None:
    """The Windows driver that the card needs under WSL2, where the user picked that."""
    candidate = find_wsl_candidate(target, tensorflow) if tensorflow is not None and wsl is not None else None
    return candidate.minimum_driver if candidate is not None else None


def find_wsl_candidate(target: TargetSystem, tensorflow: TensorFlowCandidate) -> TensorFlowCandidate | None:
    """TensorFlow's Linux build, where it would use the card under WSL2 on this Windows. Its `floor` is the Windows
    driver that it needs there.
    """
    if tensorflow.status not in ("windows", "old-windows") or target.arch != "x86_64":
        return None
    route = target.catalog.tensorflow.find_route("windows", "wsl2")
    platform = ("linux", target.arch)
    build = next((b for b in target.catalog.tensorflow.builds if (b.system, b.arch) == platform), None)
    if route is None or build is None:
        return None
    windows_build, minimum_build = target.machine.os.build, route.lowest_windows_build
    if windows_build is not None and minimum_build is not None and windows_build < minimum_build:
        return None
    wsl_machine = replace(target.machine, os=replace(target.machine.os, system="linux", wsl=True))
    candidate = evaluate_tensorflow(replace(target, machine=wsl_machine), build)
    return candidate if candidate.uses_gpu else None
