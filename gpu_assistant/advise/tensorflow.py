"""TensorFlow: which release, whether it uses the GPU, and what else works.

`evaluate_tensorflow` judges one build, `best_tensorflow` the newest. The warnings are about further NVIDIA GPUs beside
the one that TensorFlow uses; the alternatives are WSL2, PyTorch in its place, and two environments.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.records.libraries import CpuFeatureRequirement, TensorFlowBuildRecord
from ..catalog.store import Catalog
from ..core.errors import UnsatisfiableChoice, UsageError
from ..core.recommendation import Alternative, DriverAdvice, RecommendationWarning, SourceAnswer, TensorFlowChoice
from ..core.types import Value
from ..core.versions import Capability, Version, version_text
from .availability import find_general_answer
from .builds import CodeKind, excluded_devices
from .candidates import TargetSystem, best_candidate, make_target
from .drivers import dropping_driver, find_minimum_driver, has_no_common_modules, is_in_range, is_reachable
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
    """One TensorFlow. `status` is "card" where it uses the GPU, on `minimum_driver`, else the reason why it does not;
    `may_work`: its portable code might run on the GPU all the same. `is_translated`: it has only portable code for the
    GPU, which the driver translates. `cudnn_constraint` is the requirement that keeps
    cuDNN at the last version for the GPU named `constrained_for`. `newer` is the release for which the driver is too
    old, and `newer_driver` the one that it needs.
    """

    build: TensorFlowBuildRecord
    version: str
    status: TensorFlowStatus
    minimum_driver: Version | None = None
    may_work: bool = False
    is_translated: bool = False
    is_chosen: bool = False
    cudnn_constraint: str | None = None
    constrained_for: str | None = None
    newer: str | None = None
    newer_driver: Version | None = None

    @property
    def uses_gpu(self) -> bool:
        """Whether TensorFlow computes on the GPU."""
        return self.status == "card"

    @property
    def to_choice(self) -> TensorFlowChoice:
        """The release with the requirement that installs it."""
        requirement, bracket, suffix = self.build.requirement.partition("[")
        # The CUDA libraries would be gigabytes that nothing uses.
        requirement = (
            requirement + suffix.partition("]")[2] if bracket and not self.uses_gpu else self.build.requirement
        )
        constraints = (self.cudnn_constraint,) if self.cudnn_constraint is not None else ()
        return TensorFlowChoice(
            version=self.version, requirement=requirement, gpu=self.uses_gpu, constraints=constraints
        )


def list_tensorflow_builds(target: TargetSystem) -> tuple[TensorFlowBuildRecord, ...]:
    """The builds for this platform that its glibc or macOS can load, its processor can run and, as far as was asked,
    the general index has, newest first.
    """
    if find_missing_cpu_feature(target) is not None:
        return ()
    platform, newest = (target.machine.os.system, target.arch), target.newest_tensorflow
    builds = (b for b in target.catalog.tensorflow.builds if (b.system, b.arch) == platform)
    if newest is not None:
        builds = (b for b in builds if b.version.series <= newest.series)
    return tuple(b for b in builds if not _has_old_glibc(target, b) and not _has_old_macos(target, b))


def with_available_tensorflow(target: TargetSystem, answers: tuple[SourceAnswer, ...]) -> TargetSystem:
    """The target with the newest TensorFlow that the general index has, if it said that it has only older ones and one
    of these runs here.
    """
    answer = find_general_answer(answers, "tensorflow")
    newest = Version.parse(answer.newest) if answer is not None and answer.state == "absent" else None
    limited = replace(target, newest_tensorflow=newest)
    return limited if newest is not None and list_tensorflow_builds(limited) else target


def tensorflow_source_warnings(
    target: TargetSystem, tensorflow: TensorFlowCandidate, answers: tuple[SourceAnswer, ...]
) -> Iterator[RecommendationWarning]:
    """What the general index said about TensorFlow, which comes from nowhere else."""
    answer = find_general_answer(answers, "tensorflow")
    if answer is None or answer.state == "available":
        return
    data: dict[str, Value] = {"version": answer.version, "general": f"@answer.{answer.state}"}
    if answer.state == "late":
        yield RecommendationWarning(code="source-unknown-tensorflow", data=data)
    elif target.newest_tensorflow is not None:
        data["recommended"] = tensorflow.version
        yield RecommendationWarning(code="source-older-tensorflow", data=data)
    else:
        yield RecommendationWarning(code="source-none-tensorflow", data=data)


def find_minimum_macos(target: TargetSystem) -> Version | None:
    """The macOS that the builds for this computer need, where this one is older than that for all of them."""
    platform = (target.machine.os.system, target.arch)
    builds = [b for b in target.catalog.tensorflow.builds if (b.system, b.arch) == platform]
    old = [b.lowest_system for b in builds if b.lowest_system is not None and _has_old_macos(target, b)]
    return min(old) if old and len(old) == len(builds) else None


def _has_old_macos(target: TargetSystem, build: TensorFlowBuildRecord) -> bool:
    """Whether this macOS is known to be too old for a build."""
    installed = Version.parse(target.machine.os.version)
    return build.lowest_system is not None and installed is not None and installed < build.lowest_system


def has_cpu_feature(target: TargetSystem, requirement: CpuFeatureRequirement) -> bool | None:
    """Whether the processor has a feature that TensorFlow needs; None where it is unknown."""
    cpu = target.machine.cpu
    features = {"avx": cpu.avx, "avx2": cpu.avx2} if cpu is not None else {}
    return features.get(requirement.feature)


def cpu_name(target: TargetSystem) -> str:
    """The processor's name for a sentence, or the code of a text."""
    name = (target.machine.cpu.name if target.machine.cpu is not None else None) or ""
    return name.strip().lstrip("@") or "@cpu.nameless"


def find_missing_cpu_feature(target: TargetSystem) -> CpuFeatureRequirement | None:
    """The feature without which TensorFlow's wheels end in an illegal instruction, where this processor lacks it."""
    requirements = (each for each in target.catalog.tensorflow.cpu_needs if each.arch == target.arch)
    return next((each for each in requirements if has_cpu_feature(target, each) is False), None)


def _has_old_glibc(target: TargetSystem, build: TensorFlowBuildRecord) -> bool:
    """Whether this Linux is known to have a glibc that is too old for a build."""
    glibc = target.glibc
    if glibc is None:
        return False
    lowest = next((row.lowest for row in target.catalog.tensorflow.glibc if build.version >= row.from_release), None)
    return lowest is not None and glibc < lowest


def exact_version(catalog: Catalog, build: TensorFlowBuildRecord) -> str:
    """The exact release of a series where it is known ("2.21.0" for 2.21), else the series."""
    newest = catalog.tensorflow.newest
    return (newest if newest.series == build.version.series else build.version).text


def evaluate_tensorflow(target: TargetSystem, build: TensorFlowBuildRecord) -> TensorFlowCandidate:
    """Whether a build can use the GPU, and the reason."""
    version = exact_version(target.catalog, build)

    def candidate(
        status: TensorFlowStatus,
        minimum: Version | None = None,
        *,
        may_work: bool = False,
        is_translated: bool = False,
    ) -> TensorFlowCandidate:
        return TensorFlowCandidate(
            build=build,
            version=version,
            status=status,
            minimum_driver=minimum,
            may_work=may_work,
            is_translated=is_translated,
        )

    if target.gpu is None or target.driver_state is None:
        return candidate("no-card")
    if target.machine.os.system == "windows":
        # 2.10 needs a CUDA and a cuDNN that can no longer be installed.
        if build.gpu:
            return candidate("old-windows")
        return candidate(_windows_status(target, target.gpu.capability, build))
    chip = target.gpu.capability
    code = _tensorflow_code_kind(target.catalog, build, chip)
    if not build.gpu or code is None or _is_unsupported_chip(target.catalog, build, chip):
        status: TensorFlowStatus = "no-gpu-build" if not build.gpu else "no-code" if code is None else "chip"
        return candidate(status, may_work=status == "chip")
    minimum = _tensorflow_minimum_driver(target, build, code)
    if minimum is None or not is_reachable(target.driver_state, minimum):
        return candidate("driver")
    return _with_cudnn_constraint(target, build, candidate("card", minimum, is_translated=code == "ptx"))


def _with_cudnn_constraint(
    target: TargetSystem, build: TensorFlowBuildRecord, candidate: TensorFlowCandidate
) -> TensorFlowCandidate:
    """The candidate with the cuDNN constraint of the oldest GPU that needs one."""
    for card in _supported_gpus_oldest_first(target, build):
        constraint = _cudnn_constraint(target.catalog, build, card.capability)
        if constraint is not None:
            return replace(candidate, cudnn_constraint=constraint, constrained_for=card.name)
    return candidate


def _windows_status(target: TargetSystem, chip: Capability | None, build: TensorFlowBuildRecord) -> TensorFlowStatus:
    """Why TensorFlow on Windows does not use the GPU. WSL2 ("windows") is suggested only where the Linux builds have
    code for the chip and this Windows is new enough for it.
    """
    if chip is None:
        return "windows-unknown"
    if _is_unsupported_chip(target.catalog, build, chip) or _tensorflow_code_kind(target.catalog, build, chip) is None:
        return "windows-chip"
    route = target.catalog.tensorflow.find_route("windows", "wsl2")
    windows_build, minimum_build = target.machine.os.build, route.lowest_windows_build if route is not None else None
    return (
        "windows-update"
        if windows_build is not None and minimum_build is not None and windows_build < minimum_build
        else "windows"
    )


def _supported_gpus_oldest_first(target: TargetSystem, build: TensorFlowBuildRecord) -> list[NvidiaGpu]:
    """The GPUs that the build has code for, oldest first."""
    supported = [
        (card.capability, card)
        for card in nvidia_gpus(target.machine, target.catalog)
        if card.capability is not None
        and _tensorflow_code_kind(target.catalog, build, card.capability) is not None
        and not _is_unsupported_chip(target.catalog, build, card.capability)
    ]
    return [card for _, card in sorted(supported, key=lambda pair: pair[0])]


def _cudnn_constraint(catalog: Catalog, build: TensorFlowBuildRecord, chip: Capability | None) -> str | None:
    """The last cuDNN that supports an older chip, as a requirement: `[and-cuda]` installs the newest."""
    last = catalog.cudnn.last_for_old_chips
    is_free = build.bundled_cuda and not build.pins_cudnn
    if chip is None or chip >= last.below_capability or build.cuda is None or not is_free:
        return None
    package = catalog.cudnn.wheel_packages.get(str(build.cuda.major))
    return f"{package}=={last.version}" if package is not None else None


def _is_unsupported_chip(catalog: Catalog, build: TensorFlowBuildRecord, chip: Capability | None) -> bool:
    return chip is not None and any(
        is_in_range(chip, gap.from_capability, gap.below_capability)
        and (gap.from_release is None or build.version >= gap.from_release)
        for gap in catalog.tensorflow.not_for
    )


def _is_before_removal(catalog: Catalog, build: TensorFlowBuildRecord, chip: Capability) -> bool:
    """Whether a build still has compiled code for a chip that a later release removed."""
    return any(
        gap.from_release is not None
        and build.version < gap.from_release
        and is_in_range(chip, gap.from_capability, gap.below_capability)
        for gap in catalog.tensorflow.not_for
    )


def _tensorflow_code_kind(catalog: Catalog, build: TensorFlowBuildRecord, chip: Capability | None) -> CodeKind | None:
    """How a build runs on a chip; where its code is unknown, as the newest build whose code is known."""
    if chip is not None and _is_before_removal(catalog, build, chip):
        return "binary"
    reference_build = (
        build if build.arch_list is not None else next((b for b in catalog.tensorflow.builds if b.arch_list), None)
    )
    if chip is None or reference_build is None or reference_build.arch_list is None:
        return "unknown"
    excluded = excluded_devices(catalog)
    if any(
        code.major == chip.major and code <= chip and chip not in excluded.get(code, ())
        for code in reference_build.arch_list
    ):
        return "binary"
    return "ptx" if any(code <= chip for code in reference_build.ptx_for) else None


def _tensorflow_minimum_driver(target: TargetSystem, build: TensorFlowBuildRecord, code: CodeKind) -> Version | None:
    if target.driver_state is None or build.cuda is None:
        return None
    if code == "ptx":
        return find_minimum_driver(target.catalog, build.cuda.series, target.driver_state.system, "ptx")
    return target.catalog.tensorflow.find_minimum_driver(build.cuda, is_wsl=bool(target.machine.os.wsl))


def best_tensorflow(target: TargetSystem) -> TensorFlowCandidate | None:
    """The newest TensorFlow for this system; None where none is known."""
    return next((evaluate_tensorflow(target, build) for build in list_tensorflow_builds(target)), None)


def best_tensorflow_alone(target: TargetSystem) -> TensorFlowCandidate | None:
    """The newest TensorFlow for an environment without PyTorch. Where its driver cannot be had, it is the newest that
    uses the GPU on the driver that is there, if one does. Beside PyTorch older ones do not go: they require an older
    cuDNN.
    """
    newest = best_tensorflow(target)
    if newest is None or newest.status != "driver" or target.gpu is None:
        return newest
    code = _tensorflow_code_kind(target.catalog, newest.build, target.gpu.capability)
    minimum = _tensorflow_minimum_driver(target, newest.build, code) if code is not None else None
    runnable = _newest_on_gpu(target)
    return replace(runnable, newer=newest.version, newer_driver=minimum) if runnable is not None else newest


def _newest_on_gpu(target: TargetSystem) -> TensorFlowCandidate | None:
    """The newest TensorFlow that brings its CUDA, finds it, and uses the GPU."""
    builds = (b for b in list_tensorflow_builds(target) if b.bundled_cuda and not b.libraries_lost)
    return next((each for b in builds if (each := evaluate_tensorflow(target, b)).uses_gpu), None)


def pytorch_support_text(target: TargetSystem) -> str:
    """Whether PyTorch can use the GPU that TensorFlow does not use, as the code of a text."""
    best = best_candidate(target)
    if best is None:
        return "@tensorflow.pytorch-cannot"
    return "@tensorflow.pytorch-may" if best.code_kind == "unknown" else "@tensorflow.pytorch-can"


def unsupported_gpu_warnings(
    target: TargetSystem, tensorflow: TensorFlowCandidate, cards: tuple[NvidiaGpu, ...]
) -> Iterator[RecommendationWarning]:
    """The further GPUs for which a TensorFlow that uses one of them has no code."""
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
            yield RecommendationWarning(code="tensorflow-other-gpu", data=data)


def driverless_gpu_warnings(
    target: TargetSystem, tensorflow: TensorFlowCandidate, cards: tuple[NvidiaGpu, ...], advice: DriverAdvice
) -> Iterator[RecommendationWarning]:
    """The further GPUs that the driver for TensorFlow does not support, or that get no kernel modules on Linux."""
    state, primary = target.driver_state, target.gpu
    if state is None or primary is None or primary.capability is None:
        return
    planned_version, installed = planned_driver_version(state, advice), state.installed_version
    for card in _secondary_gpus(target, tensorflow, cards):
        if card.capability is None:
            continue
        data: dict[str, Value] = {"gpu": card.label}
        dropped_from = dropping_driver(target.catalog, planned_version, card.capability, state.system)
        if state.system == "linux" and has_no_common_modules(
            target.catalog, primary.capability, card.capability, target.arch
        ):
            yield RecommendationWarning(code="other-gpu-modules", data={**data, "strong": primary.label})
        elif (
            dropped_from is not None
            and dropping_driver(target.catalog, installed, card.capability, state.system) is not None
        ):
            data |= {"installed": (state.installed or "").lstrip("@"), "without": dropped_from.text}
            yield RecommendationWarning(code="other-gpu-dark", data=data)
        elif dropped_from is not None:
            yield RecommendationWarning(
                code="driver-drops-other-only", data={**data, "recommended": advice.recommended}
            )


def _secondary_gpus(
    target: TargetSystem, tensorflow: TensorFlowCandidate, cards: tuple[NvidiaGpu, ...]
) -> Iterator[NvidiaGpu]:
    """Each kind of GPU with another chip; none where TensorFlow uses no GPU."""
    chip = target.gpu.capability if target.gpu is not None else None
    if not tensorflow.uses_gpu or chip is None:
        return
    yield from (card for card in dict.fromkeys(cards) if card.capability not in (None, chip))


def tensorflow_alternatives(
    target: TargetSystem, tensorflow: TensorFlowCandidate, *, beside_pytorch: bool, wsl: str | None = None
) -> Iterator[Alternative]:
    """The alternatives to one TensorFlow. `beside_pytorch`: PyTorch with CUDA goes into the same environment; `wsl` is
    what the user chose for WSL2.
    """
    gpu = target.gpu.name if target.gpu is not None else None
    if find_wsl_candidate(target, tensorflow) is not None:
        change: dict[str, Value] = {"wsl": "install"} if wsl is None else {}
        yield Alternative(code="tensorflow-wsl2", change=change, data={"gpu": gpu})
    if tensorflow.may_work:
        requirement = tensorflow.build.requirement
        yield Alternative(code="tensorflow-try", change={}, data={"gpu": gpu, "requirement": requirement})
    if not beside_pytorch and tensorflow.status in ("no-code", "chip"):
        older = _newest_on_gpu(target)
        if older is not None:
            data: dict[str, Value] = {"gpu": gpu, "older": older.version, "version": tensorflow.version}
            data["minimum"] = version_text(older.minimum_driver)
            yield Alternative(code="tensorflow-older", change={"tensorflow": older.version}, data=data)
    if not tensorflow.uses_gpu and not beside_pytorch and target.gpu is not None:
        best = best_candidate(target)
        if best is not None:
            code = "pytorch-instead" if target.gpu.capability is not None else "pytorch-instead-unknown"
            yield Alternative(code=code, change={}, data={"gpu": gpu, "build": best.build.label})
    if tensorflow.uses_gpu and beside_pytorch:
        yield Alternative(code="two-environments", change={}, data={})


def with_wsl_choice(target: TargetSystem, tensorflow: TensorFlowCandidate, wsl: str | None) -> TensorFlowChoice:
    """The TensorFlow to install, with WSL2 where the user chose that; raises UsageError where WSL2 would not help."""
    if wsl not in (None, "install"):
        raise UsageError("choice-unreadable", choice=str(wsl).lstrip("@"))
    if wsl is not None and find_wsl_candidate(target, tensorflow) is None:
        raise UnsatisfiableChoice(part="wsl", choice="WSL2", why="@choice.no-wsl", newest=None)
    return replace(tensorflow.to_choice, wsl=wsl is not None)


def wsl_minimum_driver(target: TargetSystem, tensorflow: TensorFlowCandidate | None, wsl: str | None) -> Version | None:
    """The Windows driver that the GPU needs under WSL2, where the user chose that."""
    candidate = find_wsl_candidate(target, tensorflow) if tensorflow is not None and wsl is not None else None
    return candidate.minimum_driver if candidate is not None else None


def find_wsl_candidate(target: TargetSystem, tensorflow: TensorFlowCandidate) -> TensorFlowCandidate | None:
    """TensorFlow's Linux build, where it would use the GPU under WSL2 on this Windows. Its `minimum_driver` is the
    Windows driver for that.
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
