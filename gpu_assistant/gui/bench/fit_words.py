"""Names of what a training step keeps in memory, of the ways to need less, and of the models."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...bench.fit import FitModel
from ...core.results import FitVariant, MemoryFit
from ...texts.format import memory

translate = QCoreApplication.translate

MODELS: tuple[FitModel, ...] = ("resnet50", "bert-base", "language-model")
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
VARIANTS: tuple[FitVariant, ...] = ("plain", "mixed", "checkpointing", "accumulation")
# The parts of a stacked bar with their colours, the way they stand from the left.
PARTS = (
    ("parameters", "s1"),
    ("gradients", "s2"),
    ("optimizer", "s3"),
    ("activations", "s4"),
    ("temporary", "accent"),
    ("cache", "s5"),
)


def model_name(model: str) -> str:
    """As people call it."""
    return {
        "resnet50": "ResNet-50",
        "bert-base": "BERT-base",
        "language-model": translate("Fit", "small language model"),
    }.get(model, model)


def model_detail(model: str) -> str:
    """What it is, and what one example of a batch is."""
    return {
        "resnet50": translate("Fit", "recognises pictures; each of a batch has 224 × 224 points"),
        "bert-base": translate("Fit", "reads sentences; each of a batch has 128 words"),
        "language-model": translate("Fit", "writes text; trained on whole paragraphs"),
    }.get(model, "")


def variant_name(variant: FitVariant) -> str:
    """The way of training."""
    return {
        "plain": translate("Fit", "As it is"),
        "mixed": translate("Fit", "Mixed precision"),
        "checkpointing": translate("Fit", "Checkpointing"),
        "accumulation": translate("Fit", "Accumulation"),
    }[variant]


def variant_detail(variant: FitVariant) -> str:
    """What it does, and what it costs."""
    return {
        "plain": translate("Fit", "everything in float32"),
        "mixed": translate("Fit", "computes in 16 bits, keeps weights in 32"),
        "checkpointing": translate("Fit", "computes a part again instead of keeping it: a third more time"),
        "accumulation": translate("Fit", "a batch in four parts, one update: slower, and BatchNorm sees less at once"),
    }[variant]


def part_name(part: str) -> str:
    """A part of the bar."""
    return {
        "parameters": translate("Fit", "Parameters"),
        "gradients": translate("Fit", "Gradients"),
        "optimizer": translate("Fit", "Optimizer state"),
        "activations": translate("Fit", "Activations"),
        "temporary": translate("Fit", "For a moment"),
        "cache": translate("Fit", "Cache"),
    }[part]


def parts_of(fit: MemoryFit) -> tuple[tuple[str, int, str], ...]:
    """(part, bytes, colour) of one bar, the parts that there are."""
    counts = {
        "parameters": fit.parameters,
        "gradients": fit.gradients,
        "optimizer": fit.optimizer,
        "activations": fit.activations,
        "temporary": fit.temporary,
        "cache": fit.cache,
    }
    return tuple((part, counts[part], colour) for part, colour in PARTS if counts[part] > 0)


def largest(fit: MemoryFit) -> str:
    """The largest batch that fits, where the free memory is known."""
    if fit.largest_batch is None:
        return ""
    if fit.largest_batch == 0:
        return translate("Fit", "not even a batch of 1 fits")
    return translate("Fit", "largest batch {batch}").format(batch=f"{fit.largest_batch:,}")


def compared(fit: MemoryFit, plain: MemoryFit | None) -> str:
    """Its sum, and how much less that is than without."""
    need = memory(fit.peak)
    if plain is None or fit.variant == "plain" or plain.peak <= 0:
        return need
    percent = round(100 * (1 - fit.peak / plain.peak))
    return f"{need} (−{percent} %)" if percent > 0 else f"{need} (+{-percent} %)" if percent < 0 else need
