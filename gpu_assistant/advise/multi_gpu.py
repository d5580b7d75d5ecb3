"""Several NVIDIA cards in one computer: one driver and one PyTorch for all of them where that costs nothing beyond
the oldest card's own builds, else the strongest card's.

What becomes of the further NVIDIA cards of a computer, once it has the chosen build and driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..catalog.store import Catalog
from ..catalog.versions import parse_version
from ..core.machine import Machine
from ..core.recommendation import DriverAdvice
from ..core.types import Channel
from .builds import Build, code_kind, cuda_builds, cudnn_support
from .candidates import Candidate, TargetSystem, best_candidate, make_target
from .drivers import (
    DriverState,
    DriverVersion,
    dropping_driver,
    find_minimum_driver,
    has_no_common_modules,
    select_driver_system,
    supports_both,
)
from .gpus import NvidiaGpu

Chip = tuple[int, int]


class MultiGpuPlan(Struct, frozen=True, kw_only=True):
    """Who works together. `where` decides. `whole` is the newest build that serves every card, `whole_where` the
    place where it was found, `alone` what the strongest card would get by itself: None where all cards agree.
    """

    target: TargetSystem
    all_gpus_candidate: Candidate | None = None
    all_gpus_target: TargetSystem | None = None
    primary_candidate: Candidate | None = None


class _TeamContext(Struct, frozen=True, kw_only=True):
    """What is asked again and again for one machine."""

    machine: Machine
    catalog: Catalog
    arch: str
    cards: tuple[NvidiaGpu, ...]
    channel: Channel

    def make_target(
        self, card: NvidiaGpu, oldest_chip: Chip | None = None, other_chips: tuple[Chip, ...] = ()
    ) -> TargetSystem:
        target = make_target(self.machine, self.catalog, self.arch, card, self.channel, oldest_chip=oldest_chip)
        return replace(target, other_chips=other_chips) if other_chips else target


def plan_multi_gpu(
    machine: Machine, catalog: Catalog, arch: str, cards: tuple[NvidiaGpu, ...], channel: Channel
) -> MultiGpuPlan:
    """The deciding facts of a machine with any number of NVIDIA cards (strongest first)."""
    context = _TeamContext(machine=machine, catalog=catalog, arch=arch, cards=cards, channel=channel)
    primary_target = make_target(machine, catalog, arch, cards[0] if cards else None, channel)
    chips = _other_chips(cards)
    primary_best = best_candidate(primary_target) if chips else None
    if primary_best is None or all(_has_full_support(catalog, primary_best.build, chip) for chip in chips):
        return MultiGpuPlan(target=primary_target)
    strongest_chip = cards[0].capability or (0, 0)
    system = select_driver_system(machine)
    partners = tuple(chip for chip in chips if supports_both(catalog, strongest_chip, chip, system))
    all_gpus_candidate, all_gpus_target = _best_for_all_chips(context, partners) if partners == chips else (None, None)
    # A driver that is there and refuses the older card is not taken back unasked.
    installed_version = parse_version(machine.driver.version) if machine.driver is not None else None
    supported = tuple(c for c in partners if dropping_driver(catalog, installed_version, c, system) is None)
    target = primary_target
    if supported:
        # The older card keeps its driver where the strongest loses no release by that.
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


def _other_chips(cards: tuple[NvidiaGpu, ...]) -> tuple[Chip, ...]:
    """The further kinds of chips beside the strongest, newest first; none where that one is not known."""
    if len(cards) < 2 or cards[0].capability is None:
        return ()
    chips = {card.capability for card in cards[1:] if card.capability is not None}
    return tuple(sorted(chips - {cards[0].capability}, reverse=True))


def _has_full_support(catalog: Catalog, build: Build, chip: Chip) -> bool:
    """Whether a build has code for a chip, in its cuDNN, too."""
    return code_kind(catalog, build.record, chip) is not None and cudnn_support(catalog, build, chip) != "too-new"


def _best_for_all_chips(context: _TeamContext, chips: tuple[Chip, ...]) -> tuple[Candidate | None, TargetSystem | None]:
    """The newest build with code for the strongest card and for further chips, on a driver that knows them all."""
    target = context.make_target(context.cards[0], oldest_chip=chips[-1], other_chips=chips)
    candidate = best_candidate(target)
    return candidate, target if candidate is not None else None


def _target_for_older_chips(
    context: _TeamContext, chips: tuple[Chip, ...], older: tuple[Chip, ...], candidate: Candidate
) -> TargetSystem | None:
    """The place with a driver that serves still older cards, too, for which the build has no code: where the cards
    that it has code for lose no release by that.
    """
    for oldest in reversed(older):
        target = context.make_target(context.cards[0], oldest_chip=oldest, other_chips=chips)
        best = best_candidate(target)
        if best is not None and best.build.rank <= candidate.build.rank and _has_known_driver(target, best):
            return target
    return None


def _has_known_driver(target: TargetSystem, candidate: Candidate) -> bool:
    """Whether a driver for all cards is there or known by its number."""
    state, minimum = target.driver_state, candidate.minimum_driver
    is_installed = (
        state is not None
        and state.usable_version is not None
        and minimum is not None
        and state.usable_version >= minimum.version
    )
    return is_installed or (state is not None and state.package is not None)


def _keeps_newest_release(context: _TeamContext, oldest: Chip, best: Candidate) -> bool:
    """Whether the strongest card has its newest release on the older card's drivers, too."""
    candidate = best_candidate(context.make_target(context.cards[0], oldest_chip=oldest))
    return candidate is not None and candidate.build.rank <= best.build.rank


def _matches_single_gpu_release(context: _TeamContext, candidate: Candidate, chips: tuple[Chip, ...]) -> bool:
    """Whether a build is as new as what one of the older cards could have by itself."""
    candidates = (best_candidate(context.make_target(card)) for card in context.cards if card.capability in chips)
    return any(
        own_candidate is not None and candidate.build.rank <= own_candidate.build.rank for own_candidate in candidates
    )


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


def secondary_gpus(
    target: TargetSystem, cards: tuple[NvidiaGpu, ...], build: Build, advice: DriverAdvice
) -> Iterator[SecondaryGpu]:
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
            already_dropped = (
                dropping_driver(target.catalog, parse_version(state.installed), chip, state.system) is not None
            )
            gpu_state = "dark" if already_dropped else "leaves"
        elif code_kind(target.catalog, build.record, chip) is None:
            gpu_state = "own" if minimum is not None else "never"
        yield SecondaryGpu(card=card, state=gpu_state, dropped_from=dropped_from, minimum_driver=minimum)


def usable_gpus(
    target: TargetSystem, cards: tuple[NvidiaGpu, ...], build: Build, advice: DriverAdvice
) -> tuple[NvidiaGpu, ...]:
    """The cards that a CUDA build computes on, the deciding one first: those of its chip, and the others that work."""
    working = {
        secondary.card for secondary in secondary_gpus(target, cards, build, advice) if secondary.state == "works"
    }
    chip = cards[0].capability if cards else None
    return tuple(card for card in cards if card in working or (chip is not None and card.capability == chip))


def _minimum_driver_alone(
    target: TargetSystem, chip: tuple[int, int], planned_version: DriverVersion | None
) -> str | None:
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
