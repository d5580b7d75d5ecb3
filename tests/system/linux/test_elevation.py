"""Administrator rights on Linux, through a stand-in for pkexec."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("Linux's own; the same module in tests/system/windows has Windows'", allow_module_level=True)


from gpu_assistant.core.errors import AppError, Cancelled, ElevationDenied
from gpu_assistant.system.linux import elevation
from gpu_assistant.system.linux.system import LinuxSystem

pytestmark = pytest.mark.linux


def pkexec(tmp_path: Path, body: str) -> Path:
    """A stand-in: its first word is pkexec's own option, the others are the command."""
    program = tmp_path / "pkexec"
    program.write_text(f"#!/bin/sh\nshift\n{body}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def test_elevated_program_returns_exit_status(tmp_path: Path) -> None:
    out = tmp_path / "a b"
    fake_pkexec = pkexec(tmp_path, 'exec "$@"')
    code = "import sys; open(sys.argv[1], 'w').close(); sys.exit(7)"
    assert elevation.run_as_admin([sys.executable, "-c", code, out], cancel=None, pkexec=fake_pkexec) == 7
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
    fake_pkexec = pkexec(tmp_path, f'touch "{tmp_path}/asked"; exec sleep 60')

    def soon() -> None:
        end = time.monotonic() + 10
        while not (tmp_path / "asked").exists() and time.monotonic() < end:
            time.sleep(0.01)
        cancel.set()

    helper = threading.Thread(target=soon)
    helper.start()
    with pytest.raises(Cancelled):
        elevation.run_as_admin([sys.executable], cancel=cancel, pkexec=fake_pkexec)
    helper.join()


@pytest.mark.skipif(os.geteuid() != 0, reason="asks a person where the tests do not run as root")
def test_root_needs_no_elevation() -> None:
    assert LinuxSystem().run_as_admin([sys.executable, "-c", "raise SystemExit(3)"]) == 3
