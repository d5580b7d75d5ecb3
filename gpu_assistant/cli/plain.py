"""How texts come out where the code page is an old one (a pipe on Windows): as far as it can, never broken."""

from __future__ import annotations

import codecs

# What an old code page lacks, as its users write it; everything else becomes "?".
PLAIN = {"✓": "+", "✗": "x", "■": "#", "–": "-", "—": "-", "…": "...", "•": "*", "·": "-"}
AS_FAR_AS_IT_CAN = "gpu-assistant-plain"


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(PLAIN.get(letter, "?") for letter in letters), error.end


codecs.register_error(AS_FAR_AS_IT_CAN, _plain)
