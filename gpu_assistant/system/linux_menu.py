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
from .desktop import MenuEntryFile, menu_entry_name
from .linux_desktop import start_detached
from .linux_login import quote_exec_argument

TERMINAL_SCRIPT = "gpu-assistant-terminal.bashrc"
MENU_ENTRY = """[Desktop Entry]
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


class LinuxDesktopEnvironment:
    """See `desktop.Desktop`; `environ` and `home` may be a test's."""

    def __init__(self, environ: Mapping[str, str] = os.environ, home: Path | None = None) -> None:
        self._environ = environ
        self._home = home or Path.home()

    def menu_entry_files(self, environment: Path) -> tuple[MenuEntryFile, ...]:
        """A script for bash in the environment, and the entry that starts it in the desktop's own terminal."""
        bash = places.find_on_path(("bash",), self._environ)
        if bash is None or "\n" in str(environment):
            raise AppError("menu-unusable", detail="bash" if bash is None else str(environment))
        script = environment / TERMINAL_SCRIPT
        lines = ("[ -f ~/.bashrc ] && . ~/.bashrc", f". {shlex.quote(str(environment / 'bin' / 'activate'))}")
        exec_line = " ".join(quote_exec_argument(str(argument)) for argument in (bash, "--rcfile", script, "-i"))
        # A value of the file, in which a backslash stands twice.
        folder, name = (text.replace("\\", "\\\\") for text in (str(environment), menu_entry_name(environment)))
        path_hash = hashlib.sha256(os.fsencode(environment)).hexdigest()[:12]
        return (
            MenuEntryFile(path=script, content=_encode_path_text("\n".join(lines) + "\n")),
            MenuEntryFile(
                path=self._data_home() / "applications" / f"gpu-assistant-{path_hash}.desktop",
                content=_encode_path_text(MENU_ENTRY.format(name=name, folder=folder, line=exec_line)),
            ),
        )

    def find_editor(self) -> Path | None:
        """On PATH, as its packages put it there."""
        return places.find_on_path(("code", "codium"), self._environ)

    def kernels_folder(self) -> Path:
        """Below the user's data folder, or where JUPYTER_DATA_DIR says."""
        jupyter_data_dir = self._environ.get("JUPYTER_DATA_DIR")
        return (Path(jupyter_data_dir) if jupyter_data_dir and Path(jupyter_data_dir).is_absolute() else self._data_home() / "jupyter") / "kernels"

    def start_program(self, argv: Sequence[str | Path], folder: Path) -> None:
        """See `desktop.Desktop.start`."""
        try:
            start_detached([str(argument) for argument in argv], self._environ, folder)
        except OSError as error:
            raise AppError("program-missing", path=str(argv[0])) from error

    def _data_home(self) -> Path:
        xdg_data_home = self._environ.get("XDG_DATA_HOME")
        return Path(xdg_data_home) if xdg_data_home and Path(xdg_data_home).is_absolute() else self._home / ".local" / "share"


def _encode_path_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
