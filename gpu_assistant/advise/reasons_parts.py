"""Why a CUDA Toolkit and a cuDNN are installed, kept or not needed, and what TensorFlow can do here."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.recommendation import Reason
from ..core.types import Value
from ..core.versions import Version, version_text
from .builds import code_kind, cudnn_support
from .candidates import Candidate, TargetSystem
from .gpus import NvidiaGpu, nvidia_gpus
from .reasons_driver import make_reason
from .tensorflow import TensorFlowCandidate, has_cpu_feature
from .toolkit import ToolkitAdvice, bundled_toolkit, impossible_toolkit_code, target_chips


def toolkit_reasons(
    target: TargetSystem, candidate: Candidate | None, parts: ToolkitAdvice, *, required: bool
) -> Iterator[Reason]:
    """The reasons for both; `required`: the goal is to compile CUDA code."""
    if required or parts.toolkit.action != "none":
        yield from _toolkit_install_reasons(target, candidate, parts)
    elif candidate is not None:
        yield _toolkit_not_needed_reason(target, candidate)
    if required or parts.cudnn.action != "none":
        yield from _cudnn_install_reasons(target, candidate, parts)
    elif candidate is not None:
        yield _bundled_cudnn_reason(target, candidate)


def _toolkit_install_reasons(
    target: TargetSystem, candidate: Candidate | None, parts: ToolkitAdvice
) -> Iterator[Reason]:
    cuda, about = target.catalog.cuda, "cuda_toolkit"
    if target.gpu is None or parts.toolkit.action == "none":
        code = "toolkit-no-card" if target.gpu is None else "toolkit-left-out"
        if parts.is_impossible:
            code = impossible_toolkit_code(target, parts)
        blocked: dict[str, Value] = {"glibc": target.machine.os.glibc} if parts.is_blocked_by_glibc else {}
        source = "glibc-clash" if parts.is_blocked_by_glibc else "release-notes"
        gpu = target.gpu.name if target.gpu is not None else None
        yield make_reason(target, about, code, cuda, source, gpu=gpu, arch=target.arch, **blocked)
        return
    build_cuda = version_text(candidate.build.bundled_cuda) if candidate is not None else None
    data: dict[str, Value] = {"toolkit": parts.toolkit.version, "gpu": target.gpu.name, "cuda": build_cuda}
    if not target_chips(target):
        yield make_reason(target, about, f"toolkit-{parts.toolkit.action}-unknown", cuda, "release-notes", **data)
    elif parts.toolkit.action == "keep":
        yield make_reason(target, about, "toolkit-keep", cuda, "release-notes", **data)
    else:
        code = "toolkit-install" if build_cuda is None or parts.is_other_minor else "toolkit-install-match"
        yield make_reason(target, about, code, cuda, "release-notes", **data)
    if parts.toolkit.way == "wheels":
        code = "toolkit-wheels" if bundled_toolkit(target, candidate, parts) is not None else "toolkit-wheels-alone"
        yield make_reason(target, about, code, cuda, "wheels", toolkit=parts.toolkit.version)
    elif build_cuda is not None:
        yield make_reason(target, about, "toolkit-not-for-pytorch", target.catalog.pytorch, "install", cuda=build_cuda)
    if target.machine.os.wsl:
        yield make_reason(target, about, "toolkit-without-driver-wsl", target.catalog.drivers, "wsl")
    elif target.driver_state is not None and target.driver_state.system != "windows":
        yield make_reason(target, about, "toolkit-without-driver", cuda, "release-notes")


def _toolkit_not_needed_reason(target: TargetSystem, candidate: Candidate) -> Reason:
    torch = target.catalog.pytorch
    if candidate.build.cuda is None or candidate.on_cpu:
        return make_reason(target, "cuda_toolkit", "toolkit-no-cuda", torch, "install")
    installed = next((t.version for t in target.machine.cuda_toolkits or () if Version.parse(t.version)), None)
    if installed is not None:
        return make_reason(
            target,
            "cuda_toolkit",
            "toolkit-unused",
            torch,
            "install",
            cuda=version_text(candidate.build.bundled_cuda),
            toolkit=installed,
        )
    return make_reason(
        target, "cuda_toolkit", "toolkit-inside", torch, "install", cuda=version_text(candidate.build.bundled_cuda)
    )


def _cudnn_install_reasons(target: TargetSystem, candidate: Candidate | None, parts: ToolkitAdvice) -> Iterator[Reason]:
    about, cudnn = "cudnn", target.catalog.cudnn
    if target.gpu is None or parts.cudnn.action == "none":
        is_chip_unknown = target.gpu is not None and not target_chips(target) and parts.toolkit.action != "none"
        code, gpu = (
            ("cudnn-chip-unknown", target.gpu.name) if is_chip_unknown and target.gpu else ("cudnn-left-out", None)
        )
        yield make_reason(target, about, code, cudnn, "redist", gpu=gpu)
        return
    toolkit = Version.parse(parts.toolkit.version) or (candidate.build.cuda if candidate is not None else None)
    data: dict[str, Value] = {
        "cudnn": parts.cudnn.version,
        "gpu": target.gpu.name,
        "cuda": toolkit.major if toolkit is not None else None,
    }
    last_supporting = cudnn.last_for_old_chips
    limiting_gpu = next(
        (c for c in _gpus_oldest_first(target) if _is_last_cudnn_for(target, parts.cudnn.version, c)), None
    )
    is_legacy = limiting_gpu is not None
    if limiting_gpu is not None and parts.cudnn.action != "keep":
        data["gpu"] = limiting_gpu.name
    code = "cudnn-keep" if parts.cudnn.action == "keep" else "cudnn-install-last" if is_legacy else "cudnn-install"
    if (
        code == "cudnn-install"
        and toolkit is not None
        and _is_last_cudnn_of_cuda(target, parts.cudnn.version, toolkit.major)
    ):
        code = "cudnn-install-last-cuda"
    yield make_reason(target, about, code, cudnn, last_supporting.source if is_legacy else "redist", **data)
    if parts.cudnn.way == "wheels" and bundled_toolkit(target, candidate, parts) is not None:
        yield make_reason(target, about, "cudnn-shared", target.catalog.cuda, "wheels-cudnn")
    elif candidate is not None and candidate.build.cuda is not None:
        yield make_reason(target, about, "cudnn-not-for-pytorch", target.catalog.pytorch, "install")


def _gpus_oldest_first(target: TargetSystem) -> list[NvidiaGpu]:
    """Unknown chips last."""
    gpus = nvidia_gpus(target.machine, target.catalog)
    return sorted(gpus, key=lambda gpu: (gpu.capability is None, gpu.capability.parts if gpu.capability else ()))


def _is_last_cudnn_for(target: TargetSystem, version: str | None, card: NvidiaGpu) -> bool:
    """Whether a cuDNN is the last one that supports a GPU."""
    last_supporting, chip = target.catalog.cudnn.last_for_old_chips, card.capability
    is_legacy = chip in target_chips(target) and chip is not None and chip < last_supporting.below_capability
    return is_legacy and Version.parse(version) == last_supporting.version


def _is_last_cudnn_of_cuda(target: TargetSystem, version: str | None, major: int) -> bool:
    """Whether a cuDNN is the newest for a CUDA major that newer ones no longer support."""
    releases = [r for r in target.catalog.cudnn.releases if not r.yanked]
    newest = next((r for r in releases if major in r.cuda_majors), None)
    return newest is not None and newest != releases[0] and newest.version == Version.parse(version)


def _bundled_cudnn_reason(target: TargetSystem, candidate: Candidate) -> Reason:
    torch, build = target.catalog.pytorch, candidate.build
    if build.cuda is None:
        return make_reason(target, "cudnn", "cudnn-no-cuda", torch, "install")
    if build.record.cudnn is None:
        return make_reason(target, "cudnn", "cudnn-inside-unnamed", torch, "matrix")
    card = target.gpu
    support = cudnn_support(target.catalog, build, card.capability if card is not None else None)
    cudnn = build.record.cudnn.text
    if support != "fits":
        code = "cudnn-kept-back" if support == "last" else "cudnn-too-new"
        return make_reason(target, "cudnn", code, torch, "cudnn", cudnn=cudnn)
    for other in _gpus_oldest_first(target):
        chip = other.capability
        if chip is None or code_kind(target.catalog, build.record, chip) is None:
            continue
        if cudnn_support(target.catalog, build, chip) == "last":
            data = {"cudnn": cudnn, "gpu": other.name}
            return make_reason(target, "cudnn", "cudnn-kept-back-other", torch, "cudnn", **data)
    return make_reason(target, "cudnn", "cudnn-inside", torch, "matrix", cudnn=cudnn)


def tensorflow_reasons(
    target: TargetSystem, candidate: TensorFlowCandidate, *, beside_pytorch: bool
) -> Iterator[Reason]:
    """Which TensorFlow, whether it uses the GPU, where its CUDA comes from, and what it needs of the processor.

    Without PyTorch, the reason for the accelerator already says whether there is a GPU for it.
    """
    tensorflow_catalog = target.catalog.tensorflow
    data: dict[str, Value] = {
        "version": candidate.version,
        "gpu": target.gpu.name if target.gpu is not None else None,
        "last": tensorflow_catalog.last_windows_gpu.text,
        "cuda": version_text(candidate.build.cuda),
        "cudnn": version_text(candidate.build.cudnn),
    }
    source = candidate.build.source
    state = target.driver_state
    if candidate.is_chosen:
        yield make_reason(target, "tensorflow.version", "tensorflow-by-hand", tensorflow_catalog, source, **data)
    elif candidate.newer is not None and state is not None:
        data |= {"driver": (state.requested or state.installed or "").lstrip("@"), "newer": candidate.newer}
        data["needed"] = version_text(candidate.newer_driver)
        code = "tensorflow-newest-for-driver"
        yield make_reason(target, "tensorflow.version", code, tensorflow_catalog, source, **data)
    elif candidate.version == tensorflow_catalog.newest.text:
        yield make_reason(target, "tensorflow.version", "tensorflow-newest", tensorflow_catalog, source, **data)
    else:
        yield make_reason(target, "tensorflow.version", "tensorflow-chosen", tensorflow_catalog, source, **data)
    route = {"chip": "compiled", "no-code": "compiled", "no-gpu-build": "arm"}.get(candidate.status, "pip")
    if beside_pytorch or candidate.status not in ("card", "no-card"):
        yield make_reason(target, "tensorflow.gpu", f"tensorflow-{candidate.status}", tensorflow_catalog, route, **data)
    if candidate.uses_gpu:
        code = "tensorflow-bundled" if candidate.build.bundled_cuda else "tensorflow-not-bundled"
        yield make_reason(target, "tensorflow.requirement", code, tensorflow_catalog, "pip", **data)
    for requirement in (each for each in tensorflow_catalog.cpu_needs if each.arch == target.arch):
        if has_cpu_feature(target, requirement) is None:
            feature = requirement.feature.upper()
            yield make_reason(
                target, "tensorflow", "tensorflow-cpu", tensorflow_catalog, requirement.source, feature=feature
            )
