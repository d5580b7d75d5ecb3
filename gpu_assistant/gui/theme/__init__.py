"""The theme: `theme.color("accent")`, `theme.font("title")`, `theme.changed`."""

from __future__ import annotations

from ...core.theme import Tokens
from .theme import (
    ThemeChoice,
    advance,
    choice,
    color,
    current,
    font,
    line_height,
    notifier,
    px,
    set_chinese,
    set_text_scale,
    set_theme,
    text_height,
    text_scale,
)

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
    "text_height",
    "text_scale",
]
