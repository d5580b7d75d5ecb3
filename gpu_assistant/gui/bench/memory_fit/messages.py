"""Texts of the memory estimate in the current language: models, ways of training, parts of memory, the answer.

Functions over `core.results.MemoryFit` without widgets; memory is in bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from ....bench.child_protocol import MemoryFitProgress
from ....bench.memory_fit import LARGEST_GPU_DEVICE, FitModel, is_batch_fitting, practical_batch
from ....bench.training_snippet import memory_savings
from ....core.results import BenchDevice, FitVariant, MemoryFit
from ....core.types import short_device_name
from ....texts.format import format_memory, format_percent, short_name
from ... import language
from ...widgets.inputs import DropdownEntry
from ..running import ActivityText

translate = QCoreApplication.translate

FIT_MODELS: tuple[FitModel, ...] = ("resnet50", "bert-base", "language-model")
FIT_VARIANTS: tuple[FitVariant, ...] = ("plain", "mixed", "checkpointing", "accumulation", "together")
# (field of MemoryFit, colour token) of the parts of a stacked bar, from the left.
MEMORY_PARTS = (
    ("parameters", "s1"),
    ("gradients", "s2"),
    ("optimizer", "s3"),
    ("activations", "s5"),  # the largest part: not in the green that says what fits
    ("temporary", "accent"),
    ("cache", "s4"),
)


def fit_model_name(model: str) -> str:
    """The name of a model."""
    return {
        "resnet50": "ResNet-50",
        "bert-base": "BERT-base",
        "language-model": language.texts().translate("bench.workload.decode"),
    }.get(model, model)


def fit_model_detail(model: str) -> str:
    """What a model does, and what one example of a batch is."""
    return {
        "resnet50": translate("MemoryFitMessages", "recognises images of 224 × 224 pixels"),
        "bert-base": translate("MemoryFitMessages", "reads sentences of 128 words"),
        "language-model": translate("MemoryFitMessages", "writes text; trained on whole paragraphs"),
    }.get(model, "")


def variant_name(variant: FitVariant) -> str:
    """The name of a way of training."""
    return {
        "plain": translate("MemoryFitMessages", "Standard"),
        "mixed": translate("MemoryFitMessages", "Mixed precision"),
        "checkpointing": translate("MemoryFitMessages", "Checkpointing"),
        "accumulation": translate("MemoryFitMessages", "Accumulation"),
        "together": translate("MemoryFitMessages", "All together"),
    }[variant]


def way_phrase(variant: FitVariant) -> str:
    """How a way of training makes a batch fit, for "It fits …"."""
    return {
        "plain": variant_name(variant),
        "mixed": translate("MemoryFitMessages", "with 16-bit calculations (mixed precision)"),
        "checkpointing": translate("MemoryFitMessages", "if parts are calculated twice (checkpointing)"),
        "accumulation": translate("MemoryFitMessages", "if each batch is calculated in four parts (accumulation)"),
        "together": translate("MemoryFitMessages", "with all of these together"),
    }[variant]


def fit_activity(report: MemoryFitProgress) -> ActivityText:
    """What is being measured."""
    return ActivityText(
        translate("MemoryFitMessages", "Measuring small steps: {way}").format(way=variant_name(report.variant))
    )


def variant_detail(fit: MemoryFit) -> str:
    """What a way of training does, and what it costs."""
    if fit.variant == "together" and "mixed" not in memory_savings(fit):
        return translate("MemoryFitMessages", "checkpointing and accumulation; mixed precision would not help here")
    if fit.variant == "accumulation" and fit.model != "resnet50":
        return translate("MemoryFitMessages", "a batch in four parts, one update: slower")
    return {
        "plain": translate("MemoryFitMessages", "everything in float32"),
        "mixed": translate("MemoryFitMessages", "calculates in 16 bits, keeps weights in 32"),
        "checkpointing": translate(
            "MemoryFitMessages", "recalculates parts instead of storing them: takes a third longer"
        ),
        "accumulation": translate(
            "MemoryFitMessages", "a batch in four parts, one update: slower, and BatchNorm sees fewer examples at once"
        ),
        "together": translate("MemoryFitMessages", "mixed precision, checkpointing and accumulation"),
    }[fit.variant]


def memory_part_name(part: str) -> str:
    """The name of a part of memory."""
    return {
        "parameters": translate("MemoryFitMessages", "Parameters"),
        "gradients": translate("MemoryFitMessages", "Gradients"),
        "optimizer": translate("MemoryFitMessages", "Optimizer state"),
        "activations": translate("MemoryFitMessages", "Activations"),
        "temporary": translate("MemoryFitMessages", "Temporary"),
        "cache": translate("MemoryFitMessages", "Cache"),
    }[part]


def memory_parts(fit: MemoryFit) -> tuple[tuple[str, int, str], ...]:
    """(part, bytes, colour token) of the parts that are not empty, from the left of the bar."""
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
    """A part of memory with its size."""
    return translate("MemoryFitMessages", "{part} {size}").format(
        part=memory_part_name(part), size=format_memory(count)
    )


def usable_memory(fit: MemoryFit) -> int | None:
    """Free memory less the reserve, in bytes; None where it is unknown."""
    return None if fit.capacity is None else fit.capacity - (fit.reserve or 0)


def max_batch_text(fit: MemoryFit) -> str:
    """Whether the batch fits, and about how large the largest one is; "" where the free memory is unknown."""
    batch = practical_batch(fit)
    if batch is None:
        return ""
    if batch == 0:
        return translate("MemoryFitMessages", "does not fit, not even a batch of 1")
    if not is_batch_fitting(fit):
        return translate("MemoryFitMessages", "does not fit; largest batch about {batch}").format(batch=f"{batch:,}")
    return translate("MemoryFitMessages", "fits; largest batch about {batch}").format(batch=f"{batch:,}")


def fit_summary(measured: Sequence[MemoryFit]) -> str:
    """Whether the batch fits, else with which ways of training it does; "" where the free memory is unknown."""
    baseline = next((fit for fit in measured if fit.variant == "plain"), None)
    if baseline is None or is_batch_fitting(baseline) is None:
        return ""
    if is_batch_fitting(baseline):
        template = translate("MemoryFitMessages", "A batch of {batch} fits.")
    elif ways := [way_phrase(fit.variant) for fit in measured if is_batch_fitting(fit)]:
        template = translate("MemoryFitMessages", "A batch of {batch} does not fit directly. It fits {ways}.").replace(
            "{ways}", translate("MemoryFitMessages", ", or ").join(ways)
        )
    else:
        template = translate(
            "MemoryFitMessages",
            "A batch of {batch} does not fit with any method that was measured. Choose a smaller one.",
        )
    return template.format(batch=f"{baseline.batch:,}")


def fit_colour(fit: MemoryFit) -> str:
    """The colour token of the answer: ok or error."""
    return "ok" if is_batch_fitting(fit) else "error"


def peak_text(fit: MemoryFit, baseline: MemoryFit | None) -> str:
    """The memory that a step needs, with the difference to training without savings in percent."""
    memory_text = format_memory(fit.peak)
    if baseline is None or fit.variant == "plain" or baseline.peak <= 0:
        return memory_text
    percent = round(100 * (1 - fit.peak / baseline.peak))
    if percent == 0:
        return memory_text
    change = format_percent(abs(percent))
    return f"{memory_text} ({'−' if percent > 0 else '+'}{change})"


def free_memory_text(fit: MemoryFit, scale: int) -> str:
    """Free memory, usable memory and what the reserve is for; "" where it is unknown.

    `scale` is the full width of the bars in bytes: usable memory below it is a dashed line in them.
    """
    usable = usable_memory(fit)
    if fit.capacity is None or usable is None:
        return ""
    if fit.device == "cpu":
        template = translate(
            "MemoryFitMessages",
            "Free when measured: {size}. Planned with {usable}{line}; the rest is left for other "
            "programs and PyTorch's own overhead.",
        )
    else:
        template = translate(
            "MemoryFitMessages",
            "Free when measured: {size}. Planned with {usable}{line}; the rest is left for the "
            "display, other programs and fragmentation.",
        )
    line = translate("MemoryFitMessages", " (the dashed line)") if usable < scale else ""
    return template.format(size=format_memory(fit.capacity), usable=format_memory(usable), line=line)


def numbered_gpu_name(device: str, devices: tuple[BenchDevice, ...]) -> str:
    """A device with its name: "GPU 1 · RTX 4060"; "CPU"."""
    name = next((each.name for each in devices if each.id == device), None)
    number = short_device_name(device)
    return f"{number} · {short_name(name)}" if name and device != "cpu" else number


def device_entries(devices: tuple[BenchDevice, ...]) -> list[DropdownEntry]:
    """The devices to choose from on a computer with GPUs; of several, "the one with the most memory" is first."""
    gpus = [each for each in devices if each.id != "cpu"]
    cpu = DropdownEntry(value="cpu", text="CPU")
    if len(gpus) < 2:
        hint = translate("MemoryFitMessages", "if there are several, the one with the most memory")
        return [DropdownEntry(value=LARGEST_GPU_DEVICE, text="GPU", detail="" if gpus else hint), cpu]
    largest = max(gpus, key=lambda each: each.memory_bytes or 0)
    first = DropdownEntry(
        value=LARGEST_GPU_DEVICE,
        text=translate("MemoryFitMessages", "GPU with the most memory"),
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
