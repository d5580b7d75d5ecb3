"""What a recommendation is for, and what it was chosen from."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...core.machine import Gpu, Machine
from ...core.recommendation import Recommendation
from ...texts.format import UNKNOWN, short_name
from .rows import main_card, system_name

translate = QCoreApplication.translate

# What works as it is.
WORKS = frozenset({"works-already", "works-without-update"})
MAKERS = {"rocm": "amd", "xpu": "intel"}


def headline(machine: Machine | None, recommendation: Recommendation | None) -> tuple[str, str]:
    """The page's title and the line below it."""
    # A release's nickname in brackets is more than one wants to know here.
    system = system_name(machine).split(" (")[0] if machine is not None else UNKNOWN
    gpu = _card(machine, recommendation) if machine is not None else None
    if gpu is None or not gpu.name:
        title = translate("RecommendationPage", "What suits this computer")
        words = translate("RecommendationPage", "Chosen from your CPU and {system}. Each choice tells you why.")
        return title, words.format(system=system)
    if recommendation is not None and recommendation.accelerator == "cpu":
        # What stays unused is told first: the cards below tell why.
        tool = "TensorFlow" if recommendation.pytorch is None else "PyTorch"
        words = translate("RecommendationPage", "{tool} computes on the CPU here; your {gpu} is not used.")
        title = translate("RecommendationPage", "What suits this computer")
        return title, words.format(tool=tool, gpu=short_name(gpu.name))
    title = translate("RecommendationPage", "What suits your {gpu}").format(gpu=short_name(gpu.name))
    words = translate(
        "RecommendationPage", "Chosen from your card, your driver and {system}. Each choice tells you why."
    )
    if gpu.vendor != "nvidia":  # nobody looked at its driver
        words = translate("RecommendationPage", "Chosen from your card and {system}. Each choice tells you why.")
    if recommendation is not None and any(each.code in WORKS for each in recommendation.alternatives):
        words = translate(
            "RecommendationPage", "The PyTorch that is here works already: nothing has to be done. This is an offer."
        )
    return title, words.format(system=system)


def _card(machine: Machine, recommendation: Recommendation | None) -> Gpu | None:
    """The card that computes; NVIDIA's where none does."""
    gpu = main_card(machine, recommendation)
    if gpu is not None and gpu.vendor == "nvidia":
        return gpu
    maker = MAKERS.get(recommendation.accelerator) if recommendation is not None else None
    return next((each for each in machine.gpus if each.vendor == maker), None)
