"""Names of what a training step keeps in memory, of the ways to need less, and of the models."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from ....bench.child_protocol import MemoryFitProgress
from ....bench.memory_fit import LARGEST_GPU_DEVICE, FitModel, is_batch_fitting, practical_batch
from ....bench.training_snippet import memory_savings
from ....core.results import BenchDevice, FitVariant, MemoryFit
from ....texts.format import format_memory, short_name
from ... import language
from ...widgets.inputs import DropdownEntry
from .. import messages
from ..running import ActivityText

translate = QCoreApplication.translate

FIT_MODELS: tuple[FitModel, ...] = ("resnet50", "bert-base", "language-model")
FIT_VARIANTS: tuple[FitVariant, ...] = ("plain", "mixed", "checkpointing", "accumulation", "together")
# The parts of a stacked bar with their colours, the way they stand from the left.
MEMORY_PARTS = (
    ("parameters", "s1"),
    ("gradients", "s2"),
    ("optimizer", "s3"),
    ("activations", "s4"),
    ("temporary", "accent"),
    ("cache", "s5"),
)


def fit_model_name(model: str) -> str:
    """As people call it."""
    return {
        "resnet50": "ResNet-50",
        "bert-base": "BERT-base",
        "language-model": language.texts().translate("bench.workload.decode"),
    }.get(model, model)


def fit_model_detail(model: str) -> str:
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
        "together": translate("Fit", "All together"),
    }[variant]


def fit_activity(report: MemoryFitProgress) -> ActivityText:
    """What is worked out just now."""
    return ActivityText(translate("Fit", "Measuring small steps: {way}").format(way=variant_name(report.variant)))


def variant_detail(fit: MemoryFit) -> str:
    """What it does, and what it costs."""
    if fit.variant == "together" and "mixed" not in memory_savings(fit):
        return translate("Fit", "checkpointing and accumulation; mixed precision would not help here")
    if fit.variant == "accumulation" and fit.model != "resnet50":
        return translate("Fit", "a batch in four parts, one update: slower")
    return {
        "plain": translate("Fit", "everything in float32"),
        "mixed": translate("Fit", "computes in 16 bits, keeps weights in 32"),
        "checkpointing": translate("Fit", "computes a part again instead of keeping it: a third more time"),
        "accumulation": translate("Fit", "a batch in four parts, one update: slower, and BatchNorm sees less at once"),
        "together": translate("Fit", "mixed precision, checkpointing and accumulation"),
    }[fit.variant]


def memory_part_name(part: str) -> str:
    """A part of the bar."""
    return {
        "parameters": translate("Fit", "Parameters"),
        "gradients": translate("Fit", "Gradients"),
        "optimizer": translate("Fit", "Optimizer state"),
        "activations": translate("Fit", "Activations"),
        "temporary": translate("Fit", "For a moment"),
        "cache": translate("Fit", "Cache"),
    }[part]


def memory_parts(fit: MemoryFit) -> tuple[tuple[str, int, str], ...]:
    """(part, bytes, colour) of one bar, the parts that there are."""
    counts = {
        "parameters": fit.parameters,
        "gradients": fit.gradients,
        "optimizer": fit.optimizer,
        "activations": fit.activations,
        "temporary": fit.temporary,
        "cache": fit.cache,
    }
    return tuple((part, counts[part], colour) for part, colour in MEMORY_PARTS if counts[part] > 0)


def memory_part_text(part: str, count: int) -> str:
    """A part and how much it is."""
    return translate("Fit", "{part} {size}").format(part=memory_part_name(part), size=format_memory(count))


def usable_memory(fit: MemoryFit) -> int | None:
    """Bytes that are planned with: what is free less what stays spare."""
    return None if fit.capacity is None else fit.capacity - (fit.spare or 0)


def max_batch_text(fit: MemoryFit) -> str:
    """Whether it fits and about how large a batch does, where the free memory is known."""
    batch = practical_batch(fit)
    if batch is None:
        return ""
    if batch == 0:
        return translate("Fit", "does not fit, not even a batch of 1")
    if not is_batch_fitting(fit):
        return translate("Fit", "does not fit; largest batch about {batch}").format(batch=f"{batch:,}")
    return translate("Fit", "fits; largest batch about {batch}").format(batch=f"{batch:,}")


def fit_summary(measured: Sequence[MemoryFit]) -> str:
    """Whether the batch fits, and with which ways of training where it does not fit as it is; "" where nobody knows."""
    baseline = next((fit for fit in measured if fit.variant == "plain"), None)
    if baseline is None or is_batch_fitting(baseline) is None:
        return ""
    if is_batch_fitting(baseline):
        template = translate("Fit", "A batch of {batch} fits.")
    elif variants := [variant_name(fit.variant) for fit in measured if is_batch_fitting(fit)]:
        template = translate("Fit", "A batch of {batch} does not fit as it is. It fits with: {ways}.").replace(
            "{ways}", translate("Fit", ", ").join(variants)
        )
    else:
        template = translate("Fit", "A batch of {batch} does not fit in any way that was measured. Take a smaller one.")
    return template.format(batch=f"{baseline.batch:,}")


def fit_colour(fit: MemoryFit) -> str:
    """The token of these words."""
    return "ok" if is_batch_fitting(fit) else "error"


def peak_text(fit: MemoryFit, baseline: MemoryFit | None) -> str:
    """Its sum, and how much less that is than without."""
    memory_text = format_memory(fit.peak)
    if baseline is None or fit.variant == "plain" or baseline.peak <= 0:
        return memory_text
    percent = round(100 * (1 - fit.peak / baseline.peak))
    return (
        f"{memory_text} (−{percent} %)"
        if percent > 0
        else f"{memory_text} (+{-percent} %)"
        if percent < 0
        else memory_text
    )


def free_memory_text(fit: MemoryFit, scale: int) -> str:
    """What is free, what is planned with and what the rest is for; whether that is a line in the bars of `scale`."""
    usable = usable_memory(fit)
    if fit.capacity is None or usable is None:
        return ""
    if fit.device == "cpu":
        template = translate(
            "Fit",
            "Free when it was measured: {size}. Planned with {usable}{line}: the rest stays for other programs and for "
            "what PyTorch needs beside this.",
        )
    else:
        template = translate(
            "Fit",
            "Free when it was measured: {size}. Planned with {usable}{line}: the rest stays for the display, other "
            "programs and gaps between blocks.",
        )
    line = translate("Fit", " (the dashed line)") if usable < scale else ""
    return template.format(size=format_memory(fit.capacity), usable=format_memory(usable), line=line)


def numbered_gpu_name(device: str, devices: tuple[BenchDevice, ...]) -> str:
    """Its number and its name: "GPU 1 · RTX 4060"."""
    name = next((each.name for each in devices if each.id == device), None)
    number = messages.device_label(device)
    return f"{number} · {short_name(name)}" if name and device != "cpu" else number


def device_entries(devices: tuple[BenchDevice, ...]) -> list[DropdownEntry]:
    """Where one can measure on a computer with GPUs; of several, the one with the most memory comes first."""
    gpus = [each for each in devices if each.id != "cpu"]
    cpu = DropdownEntry(value="cpu", text="CPU")
    if len(gpus) < 2:
        hint = translate("Fit", "where there are several: the one with the most memory")
        return [DropdownEntry(value=LARGEST_GPU_DEVICE, text="GPU", detail="" if gpus else hint), cpu]
    largest = max(gpus, key=lambda each: each.memory_bytes or 0)
    first = DropdownEntry(
        value=LARGEST_GPU_DEVICE,
        text=translate("Fit", "GPU with the most memory"),
        detail=numbered_gpu_name(largest.id, devices),
    )
    gpu_entries = (
        DropdownEntry(
            value=gpu.id,
            text=numbered_gpu_name(gpu.id, devices),
            detail=format_memory(gpu.memory_bytes) if gpu.memory_bytes is not None else "",
        )
        for gpu in gpus
    )
    return [first, *gpu_entries, cpu]
