"""The page's one sentence, and the cards' state as a pill."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...core.health import Health
from ...core.results import Sample
from .. import language
from ..components.pill import PillKind

# States that say no more than that there is no card.
STATES_WITHOUT_MESSAGE = ("untried", "absent", "ready")


def status_text(sample: Sample | None, health: Health | None, *, simulated: bool) -> str:
    """What the machine is, or what is the matter with it."""
    translate, texts = QCoreApplication.translate, language.texts()
    if simulated:
        return translate("MonitorPage", "Figures of the real computer you sit at, not of the simulated machine.")
    gpus = sample.gpus if sample is not None else ()
    state = sample.nvml if sample is not None else "untried"
    if state not in STATES_WITHOUT_MESSAGE:
        message = texts.translate(f"monitor.nvml.{state}")
        lost_indexes = ", ".join(str(gpu.index) for gpu in gpus if gpu.state == "lost")
        names_gpus = state == "lost" and lost_indexes and len(gpus) > 1
        return texts.translate("health.of-card", {"number": lost_indexes, "title": message}) if names_gpus else message
    if not gpus:
        return translate("MonitorPage", "No NVIDIA GPU. CPU and memory are shown.")
    names = {gpu.name for gpu in gpus}
    name = next(iter(names)) if len(names) == 1 else None
    if len(gpus) > 1:
        count = len(gpus)
        subject = f"{count} × {name}" if name else translate("MonitorPage", "{count} GPUs").format(count=count)
    else:
        subject = name or translate("MonitorPage", "GPU, CPU and memory")
    if health is None or not health.alarms:
        return subject
    parts = [subject, texts.most_severe_alarm_title(health)]
    others = sum(alarm.level != "info" for alarm in health.alarms[1:])
    if others:
        parts.append(translate("MonitorPage", "and {count} more").format(count=others))
    return " · ".join(parts)


def status_pill(health: Health | None) -> tuple[PillKind, str] | None:
    """How the cards are; None while nobody knows."""
    translate, texts = QCoreApplication.translate, language.texts()
    pills: dict[str, tuple[PillKind, str]] = {
        "well": ("ok", translate("MonitorPage", "Well")),
        "watching": ("neutral", translate("MonitorPage", "Watching")),
        "untold": ("neutral", translate("MonitorPage", "Not known")),
        "warn": ("warn", translate("MonitorPage", "Look")),
        "error": ("error", translate("MonitorPage", "Not well")),
        "asleep": ("neutral", texts.translate("monitor.gpu.asleep")),
        "slow": ("neutral", texts.translate("monitor.gpu.silent")),
    }
    return pills.get(health.state) if health is not None else None
