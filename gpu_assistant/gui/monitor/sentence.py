"""The page's one sentence, and the cards' state as a pill."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...core.health import Health
from ...core.results import Sample
from .. import language
from ..components.pill import PillKind

# States that say no more than that there is no card.
QUIET_STATES = ("untried", "absent", "ready")


def of(sample: Sample | None, health: Health | None, *, simulated: bool) -> str:
    """What the machine is, or what is the matter with it."""
    translate, texts = QCoreApplication.translate, language.texts()
    if simulated:
        return translate("MonitorPage", "Figures of the real computer you sit at, not of the simulated machine.")
    gpus = sample.gpus if sample is not None else ()
    state = sample.nvml if sample is not None else "untried"
    if state not in QUIET_STATES:
        said = texts.say(f"monitor.nvml.{state}")
        lost = ", ".join(str(gpu.index) for gpu in gpus if gpu.state == "lost")
        of_some = state == "lost" and lost and len(gpus) > 1
        return texts.say("health.of-card", {"number": lost, "title": said}) if of_some else said
    if not gpus:
        return translate("MonitorPage", "No NVIDIA GPU. CPU and memory are shown.")
    names = {gpu.name for gpu in gpus}
    name = next(iter(names)) if len(names) == 1 else None
    if len(gpus) > 1:
        count = len(gpus)
        who = f"{count} × {name}" if name else translate("MonitorPage", "{count} GPUs").format(count=count)
    else:
        who = name or translate("MonitorPage", "GPU, CPU and memory")
    if health is None or not health.alarms:
        return who
    parts = [who, texts.gravest(health)]
    others = sum(alarm.level != "info" for alarm in health.alarms[1:])
    if others:
        parts.append(translate("MonitorPage", "and {count} more").format(count=others))
    return " · ".join(parts)


def pill(health: Health | None) -> tuple[PillKind, str] | None:
    """How the cards are; None while nobody knows."""
    translate, texts = QCoreApplication.translate, language.texts()
    said: dict[str, tuple[PillKind, str]] = {
        "well": ("ok", translate("MonitorPage", "Well")),
        "watching": ("neutral", translate("MonitorPage", "Watching")),
        "untold": ("neutral", translate("MonitorPage", "Not known")),
        "warn": ("warn", translate("MonitorPage", "Look")),
        "error": ("error", translate("MonitorPage", "Not well")),
        "asleep": ("neutral", texts.say("monitor.gpu.asleep")),
        "slow": ("neutral", texts.say("monitor.gpu.silent")),
    }
    return said.get(health.state) if health is not None else None
