"""Runs the program as Windows starts it: its own code page, its own profile, bytes as they come out."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.gui.conftest import appearance, language, seen  # noqa: F401 - the same fixtures here
from tests.gui.wizard.conftest import open_wizard, speak  # noqa: F401 - likewise

ROOT = Path(__file__).resolve().parents[2]
IN_WINE = "WINEPREFIX" in os.environ or "WINELOADERNOEXEC" in os.environ

Call = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Start the program with its output in pipes; `pages` is the code page of those pipes."""

    def run(
        *arguments: str | Path, pages: str | None = None, environ: dict[str, str] | None = None, timeout: float = 280
    ) -> subprocess.CompletedProcess[bytes]:
        if pages is not None and sys.flags.isolated:
            pytest.skip("the shipped program takes no code page from a variable")
        settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTHONIO")}
        settings |= {"GPU_ASSISTANT_DATA_DIR": str(tmp_path / "data"), **(environ or {})}
        if pages is not None:
            settings["PYTHONIOENCODING"] = pages
        command = [sys.executable, "-m", "gpu_assistant", *map(str, arguments)]
        return subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, timeout=timeout, check=False)

    return run


@pytest.fixture
def long_paths() -> Iterator[Callable[[bool], None]]:
    """Tells Windows whether paths may be longer than 259 letters; put back afterwards."""
    if sys.platform != "win32" or not IN_WINE:
        pytest.skip("changes a setting of the whole computer; runs in a Wine prefix only")
    import winreg

    from gpu_assistant.system.paths import FILE_SYSTEM_KEY
    from gpu_assistant.system.windows import registry

    before = registry.number(registry.MACHINE, FILE_SYSTEM_KEY, "LongPathsEnabled")

    def allow(value: bool) -> None:
        with winreg.CreateKey(winreg.HKEY_LOCAL_MACHINE, FILE_SYSTEM_KEY) as key:
            winreg.SetValueEx(key, "LongPathsEnabled", 0, winreg.REG_DWORD, int(value))

    yield allow
    allow(bool(before))


@pytest.fixture
def drive_d() -> Path:
    """The root of a second drive; a PC without one has nothing to test."""
    drive = Path("D:\\")
    if not drive.is_dir():
        pytest.skip("there is no drive D: here (in a Wine prefix it is a link in dosdevices)")
    return drive
