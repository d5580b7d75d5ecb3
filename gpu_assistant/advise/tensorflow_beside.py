"""What becomes of the further NVIDIA cards of a computer under TensorFlow, and whether PyTorch uses what it leaves."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..catalog.versions import parse_version
from ..core.message import Value
from ..core.recommendation import DriverAdvice
from ..core.recommendation import RecommendationWarning as Caution
from .beside import planned_driver_version
from .cards import NvidiaGpu
from .drivers import dropping_driver, has_no_common_modules
from .pick import TargetSystem, best_candidate, make_target
from .tensorflow import TensorFlowCandidate, evaluate_tensorflow


def pytorch_support_text(target: TargetSystem) -> str:
    """Whether PyTorch can use the card that TensorFlow leaves, as the code of a text."""
    best = best_candidate(target)
    if best is None:
        return "@tensorflow.pytorch-cannot"
    return "@tensorflow.pytorch-may" if best.code_kind == "unknown" else "@tensorflow.pytorch-can"


def unsupported_gpu_warnings(target: TargetSystem, tensorflow: TensorFlowCandidate, cards: tuple[NvidiaGpu, ...]) -> Iterator[Caution]:
    """The further cards that a TensorFlow which computes on one of them has no code for."""
    for card in _secondary_gpus(target, tensorflow, cards):
        gpu_target = make_target(target.machine, target.catalog, target.arch, card, "studio")
        if evaluate_tensorflow(replace(gpu_target, driver_state=target.driver_state), tensorflow.build).status in ("no-code", "chip"):
            data: dict[str, Value] = {"gpu": card.label, "version": tensorflow.version, "pytorch": pytorch_support_text(gpu_target)}
            yield Caution(code="tensorflow-other-gpu", data=data)


def driverless_gpu_warnings(
    target: TargetSystem, tensorflow: TensorFlowCandidate, cards: tuple[NvidiaGpu, ...], advice: DriverAdvice
) -> Iterator[Caution]:
    """The further cards that the driver for TensorFlow does not serve, or has no kernel modules for."""
    state, primary = target.driver_state, target.gpu
    if state is None or primary is None or primary.capability is None:
        return
    planned_version, installed = planned_driver_version(state, advice), parse_version(state.installed)
    for card in _secondary_gpus(target, tensorflow, cards):
        if card.capability is None:
            continue
        data: dict[str, Value] = {"gpu": card.label}
        dropped_from = dropping_driver(target.catalog, planned_version, card.capability, state.system)
        if state.system == "linux" and has_no_common_modules(target.catalog, primary.capability, card.capability):
            yield Caution(code="other-gpu-modules", data={**data, "strong": primary.label})
        elif dropped_from is not None and dropping_driver(target.catalog, installed, card.capability, state.system) is not None:
            data |= {"installed": (state.installed or "").lstrip("@"), "without": dropped_from}
            yield Caution(code="other-gpu-dark", data=data)
        elif dropped_from is not None:
            yield Caution(code="driver-drops-other-only", data={**data, "recommended": advice.recommended})


def _secondary_gpus(target: TargetSystem, tensorflow: TensorFlowCandidate, cards: tuple[NvidiaGpu, ...]) -> Iterator[NvidiaGpu]:
    """Each further card of another chip, once; nothing where TensorFlow computes on none."""
    chip = target.gpu.capability if target.gpu is not None else None
    if not tensorflow.uses_gpu or chip is None:
        return
    yield from (card for card in dict.fromkeys(cards) if card.capability not in (None, chip))
