"""Home's verdict in one sentence, with its evidence and what can be done."""

from __future__ import annotations

from typing import Literal, NamedTuple

from PySide6.QtCore import QCoreApplication

from ...core.health import Health
from ...core.results import GpuSample, Sample
from .. import language
from ..components.hero import HeroKind
from ..health.advised import ADVISED
from .facts import Facts

Leads = Literal["setup", "graphs", "test"]


class Verdict(NamedTuple):
    """What the hero shows; no `action`, no button. `leads` is where that goes: the setup, the live graphs or the health
    test. `alarm`: it says the gravest alarm's sentence.
    """

    kind: HeroKind
    title: str
    detail: str = ""
    action: str = ""
    icon: str | None = None
    alarm: bool = False
    leads: Leads = "graphs"


def verdict(
    facts: Facts, sample: Sample | None, health: Health | None, *, simulated: bool, only_look: bool = False
) -> Verdict:
    """The worst thing that is known; what is not known yet is not judged. Who wants to `only_look` at the card is told
    how it is, before anything else.
    """
    if simulated:
        return _simulated(facts)
    nvidia = facts.has_nvidia(sample)
    # Until the computer was looked at, or a card answers, nobody says that there is none.
    if not facts.looked or (facts.machine is None and not nvidia):
        return Verdict("neutral", QCoreApplication.translate("Verdict", "Looking at this computer…"), icon="search")
    if facts.installed is None and not (nvidia and only_look):
        return _nothing_installed(nvidia, sample, health)
    return _with_card(facts, sample, health) if nvidia else _without_card()


def _without_card() -> Verdict:
    translate = QCoreApplication.translate
    return Verdict(
        "neutral",
        translate("Verdict", "No NVIDIA GPU. PyTorch works on the CPU."),
        translate("Verdict", "Good for learning and small models. Large ones need a computer with an NVIDIA GPU."),
        translate("Verdict", "Live graphs"),
        icon="cpu",
    )


def _with_card(facts: Facts, sample: Sample | None, health: Health | None) -> Verdict:
    """The gravest first: no setup helps a card that is broken."""
    translate = QCoreApplication.translate
    state = health.state if health is not None else "unknown"
    if health is not None and state in ("warn", "error"):
        return _of_alarm(health)
    if facts.gpu_unused():
        return Verdict(
            "warn",
            translate("Verdict", "PyTorch cannot use your GPU: this build has no CUDA."),
            translate("Verdict", "The setup can replace it with a build that has."),
            translate("Verdict", "Set up again"),
            leads="setup",
        )
    if state in ("asleep", "slow"):
        return _without_figures(slow=state == "slow")
    if sample is None or not sample.gpus:
        return Verdict(
            "neutral",
            translate("Verdict", "Your GPU gives no figures just now"),
            translate("Verdict", "It may be asleep to save power, or its driver may be waiting for a restart."),
            translate("Verdict", "Live graphs"),
        )
    if state == "untold":
        said = language.texts().health(health).text if health is not None else ""
        return Verdict("neutral", said or "", _figures(sample.gpus), translate("Verdict", "Live graphs"))
    return _well(sample) if state == "well" else _watched(sample.gpus, watching=state == "watching")


def _well(sample: Sample) -> Verdict:
    """An idle card that is let go of is awake, and gives no figures: nobody should take it for broken."""
    well = _of_cards(sample.gpus)
    why = language.texts().say("monitor.nvml.resting") if sample.nvml == "resting" else ""
    return well._replace(detail=well.detail or why)


def _without_figures(*, slow: bool) -> Verdict:
    """A card that is left asleep, or whose driver is waited for."""
    translate, said = QCoreApplication.translate, language.texts().say
    if not slow:
        detail = translate("Verdict", "Figures come as soon as a program uses it.")
        return Verdict("neutral", said("health.state.asleep"), detail, icon="moon")
    graphs = translate("Verdict", "Live graphs")
    return Verdict("neutral", said("health.state.slow"), said("health.slow.fix"), graphs, icon="clock")


def _watched(cards: tuple[GpuSample, ...], *, watching: bool) -> Verdict:
    """Nobody knows yet; while something has yet to last, the figures stand beside it."""
    said = language.texts().say("health.state.watching" if watching else "health.state.unknown")
    graphs = QCoreApplication.translate("Verdict", "Live graphs") if watching else ""
    return Verdict("neutral", said, _figures(cards) if watching else "", graphs, icon="search")


def _of_alarm(health: Health) -> Verdict:
    """The gravest alarm; the others, and what to do, stand below it. Its button looks closer at the card."""
    translate, gravest = QCoreApplication.translate, health.alarms[0]
    said = language.texts().alarm(gravest)
    kind: HeroKind = "error" if health.state == "error" else "warn"
    leads: Leads = "test" if gravest.id in ADVISED else "graphs"
    action = translate("Verdict", "Health test") if leads == "test" else translate("Verdict", "Live graphs")
    return Verdict(kind, language.texts().gravest(health), said.evidence or "", action, alarm=True, leads=leads)


def _simulated(facts: Facts) -> Verdict:
    translate = QCoreApplication.translate
    return Verdict(
        "neutral",
        translate("Verdict", "This is a simulated machine"),
        translate(
            "Verdict", "Nothing is installed or measured for it. The figures below are of the real computer you sit at."
        ),
        translate("Verdict", "Walk the setup") if facts.installed is None else "",
        icon="sim",
        leads="setup",
    )


def _nothing_installed(nvidia: bool, sample: Sample | None, health: Health | None) -> Verdict:
    """How the card is comes first where it is not well, and is said beside the invitation where it is."""
    translate = QCoreApplication.translate
    if nvidia:
        if health is not None and health.state in ("warn", "error"):
            return _of_alarm(health)
        detail = translate("Verdict", "About 10 minutes. Nothing is changed before you agree.")
        if sample is not None and sample.gpus and health is not None and health.state == "well":
            well = _of_cards(sample.gpus)
            said = translate("Verdict", "{well}: {figures}").format(well=well.title, figures=well.detail)
            first = said if well.detail else well.title
            detail = translate("Verdict", "{first}. {then}").format(first=first, then=detail)
        title = translate("Verdict", "Your GPU is not set up for deep learning yet")
        return Verdict("accent", title, detail, translate("Verdict", "Set up my GPU"), icon="bolt", leads="setup")
    return Verdict(
        "accent",
        translate("Verdict", "No NVIDIA GPU here. PyTorch still works, on the CPU."),
        translate("Verdict", "A few minutes. Nothing is changed before you agree."),
        translate("Verdict", "Set up PyTorch"),
        icon="cpu",
        leads="setup",
    )


def _figures(cards: tuple[GpuSample, ...]) -> str:
    """The highest temperature and load; of several cards these may be two cards', so they are called so."""
    translate, several = QCoreApplication.translate, len(cards) > 1
    known = [card.temp for card in cards if card.temp is not None]
    loads = [card.util for card in cards if card.util is not None]
    parts = []
    if known:
        hottest = translate("Verdict", "hottest {temp} °C") if several else "{temp} °C"
        parts.append(hottest.format(temp=max(known)))
    if loads:
        busiest = translate("Verdict", "busiest {load} %") if several else translate("Verdict", "load {load} %")
        parts.append(busiest.format(load=max(loads)))
    return translate("Verdict", ", ").join(parts)


def _of_cards(cards: tuple[GpuSample, ...]) -> Verdict:
    translate = QCoreApplication.translate
    title = translate("Verdict", "Your GPU is well") if len(cards) == 1 else translate("Verdict", "Your GPUs are well")
    return Verdict("ok", title, _figures(cards), translate("Verdict", "Live graphs"))
