"""What is the same of several cards, told once: eight alike are one line, and who differs has its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from ..core.health import Alarm
from ..core.results import Check

if TYPE_CHECKING:
    from ..core.names import Value
    from ..texts import Texts

MessageData = dict[str, "Value"]
Foldable = TypeVar("Foldable", Check, Alarm)
NAME_KEYS = ("device", "name")  # what a card is called in sentences, and so not the same of two
MIN_RANGE_LENGTH = 3  # "0, 1", but "0–2"


def fold_checks(checks: Sequence[Check], texts: Texts) -> tuple[Check, ...]:
    """Those of the same kind and state are one; numbers that differ are told from the lowest to the highest."""
    return _fold(checks, texts, lambda check: (check.id, check.state), lambda check: _gpu_index(check.data.get("gpu")))


def fold_alarms(alarms: Sequence[Alarm], texts: Texts, cards: int) -> tuple[Alarm, ...]:
    """The same for alarms, of so many `cards`."""
    return _fold(alarms, texts, lambda alarm: (alarm.id, alarm.level), lambda alarm: alarm.gpu, cards)


def _fold(
    items: Sequence[Foldable],
    texts: Texts,
    kind_of: Callable[[Foldable], tuple[str, str]],
    gpu_of: Callable[[Foldable], int | None],
    gpu_count: int | None = None,
) -> tuple[Foldable, ...]:
    groups: dict[object, list[Foldable]] = {}
    for position, item in enumerate(items):
        unique_position = position if gpu_of(item) is None else None
        groups.setdefault((unique_position, kind_of(item), _comparison_key(item.data)), []).append(item)
    total_gpus = gpu_count or len({index for item in items if (index := gpu_of(item)) is not None})
    # Who differs stands beside the others.
    order = {name: position for position, (name, _) in reversed(list(enumerate(kind_of(item) for item in items)))}
    ordered_groups = sorted(groups.values(), key=lambda group: order[kind_of(group[0])[0]])
    return tuple(
        _merge_group(group, [index for item in group if (index := gpu_of(item)) is not None], total_gpus, texts) for group in ordered_groups
    )


def _merge_group(group: list[Foldable], gpus: list[int], total_gpus: int, texts: Texts) -> Foldable:
    first = group[0]
    if len(group) == 1:
        return first
    subject = texts.translate("cli.cards-all", {"count": total_gpus})
    if len(gpus) < total_gpus:
        subject = texts.translate("cli.cards-some", {"gpus": f"GPU {_format_indexes(gpus)}"})
    data: MessageData = {key: _value_range(key, [each.data.get(key) for each in group], texts) for key in first.data}
    return replace(first, data=data | {name: subject for name in NAME_KEYS if data.get(name) is not None})


def _comparison_key(data: MessageData) -> tuple[tuple[str, object], ...]:
    """What must be equal: words and what is unknown; numbers may differ."""
    comparable = {key: None if _is_number(value) else (value,) for key, value in data.items() if key not in NAME_KEYS}
    return tuple(sorted(comparable.items()))


def _value_range(key: str, values: list[Value], texts: Texts) -> Value:
    numbers = [value for value in values if isinstance(value, int | float)]
    if not _is_number(values[0]):
        return values[0]
    low, high = (texts.format_value(key, value) for value in (min(numbers), max(numbers)))
    return values[0] if low == high else f"{low}–{high}"


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _gpu_index(value: Value) -> int | None:
    return value if isinstance(value, int) else None


def _format_indexes(gpus: list[int]) -> str:
    """ "0–2, 4, 5" """
    runs: list[list[int]] = []
    for index in sorted(gpus):
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    parts = (f"{run[0]}–{run[-1]}" if len(run) >= MIN_RANGE_LENGTH else ", ".join(map(str, run)) for run in runs)
    return ", ".join(parts)
