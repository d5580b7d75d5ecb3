"""Fonts of the type scale: families, weight by language, size by text scale."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF

from .tokens import load_theme_file

_MIN_SCALE, _MAX_SCALE = 1.0, 2.0


class _FontState:
    scale = 1.0
    chinese = False


def text_scale() -> float:
    """How much larger than 100 % text is drawn, 1.0 to 2.0."""
    return _FontState.scale


def set_font_options(*, scale: float | None = None, chinese: bool | None = None) -> None:
    """Note the text scale and whether Chinese is shown; whoever calls this announces the change."""
    if scale is not None:
        _FontState.scale = min(max(scale, _MIN_SCALE), _MAX_SCALE)
    if chinese is not None:
        _FontState.chinese = chinese
    for cache in (_cached_font, advance):
        cache.cache_clear()


def px(length: float) -> int:
    """A length of the design in pixels, grown with the text."""
    return round(length * _FontState.scale)


def line_height() -> float:
    """Line height of wrapped text as a factor; CJK fonts bring their own leading."""
    return 1.12 if _FontState.chinese else 1.22


def font(kind: str = "body") -> QFont:
    """A font of the type scale: display, figure, title, verdict, heading, body, strong, small, caption, mono…"""
    return QFont(_cached_font(kind))


@lru_cache(maxsize=4096)
def advance(kind: str, text: str) -> float:
    """How wide a text is in one line, in pixels; layouts ask for the same words over and over."""
    return QFontMetricsF(_cached_font(kind)).horizontalAdvance(text)


@lru_cache(maxsize=64)
def _cached_font(kind: str) -> QFont:
    size, weight = load_theme_file().type[kind]
    result = QFont()
    result.setFamilies(list(_installed_families("mono" if kind == "mono" else "text")))
    result.setPixelSize(px(size))
    # Chinese families have no 600.
    result.setWeight(QFont.Weight(700 if weight == 600 and _FontState.chinese else weight))
    if kind in load_theme_file().tabular:
        result.setFeature(QFont.Tag("tnum"), 1)
    if kind == "mono":
        result.setStyleHint(QFont.StyleHint.Monospace)
    return result


@lru_cache(maxsize=2)
def _installed_families(role: str) -> tuple[str, ...]:
    """The families that this computer has, in our order of preference; all of them if it has none."""
    families = load_theme_file().families[role]
    return tuple(name for name in families if QFontDatabase.hasFamily(name)) or families
