"""Why PyTorch computes on this processor and not on another."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.machine import Machine, Vendor
from ..core.message import Value
from ..core.recommendation import Reason
from .beside import usable
from .cards import Card, listed_name, said_name
from .decision import Decision
from .others import amd_chip
from .reasons_driver import say
from .systems import held_back
from .unusable import age_of, makers_own


def accelerator_reason(d: Decision) -> Reason:
    """What computes, and why."""
    torch, about = d.where.catalog.pytorch, "accelerator"
    if d.accelerator == "cuda" and d.where.card is not None:
        card = d.where.card
        # Only of a data centre's card can it be said that it was built for this.
        code = "cuda" if card.segment == "datacenter" else "cuda-card"
        if card.capability is None:
            code = "cuda-unknown"
        together = usable(d.where, d.cards, d.pick.build, d.driver)
        if len(together) > 1:
            return _several(d, together)
        return say(d.where, about, code, torch, "install", gpu=card.name, capability=card.capability_text)
    if d.accelerator == "mps":
        return say(d.where, about, "mps", torch, "mps")
    if d.accelerator != "cpu" and d.other is not None:
        known, source = d.where.catalog.accelerators, "uv" if d.accelerator == "rocm" else "xpu"
        return say(d.where, about, d.accelerator, known, source, gpu=said_name(d.other, d.where.catalog))
    if d.accelerator != "cpu":
        return say(d.where, about, "by-hand", torch, "matrix", build=d.pick.build.label)
    return _processor(d)


def _several(d: Decision, cards: tuple[Card, ...]) -> Reason:
    """All cards that compute; which is the strongest depends on the work, which has the most memory does not."""
    names = [card.listed for card in cards]
    count = {name: names.count(name) for name in names}
    listed = [name if number == 1 else f"{number} × {name}" for name, number in count.items()]
    data: dict[str, Value] = {"gpus": ", ".join(listed)}
    code, most = "cuda-cards", max(card.memory_bytes for card in cards)
    largest = {card.listed for card in cards if card.memory_bytes == most}
    if len(count) > 1 and len(largest) == 1 and all(card.memory_bytes for card in cards):
        code, data["gpu"] = "cuda-cards-most", largest.pop()
    return say(d.where, "accelerator", code, d.where.catalog.pytorch, "install", **data)


def _processor(d: Decision) -> Reason:
    machine, torch, about = d.where.machine, d.where.catalog.pytorch, "accelerator"
    if machine.os.system == "darwin":
        return say(d.where, about, "cpu-mac", torch, "intel-mac")
    if d.cards:
        card = d.cards[0]
        code = "cpu-by-hand" if d.by_hand else "cpu-driver-picked" if d.wish.driver is not None else "cpu-card"
        data: dict[str, Value] = {"gpu": card.name, "capability": card.capability_text}
        if code == "cpu-card" and makers_own(d.where) is not None:
            code = "cpu-card-own"
        elif code == "cpu-card" and age_of(d.where, card) == "new":
            code = "cpu-card-new"
        elif code == "cpu-card" and held_back(d.where) is not None:
            code, data["installed"] = "cpu-card-glibc", machine.os.glibc
        return say(d.where, about, code, torch, "matrix", **data)
    known = d.where.catalog.accelerators
    amd = next(iter(machine.gpus_of("amd")), None)
    if amd is not None:
        code = _amd(d)
        source = "amd-windows" if code == "cpu-amd-windows" else "uv"
        return say(
            d.where,
            about,
            code,
            known,
            source,
            gpu=said_name(amd, d.where.catalog),
            chip=amd_chip(d.where.catalog, amd),
        )
    intel = next(iter(machine.gpus_of("intel")), None)
    if intel is not None:
        return say(d.where, about, "cpu-intel", known, "xpu", gpu=said_name(intel, d.where.catalog))
    # A driver that answers has a card, which nothing here has named.
    code = "cpu-no-gpu" if machine.driver is None else "cpu-gpu-unnamed"
    if code == "cpu-no-gpu" and machine.os.wsl:
        # From inside, a Windows without a driver that serves WSL looks like a computer without a card.
        code = "cpu-no-gpu-wsl"
    return say(d.where, about, code, torch, "install", installed=_installed(machine))


def _installed(machine: Machine) -> str | None:
    version = machine.driver.version if machine.driver is not None else None
    return version.lstrip("@") if version is not None else None


def _amd(d: Decision) -> str:
    """Why none of the AMD cards can be used."""
    if d.by_hand:
        return "cpu-amd-by-hand"
    if d.where.machine.os.system == "windows":
        return "cpu-amd-windows"
    if d.where.machine.os.wsl:
        return "cpu-amd-wsl"
    if not any(build.variant.startswith("rocm") for build in d.where.builds):
        return "cpu-amd-computer"
    amd = next(iter(d.where.machine.gpus_of("amd")))
    return "cpu-amd-unknown" if amd_chip(d.where.catalog, amd) is None else "cpu-amd-chip"


def idle_graphics(d: Decision) -> Iterator[Reason]:
    """The graphics of another maker beside the card that computes: they keep drawing the screen."""
    makers: dict[str, tuple[Vendor, ...]] = {"cuda": ("amd", "intel"), "rocm": ("intel",), "xpu": ("amd",)}
    idle = [gpu for vendor in makers.get(d.accelerator, ()) for gpu in d.where.machine.gpus_of(vendor)]
    if idle:
        name = ", ".join(dict.fromkeys(listed_name(gpu, d.where.catalog) for gpu in idle))
        code = "idle-graphics" if d.accelerator == "cuda" else f"idle-graphics-{d.accelerator}"
        yield say(d.where, "accelerator", code, d.where.catalog.pytorch, "install", gpu=name)
