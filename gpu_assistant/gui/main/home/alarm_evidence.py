"""The line below Home's verdict of an alarm: for how long and how far a GPU has been slowed down, else the evidence."""

from __future__ import annotations

from itertools import takewhile
from math import isnan
from statistics import median

from PySide6.QtCore import QCoreApplication

from ....core.results import Alarm, Health
from ....texts.format import format_duration
from ... import language
from ...monitor.alarms import SLOWING_ALARMS
from ...monitor.history_model import SampleHistory
from ...monitor.metrics import GPU_CLOCK
from ...widgets.text import SEPARATOR

BEFORE_S = 600  # seconds before a slowdown in which the usual clock is looked for
LOADED_SHARE = 0.5  # of the highest clock there: with less, the GPU had nothing to do


def alarm_evidence(health: Health, history: SampleHistory | None) -> str:
    """The evidence of the most severe alarm; where several GPUs have it, of the first of them. Requires an alarm."""
    alarm, texts = health.alarms[0], language.texts()
    slowdown = _slowdown_text(alarm, health.t, history) if alarm.id in SLOWING_ALARMS and history is not None else ""
    text = slowdown or texts.alarm_evidence(alarm)
    is_shared = sum(each.id == alarm.id for each in health.alarms) > 1
    return f"GPU {alarm.gpu}{SEPARATOR}{text}" if is_shared else text


def _slowdown_text(alarm: Alarm, now: float, history: SampleHistory) -> str:
    """Since when, and the clock now and before; "" for a GPU whose clock is unknown."""
    translate = QCoreApplication.translate
    clock = next((gpu.clock_sm for gpu in history.gpus() if gpu.index == alarm.gpu), None)
    if alarm.gpu is None or clock is None:
        return ""
    duration = format_duration(max(now - alarm.since, 0.0), language.texts().language)
    before = _usual_clock(history, alarm.gpu, alarm.since)
    percent = round((1 - clock / before) * 100) if before else 0
    if before is None or percent < 1:
        return translate("HomeVerdict", "For {time} · clock {clock} MHz").format(time=duration, clock=f"{clock:,}")
    return translate("HomeVerdict", "For {time} · clock down {percent}%, from {before} to {clock} MHz").format(
        time=duration, percent=percent, before=f"{before:,.0f}", clock=f"{clock:,}"
    )


def _usual_clock(history: SampleHistory, gpu: int, since: float) -> float | None:
    """MHz at which the GPU ran under load before; None where the history does not tell."""
    window = history.since(GPU_CLOCK, gpu, since - BEFORE_S)
    points = zip(window.t, window.mean, strict=True) if window is not None else ()
    earlier = takewhile(lambda point: point[0] < since, points)  # what follows may be hours
    clocks = [float(clock) for _, clock in earlier if not isnan(clock)]
    return median(clock for clock in clocks if clock >= LOADED_SHARE * max(clocks)) if clocks else None
