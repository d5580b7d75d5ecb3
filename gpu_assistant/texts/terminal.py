"""Command lines as they are typed on this computer.

Where the terminal does not find our program it is named by its path, and a data folder that is not the default one is
added to the command.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Sequence

from msgspec import Struct

PROGRAM_NAME = "gpu-assistant"
# Commands in texts that are typed on this computer; `detect` and `bundle` are meant for another one.
_QUOTED_COMMAND = re.compile(rf"“{PROGRAM_NAME} (?!detect |bundle )(?P<rest>[^”]*)”")
_NAME_WITH_SPACE = re.compile(r"[^\\/]*[\s&()][^\\/]*")


class Terminal(Struct, frozen=True, kw_only=True):
    """`system` decides the quoting; on "windows" a line works in both cmd and PowerShell.

    `program` is how this program is called, `data_dir` the data folder to add to its commands (None: the default one).
    """

    system: str
    program: str = PROGRAM_NAME
    data_dir: str | None = None

    def command_line(self, arguments: Sequence[str]) -> str:
        """A command line to paste into a terminal."""
        program, *rest = arguments
        if program == PROGRAM_NAME:
            program = self.program
            rest += ["--data-dir", self.data_dir] if self.data_dir is not None and "--data-dir" not in rest else []
        if self.system != "windows":
            return shlex.join([program, *rest])
        # PowerShell takes a quoted path for a string: quote only those of its names that need it.
        return " ".join(
            [_NAME_WITH_SPACE.sub(r'"\g<0>"', program), *(subprocess.list2cmdline([argument]) for argument in rest)]
        )

    def fill_commands(self, template: str, value: Callable[[str], str]) -> str:
        """A text template with its command lines completed; `value` fills the placeholders of their arguments."""

        def replace_command(match: re.Match[str]) -> str:
            arguments = [value(argument) for argument in match["rest"].split()]
            return f"“{self.command_line([PROGRAM_NAME, *arguments])}”".replace("{", "{{").replace("}", "}}")

        return _QUOTED_COMMAND.sub(replace_command, template)
