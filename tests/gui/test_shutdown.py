"""The system ends the window: what was seen is kept, the lock is free, and nobody is asked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gpu_assistant.monitor.history import History

# The whole program; after so many samples the system ends it, as it is told.
PROGRAM = """
import os, signal, sys
from gpu_assistant.cli.main import run
from gpu_assistant.gui.app import DesktopApplication

how, data = sys.argv[1:]
finish, seen = DesktopApplication.finish_startup, []

def sampled(program, sample):
    seen.append(sample)
    if len(seen) != 5:
        return
    if how == "near":
        program.shutdown_notifier.session_ending.emit()
        os._exit(7)  # as Windows ends it
    os.kill(os.getpid(), getattr(signal, how))

def finished(program):
    finish(program)
    program.window.main_area.sampling.sampled.connect(lambda sample: sampled(program, sample))

DesktopApplication.finish_startup = finished
sys.exit(run(["--data-dir", data, "--lang", "en"]))
"""


@pytest.mark.parametrize(
    "how", [*(name for name in ("SIGTERM", "SIGHUP", "SIGINT") if sys.platform != "win32"), "near"]
)
def test_session_end_saves_state(tmp_path: Path, how: str) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.json").write_text('{"only_look": true}', encoding="utf-8")
    began = time.time()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how, str(data)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen" if sys.platform != "win32" else "windows"},
    )
    assert (done.returncode, done.stdout) == (7 if how == "near" else 0, ""), done.stderr
    assert (data / "state" / "window.lock").exists() == (how == "near")
    history = History(data / "history")
    history.load()
    stored = history.window("cpu", time.time() - began + 1)
    assert np.isfinite(stored.mean).sum() >= 2  # the second under way may be open still


INTERRUPTED = """
import os, signal, sys
from PySide6.QtCore import QTimer
from gpu_assistant.app import App
from gpu_assistant.gui.app import DesktopApplication

program = DesktopApplication(App(data_dir=sys.argv[1], environ={}))
QTimer.singleShot(0, lambda: os.kill(os.getpid(), signal.SIGINT))
sys.exit(program.exec())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no such signal to one process")
def test_interrupt_before_the_first_paint_ends_the_program(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)],
        timeout=600,
        check=False,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert done.returncode == -signal.SIGINT


def test_signal_handlers_are_restored(qapp) -> None:
    from gpu_assistant.gui.shutdown import SHUTDOWN_SIGNALS, ShutdownNotifier

    before = [signal.getsignal(number) for number in SHUTDOWN_SIGNALS]
    ending = ShutdownNotifier(qapp)
    ending.start()
    assert [signal.getsignal(number) for number in SHUTDOWN_SIGNALS] != before
    ending.stop()
    assert [signal.getsignal(number) for number in SHUTDOWN_SIGNALS] == before
