"""The desktop on Linux: file manager, terminal, menu, editor, Jupyter's kernels, a command at login, staying awake.

Sources: the Desktop Entry, Desktop Application Autostart and Base Directory Specifications of freedesktop.org;
Jupyter's "Common Directories".
"""

from __future__ import annotations

import os
import re
import select
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ...core import filesystem, json
from ...core.errors import AppError, os_error_text
from ..base import MENU_SCRIPT, VIEWED_SUFFIXES, MenuEntryFile, menu_entry_name, path_hash
from ..processes import check_command_line, program_missing_error
from ..variables import find_on_path
from .processes import start_detached

# Terminals with the arguments that stand before the command to run; the desktops' own come first.
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
# The programs for power settings with their arguments, by the desktop's name in XDG_CURRENT_DESKTOP. GNOME's refuses to
# run on other desktops; systemsettings5 is that of Plasma 5.
POWER_SETTINGS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "GNOME": (("gnome-control-center", "power"),),
    "KDE": (
        ("systemsettings", "kcm_powerdevilprofilesconfig"),
        ("systemsettings5", "kcm_powerdevilprofilesconfig"),
    ),
    "XFCE": (("xfce4-power-manager-settings",),),
    "MATE": (("mate-power-preferences",),),
    "X-Cinnamon": (("cinnamon-settings", "power"),),
}
PYCHARM_NAMES = ("pycharm", "pycharm-professional", "pycharm-community")
LOAD_USER_SETTINGS = "[ -f ~/.bashrc ] && . ~/.bashrc"

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

AUTOSTART_FILE = "autostart/gpu-assistant-once.desktop"
STARTUP_FILE = "autostart/gpu-assistant.desktop"
AUTOSTART_ENTRY = """[Desktop Entry]
Type=Application
Name=GPU Assistant
Name[zh_CN]=GPU 助手
Terminal=false
Exec={line}
"""

SYSTEMD_INHIBIT = Path("/usr/bin/systemd-inhibit")
CAT = Path("/bin/cat")
INHIBIT_TIMEOUT_S = 2.0  # logind answers at once or not at all


def open_folder(folder: Path, environ: Mapping[str, str]) -> None:
    """Show a folder through xdg-open; raises AppError("no-file-manager")."""
    program = find_on_path(("xdg-open",), environ) if _has_display(environ) else None
    if program is None:
        raise AppError("no-file-manager", path=str(folder))
    start_detached([str(program), str(folder)], environ, folder)


def open_file(file: Path, environ: Mapping[str, str]) -> None:
    """Open a file of `VIEWED_SUFFIXES` through xdg-open; raises AppError("no-file-viewer")."""
    program = find_on_path(("xdg-open",), environ) if _has_display(environ) else None
    if program is None or file.suffix.lower() not in VIEWED_SUFFIXES or not file.is_file():
        raise AppError("no-file-viewer", path=str(file))
    start_detached([str(program), str(file)], environ, file.parent)


def open_power_settings(environ: Mapping[str, str], home: Path) -> None:
    """The power settings of the desktop that runs; raises AppError("no-power-settings")."""
    desktops = environ.get("XDG_CURRENT_DESKTOP", "").split(":") if _has_display(environ) else []
    for name, *arguments in (line for each in desktops for line in POWER_SETTINGS.get(each, ())):
        if program := find_on_path((name,), environ):
            start_detached([str(program), *arguments], environ, home)
            return
    raise AppError("no-power-settings")


def open_terminal(environment: Path, environ: Mapping[str, str]) -> None:
    """A terminal with bash, the user's own settings and the environment; raises AppError("no-terminal")."""
    bash = find_on_path(("bash",), environ)
    if bash is not None and _has_display(environ):
        for name, terminal_arguments in TERMINALS:
            if program := find_on_path((name,), environ):
                bashrc = _write_bashrc(environment)
                start_detached(
                    [str(program), *terminal_arguments, str(bash), "--rcfile", str(bashrc), "-i"], environ, environment
                )
                return
    raise AppError("no-terminal", path=str(environment))


def _has_display(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("WAYLAND_DISPLAY") or environ.get("DISPLAY"))


def _write_bashrc(environment: Path) -> Path:
    """A temporary start file for bash, which deletes itself."""
    descriptor, name = tempfile.mkstemp(prefix="gpu-assistant-", suffix=".bashrc")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f"rm -f -- {shlex.quote(name)}\n{_bashrc_text(environment)}")
    return Path(name)


def _bashrc_text(environment: Path) -> str:
    """The user's own settings come first: they may set PATH anew."""
    return f"{LOAD_USER_SETTINGS}\n. {shlex.quote(str(environment / 'bin' / 'activate'))}\n"


def start_program(argv: Sequence[str | Path], folder: Path, environ: Mapping[str, str]) -> None:
    """See `base.Desktop.start_program`."""
    try:
        start_detached([str(argument) for argument in argv], environ, folder)
    except OSError as error:
        raise program_missing_error(str(argv[0]), os_error_text(error)) from error


def menu_entry_files(environment: Path, environ: Mapping[str, str], home: Path) -> tuple[MenuEntryFile, ...]:
    """A start file for bash in the environment, and the entry that runs it in the desktop's own terminal."""
    bash = find_on_path(("bash",), environ)
    if bash is None or "\n" in str(environment):
        raise AppError("menu-unusable", detail="bash" if bash is None else str(environment))
    script = environment / MENU_SCRIPT
    line = " ".join(quote_exec_argument(str(argument)) for argument in (bash, "--rcfile", script, "-i"))
    # In a value of the file a backslash is written twice.
    folder, name = (text.replace("\\", "\\\\") for text in (str(environment), menu_entry_name(environment)))
    return (
        MenuEntryFile(path=script, content=_encode_path_text(_bashrc_text(environment))),
        MenuEntryFile(
            path=data_folder(environ, home) / "applications" / f"gpu-assistant-{path_hash(environment)}.desktop",
            content=_encode_path_text(MENU_ENTRY.format(name=name, folder=folder, line=line)),
        ),
    )


def find_pycharm(environ: Mapping[str, str], home: Path) -> Path | None:
    """On PATH (snaps, the Toolbox's scripts), else where the JetBrains Toolbox and whoever unpacks its archive put it.

    Source: PyCharm's help, "Install PyCharm" and "Command-line interface", and the Toolbox App's.
    """
    if (on_path := find_on_path(PYCHARM_NAMES, environ)) is not None:
        return on_path
    toolbox = data_folder(environ, home) / "JetBrains" / "Toolbox"
    candidates = [toolbox / "scripts" / "pycharm"]
    for parent in (toolbox / "apps", Path("/opt")):
        for folder in sorted(parent.glob("pycharm*"), reverse=True):
            candidates += [folder / "bin" / "pycharm", folder / "bin" / "pycharm.sh"]
    return next((path for path in candidates if path.is_file() and os.access(path, os.X_OK)), None)


def kernels_folder(environ: Mapping[str, str], home: Path) -> Path:
    """Below JUPYTER_DATA_DIR, else below the user's data folder."""
    jupyter_data_dir = Path(environ.get("JUPYTER_DATA_DIR", ""))
    data_dir = jupyter_data_dir if jupyter_data_dir.is_absolute() else data_folder(environ, home) / "jupyter"
    return data_dir / "kernels"


def data_folder(environ: Mapping[str, str], home: Path) -> Path:
    """The user's data folder; a relative XDG_DATA_HOME is ignored, as the specification says."""
    xdg_data_home = Path(environ.get("XDG_DATA_HOME", ""))
    return xdg_data_home if xdg_data_home.is_absolute() else home / ".local" / "share"


def _encode_path_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class LinuxLoginCommand:
    """An entry in the desktop's autostart folder. Writing raises what `core.json.write_file` does."""

    def __init__(self, config: Path, file: str = AUTOSTART_FILE) -> None:
        self._file = config / file

    def set(self, argv: Sequence[str | Path]) -> None:
        """Write the entry."""
        line = " ".join(map(quote_exec_argument, check_command_line(argv)))
        json.write_file(self._file, AUTOSTART_ENTRY.format(line=line))

    def get(self) -> tuple[str, ...] | None:
        """The arguments of the entry's Exec line."""
        try:
            text = self._file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise _login_command_error(error) from error
        line = next((line.removeprefix("Exec=") for line in text.splitlines() if line.startswith("Exec=")), None)
        return None if line is None else _split_exec_line(line)

    def clear(self) -> None:
        """Delete the entry, and the autostart folder if it is empty then."""
        try:
            filesystem.unlink(self._file, missing_ok=True)
        except OSError as error:
            raise _login_command_error(error) from error
        with suppress(OSError):
            filesystem.rmdir(self._file.parent)


def quote_exec_argument(argument: str) -> str:
    """An argument as the Exec line of an entry has it."""
    # First as a quoted argument, then as a value of the file, in which a backslash is written twice.
    escaped = re.sub(r'(["`$\\])', r"\\\1", argument)
    return '"' + escaped.replace("\\", "\\\\").replace("%", "%%") + '"'


def _split_exec_line(line: str) -> tuple[str, ...]:
    unescaped = line.replace("%%", "%").replace("\\\\", "\\")
    arguments: list[str] = re.findall(r'"((?:[^"\\]|\\.)*)"', unescaped)
    return tuple(re.sub(r'\\(["`$\\])', r"\1", argument) for argument in arguments)


def _login_command_error(error: Exception) -> AppError:
    return AppError("login-unusable", detail=os_error_text(error) if isinstance(error, OSError) else str(error))


@contextmanager
def keep_awake(reason: str, program: Path = SYSTEMD_INHIBIT) -> Iterator[bool]:
    """Hold logind's sleep inhibitor; the context's value is whether logind granted it.

    The inhibitor lives as long as its program, here `cat`, which lives as long as our end of its pipe: it goes when we
    go. `cat` echoes a line only once it runs, and it runs only once logind agreed.
    """
    inhibitor = None
    if program.is_file():
        with suppress(OSError):
            inhibitor = subprocess.Popen(
                [program, "--what=sleep:idle", "--who=GPU Assistant", f"--why={reason}", "--mode=block", CAT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
    try:
        is_inhibited = inhibitor is not None and _is_inhibited(inhibitor)
        if inhibitor is not None and not is_inhibited:  # one that ended by itself would stay a zombie meanwhile
            _stop_inhibitor(inhibitor)
            inhibitor = None
        yield is_inhibited
    finally:
        if inhibitor is not None:
            _stop_inhibitor(inhibitor)


def _is_inhibited(inhibitor: subprocess.Popen[bytes]) -> bool:
    if inhibitor.stdin is None or inhibitor.stdout is None:
        return False
    with suppress(OSError):
        inhibitor.stdin.write(b"\n")
        inhibitor.stdin.flush()
    ready, _, _ = select.select([inhibitor.stdout], [], [], INHIBIT_TIMEOUT_S)
    return bool(ready) and inhibitor.stdout.read(1) == b"\n"


def _stop_inhibitor(inhibitor: subprocess.Popen[bytes]) -> None:
    for pipe in (inhibitor.stdin, inhibitor.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    try:
        inhibitor.wait(timeout=2)
    except subprocess.TimeoutExpired:
        inhibitor.kill()
        inhibitor.wait()
