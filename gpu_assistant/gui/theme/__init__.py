"""Colours, fonts and the palette: `theme.color("accent")`, `theme.font("title")`, `theme.changed`."""

from __future__ import annotations

from .fonts import advance, font, line_height, px, text_scale
from .state import ThemeChoice, choice, color, current, notifier, set_chinese, set_text_scale, set_theme
from .tokens import Tokens

changed = notifier.changed

__all__ = [
    "ThemeChoice",
    "Tokens",
    "advance",
    "changed",
    "choice",
    "color",
    "current",
    "font",
    "line_height",
    "notifier",
    "px",
    "set_chinese",
    "set_text_scale",
    "set_theme",
    "text_scale",
]
