"""The window. Importing this package loads PySide6, and takes its import hook out.

For features that a module may switch on (`from __feature__ import snake_case`) PySide6 puts a function of its own in
the place of Python's `__import__`, which reads the source of every module that is imported from then on, and keeps the
lines. Nothing here uses them.
"""

from __future__ import annotations

import builtins

import PySide6.QtCore  # noqa: F401 - puts the hook in

_builtins = vars(builtins)
if builtins.__import__ is _builtins.get("__feature_import__"):
    builtins.__import__ = _builtins["__orig_import__"]
