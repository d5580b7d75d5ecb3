"""Which models fit into a card's memory, from their published figures; pure.

ModelCatalog (models.json) + memory of a card ──► estimate_models ──► ModelFits

language  weights + runtime + tokens × (keys and values of all layers + what one layer works with)
image     weights + runtime + images × work
training  weights with gradients and optimizer + runtime + examples × activations
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from ..catalog.estimates import load_memory_planning
from ..catalog.records.models import (
    ImageModelRecord,
    LanguageModelRecord,
    ModelCatalog,
    ModelKind,
    TrainedModelRecord,
    WeightFormatId,
)
from ..core.errors import UsageError
from ..core.machine import Gpu
from ..core.results import FitVerdict, ModelFit, ModelFits

if TYPE_CHECKING:
    from ..catalog.records.gpus import Segment
    from ..catalog.records.models import ModelRecord
    from ..catalog.store import Catalog
    from ..core.machine import Machine, SystemName

ANSWER_FORMATS: tuple[WeightFormatId, ...] = ("float16", "int8", "nf4")
TRAINING_FORMATS: tuple[WeightFormatId, ...] = ("float32", "mixed")
ITEMS: dict[ModelKind, Literal["token", "image", "example"]] = {
    "language": "token",
    "image": "image",
    "training": "example",
}
CACHE_BYTES = 2  # of a number in the cache of keys and values, and of one that a layer works with


def load_models(catalog: Catalog) -> ModelCatalog:
    """Read `models.json`; raises AppError("catalog-broken")."""
    return catalog.read("models.json", ModelCatalog)


def usable_memory(catalog: Catalog, memory: int, system: SystemName, segment: Segment | None = None) -> int:
    """The part of a card's memory that is planned with."""
    reserve = load_memory_planning(catalog).find_reserve("gpu", system, segment)
    return memory if reserve is None else memory - reserve.bytes_of(memory)


def estimate_models(
    catalog: Catalog,
    *,
    memory: int | None,
    system: SystemName,
    device: str | None = None,
    segment: Segment | None = None,
    model: str | None = None,
) -> ModelFits:
    """All models of the catalog, or one, on a card with so much `memory`; raises UsageError("model-unknown")."""
    models = load_models(catalog)
    records = [*models.language, *models.image, *models.training]
    if model is not None:
        records = [each for each in records if model.lower() in (each.id, each.name.lower())]
        if not records:
            known = ", ".join(each.id for each in (*models.language, *models.image, *models.training))
            raise UsageError("model-unknown", given=model, known=known)
    usable = None if memory is None else usable_memory(catalog, memory, system, segment)
    return ModelFits(
        schema="gpu-assistant/fit/1",
        device=device,
        memory=memory,
        usable=usable,
        spills=system == "windows",
        as_of=models.as_of,
        models=tuple(fit for record in records for fit in _fits(record, models, usable)),
    )


def estimate_for_machine(catalog: Catalog, machine: Machine, *, model: str | None = None) -> ModelFits:
    """`estimate_models` on the machine's NVIDIA GPU with the most memory; without one the verdicts are "unknown"."""
    gpus = [gpu for gpu in machine.gpus if gpu.vendor == "nvidia"]
    largest = max(gpus, key=lambda gpu: gpu.memory_bytes or 0, default=Gpu(vendor="nvidia"))
    row = catalog.gpu(largest.pci_id or "")
    return estimate_models(
        catalog,
        memory=largest.memory_bytes,
        system=machine.os.system,
        device=largest.name,
        segment=row.segment if row is not None else None,
        model=model,
    )


def rounded_down(count: int) -> int:
    """With two digits that count: the others would claim a precision that an estimate does not have."""
    step = int("1" + "0" * max(len(str(count)) - 2, 0))
    return count // step * step


def has_room(fit: ModelFit) -> bool:
    """Whether there is something to say about how much fits: not where the usual amount needs more than can be used,
    which may just fit within the error but promises nothing.
    """
    return fit.verdict in ("fits", "tight") and fit.largest is not None and fit.largest >= fit.items


def roomiest(fits: Sequence[ModelFit]) -> ModelFit | None:
    """Of the formats of one model the one with room for the most: of those that fit, else of those that may just fit;
    of equals the first, which is the most exact. None where none has room.
    """
    with_room = [each for each in fits if has_room(each)]
    candidates = [each for each in with_room if each.verdict == "fits"] or with_room
    return max(candidates, key=lambda each: each.largest or 0, default=None)


def _fits(record: ModelRecord, models: ModelCatalog, usable: int | None) -> Iterator[ModelFit]:
    match record:
        case LanguageModelRecord():
            cache = 2 * record.layers * record.kv_heads * record.head_dim * CACHE_BYTES
            work = (2 * record.intermediate + 6 * record.hidden) * CACHE_BYTES
            for name in ANSWER_FORMATS:
                weights = _language_weights(record, models, name)
                yield _fit(
                    record,
                    models,
                    usable,
                    kind="language",
                    weight_format=name,
                    weights=weights,
                    per_item=cache + work,
                    limit=record.context,
                )
        case ImageModelRecord():
            for name in ANSWER_FORMATS:
                bits = record.bits.get(name, models.format(name).bits)
                weights = _bytes(record.parameters - record.kept_parameters, bits) + _bytes(record.kept_parameters, 16)
                yield _fit(
                    record,
                    models,
                    usable,
                    kind="image",
                    weight_format=name,
                    weights=weights,
                    per_item=record.work_bytes,
                    limit=None,
                )
        case TrainedModelRecord():
            for name in TRAINING_FORMATS:
                if name in record.example_bytes:
                    weights = record.parameters * record.state_bytes
                    yield _fit(
                        record,
                        models,
                        usable,
                        kind="training",
                        weight_format=name,
                        weights=weights,
                        per_item=record.example_bytes[name],
                        limit=None,
                    )


def _language_weights(record: LanguageModelRecord, models: ModelCatalog, name: WeightFormatId) -> int:
    weight_format = models.format(name)
    embeddings = record.vocabulary * record.hidden * (1 if record.tied else 2)
    return _bytes(record.parameters - embeddings, weight_format.bits) + _bytes(embeddings, weight_format.embedding_bits)


def _bytes(count: int, bits: float) -> int:
    return round(count * bits / 8)


def _fit(
    record: ModelRecord,
    models: ModelCatalog,
    usable: int | None,
    *,
    kind: ModelKind,
    weight_format: str,
    weights: int,
    per_item: int,
    limit: int | None,
) -> ModelFit:
    facts = models.kind(kind)
    items = min(facts.items, limit) if limit is not None else facts.items
    needed = weights + models.runtime_bytes + items * per_item
    largest = None
    if usable is not None:
        largest = max((usable - weights - models.runtime_bytes) // per_item, 0)
        largest = min(largest, limit) if limit is not None else largest
    return ModelFit(
        id=record.id,
        name=record.name,
        kind=kind,
        format=weight_format,
        parameters=record.parameters,
        weights=weights,
        per_item=per_item,
        needed=needed,
        item=ITEMS[kind],
        items=items,
        largest=largest,
        limit=limit,
        verdict=_verdict(needed, usable, facts.error),
        error=facts.error,
        confidence=record.confidence,
        page=record.page,
        measured_as=record.measured_as if isinstance(record, TrainedModelRecord) else None,
    )


def _verdict(needed: int, usable: int | None, error: float) -> FitVerdict:
    """ "tight" where it fits only if the estimate is not too low."""
    if usable is None:
        return "unknown"
    if needed * (1 + error) <= usable:
        return "fits"
    return "tight" if needed * (1 - error) <= usable else "no"
