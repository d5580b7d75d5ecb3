"""A window's process that dies of a fault leaves its threads' stacks, and the next start says so once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_assistant.gui.app import ACTIVE_FILE, CRASH_FILE, MAX_REPORT_BYTES, CrashReport

# The whole program, as it starts on Windows: without streams.
PROGRAM = """
import faulthandler, json, sys
from pathlib import Path
out, sys.stdout, sys.stderr = sys.stdout, None, None
from PySide6.QtCore import QTimer
from gpu_assistant.cli.main import run
from gpu_assistant.gui.app import DesktopApplication
from gpu_assistant.gui.widgets.cards import Banner

end, data = sys.argv[1:]
finish = DesktopApplication.finish_startup

def over(program):
    if end == "fault":
        faulthandler._sigsegv()
    banner = program.window.findChild(Banner, "statusBanner")
    text = banner.label.text() if banner is not None else ""
    if text:
        banner.button.click()
        assert banner.isHidden()
    out.write(text)
    out.flush()  # Python itself flushes nothing at its end: sys.stdout is None
    program.window.close()

def finished(program):
    finish(program)
    # Python 3.14 writes no stacks at all while a thread is just being started.
    QTimer.singleShot(500 if end == "fault" else 0, lambda: over(program))

DesktopApplication.finish_startup = finished
sys.exit(run(["--data-dir", data, "--lang", "en"]))
"""


@pytest.fixture
def started(tmp_path: Path):
    """Starts the window and ends it so; its exit status and its banner's words."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "settings.json").write_text('{"only_look": true}', encoding="utf-8")

    def start(end: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, end, str(tmp_path / "data")],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen" if sys.platform != "win32" else "windows"},
        )
        return done.returncode, done.stdout

    return start


def test_crash_report_has_stacks_and_shows_once(started, tmp_path: Path) -> None:
    logs = tmp_path / "data" / "logs"
    assert started("well") == (0, "")
    assert not (logs / ACTIVE_FILE).exists()
    code, _ = started("fault")
    assert code != 0
    code, output = started("well")
    assert code == 0
    assert output.endswith(str(logs / CRASH_FILE))
    log = (logs / CRASH_FILE).read_text(encoding="utf-8")
    assert "fault" in log or "access violation" in log
    assert "in over" in log
    assert started("well") == (0, "")
    assert (logs / CRASH_FILE).exists()


def test_crash_report_is_anonymous_and_bounded(tmp_path: Path) -> None:
    home = tmp_path / "张三"
    (tmp_path / ACTIVE_FILE).write_bytes(f'  File "{home}/x.py", line 1\n'.encode("ascii", "backslashreplace") * 10_000)
    report = CrashReport(tmp_path, home)
    stored = report.start()
    report.stop()
    assert stored is not None
    assert 1000 < stored.stat().st_size <= MAX_REPORT_BYTES
    assert stored.read_text(encoding="utf-8").startswith('  File "~/x.py", line 1')
    assert "u5f20" not in stored.read_text(encoding="utf-8")[:100_000]


def test_killed_process_is_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / ACTIVE_FILE).touch()
    report = CrashReport(tmp_path)
    assert report.start() is None
    report.stop()
    assert list(tmp_path.iterdir()) == []


def test_survived_fault_is_not_a_crash(tmp_path: Path) -> None:
    """On Windows it is written down all the same; then the session ends, and the process with it."""
    before = CrashReport(tmp_path)
    before.start()
    (tmp_path / ACTIVE_FILE).write_text("Windows fatal exception: code 0x8001010d", encoding="utf-8")
    before.discard()
    after = CrashReport(tmp_path)  # the process before is gone now
    assert after.start() is None
    for report in (after, before):
        report.stop()
    assert list(tmp_path.iterdir()) == []


def test_unwritable_folder_is_tolerated(tmp_path: Path) -> None:
    (tmp_path / "logs").touch()
    report = CrashReport(tmp_path / "logs")
    assert report.start() is None
    report.stop()


# A job that hears no Cancel: importing a library on a slow disk, a call that hangs in a driver.
DEAF = """
import sys, time
from gpu_assistant.gui.main import window
window.STOP_TIMEOUT_MS = 200
from gpu_assistant.cli.main import run
from gpu_assistant.gui.app import DesktopApplication
from gpu_assistant.gui.worker import JobRunner

class Deaf:
    def run(self, context):
        time.sleep(20)

finish = DesktopApplication.finish_startup

def finished(program):
    finish(program)
    JobRunner(program.window).start(Deaf())
    program.window.close()

DesktopApplication.finish_startup = finished
sys.exit(run(["--data-dir", sys.argv[1], "--lang", "en"]))
"""


def test_window_closes_in_order_beside_a_job_that_does_not_stop(started, tmp_path: Path) -> None:
    data = tmp_path / "data"
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen" if sys.platform != "win32" else "windows"}
    done = subprocess.run([sys.executable, "-c", DEAF, str(data)], timeout=120, check=False, env=environ)
    assert done.returncode == 0
    assert not (data / "logs" / ACTIVE_FILE).exists()
