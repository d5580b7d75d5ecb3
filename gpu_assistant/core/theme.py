"""The themes: colours by token and the type scale, from `resources/theme.json`, for the window and for reports."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from . import json
from .paths import resources_dir


class Tokens(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A theme. Colours are "#RRGGBB"; `line_width` is in pixels at 100 %; `dark` is what Qt should assume."""

    window: str
    rail: str
    card: str
    sunken: str
    hover: str
    pressed: str
    line: str
    control: str
    text: str
    soft: str
    disabled: str
    accent: str
    accent_hover: str
    accent_pressed: str
    on_accent: str
    accent_text: str
    accent_soft: str
    ok: str
    ok_soft: str
    warn: str
    warn_soft: str
    error: str
    error_soft: str
    focus: str
    s1: str
    s2: str
    s3: str
    s4: str
    s5: str
    grid: str
    line_width: int
    dark: bool

    def colours(self) -> dict[str, str]:
        """Every colour by its token's name."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if isinstance(value, str)}


class ThemeFile(msgspec.Struct, frozen=True, kw_only=True):
    """The file. `type` is (pixel size at 100 %, weight) by kind; `tabular` are the kinds with digits of one width.

    `families` are in order of preference: for text in each language, and for code ("mono"). Most Linux desktops draw
    English, too, with Noto Sans CJK; of that the Korean family has narrow quotation marks and dots, where the Chinese
    one has those of the width of a Chinese character.
    """

    themes: dict[str, Tokens]
    type: dict[str, tuple[int, int]]
    tabular: frozenset[str]
    families: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def load_theme_file() -> ThemeFile:
    """The themes and the type scale; the file is part of the program."""
    return json.decode((resources_dir() / "theme.json").read_bytes(), ThemeFile)
