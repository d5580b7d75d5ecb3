"""The user's language. A module of its own: `--help` needs it and must load nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from ..core.types import Language

LANG_CHINESE = 0x04  # winnt.h: primary language id


def user_language(environ: Mapping[str, str] = os.environ) -> Language:
    """On Windows the language of its own menus; elsewhere by LC_ALL, LC_MESSAGES, LANG, as the C library does."""
    if sys.platform == "win32":
        from .windows.functions import kernel32

        language_id: int = kernel32.GetUserDefaultUILanguage()
        return "zh_CN" if language_id & 0x3FF == LANG_CHINESE else "en"
    else:  # noqa: RET505 - the type checker follows one branch per system
        for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
            if value := environ.get(name):
                return "zh_CN" if value.lower().startswith("zh") else "en"
        return "en"
