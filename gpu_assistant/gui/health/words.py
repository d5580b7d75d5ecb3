"""The words of the health test that depend on what is tested."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...core.names import device_name
from ...health.listening import HealthProgress
from ...texts.format import duration
from .. import language
from .job import Ground


def levels() -> tuple[str, str, str]:
    """What the three levels are called."""
    translate = QCoreApplication.translate
    return (
        translate("Health", "1 · Quick look"),
        translate("Health", "2 · Thorough"),
        translate("Health", "3 · Long full load"),
    )


def of_level(level: int, ground: Ground, load: float | None) -> str:
    """What a level does and how long that takes; `load` is how many seconds of full load are among it."""
    translate, code = QCoreApplication.translate, language.texts().language
    longest = duration(ground.limits[level - 1] + (load or 0.0), code)
    if ground.environment is None:
        return translate("Health", "Asks the driver about every card, and computes nothing. It takes a few seconds.")
    what = {
        1: translate("Health", "Looks at the card and computes a little. Usually under a minute."),
        2: translate(
            "Health", "Tests copies, computing in each precision and the free memory, bit by bit. Some minutes."
        ),
        3: translate("Health", "All of level 2, then {load} of full load with every result checked."),
    }[level]
    stops = translate("Health", "It stops by itself after {longest} at the latest, or when the card gets too hot.")
    gap = "" if code == "zh_CN" else " "
    return f"{what.format(load=duration(load or 0.0, code))}{gap}{stops.format(longest=longest)}"


def progress(now: HealthProgress) -> str:
    """What is being tested, where, and how the card is meanwhile."""
    texts = language.texts()
    area = f"health.area.{now.check}"
    parts = [texts.say(area) if texts.has(area) else now.check]
    if now.device is not None:
        parts.append(device_name(now.device))
    if now.done is not None:
        parts.append(f"{100 * now.done:.0f} %")
    if now.temp is not None:
        parts.append(f"{now.temp} °C")
    if now.power_w is not None:
        parts.append(f"{now.power_w:.0f} W")
    if now.errors:
        parts.append(QCoreApplication.translate("Health", "wrong results: {count}").format(count=now.errors))
    text = " · ".join(parts)
    return text[:1].upper() + text[1:]
