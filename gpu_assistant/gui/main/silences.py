"""Which alarms of which card are not told: what the settings keep of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.health import Alarm
from ...core.results import GpuSample
from ...core.settings import Settings, Silence
from ...monitor.series import card


def is_silent(settings: Settings, alarm: Alarm, gpus: Iterable[GpuSample]) -> bool:
    """Whether nobody wants to be told of this alarm; `gpus` are the cards of now."""
    return settings.is_silent(alarm.id, _card(alarm, gpus))


def changed(settings: Settings, alarm: Alarm, gpus: Iterable[GpuSample], *, silent: bool) -> dict[str, Any]:
    """The settings' fields once this alarm of this card is silent, or told again."""
    which = _card(alarm, gpus)
    of_all = tuple(each for each in settings.silenced if each != alarm.id)
    of_cards = tuple(each for each in settings.silenced_cards if (each.alarm, each.card) != (alarm.id, which))
    if silent and which is None:
        of_all = (*of_all, alarm.id)
    elif silent and which is not None:
        name = alarm.data.get("name")
        of_cards = (*of_cards, Silence(alarm=alarm.id, card=which, name=str(name) if name else None))
    return {"silenced": of_all, "silenced_cards": of_cards}


def _card(alarm: Alarm, gpus: Iterable[GpuSample]) -> str | None:
    """What the alarm's card is known by in another slot too; None for the whole computer."""
    if alarm.gpu is None:
        return None
    return card(next((gpu for gpu in gpus if gpu.index == alarm.gpu), GpuSample(index=alarm.gpu)))
