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

Data = dict[str, "Value"]
One = TypeVar("One", Check, Alarm)
NAMES = ("device", "name")  # what a card is called in sentences, and so not the same of two
LEAST_RUN = 3  # "0, 1", but "0–2"


def checks(found: Sequence[Check], texts: Texts) -> tuple[Check, ...]:
    """Those of the same kind and state are one; numbers that differ are told from the lowest to the highest."""
    return _folded(found, texts, lambda check: (check.id, check.state), lambda check: _index(check.data.get("gpu")))


def alarms(found: Sequence[Alarm], texts: Texts, cards: int) -> tuple[Alarm, ...]:
    """The same for alarms, of so many `cards`."""
    return _folded(found, texts, lambda alarm: (alarm.id, alarm.level), lambda alarm: alarm.gpu, cards)


def _folded(
    found: Sequence[One],
    texts: Texts,
    kind: Callable[[One], tuple[str, str]],
    card: Callable[[One], int | None],
    cards: int | None = None,
) -> tuple[One, ...]:
    groups: dict[object, list[One]] = {}
    for place, each in enumerate(found):
        alone = place if card(each) is None else None
        groups.setdefault((alone, kind(each), _same(each.data)), []).append(each)
    every = cards or len({index for each in found if (index := card(each)) is not None})
    # Who differs stands beside the others.
    order = {name: place for place, (name, _) in reversed(list(enumerate(kind(each) for each in found)))}
    told = sorted(groups.values(), key=lambda group: order[kind(group[0])[0]])
    return tuple(
        _one(group, [index for each in group if (index := card(each)) is not None], every, texts) for group in told
    )


def _one(group: list[One], gpus: list[int], every: int, texts: Texts) -> One:
    first = group[0]
    if len(group) == 1:
        return first
    who = texts.say("cli.cards-all", {"count": every})
    if len(gpus) < every:
        who = texts.say("cli.cards-some", {"gpus": f"GPU {_numbers(gpus)}"})
    data: Data = {key: _range(key, [each.data.get(key) for each in group], texts) for key in first.data}
    return replace(first, data=data | {name: who for name in NAMES if data.get(name) is not None})


def _same(data: Data) -> tuple[tuple[str, object], ...]:
    """What must be equal: words and what is unknown; numbers may differ."""
    words = {key: None if _number(value) else (value,) for key, value in data.items() if key not in NAMES}
    return tuple(sorted(words.items()))


def _range(key: str, values: list[Value], texts: Texts) -> Value:
    numbers = [value for value in values if isinstance(value, int | float)]
    if not _number(values[0]):
        return values[0]
    low, high = (texts.value(key, value) for value in (min(numbers), max(numbers)))
    return values[0] if low == high else f"{low}–{high}"


def _number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _index(value: Value) -> int | None:
    return value if isinstance(value, int) else None


def _numbers(gpus: list[int]) -> str:
    """ "0–2, 4, 5" """
    runs: list[list[int]] = []
    for index in sorted(gpus):
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    said = (f"{run[0]}–{run[-1]}" if len(run) >= LEAST_RUN else ", ".join(map(str, run)) for run in runs)
    return ", ".join(said)
