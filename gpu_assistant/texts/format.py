"""Formats values as text in English and Chinese: sizes, speeds, durations, counts."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.types import Language, Value

UNKNOWN_VALUE = "—"
# Figures that are lists, as "a, b, c"; Chinese separates them by its own comma.
LIST_NAMES = frozenset(
    {
        "choice",
        "choices",
        "files",
        "folders",
        "gpu",
        "gpus",
        "have",
        "known",
        "names",
        "needs",
        "packages",
        "products",
        "series",
        "steps",
        "toolkit",
        "what",
    }
)
# Suffix of a figure's name: the unit in English (singular) and in Chinese.
UNIT_NAMES = {"lanes": ("lane", "条通道"), "table_rows": ("row", "行")}
# A placeholder followed by a plural in English texts: "{count} files", "{count} more alarms".
COUNTED_NOUNS = (
    *("alarms", "cards", "checks", "cores", "errors", "files", "notes", "packages", "parts", "passes"),
    *("problems", "products", "prompts", "records", "restarts", "results", "rows", "runs", "settings", "steps"),
    *("threads", "warnings", "words"),
)
_COUNTED_NOUN = re.compile(rf"\{{(?P<name>\w+)\}}(?P<gap> (?:[a-z]+ )?)(?P<noun>{'|'.join(COUNTED_NOUNS)})\b")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def short_name(name: str) -> str:
    """A GPU's short name: "RTX 4060"."""
    for part in ("NVIDIA ", "GeForce ", "(R)", "(TM)", " Graphics"):
        name = name.replace(part, "")
    return name.strip()


def uncapitalize(text: str) -> str:
    """A text that begins a line, for within a sentence: "Hot" is "hot", "PCIe link" stays."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def format_counted(template: str, **values: Value) -> str:
    """A text with its figures, with the singular after 1: "3 files", "1 file"."""
    return use_singular(template, values).format(**values)


def use_singular(template: str, values: Mapping[str, Value]) -> str:
    """An English text with the singular after each count of 1."""

    def replace_noun(match: re.Match[str]) -> str:
        if values.get(match["name"]) != 1:
            return match[0]
        return match[0].removesuffix("es" if match["noun"].endswith("sses") else "s")

    return _COUNTED_NOUN.sub(replace_noun, template)


def format_size(count: float) -> str:
    """Bytes in decimal units, as for downloads and disks: "412 GB", "2.6 GB", "740 MB", "12 kB"."""
    if count >= 1e11:
        return f"{count / 1e9:.0f} GB"
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    if count >= 1e6:
        return f"{count / 1e6:.0f} MB"
    if count >= 1e3:
        return f"{count / 1e3:.0f} kB"
    return f"{count:.0f} B"


def format_memory(count: float) -> str:
    """Memory in binary units, written as is usual for GPUs and RAM: "8 GB", "15.6 GB", "256 MB", "52 KB"."""
    for unit, step in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)):
        value = count / step
        round_to_integer = (value >= 9.95 and unit != "GB") or value >= 99.95
        digits = f"{value:,.0f}" if round_to_integer or abs(value - round(value)) < 0.05 else f"{value:.1f}"
        # A value that would round to 1024 of the smaller unit is 1 of this one.
        if value >= 1 - 0.5 / 2**10:
            return f"{digits} {unit}"
    return f"{count:.0f} B"


def format_memory_column(count: float) -> str:
    """Memory for a column of sizes of different models, all with one decimal: "3.0 GB" below "14.3 GB"."""
    return f"{count / 2**30:,.1f} GB" if count >= 0.95 * 2**30 else format_memory(count)


def format_speed(rate: float) -> str:
    """Bytes per second: "18.4 MB/s"."""
    return f"{rate / 1e6:.1f} MB/s" if rate >= 1e5 else f"{rate / 1e3:.0f} kB/s"


def format_percent(percent: float) -> str:
    """A percentage without decimals: "94%"."""
    return join_unit(f"{percent:.0f}", "%")


def join_unit(figure: str, unit: str) -> str:
    """A figure with its unit: "65 °C"; no space stands before a percent sign: "94%"."""
    return figure + unit if unit == "%" else f"{figure} {unit}".strip()


MINUTES_FROM_S = 90  # below it, a duration is told in seconds


def format_duration(seconds: float, language: Language) -> str:
    """A rounded duration: "40 seconds", "2 minutes", "1 h 5 min"."""
    chinese = language == "zh_CN"
    if seconds < 0.95:
        return f"{seconds:.1f} 秒" if chinese else f"{seconds:.1f} seconds"
    if seconds < MINUTES_FROM_S:
        count = round(seconds)
        return f"{count} 秒" if chinese else ("1 second" if count == 1 else f"{count} seconds")
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} 分钟" if chinese else f"{minutes} minutes"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} 小时 {minutes} 分" if chinese else f"{hours} h {minutes} min"


def format_estimated_duration(seconds: float, language: Language) -> str:
    """A duration that is only estimated: below a minute and a half it is told to ten seconds."""
    return format_duration(max(round(seconds, -1), 10) if seconds < MINUTES_FROM_S else seconds, language)


FREQUENCY_NAMES = ("clock", "most")


def format_value(name: str, value: Value, language: Language) -> str:
    """A figure of a message, formatted by the suffix of its name; None is a dash."""
    if value is None:
        return UNKNOWN_VALUE
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _format_number(name, value, language)
    # Output of other programs may contain terminal escapes or marks of writing direction.
    text = UNPRINTABLE.sub("", str(value))
    return join_list(text.split(", "), language) if name in LIST_NAMES else text


def join_list(items: Iterable[str], language: Language) -> str:
    """Names or figures as a list within a sentence."""
    return ("、" if language == "zh_CN" else ", ").join(items)


def _format_number(name: str, value: float, language: Language) -> str:
    if name.endswith("memory_bytes"):
        return format_memory(value)
    if name.endswith("bytes"):
        return format_size(value)
    if name.endswith("seconds"):
        return format_duration(value, language)
    if name.endswith("_at"):
        return time.strftime("%H:%M", time.localtime(value))
    if name.endswith("days"):
        return f"{value} 天" if language == "zh_CN" else f"{value} day{'' if value == 1 else 's'}"
    return _format_with_unit(name, value, language) or _format_plain(name, value)


def _format_plain(name: str, value: float) -> str:
    """A figure whose unit is in the text. Megahertz have separators; years, ports and build numbers have none."""
    if isinstance(value, int):
        return f"{value:,}" if name in FREQUENCY_NAMES else str(value)
    return f"{value:,.3g}"


def _format_with_unit(name: str, value: float, language: Language) -> str | None:
    for suffix, (english, chinese) in UNIT_NAMES.items():
        if name.endswith(suffix):
            return (
                f"{value:.0f} {chinese}" if language == "zh_CN" else f"{value:.0f} {english}{'' if value == 1 else 's'}"
            )
    return None
