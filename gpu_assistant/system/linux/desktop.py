"""Linux desktops: showing a folder, opening a terminal.

A command after the next login: an entry in the desktop's autostart folder, which the program takes away itself.

Source: the Desktop Application Autostart and Desktop Entry Specifications of freedesktop.org.

The menu of Linux desktops, Visual Studio Code and Jupyter's kernels there.

Sources: the Desktop Entry and Base Directory Specifications of freedesktop.org; Jupyter's "Common Directories".

Linux' power: mains or battery as the kernel's power_supply and platform_profile tell, and staying awake.
"""

from __future__ import annotations

import hashlib
import os
import re
import select
import shlex
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from ...core import json
from ...core.errors import AppError, os_error_text
from .. import paths
from ..base import PowerStatus
from ..desktop_entry import MenuEntryFile, menu_entry_name
from ..paths import check_command_line

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
    program = paths.find_on_path(("xdg-open",), environ) if _has_display(environ) else None
    if program is None:
        raise AppError("no-file-manager", path=str(folder))
    start_detached([str(program), str(folder)], environ, folder)


def open_terminal(environment: Path, environ: Mapping[str, str]) -> None:
    """A terminal with bash, the user's own settings and the environment; raises AppError("no-terminal")."""
    bash = paths.find_on_path(("bash",), environ)
    if bash is not None and _has_display(environ):
        for name, terminal_arguments in TERMINALS:
            if program := paths.find_on_path((name,), environ):
                bashrc = _write_bashrc(environment)
                start_detached(
                    [str(program), *terminal_arguments, str(bash), "--rcfile", str(bashrc), "-i"], environ, environment
                )
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


AUTOSTART_FILE = "autostart/gpu-assistant-once.desktop"
AUTOSTART_ENTRY = """[Desktop Entry]
Type=Application
Name=GPU Assistant
Name[zh_CN]=GPU 助手
Terminal=false
Exec={line}
"""


class LinuxLoginCommand:
    """See `services.AtLogin`; writing raises what `core.json.write_file` does."""

    def __init__(self, config: Path) -> None:
        self._file = config / AUTOSTART_FILE

    def set(self, argv: Sequence[str | Path]) -> None:
        """As an entry of its own."""
        line = " ".join(map(quote_exec_argument, check_command_line(argv)))
        json.write_file(self._file, AUTOSTART_ENTRY.format(line=line))

    def get(self) -> tuple[str, ...] | None:
        """The words of its line."""
        try:
            text = self._file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise _login_command_error(error) from error
        line = next((line.removeprefix("Exec=") for line in text.splitlines() if line.startswith("Exec=")), None)
        return None if line is None else _split_exec_line(line)

    def clear(self) -> None:
        """Take the entry away."""
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:
            raise _login_command_error(error) from error
        # An empty folder says nothing to anybody, and it may be ours.
        with suppress(OSError):
            self._file.parent.rmdir()


def quote_exec_argument(argument: str) -> str:
    """One word of an entry's Exec line."""
    # First as an argument in quotes, then as a value of the file, where a backslash stands twice.
    escaped = re.sub(r'(["`$\\])', r"\\\1", argument)
    return '"' + escaped.replace("\\", "\\\\").replace("%", "%%") + '"'


def _split_exec_line(line: str) -> tuple[str, ...]:
    unescaped = line.replace("%%", "%").replace("\\\\", "\\")
    arguments: list[str] = re.findall(r'"((?:[^"\\]|\\.)*)"', unescaped)
    return tuple(re.sub(r'\\(["`$\\])', r"\1", argument) for argument in arguments)


def _login_command_error(error: Exception) -> AppError:
    return AppError("login-unusable", detail=os_error_text(error) if isinstance(error, OSError) else str(error))


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
        bash = paths.find_on_path(("bash",), self._environ)
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
        return paths.find_on_path(("code", "codium"), self._environ)

    def kernels_folder(self) -> Path:
        """Below the user's data folder, or where JUPYTER_DATA_DIR says."""
        jupyter_data_dir = self._environ.get("JUPYTER_DATA_DIR")
        return (
            Path(jupyter_data_dir)
            if jupyter_data_dir and Path(jupyter_data_dir).is_absolute()
            else self._data_home() / "jupyter"
        ) / "kernels"

    def start_program(self, argv: Sequence[str | Path], folder: Path) -> None:
        """See `desktop.Desktop.start`."""
        try:
            start_detached([str(argument) for argument in argv], self._environ, folder)
        except OSError as error:
            raise AppError("program-missing", path=str(argv[0])) from error

    def _data_home(self) -> Path:
        xdg_data_home = self._environ.get("XDG_DATA_HOME")
        return (
            Path(xdg_data_home)
            if xdg_data_home and Path(xdg_data_home).is_absolute()
            else self._home / ".local" / "share"
        )


def _encode_path_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


SYSTEMD_INHIBIT = Path("/usr/bin/systemd-inhibit")
CAT = Path("/bin/cat")
INHIBIT_TIMEOUT_S = 2.0  # logind answers at once or not at all
POWER_SAVING_PROFILE = "low-power"  # Documentation/ABI/testing/sysfs-platform_profile


def read_power_status(root: Path) -> PowerStatus:
    """A mouse's battery (its scope is "Device") is not the computer's."""
    power_supplies = [
        supply
        for supply in sorted(root.glob("sys/class/power_supply/*"))
        if _read_attribute(supply / "scope") != "Device"
    ]
    batteries = [supply for supply in power_supplies if _read_attribute(supply / "type") == "Battery"]
    chargers = [supply for supply in power_supplies if _read_attribute(supply / "type") in ("Mains", "USB", "Wireless")]
    percentages = [int(text) for supply in batteries if (text := _read_attribute(supply / "capacity")).isdecimal()]
    profile = _read_attribute(root / "sys/firmware/acpi/platform_profile")
    return PowerStatus(
        source=_power_source(
            batteries,
            chargers,
            has_power_supply_class=bool(power_supplies) or (root / "sys/class/power_supply").is_dir(),
        ),
        percent=round(sum(percentages) / len(percentages)) if percentages else None,
        power_saving=profile == POWER_SAVING_PROFILE if profile else None,
    )


def _power_source(
    batteries: Sequence[Path], chargers: Sequence[Path], *, has_power_supply_class: bool
) -> Literal["mains", "battery"] | None:
    if not batteries:
        return "mains" if has_power_supply_class else None
    online_states = [_read_attribute(each / "online") for each in chargers]
    if "1" in online_states:
        return "mains"
    states = {_read_attribute(each / "status") for each in batteries}
    if "Discharging" in states or "0" in online_states:
        return "battery"
    return "mains" if states & {"Charging", "Full", "Not charging"} else None


@contextmanager
def keep_awake(reason: str, program: Path = SYSTEMD_INHIBIT) -> Iterator[bool]:
    """Hold logind's sleep inhibitor; says whether it holds.

    The inhibitor lasts as long as `cat`, and `cat` as long as our end of its pipe: it goes when we go. What
    `cat` is given comes back only once it runs, and it runs only once logind agreed.
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
        if inhibitor is not None and not is_inhibited:  # what ended by itself would be a zombie until we go on
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


def _read_attribute(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
