"""Plots over time, on pyqtgraph, which is imported below this package alone.

pyqtgraph imports Qt's OpenGL whether or not its option `useOpenGL` is set, and takes one class of it as the base of a
class that nobody makes. Empty modules stand in for it here: the program is shipped without its 11 MB.
"""

from __future__ import annotations

import sys
from types import ModuleType


class _Unused(ModuleType):
    """Has the one name that is asked for when pyqtgraph is imported."""

    def __getattr__(self, name: str) -> object:
        if name != "QOpenGLWidget":
            raise AttributeError(name)
        from PySide6.QtWidgets import QWidget

        return QWidget


for _name in ("PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets"):
    sys.modules.setdefault(_name, _Unused(_name))
