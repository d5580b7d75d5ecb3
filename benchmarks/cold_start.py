"""Cold start: from starting the process to the first painted window, ours against an empty Qt main window.

Both run in this interpreter's environment, alternating, on Qt's offscreen platform unless QT_QPA_PLATFORM says
otherwise; each of ours begins with a fresh data folder, so it opens the wizard's first page. Prints the medians
in milliseconds and their ratio (target 1.6).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FIRST_PAINT = """
import os, sys
from PySide6.QtCore import QEvent, QObject, QTimer
def painted():
    sys.stdout.write("painted\\n"); sys.stdout.flush()
    os._exit(0)
class FirstPaint(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Expose:
            # Handling this event paints the whole window; the timer fires right after it.
            QTimer.singleShot(0, painted)
        return False
def watch(window):
    handle = window.windowHandle()
    assert not handle.isExposed()
    window.first_paint = FirstPaint(); handle.installEventFilter(window.first_paint)
"""
EMPTY = """
from PySide6.QtWidgets import QApplication, QMainWindow
application = QApplication([])
window = QMainWindow()
window.resize(1180, 760)
window.show()
watch(window)
application.exec()
"""
OURS = """
from gpu_assistant.app import App
from gpu_assistant.core import log
from gpu_assistant.gui.run import Program
app = App(data_dir=sys.argv[1], environ={})
log.start(app.data.logs, verbose=False)
program = Program(app)
window = program.open()
watch(window)
program.exec()
"""


def start(script: str, *arguments: str) -> float:
    """Milliseconds until the script says that its window is painted."""
    environ = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "PYTHONPATH": str(ROOT)}
    # An installed program has its bytecode; the first pair of runs writes ours.
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    begin = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", FIRST_PAINT + script, *arguments],
        stdout=subprocess.PIPE,
        env=environ,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        took = time.perf_counter() - begin
    if line.strip() != "painted":
        raise SystemExit("the window was not painted")
    return took * 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    empty: list[float] = []
    ours: list[float] = []
    for run in range(arguments.runs + 1):
        with tempfile.TemporaryDirectory() as folder:
            pair = start(EMPTY), start(OURS, folder)
        if run:  # the first pair fills the disk's cache
            empty.append(pair[0])
            ours.append(pair[1])
    a, b = statistics.median(empty), statistics.median(ours)
    if arguments.json:
        print(json.dumps({"empty_ms": a, "ours_ms": b, "ratio": b / a}))
    else:
        print(f"empty window {a:.0f} ms, ours {b:.0f} ms, ratio {b / a:.2f} (target 1.60)")


if __name__ == "__main__":
    main()
