"""Linux desktops: showing a folder, opening a terminal."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..core.errors import AppError
from . import places

# Terminals and the words that stand before the command to run in them; the desktops' own come first.
TERMINALS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ptyxis", ("--",)),
    ("gnome-terminal", ("--",)),
    ("kgx", ("--",)),
    ("konsole", ("-e",)),
    ("xfce4-terminal", ("-x",)),
    ("mate-terminal", ("-x",)),
    ("x-terminal-emulator", ("-e",)),
    ("kitty", ()),
    ("alacritty", ("-e",)),
    ("foot", ()),
    ("xterm", ("-e",)),
)


def open_folder(folder: Path, environ: Mapping[str, str]) -> None:
    """Show a folder; raises AppError("no-file-manager")."""
    program = places.find_on_path(("xdg-open",), environ) if _has_display(environ) else None
    if program is None:
        raise AppError("no-file-manager", path=str(folder))
    start_detached([str(program), str(folder)], environ, folder)


def open_terminal(environment: Path, environ: Mapping[str, str]) -> None:
    """A terminal with bash, the user's own settings and the environment; raises AppError("no-terminal")."""
    bash = places.find_on_path(("bash",), environ)
    if bash is not None and _has_display(environ):
        for name, terminal_arguments in TERMINALS:
            if program := places.find_on_path((name,), environ):
                bashrc = _write_bashrc(environment)
                start_detached([str(program), *terminal_arguments, str(bash), "--rcfile", str(bashrc), "-i"], environ, environment)
                return
    raise AppError("no-terminal", path=str(environment))


def _has_display(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("WAYLAND_DISPLAY") or environ.get("DISPLAY"))


def _write_bashrc(environment: Path) -> Path:
    """What bash reads at its start. The user's own settings come first: they may set PATH anew."""
    descriptor, name = tempfile.mkstemp(prefix="gpu-assistant-", suffix=".bashrc")
    lines = (
        f"rm -f -- {shlex.quote(name)}",
        "[ -f ~/.bashrc ] && . ~/.bashrc",
        f". {shlex.quote(str(environment / 'bin' / 'activate'))}",
    )
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return Path(name)


def start_detached(argv: Sequence[str], environ: Mapping[str, str], cwd: Path) -> None:
    """Start a program that lives on without us."""
    process = subprocess.Popen(
        argv,
        env=dict(environ),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # Somebody has to take note of its end, or it stays a zombie for as long as we run.
    threading.Thread(target=process.wait, name=f"waits for {argv[0]}", daemon=True).start()
