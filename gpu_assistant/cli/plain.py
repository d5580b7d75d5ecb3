"""How texts come out where the code page is an old one (a pipe on Windows): as far as it can, never broken."""

from __future__ import annotations

import codecs

# What an old code page lacks, as its users write it; everything else becomes "?".
ASCII_REPLACEMENTS = {"✓": "+", "✗": "x", "■": "#", "–": "-", "—": "-", "…": "...", "•": "*", "·": "-"}
ERROR_HANDLER = "gpu-assistant-plain"


def _replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(ASCII_REPLACEMENTS.get(letter, "?") for letter in characters), error.end


codecs.register_error(ERROR_HANDLER, _replace_unencodable)
