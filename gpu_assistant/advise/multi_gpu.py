"""Several NVIDIA GPUs in one computer, which can have one NVIDIA driver only.

`plan_multi_gpu` chooses driver and PyTorch: one build for all GPUs where the strongest loses no release by it, or where
an older GPU would get no newer release by itself; else those of the strongest GPU. `secondary_gpus` then tells what
each further GPU can do with the chosen build and driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.store import Catalog
from ..core.machine import Machine
from ..core.recommendation import DriverAdvice
from ..core.types import Channel
from ..core.versions import Capability, Version
from .builds import Build, code_kind, cuda_builds, cudnn_support
from .candidates import Candidate, TargetSystem, best_candidate, make_target
from .drivers import (
    DriverState,
    dropping_driver,
    find_minimum_driver,
    has_no_common_modules,
    select_driver_system,
    supports_both,
)
from .gpus import NvidiaGpu


class MultiGpuPlan(Struct, frozen=True, kw_only=True):
    """`target` is the system to plan for. Where the GPUs do not agree: `all_gpus_candidate` is the newest build for
    every GPU, found for `all_gpus_target`, and `primary_candidate` what the strongest would get by itself.
    """

    target: TargetSystem
    all_gpus_candidate: Candidate | None = None
    all_gpus_target: TargetSystem | None = None
    primary_candidate: Candidate | None = None


class _PlanContext(Struct, frozen=True, kw_only=True):
    machine: Machine
    catalog: Catalog
    arch: str
    cards: tuple[NvidiaGpu, ...]
    channel: Channel

    def make_target(
        self, card: NvidiaGpu, oldest_chip: Capability | None = None, other_chips: tuple[Capability, ...] = ()
    ) -> TargetSystem:
        target = make_target(self.machine, self.catalog, self.arch, card, self.channel, oldest_chip=oldest_chip)
        return replace(target, other_chips=other_chips) if other_chips else target


def plan_multi_gpu(
    machine: Machine, catalog: Catalog, arch: str, cards: tuple[NvidiaGpu, ...], channel: Channel
) -> MultiGpuPlan:
    """The plan for any number of NVIDIA GPUs (strongest first), none included."""
    context = _PlanContext(machine=machine, catalog=catalog, arch=arch, cards=cards, channel=channel)
    primary_target = make_target(machine, catalog, arch, cards[0] if cards else None, channel)
    strongest_chip = cards[0].capability if cards else None
    chips = _other_chips(cards)
    primary_best = best_candidate(primary_target) if chips else None
    if (
        strongest_chip is None
        or primary_best is None
        or all(_has_full_support(catalog, primary_best.build, chip) for chip in chips)
    ):
        return MultiGpuPlan(target=primary_target)
    system = select_driver_system(machine)
    partners = tuple(chip for chip in chips if supports_both(catalog, strongest_chip, chip, system, arch))
    all_gpus_candidate, all_gpus_target = _best_for_all_chips(context, partners) if partners == chips else (None, None)
    # An installed driver that has dropped the older GPU is not downgraded unless the user asks for it.
    installed_version = Version.parse(machine.driver.version) if machine.driver is not None else None
    supported = tuple(c for c in partners if dropping_driver(catalog, installed_version, c, system) is None)
    target = primary_target
    if supported:
        # The older GPU keeps its driver where the strongest loses no release by that.
        shared_target = context.make_target(cards[0], oldest_chip=supported[-1])
        shared_candidate = best_candidate(shared_target)
        loses_nothing = (
            shared_candidate is not None
            and shared_candidate.build.rank <= primary_best.build.rank
            and _has_known_driver(shared_target, shared_candidate)
        )
        target = shared_target if loses_nothing else primary_target
    for count in range(len(supported), 0, -1):
        served = supported[:count]
        if not _keeps_newest_release(context, served[-1], primary_best):
            continue
        candidate, candidate_target = _best_for_all_chips(context, served)
        if (
            candidate is not None
            and candidate_target is not None
            and _has_known_driver(candidate_target, candidate)
            and _matches_single_gpu_release(context, candidate, served)
        ):
            target = _target_for_older_chips(context, served, supported[count:], candidate) or candidate_target
            break
    return MultiGpuPlan(
        target=target,
        all_gpus_candidate=all_gpus_candidate,
        all_gpus_target=all_gpus_target,
        primary_candidate=primary_best,
    )


def _other_chips(cards: tuple[NvidiaGpu, ...]) -> tuple[Capability, ...]:
    """The chips other than the strongest GPU's, newest first; none where that one is unknown."""
    if len(cards) < 2 or cards[0].capability is None:
        return ()
    chips = {card.capability for card in cards[1:] if card.capability is not None}
    return tuple(sorted(chips - {cards[0].capability}, reverse=True))


def _has_full_support(catalog: Catalog, build: Build, chip: Capability) -> bool:
    """Whether a build and its cuDNN have code for a chip."""
    return code_kind(catalog, build.record, chip) is not None and cudnn_support(catalog, build, chip) != "too-new"


def _best_for_all_chips(
    context: _PlanContext, chips: tuple[Capability, ...]
) -> tuple[Candidate | None, TargetSystem | None]:
    """The newest build with code for the strongest GPU and further chips, on a driver that supports them all."""
    target = context.make_target(context.cards[0], oldest_chip=chips[-1], other_chips=chips)
    candidate = best_candidate(target)
    return candidate, target if candidate is not None else None


def _target_for_older_chips(
    context: _PlanContext, chips: tuple[Capability, ...], older: tuple[Capability, ...], candidate: Candidate
) -> TargetSystem | None:
    """A target whose driver also supports still older GPUs, for which the build has no code, if the others lose no
    release by that.
    """
    for oldest in reversed(older):
        target = context.make_target(context.cards[0], oldest_chip=oldest, other_chips=chips)
        best = best_candidate(target)
        if best is not None and best.build.rank <= candidate.build.rank and _has_known_driver(target, best):
            return target
    return None


def _has_known_driver(target: TargetSystem, candidate: Candidate) -> bool:
    """Whether a driver for all GPUs is installed, or known by its version."""
    state, minimum = target.driver_state, candidate.minimum_driver
    is_installed = (
        state is not None
        and state.usable_version is not None
        and minimum is not None
        and state.usable_version >= minimum
    )
    return is_installed or (state is not None and state.package is not None)


def _keeps_newest_release(context: _PlanContext, oldest: Capability, best: Candidate) -> bool:
    """Whether the strongest GPU gets its newest release on the older GPU's drivers, too."""
    candidate = best_candidate(context.make_target(context.cards[0], oldest_chip=oldest))
    return candidate is not None and candidate.build.rank <= best.build.rank


def _matches_single_gpu_release(context: _PlanContext, candidate: Candidate, chips: tuple[Capability, ...]) -> bool:
    """Whether a build is as new as what one of the older GPUs could have by itself."""
    candidates = (best_candidate(context.make_target(card)) for card in context.cards if card.capability in chips)
    return any(
        own_candidate is not None and candidate.build.rank <= own_candidate.build.rank for own_candidate in candidates
    )


SecondaryGpuState = Literal["works", "modules", "leaves", "dark", "own", "never"]


class SecondaryGpu(Struct, frozen=True, kw_only=True):
    """What a further GPU can do beside the deciding one.

    "works": computes too; "modules": Linux loads no kernel modules for it; "leaves": the planned driver drops it, from
    `dropped_from` on; "dark": the installed driver did already; "own": needs an environment of its own (on
    `minimum_driver`); "never": no build that the planned driver runs has code for it.
    """

    card: NvidiaGpu
    state: SecondaryGpuState
    dropped_from: Version | None = None
    minimum_driver: Version | None = None


def planned_driver_version(state: DriverState | None, advice: DriverAdvice) -> Version | None:
    """The driver that the recommendation ends with; None where its version is unknown."""
    if advice.needs_install:
        return Version.parse(advice.recommended)
    return state.version if state is not None else None


def secondary_gpus(
    target: TargetSystem, cards: tuple[NvidiaGpu, ...], build: Build, advice: DriverAdvice
) -> Iterator[SecondaryGpu]:
    """Each kind of further GPU whose chip is known; none where the build does not use CUDA."""
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
        if state.system == "linux" and has_no_common_modules(target.catalog, primary_chip, chip, target.arch):
            gpu_state = "modules"
        elif dropped_from is not None:
            already_dropped = dropping_driver(target.catalog, state.installed_version, chip, state.system) is not None
            gpu_state = "dark" if already_dropped else "leaves"
        elif code_kind(target.catalog, build.record, chip) is None:
            gpu_state = "own" if minimum is not None else "never"
        yield SecondaryGpu(card=card, state=gpu_state, dropped_from=dropped_from, minimum_driver=minimum)


def usable_gpus(
    target: TargetSystem, cards: tuple[NvidiaGpu, ...], build: Build, advice: DriverAdvice
) -> tuple[NvidiaGpu, ...]:
    """The GPUs that a CUDA build computes on: those with the deciding chip, and the others that work."""
    working = {
        secondary.card for secondary in secondary_gpus(target, cards, build, advice) if secondary.state == "works"
    }
    chip = cards[0].capability if cards else None
    return tuple(card for card in cards if card in working or (chip is not None and card.capability == chip))


def _minimum_driver_alone(target: TargetSystem, chip: Capability, planned_version: Version | None) -> Version | None:
    """The lowest driver for the newest build that runs a chip by itself on the planned driver."""
    state = target.driver_state
    if state is None:
        return None
    for build, code in cuda_builds(target.catalog, target.machine.os.system, target.arch, chip, target.glibc):
        minimum = find_minimum_driver(target.catalog, build.cuda, state.system, code)
        if minimum is None or (planned_version is not None and planned_version < minimum):
            continue
        if cudnn_support(target.catalog, build, chip) != "too-new":
            return minimum
    return None
