"""Keeps pyqtgraph from loading Qt's OpenGL: 11 MB on the disk for a way of drawing that is never switched on.

pyqtgraph imports both modules whether or not its option `useOpenGL` is set, and takes one class from them at once,
as the base of a class that nobody makes.
"""

from __future__ import annotations

import sys
from types import ModuleType

OPENGL_MODULES = ("PySide6.QtOpenGL", "PySide6.QtOpenGLWidgets")


class _PlaceholderModule(ModuleType):
    """Has the one name that is asked for when pyqtgraph is imported."""

    def __getattr__(self, name: str) -> object:
        if name != "QOpenGLWidget":
            raise AttributeError(name)
        from PySide6.QtWidgets import QWidget

        return QWidget


def install_placeholders() -> None:
    """Put empty modules in their place, where nobody has imported the real ones."""
    for name in OPENGL_MODULES:
        sys.modules.setdefault(name, _PlaceholderModule(name))
