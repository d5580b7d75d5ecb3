"""An installed PyTorch, judged by the GPUs that are there.

`torch.cuda.is_available()` tells that the driver answers, not that the build has code for the GPU: without code every
kernel ends in "no kernel image is available for execution on the device" (pytorch#31285). So a build works only if it
has code for a GPU, by its own list of chips or by the catalog's (`find_working_torch`); else `torch_warnings` names
what is wrong with it, also where no PyTorch uses the GPU and the recommended one computes on the CPU.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from ..catalog.records.base import Arch
from ..catalog.records.pytorch import TorchVariant
from ..catalog.store import Catalog
from ..core.machine import Gpu, TorchBuild
from ..core.recommendation import Alternative, RecommendationWarning
from ..core.types import Value
from ..core.versions import Capability, Version, version_key
from .builds import code_kind, parse_cuda_tag
from .candidates import TargetSystem, amd_chip
from .decision import Decision
from .drivers import find_minimum_driver
from .gpus import display_name

TorchFault = Literal["cannot-start", "no-code", "cpu-build", "driver-old"]

# Windows' loader: a library or one of its dependencies is missing (126), a function in it is (127), its start failed
# (1114). With PyTorch's c10.dll, shm.dll or fbgemm.dll it is the Visual C++ runtime (pytorch#169429).
_LOADER_ERROR = re.compile(r"\bWinError (?:126|127|1114)\b")
_ERROR_LENGTH = 200  # characters of its first line that are repeated

# torch.cuda.get_arch_list(): compiled code "sm_86", also with a letter ("sm_90a"); portable code "compute_90".
_ARCH_NAME = re.compile(r"(?P<kind>sm|compute)_(?P<number>\d{2,3})[a-z]?")


# Local version tags of PyTorch's own builds; others ("git1a2b3c") are of somebody's own.
_VARIANT = re.compile(r"cpu|xpu|cu\d{2,4}|rocm[\d.]+")


class FaultyTorch(Struct, frozen=True, kw_only=True):
    """An installed PyTorch that does not start or does not use the GPU, the version of its Python, and why. `gpu` is
    the name of the one without code; `minimum_driver` is what its CUDA needs where the driver is too old.
    """

    torch: TorchBuild
    python: str
    fault: TorchFault
    gpu: str | None = None
    minimum_driver: Version | None = None


def torch_variant(target: TargetSystem, torch: TorchBuild) -> str | None:
    """The local version tag of an installed build: "cu130", "cpu"; None where it cannot be told."""
    _, _, local = torch.version.partition("+")
    if _VARIANT.fullmatch(local):
        return local
    cuda = Version.parse(torch.cuda)
    if cuda is not None:
        return f"cu{cuda.major}{cuda.minor}"
    if torch.cuda_available is False and target.machine.os.system == "windows":
        return target.catalog.default_variant(torch.version, target.machine.os.system, target.arch)
    return None


def has_code(target: TargetSystem, torch: TorchBuild, chip: Capability) -> bool | None:
    """Whether an installed CUDA build has code for a chip; None where nobody knows."""
    variant = torch_variant(target, torch)
    if variant is None or parse_cuda_tag(variant) is None:
        return None
    kind = code_kind(target.catalog, _build_record(target, torch, variant), chip)
    return None if kind == "unknown" else kind is not None


def _build_record(target: TargetSystem, torch: TorchBuild, variant: str) -> TorchVariant:
    """What is inside a build: by its own list, else by the catalog's record of it."""
    system, arch = target.machine.os.system, _arch_of(target)
    record = target.catalog.build(torch.version.partition("+")[0], variant, system, arch)
    compiled, portable = _parse_arch_list(torch.arch_list or ())
    if compiled or portable:
        return TorchVariant(
            system=system, arch=arch, variant=variant, index_url=None, arch_list=compiled, ptx_for=portable
        )
    return record or TorchVariant(system=system, arch=arch, variant=variant, index_url=None)


def _arch_of(target: TargetSystem) -> Arch:
    return "arm64" if target.arch == "arm64" else "x86_64"


def _parse_arch_list(names: tuple[str, ...]) -> tuple[tuple[Capability, ...], tuple[Capability, ...]]:
    """The chips with compiled code and those with portable code."""
    chips: dict[str, list[Capability]] = {"sm": [], "compute": []}
    for name in names:
        match = _ARCH_NAME.fullmatch(name)
        chip = Capability.parse(f"{match['number'][:-1]}.{match['number'][-1]}") if match is not None else None
        if match is not None and chip is not None:
            chips[match["kind"]].append(chip)
    return tuple(chips["sm"]), tuple(chips["compute"])


def _lacks_code_for_all(target: TargetSystem, torch: TorchBuild, chips: tuple[Capability | None, ...]) -> bool:
    """Whether a build is known to have no code for any of the chips."""
    return bool(chips) and all(chip is not None and has_code(target, torch, chip) is False for chip in chips)


def find_working_torch(decision: Decision) -> tuple[str, TorchBuild] | None:
    """The newest installed PyTorch that uses a GPU, with the version of its Python.

    None where there is none, or where more is wanted than PyTorch on the installed driver.
    """
    state, choice = decision.target.driver_state, decision.choice
    has_choice = (choice.pytorch, choice.variant, choice.python, choice.driver) != (None, None, None, None)
    if (
        decision.goal != "pytorch"
        or decision.accelerator != "cuda"
        or has_choice
        or decision.parts.toolkit.action == "install"
    ):
        return None
    if state is None or state.installed is None or state.dropped_from is not None:
        return None
    chips = tuple(card.capability for card in decision.cards)
    working = [
        (python.version, python.torch)
        for python in decision.target.machine.pythons or ()
        if python.torch is not None
        and python.torch.cuda_available
        and not _lacks_code_for_all(decision.target, python.torch, chips)
    ]
    return max(working, key=lambda pair: version_key(pair[1].version), default=None)


def working_torch_data(decision: Decision) -> dict[str, Value] | None:
    """The values for the texts about such a PyTorch; None where there is none."""
    working_torch = find_working_torch(decision)
    if working_torch is None:
        return None
    python, torch = working_torch
    return {
        "there": torch.version.lstrip("@"),
        "python": python.lstrip("@"),
        "installed": (decision.driver.installed or "").lstrip("@"),
        "recommended": decision.candidate.build.label,
        "driver_version": decision.driver.recommended or decision.driver.minimum,
    }


def keep_as_is_alternative(decision: Decision) -> Alternative | None:
    """To change nothing, where the installed PyTorch already uses the GPU."""
    data = working_torch_data(decision)
    if data is None:
        return None
    return Alternative(
        code="works-without-update" if decision.driver.needs_install else "works-already", change={}, data=data
    )


def find_faulty_torch(decision: Decision) -> FaultyTorch | None:
    """The newest installed PyTorch that is at fault, one that starts before one that does not. None where another one
    uses the GPU, or starts where no NVIDIA card is to be used and nothing else is known to be at fault.
    """
    faulty, is_any_working = [], False
    for python in decision.target.machine.pythons or ():
        if python.torch is None:
            continue
        fault = _find_fault(decision, python.torch, python.version)
        if fault is not None:
            faulty.append(fault)
        elif python.torch.cuda_available:
            return None
        else:
            is_any_working |= decision.accelerator != "cuda"
    if is_any_working:
        faulty = [each for each in faulty if each.fault != "cannot-start"]
    return max(faulty, key=lambda each: (each.fault != "cannot-start", version_key(each.torch.version)), default=None)


def _find_fault(decision: Decision, torch: TorchBuild, python: str) -> FaultyTorch | None:
    """Why a PyTorch does not start or does not use the GPU; None where no fault is known."""
    target, variant = decision.target, torch_variant(decision.target, torch)
    if torch.error is not None:
        return FaultyTorch(torch=torch, python=python, fault="cannot-start")
    if variant == "cpu" and not torch.cuda_available:
        is_unused = decision.accelerator not in ("cpu", "mps")
        return FaultyTorch(torch=torch, python=python, fault="cpu-build") if is_unused else None
    without_code = _find_gpu_without_code(decision, torch, variant)
    if without_code is not None:
        return FaultyTorch(torch=torch, python=python, fault="no-code", gpu=without_code)
    if decision.accelerator != "cuda":
        return None
    cuda, state = parse_cuda_tag(variant or ""), target.driver_state
    minimum = find_minimum_driver(target.catalog, cuda, state.system, "binary") if state is not None else None
    is_too_old = (
        torch.cuda_available is False
        and minimum is not None
        and state is not None
        and state.installed_version is not None
        and state.installed_version < minimum
    )
    return FaultyTorch(torch=torch, python=python, fault="driver-old", minimum_driver=minimum) if is_too_old else None


def _find_gpu_without_code(decision: Decision, torch: TorchBuild, variant: str | None) -> str | None:
    """The first GPU for whose vendor a build is made, where it is known to have no code for any of them: whether the
    recommended build uses them or not.
    """
    target, cards = decision.target, decision.cards
    if variant is not None and variant.startswith("rocm"):
        gpus = target.machine.gpus_of("amd") if target.machine.os.system == "linux" else ()
        is_lacking = bool(gpus) and all(_lacks_rocm_code(target.catalog, torch, variant, gpu) for gpu in gpus)
        return display_name(gpus[0], target.catalog) if is_lacking else None
    is_lacking = _lacks_code_for_all(target, torch, tuple(card.capability for card in cards))
    return cards[0].name if is_lacking else None


def _lacks_rocm_code(catalog: Catalog, torch: TorchBuild, variant: str | None, gpu: Gpu) -> bool:
    """Whether a ROCm build is known to have no code for an AMD GPU: by its own list, else by the catalog's."""
    chip = amd_chip(catalog, gpu)
    if chip is None or variant is None or not variant.startswith("rocm"):
        return False
    if catalog.unproven_amd_chip(chip) is not None and not torch.arch_list:
        return False
    if torch.arch_list:
        return chip not in {name.partition(":")[0] for name in torch.arch_list}
    known = {name for each in catalog.accelerators.amd_chips for name in each.variants or ()}
    return variant in known and variant not in catalog.rocm_variants(chip)


def torch_warnings(decision: Decision) -> Iterator[RecommendationWarning]:
    """What is wrong with the PyTorch that is there, with what mends it. Nothing where the user chose a build."""
    if decision.is_build_chosen:
        return
    faulty = find_faulty_torch(decision)
    if faulty is None:
        return
    target, on_cpu = decision.target, decision.accelerator in ("cpu", "mps")
    name = decision.cards[0].name if decision.cards else None
    if decision.other_gpu is not None:
        name = display_name(decision.other_gpu, target.catalog)
    data: dict[str, Value] = {
        "gpu": faulty.gpu or name,
        "there": faulty.torch.version.lstrip("@"),
        "python": faulty.python.lstrip("@"),
        "build": decision.candidate.build.label,
    }
    code = f"torch-{faulty.fault}"
    if faulty.minimum_driver is not None:
        data["minimum"] = faulty.minimum_driver.text
        data["installed"] = (decision.driver.installed or "").lstrip("@")
    if faulty.fault == "no-code" and on_cpu:
        code = "torch-no-code-cpu"
    if faulty.fault == "cannot-start":
        data["error"] = next(iter((faulty.torch.error or "").split("\n")), "").strip()[:_ERROR_LENGTH].lstrip("@")
        if target.machine.os.system == "windows" and _LOADER_ERROR.search(faulty.torch.error or ""):
            code = "torch-cannot-start-runtime"
            data["url"] = target.catalog.vc_redist.package.url
    yield RecommendationWarning(code=code, data=data)
