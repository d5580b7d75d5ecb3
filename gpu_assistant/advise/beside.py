"""What becomes of the further NVIDIA cards of a computer, once it has the chosen build and driver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from ..catalog.versions import parse_version
from ..core.recommendation import DriverAdvice
from .builds import Build, code_kind, cuda_builds
from .cards import NvidiaGpu
from .cudnn import cudnn_support
from .drivers import DriverState, DriverVersion, dropping_driver, find_minimum_driver, has_no_common_modules
from .pick import TargetSystem

SecondaryGpuState = Literal["works", "modules", "leaves", "dark", "own", "never"]


class SecondaryGpu(Struct, frozen=True, kw_only=True):
    """A further card: it works too; Linux loads no modules for it; the new driver leaves it behind; the present one
    did already (`without`: from which one on); an environment of its own could use it (`minimum`: its driver); no
    build has code for it that the driver runs.
    """

    card: NvidiaGpu
    state: SecondaryGpuState
    dropped_from: str | None = None
    minimum_driver: str | None = None


def planned_driver_version(state: DriverState | None, advice: DriverAdvice) -> DriverVersion | None:
    """The driver that will be there; None where its number is not known."""
    if advice.needs_install:
        return parse_version(advice.recommended)
    return state.version if state is not None else None


def secondary_gpus(target: TargetSystem, cards: tuple[NvidiaGpu, ...], build: Build, advice: DriverAdvice) -> Iterator[SecondaryGpu]:
    """Each further card whose chip is known, once; nothing where the build does not use CUDA."""
    state = target.driver_state
    if state is None or build.cuda is None or not cards or advice.action == "none":
        return
    primary_chip, planned_version = cards[0].capability, planned_driver_version(state, advice)
    for card in dict.fromkeys(cards[1:]):
        chip = card.capability
        if chip is None or primary_chip is None or chip == primary_chip:
            continue
        minimum = _minimum_driver_alone(target, chip, planned_version)
        dropped_from = dropping_driver(target.catalog, planned_version, chip, state.system)
        gpu_state: SecondaryGpuState = "works"
        if state.system == "linux" and has_no_common_modules(target.catalog, primary_chip, chip):
            gpu_state = "modules"
        elif dropped_from is not None:
            already_dropped = dropping_driver(target.catalog, parse_version(state.installed), chip, state.system) is not None
            gpu_state = "dark" if already_dropped else "leaves"
        elif code_kind(target.catalog, build.record, chip) is None:
            gpu_state = "own" if minimum is not None else "never"
        yield SecondaryGpu(card=card, state=gpu_state, dropped_from=dropped_from, minimum_driver=minimum)


def usable_gpus(target: TargetSystem, cards: tuple[NvidiaGpu, ...], build: Build, advice: DriverAdvice) -> tuple[NvidiaGpu, ...]:
    """The cards that a CUDA build computes on, the deciding one first: those of its chip, and the others that work."""
    working = {secondary.card for secondary in secondary_gpus(target, cards, build, advice) if secondary.state == "works"}
    chip = cards[0].capability if cards else None
    return tuple(card for card in cards if card in working or (chip is not None and card.capability == chip))


def _minimum_driver_alone(target: TargetSystem, chip: tuple[int, int], planned_version: DriverVersion | None) -> str | None:
    """The lowest driver of the newest build that runs a card by itself on the driver that will be there."""
    state = target.driver_state
    if state is None:
        return None
    for build, code in cuda_builds(target.catalog, target.machine.os.system, target.arch, chip, target.glibc):
        minimum = find_minimum_driver(target.catalog, build.cuda, state.system, code)
        if minimum is None or (planned_version is not None and planned_version < minimum.version):
            continue
        if cudnn_support(target.catalog, build, chip) != "too-new":
            return minimum.text
    return None
