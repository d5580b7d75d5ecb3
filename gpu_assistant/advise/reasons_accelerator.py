"""Why PyTorch computes on this processor and not on another."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.machine import Machine, Vendor
from ..core.message import Value
from ..core.recommendation import Reason
from .beside import usable_gpus
from .cards import NvidiaGpu, display_label, display_name
from .decision import Decision
from .others import amd_chip
from .reasons_driver import make_reason
from .systems import unmet_glibc_of_newest
from .unusable import unsupported_reason, find_vendor_index


def accelerator_reason(decision: Decision) -> Reason:
    """What computes, and why."""
    pytorch_catalog, about = decision.target.catalog.pytorch, "accelerator"
    if decision.accelerator == "cuda" and decision.target.gpu is not None:
        card = decision.target.gpu
        # Only of a data centre's card can it be said that it was built for this.
        code = "cuda" if card.segment == "datacenter" else "cuda-card"
        if card.capability is None:
            code = "cuda-unknown"
        gpus = usable_gpus(decision.target, decision.cards, decision.candidate.build, decision.driver)
        if len(gpus) > 1:
            return _multi_gpu_reason(decision, gpus)
        return make_reason(decision.target, about, code, pytorch_catalog, "install", gpu=card.name, capability=card.capability_text)
    if decision.accelerator == "mps":
        return make_reason(decision.target, about, "mps", pytorch_catalog, "mps")
    if decision.accelerator != "cpu" and decision.other_gpu is not None:
        accelerator_catalog, source = decision.target.catalog.accelerators, "uv" if decision.accelerator == "rocm" else "xpu"
        return make_reason(decision.target, about, decision.accelerator, accelerator_catalog, source, gpu=display_name(decision.other_gpu, decision.target.catalog))
    if decision.accelerator != "cpu":
        return make_reason(decision.target, about, "by-hand", pytorch_catalog, "matrix", build=decision.candidate.build.label)
    return _cpu_reason(decision)


def _multi_gpu_reason(decision: Decision, cards: tuple[NvidiaGpu, ...]) -> Reason:
    """All cards that compute; which is the strongest depends on the work, which has the most memory does not."""
    names = [card.label for card in cards]
    count = {name: names.count(name) for name in names}
    labels = [name if number == 1 else f"{number} × {name}" for name, number in count.items()]
    data: dict[str, Value] = {"gpus": ", ".join(labels)}
    code, largest_memory = "cuda-cards", max(card.memory_bytes for card in cards)
    largest = {card.label for card in cards if card.memory_bytes == largest_memory}
    if len(count) > 1 and len(largest) == 1 and all(card.memory_bytes for card in cards):
        code, data["gpu"] = "cuda-cards-most", largest.pop()
    return make_reason(decision.target, "accelerator", code, decision.target.catalog.pytorch, "install", **data)


def _cpu_reason(decision: Decision) -> Reason:
    machine, pytorch_catalog, about = decision.target.machine, decision.target.catalog.pytorch, "accelerator"
    if machine.os.system == "darwin":
        return make_reason(decision.target, about, "cpu-mac", pytorch_catalog, "intel-mac")
    if decision.cards:
        card = decision.cards[0]
        code = "cpu-by-hand" if decision.is_build_chosen else "cpu-driver-picked" if decision.choice.driver is not None else "cpu-card"
        data: dict[str, Value] = {"gpu": card.name, "capability": card.capability_text}
        if code == "cpu-card" and find_vendor_index(decision.target) is not None:
            code = "cpu-card-own"
        elif code == "cpu-card" and unsupported_reason(decision.target, card) == "new":
            code = "cpu-card-new"
        elif code == "cpu-card" and unmet_glibc_of_newest(decision.target) is not None:
            code, data["installed"] = "cpu-card-glibc", machine.os.glibc
        return make_reason(decision.target, about, code, pytorch_catalog, "matrix", **data)
    accelerator_catalog = decision.target.catalog.accelerators
    amd = next(iter(machine.gpus_of("amd")), None)
    if amd is not None:
        code = _amd_reason_code(decision)
        source = "amd-windows" if code == "cpu-amd-windows" else "uv"
        return make_reason(
            decision.target,
            about,
            code,
            accelerator_catalog,
            source,
            gpu=display_name(amd, decision.target.catalog),
            chip=amd_chip(decision.target.catalog, amd),
        )
    intel = next(iter(machine.gpus_of("intel")), None)
    if intel is not None:
        return make_reason(decision.target, about, "cpu-intel", accelerator_catalog, "xpu", gpu=display_name(intel, decision.target.catalog))
    # A driver that answers has a card, which nothing here has named.
    code = "cpu-no-gpu" if machine.driver is None else "cpu-gpu-unnamed"
    if code == "cpu-no-gpu" and machine.os.wsl:
        # From inside, a Windows without a driver that serves WSL looks like a computer without a card.
        code = "cpu-no-gpu-wsl"
    return make_reason(decision.target, about, code, pytorch_catalog, "install", installed=_installed_driver_version(machine))


def _installed_driver_version(machine: Machine) -> str | None:
    version = machine.driver.version if machine.driver is not None else None
    return version.lstrip("@") if version is not None else None


def _amd_reason_code(decision: Decision) -> str:
    """Why none of the AMD cards can be used."""
    if decision.is_build_chosen:
        return "cpu-amd-by-hand"
    if decision.target.machine.os.system == "windows":
        return "cpu-amd-windows"
    if decision.target.machine.os.wsl:
        return "cpu-amd-wsl"
    if not any(build.variant.startswith("rocm") for build in decision.target.builds):
        return "cpu-amd-computer"
    amd = next(iter(decision.target.machine.gpus_of("amd")))
    return "cpu-amd-unknown" if amd_chip(decision.target.catalog, amd) is None else "cpu-amd-chip"


def idle_gpu_reasons(decision: Decision) -> Iterator[Reason]:
    """The graphics of another maker beside the card that computes: they keep drawing the screen."""
    vendors: dict[str, tuple[Vendor, ...]] = {"cuda": ("amd", "intel"), "rocm": ("intel",), "xpu": ("amd",)}
    idle_gpus = [gpu for vendor in vendors.get(decision.accelerator, ()) for gpu in decision.target.machine.gpus_of(vendor)]
    if idle_gpus:
        name = ", ".join(dict.fromkeys(display_label(gpu, decision.target.catalog) for gpu in idle_gpus))
        code = "idle-graphics" if decision.accelerator == "cuda" else f"idle-graphics-{decision.accelerator}"
        yield make_reason(decision.target, "accelerator", code, decision.target.catalog.pytorch, "install", gpu=name)
