"""Which of several cards is shown where there is room for one."""

from __future__ import annotations

from ...core.health import Health
from ...core.results import GpuSample

# °C by which another card must be hotter before it takes the place: two alike would change places each second.
HYSTERESIS_C = 3


def select_primary_gpu(gpus: tuple[GpuSample, ...], health: Health | None, current: int | None) -> GpuSample | None:
    """The card with the gravest alarm, of which the sentence above it speaks, whether it answers or not, but never
    one that is gone; else the hottest of those that answer, and `shown` (an index) stays where another is hardly
    hotter. None without a card.
    """
    present = {gpu.index: gpu for gpu in gpus if gpu.state != "gone"}
    for alarm in health.alarms if health is not None else ():
        if alarm.level != "info" and alarm.gpu in present:
            return present[alarm.gpu]
    responding = [gpu for gpu in gpus if gpu.state == "ready"] or list(gpus)
    hottest = max(responding, key=lambda gpu: gpu.temp or 0, default=None)
    current_gpu = next((gpu for gpu in responding if gpu.index == current), None)
    if current_gpu is None or hottest is None:
        return hottest
    return hottest if (hottest.temp or 0) >= (current_gpu.temp or 0) + HYSTERESIS_C else current_gpu
