"""Command lines as they are typed here: where the terminal does not find our program it is named by its path, and the
data folder goes with it where that is not the usual one.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Sequence

from msgspec import Struct

PROGRAM_NAME = "gpu-assistant"
# What a sentence tells people to type on this computer: not what another one is asked for.
_QUOTED_COMMAND = re.compile(rf"“{PROGRAM_NAME} (?!detect |bundle )(?P<rest>[^”]*)”")
_NAME_WITH_SPACE = re.compile(r"[^\\/]*[\s&()][^\\/]*")


class Terminal(Struct, frozen=True, kw_only=True):
    """`system` decides what quotes are like ("windows": what both cmd and PowerShell read); `program` is what is typed
    for ours, `data` the data folder that has to be named (None: the usual one).
    """

    system: str
    program: str = PROGRAM_NAME
    data_dir: str | None = None

    def command_line(self, arguments: Sequence[str]) -> str:
        """A command line to paste."""
        program, *rest = arguments
        if program == PROGRAM_NAME:
            program = self.program
            rest += ["--data-dir", self.data_dir] if self.data_dir is not None and "--data-dir" not in rest else []
        if self.system != "windows":
            return shlex.join([program, *rest])
        # In quotes as a whole it would be a mere text for PowerShell: only the names with a space have them.
        return " ".join([_NAME_WITH_SPACE.sub(r'"\g<0>"', program), *map(_quote, rest)])

    def fill_commands(self, template: str, value: Callable[[str], str]) -> str:
        """A sentence's template with its command lines ready; `value` fills their places."""

        def replace_command(match: re.Match[str]) -> str:
            arguments = [value(argument) for argument in match["rest"].split()]
            return f"“{self.command_line([PROGRAM_NAME, *arguments])}”".replace("{", "{{").replace("}", "}}")

        return _QUOTED_COMMAND.sub(replace_command, template)


def _quote(argument: str) -> str:
    return subprocess.list2cmdline([argument])
