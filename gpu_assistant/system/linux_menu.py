"""The menu of Linux desktops, Visual Studio Code and Jupyter's kernels there.

Sources: the Desktop Entry and Base Directory Specifications of freedesktop.org; Jupyter's "Common Directories".
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..core.errors import AppError
from . import places
from .desktop import EntryFile, entry_name
from .linux_desktop import leave
from .linux_login import quoted

SCRIPT = "gpu-assistant-terminal.bashrc"
ENTRY = """[Desktop Entry]
Type=Application
Version=1.5
Name={name}
Comment=Terminal with this Python environment ready
Comment[zh_CN]=打开终端并启用这个 Python 环境
Icon=utilities-terminal
Terminal=true
Path={folder}
Exec={line}
"""


class LinuxDesktop:
    """See `desktop.Desktop`; `environ` and `home` may be a test's."""

    def __init__(self, environ: Mapping[str, str] = os.environ, home: Path | None = None) -> None:
        self._environ = environ
        self._home = home or Path.home()

    def entry(self, environment: Path) -> tuple[EntryFile, ...]:
        """A script for bash in the environment, and the entry that starts it in the desktop's own terminal."""
        bash = places.program(("bash",), self._environ)
        if bash is None or "\n" in str(environment):
            raise AppError("menu-unusable", detail="bash" if bash is None else str(environment))
        script = environment / SCRIPT
        lines = ("[ -f ~/.bashrc ] && . ~/.bashrc", f". {shlex.quote(str(environment / 'bin' / 'activate'))}")
        line = " ".join(quoted(str(word)) for word in (bash, "--rcfile", script, "-i"))
        # A value of the file, in which a backslash stands twice.
        folder, name = (text.replace("\\", "\\\\") for text in (str(environment), entry_name(environment)))
        mark = hashlib.sha256(os.fsencode(environment)).hexdigest()[:12]
        return (
            EntryFile(path=script, content=_bytes("\n".join(lines) + "\n")),
            EntryFile(
                path=self._data() / "applications" / f"gpu-assistant-{mark}.desktop",
                content=_bytes(ENTRY.format(name=name, folder=folder, line=line)),
            ),
        )

    def editor(self) -> Path | None:
        """On PATH, as its packages put it there."""
        return places.program(("code", "codium"), self._environ)

    def kernels(self) -> Path:
        """Below the user's data folder, or where JUPYTER_DATA_DIR says."""
        own = self._environ.get("JUPYTER_DATA_DIR")
        return (Path(own) if own and Path(own).is_absolute() else self._data() / "jupyter") / "kernels"

    def start(self, argv: Sequence[str | Path], folder: Path) -> None:
        """See `desktop.Desktop.start`."""
        try:
            leave([str(word) for word in argv], self._environ, folder)
        except OSError as error:
            raise AppError("program-missing", path=str(argv[0])) from error

    def _data(self) -> Path:
        given = self._environ.get("XDG_DATA_HOME")
        return Path(given) if given and Path(given).is_absolute() else self._home / ".local" / "share"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
