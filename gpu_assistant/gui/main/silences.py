"""Which alarms of which card are not told: what the settings keep of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.health import Alarm
from ...core.results import GpuSample
from ...core.settings import Settings, MutedAlarm
from ...monitor.series import gpu_key


def is_muted(settings: Settings, alarm: Alarm, gpus: Iterable[GpuSample]) -> bool:
    """Whether nobody wants to be told of this alarm; `gpus` are the cards of now."""
    return settings.is_muted(alarm.id, _gpu_key(alarm, gpus))


def muted_settings(settings: Settings, alarm: Alarm, gpus: Iterable[GpuSample], *, muted: bool) -> dict[str, Any]:
    """The settings' fields once this alarm of this card is silent, or told again."""
    gpu_key = _gpu_key(alarm, gpus)
    rules = tuple(each for each in settings.silenced if each != alarm.id)
    gpu_alarms = tuple(each for each in settings.silenced_cards if (each.alarm, each.card) != (alarm.id, gpu_key))
    if muted and gpu_key is None:
        rules = (*rules, alarm.id)
    elif muted and gpu_key is not None:
        name = alarm.data.get("name")
        gpu_alarms = (*gpu_alarms, MutedAlarm(alarm=alarm.id, card=gpu_key, name=str(name) if name else None))
    return {"silenced": rules, "silenced_cards": gpu_alarms}


def _gpu_key(alarm: Alarm, gpus: Iterable[GpuSample]) -> str | None:
    """What the alarm's card is known by in another slot too; None for the whole computer."""
    if alarm.gpu is None:
        return None
    return gpu_key(next((gpu for gpu in gpus if gpu.index == alarm.gpu), GpuSample(index=alarm.gpu)))
