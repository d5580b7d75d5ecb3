"""When Qt's classes are made: those of the first paint alone before it, and none by a thread of its own, where two that
make them at once take the process down.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os, sys, threading
os.environ["QT_QPA_PLATFORM"] = "offscreen" if sys.platform != "win32" else "windows"
from PySide6.QtWidgets import QApplication
app = QApplication([])
from gpu_assistant.gui.qt_classes import MODULES, QtClassLoader

def left():
    return [name for module in MODULES for name in dir(module) if name not in vars(module)]

assert len(left()) > 100, left()
classes = QtClassLoader(app)
classes.loaded.connect(app.quit)
classes.start()
app.exec()
assert left() == []
loading = threading.Thread(target=lambda: __import__("pyqtgraph"))
loading.start()
loading.join()
assert "pyqtgraph" in sys.modules
assert left() == []
"""


def test_qt_classes_loaded_before_plot_thread() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# The namespace Qt takes as long as all else that the program loads of Qt for its empty frame. The modules of the log
# and the signals, and PySide6's look into each module's source, were a third of what comes on top of an empty window.
FIRST_PAINT = """
import linecache, os, sys
os.environ["QT_QPA_PLATFORM"] = "offscreen" if sys.platform != "win32" else "windows"
from gpu_assistant.app import App
from gpu_assistant.core.log import start_logging
from gpu_assistant.gui.app import DesktopApplication
from gpu_assistant.gui.main.window import MainWindow
import PySide6.QtCore

app = App(data_dir=sys.argv[1], environ={})
start_logging(app.data.logs, verbose=False)
program = DesktopApplication(app)
window = MainWindow(program.app, "#123456")
loaded = set()
window.painted.connect(lambda: (loaded.update(sys.modules), program.qt_app.quit()))
window.show()
program.qt_app.exec()
assert "QTimer" in vars(PySide6.QtCore)
assert "Qt" not in vars(PySide6.QtCore)
assert loaded and loaded.isdisjoint({"logging.handlers", "pickle", "socket"})
assert [name for name in linecache.cache if "gpu_assistant" in name] == []
assert window.grab().toImage().pixelColor(10, 10).name() == "#123456"
"""


def test_empty_frame_is_painted_without_what_comes_later(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FIRST_PAINT, str(tmp_path / "data")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
