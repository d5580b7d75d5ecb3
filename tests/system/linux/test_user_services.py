"""What Linux does for us: variables, a start after login, rights, power; systemd's own readers say whether it holds."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("Linux's own paths; test_windows_services has Windows' own", allow_module_level=True)

from gpu_assistant.core.errors import AppError, Cancelled, ElevationDenied
from gpu_assistant.system.base import EnvironmentVariable, PowerStatus, UserEnvironmentVariables
from gpu_assistant.system.linux import desktop, elevation
from gpu_assistant.system.linux.desktop import LinuxLoginCommand
from gpu_assistant.system.linux.environment import ENVIRONMENT_FILE, LinuxEnvironmentVariables
from gpu_assistant.system.linux.system import LinuxSystem

pytestmark = pytest.mark.linux

VARIABLES_READER = Path("/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator")
AUTOSTART_READER = Path("/usr/lib/systemd/user-generators/systemd-xdg-autostart-generator")
ODD = ["a b", 'quote " in', r"back \ slash", "`cmd` $HOME $$ %f", "你好", "it's"]


@pytest.fixture
def variables(tmp_path: Path) -> UserEnvironmentVariables:
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    return LinuxSystem(tmp_path, environ={"XDG_CONFIG_HOME": str(tmp_path / "config")}).variables


def as_systemd_reads(tmp_path: Path) -> dict[str, str]:
    """The variables that a login gets from our file; it begins with a PATH of /usr/bin."""
    if not VARIABLES_READER.is_file():
        pytest.skip("no systemd here to read environment.d")
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path), "PATH": "/usr/bin"}
    out = subprocess.run([VARIABLES_READER], env=environ, capture_output=True, check=True, timeout=30).stdout
    script = out.decode() + '\nfor name in A B PATH; do eval printf \'%s\\\\0\' "\\"\\${$name}\\""; done'
    values = subprocess.run(["/bin/sh", "-c", script], env=environ, capture_output=True, check=True, timeout=30).stdout
    return dict(zip(("A", "B", "PATH"), values.decode().split("\0"), strict=False))


@pytest.mark.parametrize("value", ODD)
def test_variable_is_read_by_systemd(tmp_path: Path, variables: UserEnvironmentVariables, value: str) -> None:
    assert variables.get("A") is None
    variables.set("A", value)
    assert variables.get("A") == EnvironmentVariable(value=value)
    assert as_systemd_reads(tmp_path)["A"] == value
    assert variables.remove("A")
    assert not variables.remove("A")
    assert not (tmp_path / "config" / ENVIRONMENT_FILE).exists()


def test_names_expanded_on_request(tmp_path: Path, variables: UserEnvironmentVariables) -> None:
    variables.set("A", "one")
    variables.set("B", "$A two", expand=True)
    assert variables.get("B") == EnvironmentVariable(value="$A two", expand=True)
    assert as_systemd_reads(tmp_path)["B"] == "one two"
    variables.set("A", "three")
    assert variables.get("A") == EnvironmentVariable(value="three")


def test_add_to_path_once_and_remove(tmp_path: Path, variables: UserEnvironmentVariables) -> None:
    variables.set("A", "stays")
    before = (tmp_path / "config" / ENVIRONMENT_FILE).read_bytes()
    odd = Path("/opt/with space $x")
    assert variables.add_to_path(odd)
    assert not variables.add_to_path(odd)
    assert variables.add_to_path(Path("/opt/two"))
    assert as_systemd_reads(tmp_path)["PATH"] == "/usr/bin:/opt/with space $x:/opt/two"
    assert variables.remove_from_path(odd)
    assert not variables.remove_from_path(odd)
    assert as_systemd_reads(tmp_path)["PATH"] == "/usr/bin:/opt/two"
    assert variables.remove_from_path(Path("/opt/two"))
    assert (tmp_path / "config" / ENVIRONMENT_FILE).read_bytes() == before


def test_invalid_variables_are_refused(tmp_path: Path, variables: UserEnvironmentVariables) -> None:
    with pytest.raises(AppError) as error:
        variables.add_to_path(Path("/opt/a:b"))
    assert error.value.code == "path-not-addable"
    for name, value in (("A B", "x"), ("A=", "x"), ("", "x"), ("A", "two\nlines")):
        with pytest.raises(ValueError, match="variable"):
            variables.set(name, value)
    with pytest.raises(AppError) as error:
        LinuxEnvironmentVariables(tmp_path / "config", root=tmp_path / "without systemd").set("A", "x")
    assert error.value.code == "no-user-variables"


def test_config_folder_defaults_to_home(tmp_path: Path) -> None:
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    LinuxSystem(tmp_path, environ={"XDG_CONFIG_HOME": "relative"}, home=tmp_path / "home").variables.set("A", "x")
    assert (tmp_path / "home/.config" / ENVIRONMENT_FILE).is_file()


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
    words = [word for word in ODD if "\\" not in word]
    LinuxLoginCommand(tmp_path / "config").set(["/bin/echo", *words])
    made = tmp_path / "units"
    made.mkdir()
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CONFIG_DIRS": "/none", "HOME": str(tmp_path)}
    subprocess.run([AUTOSTART_READER, made, made, made], env=environ, check=True, capture_output=True, timeout=30)
    [unit] = made.glob("*.service")
    [line] = [line for line in unit.read_text(encoding="utf-8").splitlines() if line.startswith("ExecStart=")]
    assert line.removeprefix("ExecStart=").lstrip(":") == (
        r'''/bin/echo "a b" "quote \" in" "\`cmd\` \$HOME \$\$ %%f" 你好 "it's"'''
    )


def pkexec(tmp_path: Path, body: str) -> Path:
    """A stand-in: its first word is pkexec's own option, the others are the command."""
    program = tmp_path / "pkexec"
    program.write_text(f"#!/bin/sh\nshift\n{body}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def test_elevated_program_returns_exit_status(tmp_path: Path) -> None:
    out = tmp_path / "a b"
    asked = pkexec(tmp_path, 'exec "$@"')
    code = "import sys; open(sys.argv[1], 'w').close(); sys.exit(7)"
    assert elevation.run_as_admin([sys.executable, "-c", code, out], cancel=None, pkexec=asked) == 7
    assert out.exists()


@pytest.mark.parametrize("status", [126, 127])
def test_elevation_refused(tmp_path: Path, status: int) -> None:
    with pytest.raises(ElevationDenied) as error:
        elevation.run_as_admin([sys.executable], cancel=None, pkexec=pkexec(tmp_path, f"exit {status}"))
    assert (error.value.code, error.value.exit_code) == ("rights-refused", 5)


def test_elevation_unavailable_without_pkexec(tmp_path: Path) -> None:
    with pytest.raises(ElevationDenied) as error:
        elevation.run_as_admin([sys.executable], cancel=None, pkexec=tmp_path / "none")
    assert error.value.code == "rights-no-way"
    with pytest.raises(AppError) as missing:
        elevation.run_as_admin([tmp_path / "none"], cancel=None)
    assert missing.value.code == "program-missing"


def test_elevation_prompt_can_be_cancelled(tmp_path: Path) -> None:
    cancel = threading.Event()
    asked = pkexec(tmp_path, f'touch "{tmp_path}/asked"; exec sleep 60')

    def soon() -> None:
        end = time.monotonic() + 10
        while not (tmp_path / "asked").exists() and time.monotonic() < end:
            time.sleep(0.01)
        cancel.set()

    helper = threading.Thread(target=soon)
    helper.start()
    with pytest.raises(Cancelled):
        elevation.run_as_admin([sys.executable], cancel=cancel, pkexec=asked)
    helper.join()


@pytest.mark.skipif(os.geteuid() != 0, reason="asks a person where the tests do not run as root")
def test_root_needs_no_elevation() -> None:
    assert LinuxSystem().run_as_admin([sys.executable, "-c", "raise SystemExit(3)"]) == 3


def supply(root: Path, name: str, **files: str) -> None:
    folder = root / "sys/class/power_supply" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (folder / file).write_text(text + "\n", encoding="ascii")


def test_laptop_power(tmp_path: Path) -> None:
    power = LinuxSystem(tmp_path).power
    assert power() == PowerStatus()
    supply(tmp_path, "hidpp_battery_0", type="Battery", scope="Device", capacity="12", status="Discharging")
    assert power() == PowerStatus(source="mains")
    supply(tmp_path, "BAT0", type="Battery", capacity="80", status="Discharging")
    supply(tmp_path, "BAT1", type="Battery", capacity="41", status="Unknown")
    supply(tmp_path, "AC", type="Mains", online="0")
    supply(tmp_path, "ucsi", type="USB", online="0")
    profile = tmp_path / "sys/firmware/acpi/platform_profile"
    profile.parent.mkdir(parents=True)
    profile.write_text("low-power\n", encoding="ascii")
    assert power() == PowerStatus(source="battery", percent=60, power_saving=True)
    supply(tmp_path, "ucsi", online="1")
    profile.write_text("balanced\n", encoding="ascii")
    assert power() == PowerStatus(source="mains", percent=60, power_saving=False)


@pytest.mark.parametrize(
    ("status", "source"), [("Discharging", "battery"), ("Charging", "mains"), ("Full", "mains"), ("Unknown", None)]
)
def test_battery_without_charger(tmp_path: Path, status: str, source: str | None) -> None:
    supply(tmp_path, "BAT0", type="Battery", capacity="x", status=status)
    assert LinuxSystem(tmp_path).power() == PowerStatus(source=source)


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
