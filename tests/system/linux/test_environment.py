"""The user's environment variables on Linux; systemd's own reader says whether they hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("Linux's own; the same module in tests/system/windows has Windows'", allow_module_level=True)


from gpu_assistant.core.errors import AppError
from gpu_assistant.system.base import EnvironmentVariable, UserEnvironmentVariables
from gpu_assistant.system.linux.environment import ENVIRONMENT_FILE, LinuxEnvironmentVariables
from gpu_assistant.system.linux.system import LinuxSystem

pytestmark = pytest.mark.linux

VARIABLES_READER = Path("/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator")

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
