"""Administrator rights on Windows: Wine asks nobody; on Windows the user would be asked."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

if sys.platform != "win32":
    pytest.skip("Windows' own; the same module in tests/system/linux has Linux'", allow_module_level=True)


from gpu_assistant.core.errors import AppError, Cancelled, ElevationDenied
from gpu_assistant.system.windows import elevation
from gpu_assistant.system.windows.system import WindowsSystem

pytestmark = pytest.mark.windows

SYSTEM = WindowsSystem()

WINE = "WINELOADERNOEXEC" in os.environ or "WINEPREFIX" in os.environ


@pytest.mark.skipif(not WINE, reason="Windows would ask the person before it")
class TestRights:
    def test_exit_status_and_arguments(self, tmp_path: Path) -> None:
        out = tmp_path / "a b 你好"
        code = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_text(sys.argv[2], 'utf-8'); sys.exit(7)"
        assert SYSTEM.run_as_admin([sys.executable, "-c", code, out, 'quote " and \\']) == 7
        assert out.read_text("utf-8") == 'quote " and \\'

    def test_cancel(self, tmp_path: Path) -> None:
        started, cancel = tmp_path / "started", threading.Event()

        def soon() -> None:
            end = time.monotonic() + 30
            while not started.exists() and time.monotonic() < end:
                time.sleep(0.02)
            cancel.set()

        helper = threading.Thread(target=soon)
        helper.start()
        code = "import sys, time; open(sys.argv[1], 'w').close(); time.sleep(60)"
        began = time.monotonic()
        with pytest.raises(Cancelled):
            SYSTEM.run_as_admin([sys.executable, "-c", code, started], cancel=cancel)
        assert started.exists()
        assert time.monotonic() - began < 45
        helper.join()

    def test_non_executable_raises(self, tmp_path: Path) -> None:
        broken = tmp_path / "x.exe"
        broken.write_bytes(b"nothing")
        with pytest.raises(AppError) as error:
            SYSTEM.run_as_admin([broken])
        assert error.value.code == "program-missing"


def test_elevation_of_missing_or_batch_file_fails(tmp_path: Path) -> None:
    with pytest.raises(AppError) as error:
        SYSTEM.run_as_admin([tmp_path / "none.exe"])
    assert error.value.code == "program-missing"
    batch = tmp_path / "x.bat"
    batch.write_text("echo", encoding="ascii")
    with pytest.raises(ValueError, match="batch"):
        SYSTEM.run_as_admin([batch])
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        SYSTEM.run_as_admin([sys.executable], cancel=cancel)


def test_shell_error_to_elevation_error() -> None:
    with pytest.raises(ElevationDenied) as error:
        raise elevation.elevation_error("x.exe", elevation.ERROR_CANCELLED, 3.0)
    assert (error.value.code, error.value.exit_code) == ("rights-refused", 5)


@pytest.mark.parametrize(("number", "waited_s"), [(1223, 120.0), (1460, 3.0)])
def test_question_that_timed_out_was_not_refused(number: int, waited_s: float) -> None:
    error = elevation.elevation_error("x.exe", number, waited_s)
    assert (error.code, error.exit_code) == ("rights-unanswered", 5)


@pytest.mark.parametrize("number", [1260, 4551])
def test_program_that_windows_blocks_is_told(number: int) -> None:
    assert elevation.elevation_error("x.exe", number, 0.1).code == "program-blocked"
