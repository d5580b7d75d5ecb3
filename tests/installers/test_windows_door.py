"""Windows' door to administrator rights, without Windows: what its first step loads, and its list of files.

tests/windows/test_door.py runs it.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WINDOWS = ROOT / "installers/windows"
sys.path[:0] = [str(ROOT / "installers"), str(WINDOWS)]

import dlls  # noqa: E402
import door_files  # noqa: E402
from closure import Closure  # noqa: E402
from stage import BuildError  # noqa: E402

from tests.installers.door_probe import launchers, stage_probe  # noqa: E402

# Of HKLM\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\KnownDLLs: never looked for beside the program.
# https://learn.microsoft.com/windows/win32/dlls/dynamic-link-library-search-order
KNOWN_DLLS = {"advapi32.dll", "kernel32.dll", "msvcrt.dll", "shell32.dll", "user32.dll"}
compiled = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("x86_64-w64-mingw32-gcc") is None, reason="needs MinGW-w64"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program without a Python and its launchers, compiled once: that takes three seconds."""
    scratch = tmp_path_factory.mktemp("launchers")
    folder = scratch / "program"
    (folder / "runtime").mkdir(parents=True)
    (folder / "runtime" / "python311.zip").write_bytes(b"the standard library")
    stage_probe(folder)
    launchers(folder, scratch)
    return folder


@compiled
def test_first_step_asks_only_for_dlls_of_windows_own_folder(program: Path) -> None:
    for name in ("GPU Assistant.exe", "gpu-assistant.exe"):
        assert dlls.asked(program / name) <= KNOWN_DLLS


@compiled
def test_list_in_the_launcher_names_what_is_copied(program: Path) -> None:
    listing = door_files.listing(program, [".pyd"])
    assert listing.encode() in (program / "GPU Assistant.exe").read_bytes()
    names = {line.split(" ", 1)[1] for line in listing.splitlines()}
    assert {"gpu-assistant.exe", "runtime\\python311.zip", "app\\gpu_assistant\\__main__.pyc"} <= names
    assert "app\\gpu_assistant\\planted.py" not in names


def test_program_without_the_helper_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="cannot ask for administrator rights"):
        door_files.files(tmp_path, [".pyd"])


def test_helper_reaches_nothing_of_the_window_or_the_command_line() -> None:
    closure = Closure([ROOT], extension=[])
    assert closure.add(door_files.HELPER)
    assert not [name for name in closure.reached if name.startswith(door_files.NEVER)]
    assert len(closure.reached) < 100


def test_both_launchers_know_the_flag() -> None:
    from gpu_assistant.install.elevation.protocol import HELPER_FLAG, PROGRAM_CHANGED

    assert f'#define DOOR_FLAG L"{HELPER_FLAG}"' in (WINDOWS / "door.h").read_text(encoding="utf-8")
    assert f"#define DOOR_CHANGED {PROGRAM_CHANGED}\n" in (WINDOWS / "door.c").read_text(encoding="utf-8")
