"""Texts of the memory estimate in the current language: models, ways of training, parts of memory, the answer.

Functions over `core.results.MemoryFit` without widgets; memory is in bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import QCoreApplication

from ....bench.child_protocol import MemoryFitProgress
from ....bench.memory_fit import LARGEST_GPU_DEVICE, FitModel, is_batch_fitting, practical_batch
from ....bench.training_snippet import memory_savings
from ....core.results import BenchDevice, FitVariant, MemoryFit
from ....core.types import short_device_name
from ....texts.format import format_memory, format_memory_column, format_percent, join_unit, short_name
from ... import language
from ...widgets.inputs import DropdownEntry
from ..running import ActivityText

translate = QCoreApplication.translate

FIT_MODELS: tuple[FitModel, ...] = ("resnet50", "bert-base", "language-model")
FIT_VARIANTS: tuple[FitVariant, ...] = ("plain", "mixed", "checkpointing", "accumulation", "together")
# Ways of training by the time that they cost: mixed precision none, accumulation a little, checkpointing a third.
FASTEST_FIRST: tuple[FitVariant, ...] = ("mixed", "accumulation", "checkpointing", "together")
# (field of MemoryFit, colour token) of the parts of a stacked bar, from the left. Dark and bright ones alternate, so
# that neighbours differ for whoever cannot tell their hues apart.
MEMORY_PARTS = (
    ("parameters", "s3"),
    ("gradients", "s1"),
    ("optimizer", "s4"),
    ("activations", "s2"),  # the largest part: neither in the green that says what fits, nor in a grey
    ("temporary", "text"),
    ("cache", "s5"),
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
        "accumulation": translate("MemoryFitMessages", "Gradient accumulation"),
        "together": translate("MemoryFitMessages", "All together"),
    }[variant]


def way_phrase(variant: FitVariant) -> str:
    """What makes a batch fit, for "Keep … with …"."""
    return {
        "mixed": translate("MemoryFitMessages", "mixed precision"),
        "checkpointing": translate("MemoryFitMessages", "checkpointing"),
        "accumulation": translate("MemoryFitMessages", "gradient accumulation"),
        "together": translate("MemoryFitMessages", "all methods together"),
    }[variant]


def fit_activity(report: MemoryFitProgress) -> ActivityText:
    """What is being measured."""
    return ActivityText(
        translate("MemoryFitMessages", "Measuring small steps: {way}").format(way=variant_name(report.variant))
    )


def variant_detail(fit: MemoryFit) -> str:
    """What a way of training does, and what it costs."""
    if fit.variant == "together" and "mixed" not in memory_savings(fit):
        return translate(
            "MemoryFitMessages", "checkpointing and gradient accumulation; mixed precision would not help here"
        )
    if fit.variant == "accumulation" and fit.model != "resnet50":
        return translate("MemoryFitMessages", "calculates a batch in four parts: slightly slower")
    return {
        "plain": translate("MemoryFitMessages", "calculates everything in 32 bits"),
        "mixed": translate("MemoryFitMessages", "calculates in 16 bits, keeps weights in 32"),
        "checkpointing": translate(
            "MemoryFitMessages", "recalculates parts instead of storing them: takes a third longer"
        ),
        "accumulation": translate(
            "MemoryFitMessages",
            "calculates a batch in four parts: slightly slower, and BatchNorm sees fewer examples at once",
        ),
        "together": translate("MemoryFitMessages", "mixed precision, checkpointing and gradient accumulation"),
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


def memory_part_meaning(part: str) -> str:
    """What a part of memory is for, in one or two sentences."""
    return {
        "parameters": translate("MemoryFitMessages", "The numbers in which the model stores what it has learned."),
        "gradients": translate(
            "MemoryFitMessages",
            "How each parameter should change so that the model makes fewer mistakes. Usually calculated in the second "
            "half of a step: 0 MB means that there are none yet when memory use is highest.",
        ),
        "optimizer": translate(
            "MemoryFitMessages", "What the optimizer keeps from earlier steps to improve its next updates."
        ),
        "activations": translate(
            "MemoryFitMessages",
            "Intermediate results of the examples that are calculated at once; more examples need more memory.",
        ),
        "temporary": translate(
            "MemoryFitMessages", "Working space that is needed only while the parameters are updated."
        ),
        "cache": translate("MemoryFitMessages", "GPU memory that PyTorch keeps ready for later use."),
    }[part]


def memory_parts(fit: MemoryFit) -> tuple[tuple[str, int, str], ...]:
    """(part, bytes, colour token) of all parts, from the left of the bar; 0 bytes are none at the peak."""
    counts = {
        "parameters": fit.parameters,
        "gradients": fit.gradients,
        "optimizer": fit.optimizer,
        "activations": fit.activations,
        "temporary": fit.temporary,
        "cache": fit.cache,
    }
    return tuple((part, counts[part], colour) for part, colour in MEMORY_PARTS)


def common_memory_parts(fits: Sequence[MemoryFit]) -> tuple[tuple[str, str], ...]:
    """(part, colour token) of the parts that any of the bars has, from the left."""
    shown = {part for fit in fits for part, count, _ in memory_parts(fit) if count > 0}
    return tuple((part, colour) for part, colour in MEMORY_PARTS if part in shown)


def memory_part_size(count: int) -> str:
    """The size of a part of memory, for which nothing is 0 MB."""
    return format_memory(count) if count else join_unit("0", "MB")


def memory_part_text(part: str, count: int) -> str:
    """A part of memory with its size."""
    return translate("MemoryFitMessages", "{part} {size}").format(
        part=memory_part_name(part), size=memory_part_size(count)
    )


def usable_memory(fit: MemoryFit) -> int | None:
    """Free memory less the reserve, in bytes; None where it is unknown."""
    return None if fit.capacity is None else fit.capacity - (fit.reserve or 0)


def fit_title(fit: MemoryFit, devices: tuple[BenchDevice, ...]) -> str:
    """What was estimated, and that it fits if it does."""
    template = (
        translate("MemoryFitMessages", "{model} fits with batch size {batch} ({device})")
        if is_batch_fitting(fit)
        else translate("MemoryFitMessages", "{model}, batch size {batch} ({device})")
    )
    return template.format(
        model=fit_model_name(fit.model), batch=f"{fit.batch:,}", device=numbered_gpu_name(fit.device, devices)
    )


def fit_text(fit: MemoryFit) -> str:
    """Whether the batch fits; "" where the free memory is unknown."""
    batch = practical_batch(fit)
    if batch is None:
        return ""
    if batch == 0:
        return translate("MemoryFitMessages", "Does not fit, not even a batch of 1")
    if not is_batch_fitting(fit):
        return translate("MemoryFitMessages", "Does not fit")
    return translate("MemoryFitMessages", "Fits")


def largest_batch_text(fit: MemoryFit) -> str:
    """About how large the largest batch is; "" where not even one example fits, or the free memory is unknown."""
    batch = practical_batch(fit)
    return f"{batch:,}" if batch else ""


def refusal_text(measured: Sequence[MemoryFit]) -> str:
    """That the batch does not fit, and what `fit_remedies` offers; "" where it fits or the free memory is unknown."""
    baseline = next((fit for fit in measured if fit.variant == "plain"), None)
    if baseline is None or is_batch_fitting(baseline) is not False:
        return ""
    remedies = fit_remedies(measured)
    smaller = next((remedy.batch for remedy in remedies if remedy.batch is not None), None)
    way = next((way_phrase(remedy.variant) for remedy in remedies if remedy.variant is not None), "")
    if way and smaller is not None:
        template = translate(
            "MemoryFitMessages", "A batch of {batch} does not fit. Use {smaller}, or keep {batch} with {way}."
        )
    elif way:
        template = translate("MemoryFitMessages", "A batch of {batch} does not fit. Keep {batch} with {way}.")
    elif smaller is not None:
        template = translate(
            "MemoryFitMessages", "A batch of {batch} does not fit with any method that was measured. Use {smaller}."
        )
    else:
        template = translate(
            "MemoryFitMessages",
            "A batch of {batch} does not fit with any method that was measured, and neither does a smaller one.",
        )
    return template.format(batch=f"{baseline.batch:,}", smaller=f"{smaller or 0:,}", way=way)


class FitRemedy(Struct, frozen=True, kw_only=True):
    """What makes a batch fit that does not: a smaller `batch`, or the code for training in the way `variant`; the other
    one is None. `label` is the text of a button.
    """

    label: str
    batch: int | None = None
    variant: FitVariant | None = None


def fit_remedies(measured: Sequence[MemoryFit]) -> tuple[FitRemedy, ...]:
    """For a batch that does not fit: the largest one that does, and the way of training that costs least time of those
    with which it fits, all together only where no single one is enough. None for a batch that fits; the first one is
    recommended.
    """
    baseline = next((fit for fit in measured if fit.variant == "plain"), None)
    if baseline is None or is_batch_fitting(baseline) is not False:
        return ()
    fitting = fitting_variants(measured)
    variant = next((each for each in FASTEST_FIRST if each in fitting), None)
    remedies = [FitRemedy(label=_code_label(variant), variant=variant)] if variant is not None else []
    batch = practical_batch(baseline) or max((practical_batch(fit) or 0 for fit in measured), default=0)
    if 0 < batch < baseline.batch:
        label = translate("MemoryFitMessages", "Set batch size to {batch}").format(batch=f"{batch:,}")
        remedies.insert(0, FitRemedy(label=label, batch=batch))
    return tuple(remedies)


def fitting_variants(measured: Sequence[MemoryFit]) -> tuple[FitVariant, ...]:
    """The ways of training with which the batch fits."""
    return tuple(fit.variant for fit in measured if is_batch_fitting(fit))


def _code_label(variant: FitVariant) -> str:
    return {
        "mixed": translate("MemoryFitMessages", "Show code: mixed precision"),
        "checkpointing": translate("MemoryFitMessages", "Show code: checkpointing"),
        "accumulation": translate("MemoryFitMessages", "Show code: gradient accumulation"),
        "together": translate("MemoryFitMessages", "Show code: all methods"),
    }[variant]


def fit_sign(fit: MemoryFit) -> tuple[str, str]:
    """Icon and colour token of the answer."""
    return ("ok", "ok") if is_batch_fitting(fit) else ("error", "error")


def peak_text(fit: MemoryFit) -> str:
    """The memory that a step needs."""
    return format_memory_column(fit.peak)


def saving_text(fit: MemoryFit, baseline: MemoryFit | None) -> str:
    """The difference to training without savings in percent; "" without one."""
    if baseline is None or fit.variant == "plain" or baseline.peak <= 0:
        return ""
    percent = round(100 * (1 - fit.peak / baseline.peak))
    return f"{'−' if percent > 0 else '+'}{format_percent(abs(percent))}" if percent else ""


def usable_text(usable: int) -> str:
    """How much memory can be used."""
    return translate("MemoryFitMessages", "{size} usable").format(size=format_memory_column(usable))


def basis_text(fits: Sequence[MemoryFit]) -> str:
    """Where the sizes come from: no step with the whole batch was run."""
    if all(fit.exact for fit in fits):
        return translate("MemoryFitMessages", "Calculated from small batches measured on this computer.")
    return translate(
        "MemoryFitMessages",
        "Calculated from small batches measured on this computer, which varied a little: approximate.",
    )


def free_memory_text(fit: MemoryFit) -> str:
    """Free memory, and what the part of it is for that does not count as usable; "" where it is unknown."""
    if fit.capacity is None:
        return ""
    if fit.device == "cpu":
        template = translate(
            "MemoryFitMessages",
            "Free when measured: {size}. A step can use it up to the dashed line; the rest is left for other programs "
            "and PyTorch's own overhead.",
        )
    else:
        template = translate(
            "MemoryFitMessages",
            "Free when measured: {size}. A step can use it up to the dashed line; the rest is left for the display, "
            "other programs and memory fragmentation.",
        )
    return template.format(size=format_memory_column(fit.capacity))


def numbered_gpu_name(device: str, devices: tuple[BenchDevice, ...]) -> str:
    """A device with its name, which no line breaks: "GPU 1 · RTX 4060"; "CPU"."""
    name = next((each.name for each in devices if each.id == device), None)
    number = short_device_name(device)
    return f"{number}\N{NO-BREAK SPACE}·\N{NO-BREAK SPACE}{short_name(name)}" if name and device != "cpu" else number


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
