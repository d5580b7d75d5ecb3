"""The desktop on Linux: file manager, terminal, menu, editor, login, sleep; real programs and readers."""

from __future__ import annotations

import configparser
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("Linux's own; the same module in tests/system/windows has Windows'", allow_module_level=True)

import uv

from gpu_assistant.core.errors import AppError
from gpu_assistant.system.linux import desktop
from gpu_assistant.system.linux.desktop import LinuxLoginCommand
from gpu_assistant.system.linux.system import LinuxSystem
from gpu_assistant.texts.localized import Texts

pytestmark = pytest.mark.linux

AUTOSTART_READER = Path("/usr/lib/systemd/user-generators/systemd-xdg-autostart-generator")

ODD = ["a b", 'quote " in', r"back \ slash", "`cmd` $HOME $$ %f", "你好", "it's"]


def system(**environ: str) -> LinuxSystem:
    return LinuxSystem(environ=environ)


def stand_in(folder: Path, name: str, out: Path) -> None:
    """A program that writes its words, one a line, and where it was started."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(
        f'#!/bin/sh\n(pwd; printf "%s\\n" "$@") > "{out}.new" && mv "{out}.new" "{out}"\n', encoding="utf-8"
    )
    program.chmod(0o755)


def read_arguments(out: Path) -> list[str]:
    end = time.monotonic() + 10
    while not out.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    return out.read_text(encoding="utf-8").splitlines()


def test_open_folder(tmp_path: Path) -> None:
    stand_in(tmp_path / "bin", "xdg-open", tmp_path / "out")
    folder = tmp_path / "a folder; x"
    folder.mkdir()
    system(PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin", DISPLAY=":0").open_folder(folder)
    assert read_arguments(tmp_path / "out") == [str(folder), str(folder)]


def test_open_folder_without_desktop_fails(tmp_path: Path) -> None:
    stand_in(tmp_path / "bin", "xdg-open", tmp_path / "out")
    for environ in ({"DISPLAY": ":0", "PATH": str(tmp_path)}, {"PATH": str(tmp_path / "bin")}):
        with pytest.raises(AppError) as error:
            system(**environ).open_folder(tmp_path)
        assert error.value.code == "no-file-manager"


@pytest.mark.parametrize(
    ("desktop_name", "program", "arguments"),
    [
        ("ubuntu:GNOME", "gnome-control-center", ["power"]),
        ("KDE", "systemsettings5", ["kcm_powerdevilprofilesconfig"]),
        ("XFCE", "xfce4-power-manager-settings", [""]),
    ],
)
def test_power_settings_are_the_desktops_own(
    tmp_path: Path, desktop_name: str, program: str, arguments: list[str]
) -> None:
    stand_in(tmp_path / "bin", program, tmp_path / "out")
    environ = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "DISPLAY": ":0", "XDG_CURRENT_DESKTOP": desktop_name}
    LinuxSystem(environ=environ, home=tmp_path).open_power_settings()
    assert read_arguments(tmp_path / "out") == [str(tmp_path), *arguments]


@pytest.mark.parametrize("missing", ["DISPLAY", "XDG_CURRENT_DESKTOP", "PATH"])
def test_power_settings_without_a_desktop_fail(tmp_path: Path, missing: str) -> None:
    stand_in(tmp_path / "bin", "gnome-control-center", tmp_path / "out")
    environ = {"PATH": str(tmp_path / "bin"), "DISPLAY": ":0", "XDG_CURRENT_DESKTOP": "GNOME"}
    del environ[missing]
    with pytest.raises(AppError) as error:
        system(**environ).open_power_settings()
    assert error.value.code == "no-power-settings"


def test_open_terminal_activates_environment(tmp_path: Path) -> None:
    environment = tmp_path / "it's an env"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin/activate").write_text("READY=yes\n", encoding="utf-8")
    stand_in(tmp_path / "bin", "xterm", tmp_path / "out")
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    system(PATH=path, DISPLAY=":0").open_terminal(environment)
    where, dash_e, bash, rcfile, start, interactive = read_arguments(tmp_path / "out")
    assert (where, dash_e, rcfile, interactive) == (str(environment), "-e", "--rcfile", "-i")
    done = subprocess.run(
        [bash, "-c", f'. "{start}"; echo "$READY"'],
        capture_output=True,
        text=True,
        env={"HOME": str(tmp_path), "PATH": path},
        check=True,
    )
    assert done.stdout == "yes\n"
    assert not Path(start).exists()  # it takes itself away


def test_open_terminal_without_terminal_fails(tmp_path: Path) -> None:
    with pytest.raises(AppError) as error:
        system(PATH="/nowhere", DISPLAY=":0").open_terminal(tmp_path)
    assert error.value.code == "no-terminal"


def test_menu_entry_opens_environment(tmp_path: Path) -> None:
    environment = tmp_path / "环境 $HOME %f `x` 'y'"
    # As install makes them: the activation of Python's own venv stumbles over such a name.
    make = [uv.find_uv_bin(), "venv", "--no-config", "--offline", "--relocatable", "--python", sys.executable]
    subprocess.run([*make, str(environment)], capture_output=True, timeout=60, check=True)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text("MINE=yes\n")
    here = LinuxSystem(environ={"PATH": "/usr/bin:/bin"}, home=home)
    script, entry = here.menu_entry_files(environment)
    assert here.menu_entry_files(environment) == (script, entry)
    assert entry.path.parent == home / ".local/share/applications"
    script.path.write_bytes(script.content)
    parser = configparser.RawConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(entry.content.decode())
    fields = parser["Desktop Entry"]
    assert (fields["Terminal"], fields["Path"]) == ("true", str(environment))
    # As the specification says: the value's backslashes first, then the quoted words, then the percent signs.
    value = fields["Exec"].replace("\\\\", "\\")
    quoted = re.findall(r'"((?:[^"\\]|\\.)*)"', value)
    arguments = [re.sub(r"\\(.)", r"\1", word).replace("%%", "%") for word in quoted]
    command = [*arguments, "-c", 'echo "$MINE $VIRTUAL_ENV"; command -v python']
    output = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
    ).stdout.splitlines()
    assert output == [f"yes {environment}", str(environment / "bin" / "python")]


def test_unsupported_path_raises_menu_unusable(tmp_path: Path) -> None:
    with pytest.raises(AppError) as caught:
        LinuxSystem(environ={"PATH": "/usr/bin:/bin"}, home=tmp_path).menu_entry_files(tmp_path / "two\nlines")
    assert caught.value.code == "menu-unusable"


def answered(path: Path, expected: str, seconds: float = 20) -> None:
    """Wait for what a started program, which nobody can wait for, has written."""
    end = time.monotonic() + seconds
    while not path.is_file() and time.monotonic() < end:
        time.sleep(0.02)
    assert path.read_text(encoding="utf-8") == expected


def test_editor_and_kernel_locations(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "code"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\npwd > here\nprintf '%s' \"$1\" > said\nmv said done\n")
    program.chmod(0o755)
    environ = {"PATH": f"{program.parent}:/usr/bin:/bin", "XDG_DATA_HOME": str(tmp_path / "share")}
    here = LinuxSystem(environ=environ)
    assert here.find_editor() == program
    assert here.kernels_folder() == tmp_path / "share" / "jupyter" / "kernels"
    here.start_program([program, "a folder 项目"], tmp_path)
    answered(tmp_path / "done", "a folder 项目")
    assert (tmp_path / "here").read_text().strip() == str(tmp_path)
    own = LinuxSystem(environ={"PATH": "", "JUPYTER_DATA_DIR": str(tmp_path / "own")}, home=tmp_path)
    assert (own.find_editor(), own.kernels_folder()) == (None, tmp_path / "own" / "kernels")
    with pytest.raises(AppError) as caught:
        here.start_program([tmp_path / "nothing"], tmp_path)
    assert caught.value.code == "program-missing"
    assert str(tmp_path / "nothing") in Texts("en").error_text(caught.value)


@pytest.mark.parametrize(
    "place", ["bin/pycharm-community", "share/JetBrains/Toolbox/apps/pycharm-2026.3/bin/pycharm.sh"]
)
def test_pycharm_is_found_where_it_is_installed(tmp_path: Path, place: str) -> None:
    environ = {"PATH": str(tmp_path / "bin"), "XDG_DATA_HOME": str(tmp_path / "share")}
    here = LinuxSystem(environ=environ, home=tmp_path)
    assert here.find_pycharm() is None
    program = tmp_path / place
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    assert here.find_pycharm() is None, "it cannot be started"
    program.chmod(0o755)
    assert here.find_pycharm() == program


def test_login_command_set_and_cleared(tmp_path: Path) -> None:
    at_login = LinuxSystem(environ={}, home=tmp_path).login_command
    assert at_login.get() is None
    at_login.set([Path("/bin/true"), "old"])
    at_login.set(["/opt/a b/python", *ODD])
    assert at_login.get() == ("/opt/a b/python", *ODD)
    at_login.clear()
    at_login.clear()
    assert at_login.get() is None
    with pytest.raises(ValueError, match="full path"):
        at_login.set(["python", "x"])
    with pytest.raises(ValueError, match="line"):
        at_login.set(["/bin/true", "a\nb"])


def test_systemd_accepts_autostart_entry(tmp_path: Path) -> None:
    """What its reader makes of the entry: a unit with the same words. (It takes a backslash for an escape, twice.)"""
    if not AUTOSTART_READER.is_file():
        pytest.skip("no systemd here to read autostart entries")
    arguments = [word for word in ODD if "\\" not in word]
    LinuxLoginCommand(tmp_path / "config").set(["/bin/echo", *arguments])
    made = tmp_path / "units"
    made.mkdir()
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CONFIG_DIRS": "/none", "HOME": str(tmp_path)}
    subprocess.run([AUTOSTART_READER, made, made, made], env=environ, check=True, capture_output=True, timeout=30)
    [unit] = made.glob("*.service")
    [line] = [line for line in unit.read_text(encoding="utf-8").splitlines() if line.startswith("ExecStart=")]
    assert line.removeprefix("ExecStart=").lstrip(":") == (
        r'''/bin/echo "a b" "quote \" in" "\`cmd\` \$HOME \$\$ %%f" 你好 "it's"'''
    )


def inhibitor(tmp_path: Path, body: str) -> Path:
    """A stand-in for systemd-inhibit: notes its words, then does `body`, with the command as $last."""
    program = tmp_path / "inhibit"
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/words"\nfor last; do :; done\n{body}\n', encoding="utf-8"
    )
    program.chmod(0o755)
    return program


def test_keep_awake_acquires_and_releases(tmp_path: Path) -> None:
    program = inhibitor(tmp_path, f'"$last"\ntouch "{tmp_path}/released"')
    with desktop.keep_awake("installing", program) as held:
        assert held
        assert not (tmp_path / "released").exists()
    assert (tmp_path / "released").exists()
    assert "--why=installing" in (tmp_path / "words").read_text(encoding="utf-8")


def test_keep_awake_reports_failure(tmp_path: Path) -> None:
    with desktop.keep_awake("x", inhibitor(tmp_path, f'echo $$ > "{tmp_path}/pid"\nexit 1')) as held:
        assert not held
        pid = int((tmp_path / "pid").read_text(encoding="utf-8"))
        with pytest.raises(ChildProcessError):  # nothing of it is left to be waited for
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    with desktop.keep_awake("x", tmp_path / "none") as held:
        assert not held


def test_linux_has_no_taskbar() -> None:
    assert LinuxSystem().taskbar(1) is None
