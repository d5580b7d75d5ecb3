"""The built program's door to administrator rights, with what could mislead it in its environment and folder.

`.ci/windows-setup` builds the program, a second one that reports what it finds (tests/installers/door_probe.py) and the
library that tells that it was loaded (tests/fixtures/loaded.c), and names the three in environment variables.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest

from gpu_assistant.install.elevation.protocol import HELPER_FLAG, PROGRAM_CHANGED, REQUEST_REFUSED

if sys.platform != "win32":
    pytest.skip("Windows' door; tests/installers/test_linux_launcher.py has Linux'", allow_module_level=True)

NAMES = ("DOOR_PROGRAM", "DOOR_PROBE", "DOOR_LIBRARY")
pytestmark = [
    pytest.mark.windows,
    pytest.mark.skipif(not set(NAMES) <= set(os.environ), reason=f"{', '.join(NAMES)} name what was built"),
]
ALLOWED = {
    "ALLUSERSPROFILE",
    "APPDATA",
    "COMMONPROGRAMFILES",
    "COMMONPROGRAMFILES(X86)",
    "COMMONPROGRAMW6432",
    "COMPUTERNAME",
    "COMSPEC",
    "DRIVERDATA",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROCESSOR_IDENTIFIER",
    "PROCESSOR_LEVEL",
    "PROCESSOR_REVISION",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "PUBLIC",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "WINDIR",
}


def windows_folder() -> Path:
    buffer = ctypes.create_unicode_buffer(260)
    ctypes.WinDLL("kernel32").GetSystemWindowsDirectoryW(buffer, len(buffer))
    return Path(buffer.value)


def copies() -> set[Path]:
    return set((windows_folder() / "Temp").glob("gpu-assistant-program-*"))


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return Path(shutil.copy(os.environ["DOOR_LIBRARY"], tmp_path / "loaded.dll"))


def is_loaded(library: Path) -> bool:
    return Path(f"{library}.loaded").exists()


@pytest.fixture
def hostile(tmp_path: Path, library: Path) -> dict[str, str]:
    """What a program of the user's can put into the environment of what Windows starts with rights."""
    settings = tmp_path / "openssl.cnf"
    settings.write_text(
        "openssl_conf = start\n[start]\nproviders = list\n[list]\ndefault = first\nthief = second\n"
        f"[first]\nactivate = 1\n[second]\nmodule = {library.as_posix()}\nactivate = 1\n",
        encoding="utf-8",
    )
    (tmp_path / "sitecustomize.py").write_text(f"import ctypes; ctypes.WinDLL({str(library)!r})", encoding="utf-8")
    (tmp_path / "site-packages").mkdir()
    return dict(os.environ) | {
        "OPENSSL_CONF": settings.as_posix(),
        "OPENSSL_MODULES": str(tmp_path),
        "SSL_CERT_FILE": str(settings),
        "SSL_CERT_DIR": str(tmp_path),
        "PYTHONPATH": str(tmp_path),
        "PYTHONHOME": str(tmp_path),
        "PYTHONSTARTUP": str(tmp_path / "sitecustomize.py"),
        "PYTHONINSPECT": "1",
        "COR_ENABLE_PROFILING": "1",
        "COR_PROFILER": "{00000000-0000-0000-0000-000000000001}",
        "COR_PROFILER_PATH": str(library),
        "COMPLUS_Version": "v1",
        "PATH": str(tmp_path),
        "TEMP": str(tmp_path),
        "TMP": str(tmp_path),
        "USERPROFILE": str(tmp_path),
        "SystemRoot": str(tmp_path),
        "windir": str(tmp_path),
        "ComSpec": str(tmp_path / "cmd.exe"),
        "GPU_ASSISTANT_DATA_DIR": str(tmp_path),
    }


def ask(folder: Path, environ: dict[str, str], *words: str | Path, name: str = "GPU Assistant.exe", **more: Any) -> int:
    command = [str(folder / name), HELPER_FLAG, *map(str, words)]
    return subprocess.run(command, env=environ, cwd=folder, timeout=120, check=False, **more).returncode


@pytest.fixture
def program() -> Path:
    return Path(os.environ["DOOR_PROGRAM"])


@pytest.fixture
def probe(tmp_path: Path) -> Path:
    """A copy of its own: what is in it is changed."""
    return Path(shutil.copytree(os.environ["DOOR_PROBE"], tmp_path / "user's own program"))


def found(probe: Path, environ: dict[str, str], tmp_path: Path) -> dict[str, Any]:
    answer = tmp_path / "report.json"
    assert ask(probe, environ, answer, "0" * 64) == 7
    seen: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return seen


def test_library_of_openssl_conf_is_loaded_without_the_door(hostile: dict[str, str], library: Path) -> None:
    """The attack is one: any other Python loads the library."""
    environ = hostile | {"SystemRoot": str(windows_folder())}
    subprocess.run([sys.executable, "-I", "-c", "import hashlib"], env=environ, timeout=60, check=False)
    assert is_loaded(library)


def test_refused_request_loads_no_library_of_the_environment(
    program: Path, hostile: dict[str, str], library: Path, tmp_path: Path
) -> None:
    request = tmp_path / "request.json"
    request.write_bytes(b"{}")
    # The helper itself answered so: all that it needs was copied.
    assert ask(program, hostile, request, hashlib.sha256(b"{}").hexdigest()) == REQUEST_REFUSED
    assert not is_loaded(library)


def test_helper_sees_only_windows_own_environment(
    probe: Path, hostile: dict[str, str], library: Path, tmp_path: Path
) -> None:
    seen = found(probe, hostile, tmp_path)
    environ = {name.upper(): value for name, value in seen["environ"].items()}
    # Wine adds names of its own to each process.
    assert {name for name in environ if not name.startswith("WINE")} <= ALLOWED
    assert not [value for value in environ.values() if str(tmp_path).lower() in value.lower()]
    windows = str(windows_folder())
    assert (environ["SYSTEMROOT"], environ["WINDIR"]) == (windows, windows)
    assert all(folder.lower().startswith(windows.lower()) for folder in environ["PATH"].split(";"))
    assert not is_loaded(library)


def test_helper_runs_in_a_folder_of_administrators(probe: Path, hostile: dict[str, str], tmp_path: Path) -> None:
    before = copies()
    (probe / "runtime" / "planted.dll").write_bytes(b"a thief's")
    (probe / "app" / "gpu_assistant" / "planted.py").write_bytes(b"a thief's")
    seen = found(probe, hostile, tmp_path)
    home = PureWindowsPath(seen["home"])
    assert home.parent == PureWindowsPath(windows_folder() / "Temp")
    assert home.name.startswith("gpu-assistant-program-")
    assert seen["isolated"] == 1
    for path in (seen["cwd"], seen["environ"]["TEMP"], *seen["path"]):
        assert PureWindowsPath(path).is_relative_to(home)
    assert not [file for file in seen["files"] if "planted" in file]
    assert copies() == before


@pytest.mark.parametrize(
    "name", ["runtime/python311.dll", "app/gpu_assistant/__main__.pyc", "gpu-assistant.exe", "runtime/python311.zip"]
)
@pytest.mark.parametrize("change", ["byte", "gone", "grown"])
def test_changed_file_of_the_program_is_not_run(probe: Path, tmp_path: Path, name: str, change: str) -> None:
    if (name, change) == ("runtime/python311.dll", "grown"):
        pytest.skip("its publisher signed it: what follows a signature is no part of what is loaded")
    file = probe / name
    data = bytearray(file.read_bytes())
    if change == "byte":
        data[len(data) // 2] ^= 1
    if change == "grown":
        data += b"more than was built"
    file.unlink() if change == "gone" else file.write_bytes(data)
    before = copies()
    answer = tmp_path / "report.json"
    assert ask(probe, dict(os.environ), answer, "0" * 64) == PROGRAM_CHANGED
    assert not answer.exists()
    assert copies() == before


def test_terminal_launcher_is_no_way_around(
    program: Path, hostile: dict[str, str], library: Path, tmp_path: Path
) -> None:
    name = "gpu-assistant.exe"
    assert ask(program, hostile, tmp_path / "request", "0" * 64, name=name, stdin=subprocess.DEVNULL) == 1
    assert not is_loaded(library)


@pytest.mark.parametrize(
    "words", [(), ("one",), ("one", "two", "three"), ('a"b', "two"), ("one\\", "two"), ("", "two")]
)
def test_other_words_are_refused(probe: Path, words: tuple[str, ...]) -> None:
    before = copies()
    assert ask(probe, dict(os.environ), *words) == 1
    assert copies() == before
