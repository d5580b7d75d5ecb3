"""What was measured, as every face says it: digits, units, and what speaks against a figure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.names import Language
    from .sentences import Translator

UNIT_PREFIX, DOUBT_PREFIX = "bench.unit.", "bench.doubt."


def format_digits(number: float) -> str:
    """Those that mean something: 0.0410, 5.10, 11.8, 262, 1,024."""
    if number >= 100:
        return f"{number:,.0f}"
    if number >= 10:
        return f"{number:.1f}"
    return f"{number:#.3g}"


def format_ratio(ratio: float) -> str:
    """A ratio with the digits that mean something: 31, 6.4."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def unit_name(name: str, texts: Translator) -> str:
    """A result's unit as people call it; TFLOP/s and GB/s are called so everywhere."""
    return texts.translate(UNIT_PREFIX + name) if texts.has_text(UNIT_PREFIX + name) else name


def doubt_text(notes: Iterable[str], texts: Translator) -> str:
    """What speaks against a figure, from its notes; "" where nothing does."""
    return ("；" if texts.language == "zh_CN" else "; ").join(texts.translate(DOUBT_PREFIX + note) for note in notes)


def with_label(name: str, text: str, language: Language) -> str:
    """What is said of something, behind its name."""
    return f"{name}：{text}" if language == "zh_CN" else f"{name}: {text}"
