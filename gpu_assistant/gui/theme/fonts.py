"""Fonts of the type scale: families, weight by language, size by text scale."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF

from .tokens import look

_SMALLEST, _LARGEST = 1.0, 2.0


class _State:
    scale = 1.0
    chinese = False


def text_scale() -> float:
    """How much larger than 100 % text is drawn, 1.0 to 2.0."""
    return _State.scale


def remember(*, scale: float | None = None, chinese: bool | None = None) -> None:
    """Note the text scale and whether Chinese is shown; whoever calls this announces the change."""
    if scale is not None:
        _State.scale = min(max(scale, _SMALLEST), _LARGEST)
    if chinese is not None:
        _State.chinese = chinese
    for cache in (_made, advance):
        cache.cache_clear()


def px(length: float) -> int:
    """A length of the design in pixels, grown with the text."""
    return round(length * _State.scale)


def line_height() -> float:
    """Line height of wrapped text as a factor; CJK fonts bring their own leading."""
    return 1.12 if _State.chinese else 1.22


def font(kind: str = "body") -> QFont:
    """A font of the type scale: display, figure, title, verdict, heading, body, strong, small, caption, mono…"""
    return QFont(_made(kind))


@lru_cache(maxsize=4096)
def advance(kind: str, text: str) -> float:
    """How wide a text is in one line, in pixels; layouts ask for the same words over and over."""
    return QFontMetricsF(_made(kind)).horizontalAdvance(text)


@lru_cache(maxsize=64)
def _made(kind: str) -> QFont:
    size, weight = look().type[kind]
    made = QFont()
    made.setFamilies(list(_families("mono" if kind == "mono" else "text")))
    made.setPixelSize(px(size))
    # Chinese families have no 600.
    made.setWeight(QFont.Weight(700 if weight == 600 and _State.chinese else weight))
    if kind in look().tabular:
        made.setFeature(QFont.Tag("tnum"), 1)
    if kind == "mono":
        made.setStyleHint(QFont.StyleHint.Monospace)
    return made


@lru_cache(maxsize=2)
def _families(use: str) -> tuple[str, ...]:
    """The families that this computer has, in our order of preference; all of them if it has none."""
    named = look().families[use]
    return tuple(name for name in named if QFontDatabase.hasFamily(name)) or named
