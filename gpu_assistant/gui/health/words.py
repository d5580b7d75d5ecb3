"""The words of the health test that depend on what is tested."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...core.names import device_name
from ...health.listening import HealthProgress
from ...texts.format import format_duration
from .. import language
from .job import HealthTestEnvironment


def level_names() -> tuple[str, str, str]:
    """What the three levels are called."""
    translate = QCoreApplication.translate
    return (
        translate("Health", "1 · Quick look"),
        translate("Health", "2 · Thorough"),
        translate("Health", "3 · Long full load"),
    )


def level_description(level: int, environment: HealthTestEnvironment, load: float | None) -> str:
    """What a level does and how long that takes; `load` is how many seconds of full load are among it."""
    translate, code = QCoreApplication.translate, language.texts().language
    longest_text = format_duration(environment.limits[level - 1] + (load or 0.0), code)
    if environment.environment is None:
        return translate("Health", "Asks the driver about every card, and computes nothing. It takes a few seconds.")
    template = {
        1: translate("Health", "Looks at the card and computes a little. Usually under a minute."),
        2: translate(
            "Health", "Tests copies, computing in each precision and the free memory, bit by bit. Some minutes."
        ),
        3: translate("Health", "All of level 2, then {load} of full load with every result checked."),
    }[level]
    limit_template = translate("Health", "It stops by itself after {longest} at the latest, or when the card gets too hot.")
    separator = "" if code == "zh_CN" else " "
    return f"{template.format(load=format_duration(load or 0.0, code))}{separator}{limit_template.format(longest=longest_text)}"


def progress_text(report: HealthProgress) -> str:
    """What is being tested, where, and how the card is meanwhile."""
    texts = language.texts()
    area_key = f"health.area.{report.check}"
    parts = [texts.translate(area_key) if texts.has_text(area_key) else report.check]
    if report.device is not None:
        parts.append(device_name(report.device))
    if report.done is not None:
        parts.append(f"{100 * report.done:.0f} %")
    if report.temp is not None:
        parts.append(f"{report.temp} °C")
    if report.power_w is not None:
        parts.append(f"{report.power_w:.0f} W")
    if report.errors:
        parts.append(QCoreApplication.translate("Health", "wrong results: {count}").format(count=report.errors))
    text = " · ".join(parts)
    return text[:1].upper() + text[1:]
