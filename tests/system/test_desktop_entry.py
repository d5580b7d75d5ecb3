"""An entry in the real desktop's menu: it opens a shell in which the environment's Python is the first."""

from __future__ import annotations

import configparser
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import uv

from gpu_assistant.core.errors import AppError
from gpu_assistant.system.desktop_entry import current_desktop

linux = pytest.mark.skipif(sys.platform == "win32", reason="freedesktop.org's menu")
windows = pytest.mark.skipif(sys.platform != "win32", reason="Windows' Start menu")


def answered(path: Path, expected: str, seconds: float = 20) -> None:
    """Wait for what a started program, which nobody can wait for, has written."""
    end = time.monotonic() + seconds
    while not path.is_file() and time.monotonic() < end:
        time.sleep(0.02)
    assert path.read_text(encoding="utf-8") == expected


@linux
def test_menu_entry_opens_environment(tmp_path: Path) -> None:
    from gpu_assistant.system.linux.desktop import LinuxDesktopEnvironment

    environment = tmp_path / "环境 $HOME %f `x` 'y'"
    # As install makes them: the activation of Python's own venv stumbles over such a name.
    make = [uv.find_uv_bin(), "venv", "--no-config", "--offline", "--relocatable", "--python", sys.executable]
    subprocess.run([*make, str(environment)], capture_output=True, timeout=60, check=True)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text("MINE=yes\n")
    desktop = LinuxDesktopEnvironment({"PATH": "/usr/bin:/bin"}, home)
    script, entry = desktop.menu_entry_files(environment)
    assert desktop.menu_entry_files(environment) == (script, entry)
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
    words = [re.sub(r"\\(.)", r"\1", word).replace("%%", "%") for word in quoted]
    command = [*words, "-c", 'echo "$MINE $VIRTUAL_ENV"; command -v python']
    said = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
    ).stdout.splitlines()
    assert said == [f"yes {environment}", str(environment / "bin" / "python")]


@linux
def test_unsupported_path_raises_menu_unusable(tmp_path: Path) -> None:
    from gpu_assistant.system.linux.desktop import LinuxDesktopEnvironment

    with pytest.raises(AppError) as caught:
        LinuxDesktopEnvironment({"PATH": "/usr/bin:/bin"}, tmp_path).menu_entry_files(tmp_path / "two\nlines")
    assert caught.value.code == "menu-unusable"


@linux
def test_editor_and_kernel_locations(tmp_path: Path) -> None:
    from gpu_assistant.system.linux.desktop import LinuxDesktopEnvironment

    program = tmp_path / "bin" / "code"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\npwd > here\nprintf '%s' \"$1\" > said\nmv said done\n")
    program.chmod(0o755)
    desktop = LinuxDesktopEnvironment(
        {"PATH": f"{program.parent}:/usr/bin:/bin", "XDG_DATA_HOME": str(tmp_path / "share")}
    )
    assert desktop.find_editor() == program
    assert desktop.kernels_folder() == tmp_path / "share" / "jupyter" / "kernels"
    desktop.start_program([program, "a folder 项目"], tmp_path)
    answered(tmp_path / "done", "a folder 项目")
    assert (tmp_path / "here").read_text().strip() == str(tmp_path)
    own = LinuxDesktopEnvironment({"PATH": "", "JUPYTER_DATA_DIR": str(tmp_path / "own")}, tmp_path)
    assert (own.find_editor(), own.kernels_folder()) == (None, tmp_path / "own" / "kernels")
    with pytest.raises(AppError) as caught:
        desktop.start_program([tmp_path / "nothing"], tmp_path)
    assert caught.value.code == "program-missing"


@windows
def test_shell_creates_shortcut(tmp_path: Path) -> None:
    environment = tmp_path / "环境 100% & more"
    environment.mkdir()
    (entry,) = current_desktop().menu_entry_files(environment)
    assert (entry.path.suffix, entry.path.parent.name) == (".lnk", "Programs")
    assert entry.path.stem == f"{environment.name} (GPU Assistant)"
    assert current_desktop().menu_entry_files(environment) == (entry,)
    # [MS-SHLLINK]: the header's size and its class, then Unicode strings.
    assert entry.content[:8] == bytes((0x4C, 0, 0, 0, 1, 0x14, 2, 0))
    for text in (r"/K Scripts\activate.bat", str(environment)):
        assert text.encode("utf-16-le") in entry.content
    assert current_desktop().kernels_folder().name == "kernels"
