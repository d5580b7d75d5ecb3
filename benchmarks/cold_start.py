"""Cold start: from starting the process to the first painted window, against an empty Qt main window.

Both run in this interpreter's environment, alternating, on Qt's offscreen platform unless QT_QPA_PLATFORM says
otherwise; GPU Assistant begins with a fresh data folder each time, so it opens the wizard's first page. Its window
paints its frame first and fills it then, so two moments are measured: the first painted window (target 1.3 times the
empty one), and the first page painted completely. Prints medians in milliseconds and ratios.
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

WATCH = """
import os, sys
from PySide6.QtCore import QEvent, QObject, QTimer
def say(what):
    sys.stdout.write(what + "\\n"); sys.stdout.flush()
class Watch(QObject):
    def __init__(self, window, complete):
        super().__init__(window)
        self.window, self.complete, self.announced = window, complete, False
        assert not window.windowHandle().isExposed()
        window.windowHandle().installEventFilter(self)
        window.installEventFilter(self)
    def eventFilter(self, watched, event):
        if event.type() in (QEvent.Type.Expose, QEvent.Type.UpdateRequest):
            # Handling this event paints; the timer fires right after it.
            complete = self.complete()
            QTimer.singleShot(0, lambda: self.painted(complete))
        return False
    def painted(self, complete):
        if not self.announced:
            self.announced = True
            say("painted")
        if complete:
            say("complete")
            os._exit(0)
"""
EMPTY = (
    WATCH
    + """
from PySide6.QtWidgets import QApplication, QMainWindow
application = QApplication([])
window = QMainWindow()
window.resize(1180, 760)
window.show()
Watch(window, lambda: True)
application.exec()
"""
)
ASSISTANT = (
    """
import sys
from gpu_assistant.app import App
from gpu_assistant.core import log
app = App(data_dir=sys.argv[1], environ={})
log.start_logging(app.data.logs, verbose=False)
from gpu_assistant.gui.app import DesktopApplication
program = DesktopApplication(app)
window = program.open()
"""
    + WATCH
    + """
Watch(window, lambda: window.wizard is not None and window.wizard.isVisible())
program.exec()
"""
)


def start(script: str, *arguments: str) -> tuple[float, float]:
    """Milliseconds until the script's window is painted, and until its first page is."""
    environ = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "PYTHONPATH": str(ROOT)}
    # An installed program has its bytecode; the first pair of runs writes it.
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    begin = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        env=environ,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        moments = {line.strip(): (time.perf_counter() - begin) * 1000 for line in process.stdout}
    if set(moments) != {"painted", "complete"}:
        raise SystemExit("the window was not painted")
    return moments["painted"], moments["complete"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    empty: list[float] = []
    frame: list[float] = []
    complete: list[float] = []
    for run in range(arguments.runs + 1):
        with tempfile.TemporaryDirectory() as folder:
            (nothing, _), (painted, page) = start(EMPTY), start(ASSISTANT, folder)
        if run:  # the first pair fills the disk's cache
            empty.append(nothing)
            frame.append(painted)
            complete.append(page)
    a, b, c = (statistics.median(times) for times in (empty, frame, complete))
    if arguments.json:
        print(json.dumps({"empty_ms": a, "assistant_ms": b, "ratio": b / a, "page_ms": c, "page_ratio": c / a}))
        return
    print(f"empty window {a:.0f} ms; GPU Assistant painted {b:.0f} ms, ratio {b / a:.2f} (target 1.30);")
    print(f"its first page painted completely {c:.0f} ms, ratio {c / a:.2f}")


if __name__ == "__main__":
    main()
