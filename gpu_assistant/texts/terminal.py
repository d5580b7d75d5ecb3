"""Command lines as they are typed here: where the terminal does not find our program it is named by its path, and the
data folder goes with it where that is not the usual one.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Sequence

from msgspec import Struct

OURS = "gpu-assistant"
# What a sentence tells people to type on this computer: not what another one is asked for.
_TYPED = re.compile(rf"“{OURS} (?!detect |bundle )(?P<rest>[^”]*)”")
_SPACED = re.compile(r"[^\\/]*[\s&()][^\\/]*")


class Terminal(Struct, frozen=True, kw_only=True):
    """`system` decides what quotes are like ("windows": what both cmd and PowerShell read); `program` is what is typed
    for ours, `data` the data folder that has to be named (None: the usual one).
    """

    system: str
    program: str = OURS
    data: str | None = None

    def line(self, words: Sequence[str]) -> str:
        """A command line to paste."""
        first, *rest = words
        if first == OURS:
            first = self.program
            rest += ["--data-dir", self.data] if self.data is not None and "--data-dir" not in rest else []
        if self.system != "windows":
            return shlex.join([first, *rest])
        # In quotes as a whole it would be a mere text for PowerShell: only the names with a space have them.
        return " ".join([_SPACED.sub(r'"\g<0>"', first), *map(_quoted, rest)])

    def filled(self, template: str, value: Callable[[str], str]) -> str:
        """A sentence's template with its command lines ready; `value` fills their places."""

        def ready(found: re.Match[str]) -> str:
            words = [value(word) for word in found["rest"].split()]
            return f"“{self.line([OURS, *words])}”".replace("{", "{{").replace("}", "}}")

        return _TYPED.sub(ready, template)


def _quoted(word: str) -> str:
    return subprocess.list2cmdline([word])
