"""Which of several cards is shown where there is room for one."""

from __future__ import annotations

from ...core.health import Health
from ...core.results import GpuSample

# °C by which another card must be hotter before it takes the place: two alike would change places each second.
HOTTER = 3


def foremost(gpus: tuple[GpuSample, ...], health: Health | None, shown: int | None) -> GpuSample | None:
    """The card with the gravest alarm, of which the sentence above it speaks, whether it answers or not, but never
    one that is gone; else the hottest of those that answer, and `shown` (an index) stays where another is hardly
    hotter. None without a card.
    """
    there = {gpu.index: gpu for gpu in gpus if gpu.state != "gone"}
    for alarm in health.alarms if health is not None else ():
        if alarm.level != "info" and alarm.gpu in there:
            return there[alarm.gpu]
    answering = [gpu for gpu in gpus if gpu.state == "ready"] or list(gpus)
    hottest = max(answering, key=lambda gpu: gpu.temp or 0, default=None)
    kept = next((gpu for gpu in answering if gpu.index == shown), None)
    if kept is None or hottest is None:
        return hottest
    return hottest if (hottest.temp or 0) >= (kept.temp or 0) + HOTTER else kept
