"""Colours, fonts and the palette: `theme.color("accent")`, `theme.font("title")`, `theme.changed`."""

from __future__ import annotations

from .fonts import advance, font, line_height, px, text_scale
from .state import Choice, choice, color, current, notice, set_chinese, set_text_scale, set_theme
from .tokens import Tokens

changed = notice.changed

__all__ = [
    "Choice",
    "Tokens",
    "advance",
    "changed",
    "choice",
    "color",
    "current",
    "font",
    "line_height",
    "notice",
    "px",
    "set_chinese",
    "set_text_scale",
    "set_theme",
    "text_scale",
]
