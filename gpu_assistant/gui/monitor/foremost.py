"""Which of several cards is shown where there is room for one."""

from __future__ import annotations

from ...core.health import Health
from ...core.results import GpuSample

# °C by which another card must be hotter before it takes the place: two alike would change places each second.
HOTTER = 3


def foremost(gpus: tuple[GpuSample, ...], health: Health | None, shown: int | None) -> GpuSample | None:
    """The card with the gravest alarm among those that answer, else the hottest; `shown` (an index) stays where
    another is hardly hotter. None without a card.
    """
    answering = [gpu for gpu in gpus if gpu.state == "ready"] or list(gpus)
    by_index = {gpu.index: gpu for gpu in answering}
    for alarm in health.alarms if health is not None else ():
        if alarm.level != "info" and alarm.gpu in by_index:
            return by_index[alarm.gpu]
    hottest = max(answering, key=lambda gpu: gpu.temp or 0, default=None)
    kept = by_index.get(shown) if shown is not None else None
    if kept is None or hottest is None:
        return hottest
    return hottest if (hottest.temp or 0) >= (kept.temp or 0) + HOTTER else kept
