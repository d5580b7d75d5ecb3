"""The graphs work without Qt's OpenGL, which is neither loaded nor shipped."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import os, sys
os.environ["QT_QPA_PLATFORM"] = "offscreen" if sys.platform != "win32" else "windows"
from PySide6.QtWidgets import QApplication
app = QApplication([])
import gpu_assistant.gui.monitor.plot.widget
import pyqtgraph
plot = pyqtgraph.PlotWidget()
plot.plot([1, 3, 2])
assert not plot.grab().isNull()
loaded = [name for name in sys.modules if "OpenGL" in name and getattr(sys.modules[name], "__file__", None)]
assert loaded in ([], ["pyqtgraph.Qt.OpenGLConstants", "pyqtgraph.Qt.OpenGLHelpers"]), loaded
"""


def test_plots_work_without_opengl() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
