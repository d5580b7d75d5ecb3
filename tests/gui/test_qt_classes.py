"""No class of Qt is left to be made by a thread of its own: two that make them at once take the process down."""

from __future__ import annotations

import subprocess
import sys

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
