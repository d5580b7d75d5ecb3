"""Plots over time, built on pyqtgraph; no other package imports it.

pyqtgraph imports Qt's OpenGL modules even where its option `useOpenGL` is off, for the base class of a widget that is
not used here. They are replaced by empty modules, so that the program ships without their 11 MB.
"""

from __future__ import annotations

import sys
from types import ModuleType


class _Unused(ModuleType):
    """Provides QOpenGLWidget, the only name that pyqtgraph needs at import."""

    def __getattr__(self, name: str) -> object:
        if name != "QOpenGLWidget":
            raise AttributeError(name)
        from PySide6.QtWidgets import QWidget

        return QWidget


for _name in ("PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets"):
    sys.modules.setdefault(_name, _Unused(_name))
