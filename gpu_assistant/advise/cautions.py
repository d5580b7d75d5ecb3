"""What the user should know before going on, with what mends it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PureWindowsPath

from ..catalog.versions import parse_version
from ..core.disks import larger_disk_data, home_disk
from ..core.message import Value
from ..core.recommendation import DriverAdvice
from ..core.recommendation import RecommendationWarning as Caution
from .cards import NvidiaGpu, display_name
from .cudnn import cudnn_support
from .decision import Decision
from .driver_advice import advise_driver
from .driver_cautions import driver_warnings, secondary_gpu_warnings, make_warning
from .host_compilers import compiler_warnings
from .linux_cautions import fabric_warnings, group_warnings
from .others import find_unlisted_intel_gpu
from .pick import Candidate, TargetSystem
from .runtime_cautions import vc_runtime_warnings
from .systems import unmet_glibc_of_newest
from .tensorflow import TensorFlowCandidate
from .tensorflow_beside import unsupported_gpu_warnings, pytorch_support_text
from .tensorflow_ways import find_wsl_candidate
from .toolkit import ToolkitAdvice, has_installer
from .unusable import unsupported_reason, find_vendor_index


def collect_warnings(decision: Decision) -> tuple[Caution, ...]:
    """The warnings, the weightiest first."""
    return tuple(_decision_warnings(decision))


def _decision_warnings(decision: Decision) -> Iterator[Caution]:
    build = decision.candidate.build
    yield from _glibc_warnings(decision)
    yield from gpu_identity_warnings(decision.target, decision.cards)
    if decision.cards and decision.accelerator != "cuda" and not decision.is_build_chosen and decision.choice.driver is None:
        idle_gpu, reason = decision.cards[0], unsupported_reason(decision.target, decision.cards[0])
        code = {"old": "gpu-too-old", "new": "gpu-too-new", "none": "gpu-without-code"}[reason]
        vendor_index = find_vendor_index(decision.target)
        if vendor_index is not None:
            yield make_warning("gpu-makers-own", gpu=idle_gpu.name, url=vendor_index.url)
        else:
            yield make_warning(code, gpu=idle_gpu.name, capability=idle_gpu.capability_text)
    card = decision.target.gpu
    if decision.accelerator == "cuda":
        yield from gpu_warnings(decision.target, build.label, decision.driver.minimum)
        if card is not None and card.capability is not None and decision.candidate.code_kind == "unknown":
            yield make_warning("code-unknown", gpu=card.name, build=build.label)
        if card is not None and cudnn_support(decision.target.catalog, build, card.capability) == "too-new":
            yield make_warning("cudnn-too-new", gpu=card.name, build=build.label, cudnn=build.record.cudnn)
    yield from secondary_gpu_warnings(decision)
    yield from _requested_driver_warnings(decision)
    yield from toolkit_warnings(decision.target, decision.candidate, decision.parts)
    if decision.tensorflow is not None:
        yield from tensorflow_warnings(decision.target, decision.tensorflow, beside_pytorch=decision.accelerator == "cuda")
        yield from unsupported_gpu_warnings(decision.target, decision.tensorflow, decision.cards)
        yield from wsl_warnings(decision.target, decision.tensorflow, decision.driver)
    elif decision.goal == "all":
        yield make_warning("tensorflow-none", system=f"@system.{decision.target.machine.os.system}", arch=decision.target.arch)
    if decision.python is None:
        yield make_warning("no-python", build=build.label, series=", ".join(build.release.python))
    yield from vc_runtime_warnings(decision.target, pytorch=decision.candidate.build, tensorflow=decision.tensorflow)
    yield from _disk_space_warnings(decision)
    yield from machine_warnings(decision.target, driver_changes=decision.driver.needs_install)
    yield from driver_warnings(decision.target, decision.driver)
    yield from fabric_warnings(decision.target, decision.driver)
    yield from group_warnings(decision.target, decision.accelerator)
    unlisted_gpu = find_unlisted_intel_gpu(decision.target) if decision.accelerator == "xpu" else None
    if unlisted_gpu is not None:
        yield make_warning("xpu-unlisted", gpu=display_name(unlisted_gpu, decision.target.catalog), build=build.label)
    elif decision.accelerator in ("rocm", "xpu"):
        yield make_warning("not-proven", build=build.label)
    if not decision.is_arch_known:
        yield make_warning("arch-unknown", arch=decision.target.arch)


def gpu_identity_warnings(target: TargetSystem, cards: tuple[NvidiaGpu, ...]) -> Iterator[Caution]:
    """A card whose name and id say different things, and a driver of a card that nothing names."""
    for card in cards:
        if card.name_by_id is not None:
            yield make_warning("gpu-name-and-id", gpu=card.label, named=card.name_by_id, capability=card.capability_text)
        elif card.capability_by_id is not None:
            claimed = {"capability": card.capability_text, "listed": card.capability_by_id}
            yield make_warning("gpu-capability-and-id", gpu=card.label, **claimed)
    driver = target.machine.driver
    if driver is not None and not target.machine.gpus_of("nvidia"):
        yield make_warning("driver-without-card", installed=(driver.version or "").lstrip("@") or None)


def gpu_warnings(target: TargetSystem, label: str, minimum: str | None) -> Iterator[Caution]:
    """What is not known about the card or its driver."""
    card, state = target.gpu, target.driver_state
    if card is not None and card.capability is None:
        # Where a driver answers, installing one is no way to learn the chip.
        code = "gpu-unknown" if target.machine.driver is None else "gpu-unknown-to-driver"
        yield make_warning(code, gpu=card.name, build=label)
    if state is not None and not state.is_readable:
        yield make_warning("driver-unreadable", installed=(state.installed or "").lstrip("@"), minimum=minimum)


def _requested_driver_warnings(decision: Decision) -> Iterator[Caution]:
    """A driver that the user picked."""
    state = decision.target.driver_state
    if state is None or decision.driver.action == "none":
        return
    if state.requested is not None and decision.driver.action != "keep":
        installed_version, listed_versions = parse_version(state.installed), {p.version for p in decision.target.catalog.drivers.packages}
        if installed_version is not None and state.version is not None and state.version < installed_version:
            yield make_warning("driver-older", picked=state.requested, installed=(state.installed or "").lstrip("@"))
        if state.requested not in listed_versions:
            yield make_warning("driver-unlisted", picked=state.requested)


def toolkit_warnings(target: TargetSystem, candidate: Candidate | None, parts: ToolkitAdvice) -> Iterator[Caution]:
    """A toolkit that does not match PyTorch, is broken, or has no card to work for."""
    build_cuda = candidate.build.cuda if candidate is not None else None
    if parts.is_impossible and target.gpu is not None:
        code = "toolkit-impossible" if has_installer(target) else "toolkit-no-installer"
        yield make_warning(code, gpu=target.gpu.name, arch=target.arch)
    if parts.is_other_minor and build_cuda is not None:
        toolkit_version = parse_version(parts.toolkit.version) or (0,)
        code = "toolkit-near" if toolkit_version[0] == build_cuda[0] else "toolkit-far"
        yield make_warning(code, toolkit=parts.toolkit.version, cuda=f"{build_cuda[0]}.{build_cuda[1]}")
    if parts.is_chip_unknown and target.gpu is not None:
        yield make_warning("toolkit-chip-unknown", toolkit=parts.toolkit.version, gpu=target.gpu.name)
    yield from compiler_warnings(target, parts)
    if parts.broken_toolkits is not None and parts.toolkit.action != "none":
        yield make_warning("toolkit-broken", toolkit=parts.broken_toolkits.lstrip("@"))
    if parts.cudnn.action == "install" and parts.toolkit.action == "none":
        yield make_warning("cudnn-alone", cudnn=parts.cudnn.version)


def tensorflow_warnings(target: TargetSystem, tensorflow: TensorFlowCandidate, *, beside_pytorch: bool) -> Iterator[Caution]:
    """What TensorFlow cannot do here, and what two frameworks in one environment mean."""
    gpu = target.gpu.name if target.gpu is not None else None
    if tensorflow.status not in ("card", "no-card"):
        data: dict[str, Value] = {"gpu": gpu, "version": tensorflow.version, "cuda": tensorflow.build.cuda}
        yield make_warning(f"tensorflow-{tensorflow.status}", **data, pytorch=pytorch_support_text(target))
    if tensorflow.cudnn_constraint is not None:
        yield make_warning("tensorflow-cudnn", gpu=tensorflow.constrained_for, version=tensorflow.version, needs=tensorflow.cudnn_constraint)
    if tensorflow.uses_gpu and not tensorflow.build.bundled_cuda:
        cuda, cudnn = tensorflow.build.cuda, tensorflow.build.cudnn
        yield make_warning("tensorflow-separate", version=tensorflow.version, cuda=cuda, cudnn=cudnn)
    if tensorflow.uses_gpu and beside_pytorch:
        yield make_warning("two-frameworks", version=tensorflow.version)


def wsl_warnings(target: TargetSystem, tensorflow: TensorFlowCandidate, advice: DriverAdvice) -> Iterator[Caution]:
    """WSL2 is offered, but the card needs a newer Windows driver there than the one that stays."""
    wsl_candidate = find_wsl_candidate(target, tensorflow)
    if wsl_candidate is None or wsl_candidate.minimum_driver is None or advice.needs_install or target.gpu is None:
        return
    if advise_driver(target.driver_state, wsl_candidate.minimum_driver).needs_install:
        yield make_warning("tensorflow-wsl2-driver", gpu=target.gpu.name, minimum=wsl_candidate.minimum_driver.text)


def machine_warnings(target: TargetSystem, *, driver_changes: bool) -> Iterator[Caution]:
    """What holds whatever is installed."""
    machine = target.machine
    if machine.os.wsl and driver_changes:
        yield make_warning("wsl-driver")
    if machine.pending_reboot:
        yield make_warning("pending-reboot")
    user = machine.user
    if user is not None and user.ascii is False:
        yield make_warning("home-not-ascii")
    if user is not None and user.home_too_long:
        yield make_warning("home-too-long")
    if user is not None and user.home is not None and _is_inside_any(user.home, user.onedrive or ()):
        yield make_warning("home-onedrive")


def _is_inside_any(home: str, folders: tuple[str, ...]) -> bool:
    """Whether a Windows path is one of the folders or below one."""
    path = PureWindowsPath(home)
    return any(path.is_relative_to(PureWindowsPath(folder)) for folder in folders if folder)


def _glibc_warnings(decision: Decision) -> Iterator[Caution]:
    glibc = unmet_glibc_of_newest(decision.target)
    if glibc is not None and not decision.candidate.build.local:
        yield make_warning(
            "glibc-too-old",
            build=decision.candidate.build.label,
            needed=glibc.lowest,
            installed=decision.target.machine.os.glibc,
            since=glibc.from_release,
        )


def _disk_space_warnings(decision: Decision) -> Iterator[Caution]:
    build, system = decision.candidate.build, decision.target.machine.os.system
    sizes = decision.target.catalog.sizes(build.variant, system, build.version)
    disk_bytes, is_exact = sizes.disk_bytes, not sizes.approximate
    if disk_bytes is None:
        disk_bytes, is_exact = decision.target.catalog.estimate_disk_bytes(build.variant), False
    machine = decision.target.machine
    disk = home_disk(machine)
    if disk is None or (disk_bytes is None and sizes.download_bytes is None):
        return
    # What is downloaded lies on the disk too: a lower bound where the whole was never measured.
    needed = (disk_bytes or 0) + (sizes.download_bytes or 0)
    if (disk.free_bytes or 0) < needed:
        other_disk = larger_disk_data(machine.disks or (), disk.path, needed, machine.os.system, "gpu-assistant")
        code = f"disk-space{'' if is_exact else '-about'}{'-other' if other_disk else ''}"
        yield make_warning(code, needed_bytes=needed, free_bytes=disk.free_bytes, disk=disk.path.lstrip("@"), **other_disk)
