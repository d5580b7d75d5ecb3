"""What the cards did while they were measured, as their driver told it: in words."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from ...core.results import BenchGpuLog
from ...texts.format import UNKNOWN_VALUE, short_name
from .. import language

translate = QCoreApplication.translate
THROTTLE_KEY = "monitor.throttle."
THROTTLE_ROW = 4  # the row that says what held it back


def gpu_label(gpu: BenchGpuLog, gpus: Sequence[BenchGpuLog]) -> str:
    """The card's name, with its number where there are several."""
    name = short_name(gpu.name) if gpu.name else "GPU"
    return f"GPU {gpu.index} · {name}" if len(gpus) > 1 else name


def gpu_log_rows(gpu: BenchGpuLog) -> list[tuple[str, str]]:
    """Each figure's name and the figure; a dash for what the driver does not tell."""
    return [
        (translate("Along", "Temperature, start to end"), _temperature_text(gpu)),
        (translate("Along", "Clock under load"), _clock_text(gpu.clock_sm)),
        (translate("Along", "Memory clock under load"), _clock_text(gpu.clock_mem)),
        (translate("Along", "Power at most"), _power_text(gpu)),
        (translate("Along", "Held back by"), throttle_text(gpu)),
        (translate("Along", "In use before the test"), _percent_text(gpu.util_before)),
    ]


def throttle_text(gpu: BenchGpuLog) -> str:
    """Why its clocks were not higher, in the driver's reasons; nothing where there was none."""
    texts = language.texts()
    if not gpu.throttle:
        return translate("Along", "nothing")
    reasons = [texts.translate(THROTTLE_KEY + reason) if texts.has_text(THROTTLE_KEY + reason) else reason for reason in gpu.throttle]
    return translate("Along", "; ").join(reasons)


def _temperature_text(gpu: BenchGpuLog) -> str:
    start_and_end = [UNKNOWN_VALUE if each is None else str(each) for each in (gpu.temp_start, gpu.temp_end)]
    if gpu.temp_start is None and gpu.temp_end is None:
        return UNKNOWN_VALUE
    if gpu.temp_max is None:
        return translate("Along", "{first} → {last} °C").format(first=start_and_end[0], last=start_and_end[1])
    template = translate("Along", "{first} → {last} °C, at most {most} °C")
    return template.format(first=start_and_end[0], last=start_and_end[1], most=gpu.temp_max)


def _clock_text(clock: int | None) -> str:
    return UNKNOWN_VALUE if clock is None else f"{clock:,} MHz"


def _power_text(gpu: BenchGpuLog) -> str:
    if gpu.power_max_w is None:
        return UNKNOWN_VALUE
    if gpu.power_limit_w is None:
        return f"{gpu.power_max_w:.0f} W"
    template = translate("Along", "{power} W of {limit} W")
    return template.format(power=round(gpu.power_max_w), limit=round(gpu.power_limit_w))


def _percent_text(percent: int | None) -> str:
    return UNKNOWN_VALUE if percent is None else translate("Along", "{percent} %").format(percent=percent)
