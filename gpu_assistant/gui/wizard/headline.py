"""What a recommendation is for, and what it was chosen from."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...core.machine import Gpu, Machine
from ...core.recommendation import Recommendation
from ...texts.format import UNKNOWN_VALUE, short_name
from .rows import main_gpu, system_name

translate = QCoreApplication.translate

# What works as it is.
ALREADY_WORKING_CODES = frozenset({"works-already", "works-without-update"})
VENDOR_OF_ACCELERATOR = {"rocm": "amd", "xpu": "intel"}


def recommendation_heading(machine: Machine | None, recommendation: Recommendation | None) -> tuple[str, str]:
    """The page's title and the line below it."""
    # A release's nickname in brackets is more than one wants to know here.
    system = system_name(machine).split(" (")[0] if machine is not None else UNKNOWN_VALUE
    gpu = _gpu_in_title(machine, recommendation) if machine is not None else None
    if gpu is None or not gpu.name:
        title = translate("RecommendationPage", "What suits this computer")
        subtitle = translate("RecommendationPage", "Chosen from your CPU and {system}. Each choice tells you why.")
        return title, subtitle.format(system=system)
    if recommendation is not None and recommendation.accelerator == "cpu":
        # What stays unused is told first: the cards below tell why.
        framework = "TensorFlow" if recommendation.pytorch is None else "PyTorch"
        subtitle = translate("RecommendationPage", "{tool} computes on the CPU here; your {gpu} is not used.")
        title = translate("RecommendationPage", "What suits this computer")
        return title, subtitle.format(tool=framework, gpu=short_name(gpu.name))
    title = translate("RecommendationPage", "What suits your {gpu}").format(gpu=short_name(gpu.name))
    subtitle = translate(
        "RecommendationPage", "Chosen from your card, your driver and {system}. Each choice tells you why."
    )
    if gpu.vendor != "nvidia":  # nobody looked at its driver
        subtitle = translate("RecommendationPage", "Chosen from your card and {system}. Each choice tells you why.")
    if recommendation is not None and any(each.code in ALREADY_WORKING_CODES for each in recommendation.alternatives):
        subtitle = translate(
            "RecommendationPage", "The PyTorch that is here works already: nothing has to be done. This is an offer."
        )
    return title, subtitle.format(system=system)


def _gpu_in_title(machine: Machine, recommendation: Recommendation | None) -> Gpu | None:
    """The card that computes; NVIDIA's where none does."""
    gpu = main_gpu(machine, recommendation)
    if gpu is not None and gpu.vendor == "nvidia":
        return gpu
    vendor = VENDOR_OF_ACCELERATOR.get(recommendation.accelerator) if recommendation is not None else None
    return next((each for each in machine.gpus if each.vendor == vendor), None)
