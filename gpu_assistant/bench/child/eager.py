"""Keeps torch's compiler from being loaded where nothing is compiled: that takes longer than torch itself.

torch's optimizers ask it on every step to leave them alone (`torch._dynamo.disable`, `graph_break`), and load it
to ask.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

NAME = "torch._dynamo"


class _Later(types.ModuleType):
    """Stands in for the compiler, which compiles nothing here; for whatever else is wanted of it, it is loaded."""

    @staticmethod
    def disable(work: Any = None, *_: Any, **__: Any) -> Any:
        """It would not be compiled anyway."""
        return (lambda other: other) if work is None else work

    @staticmethod
    def graph_break(*_: Any, **__: Any) -> None:
        """There is no graph."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        if sys.modules.get(NAME) is self:
            del sys.modules[NAME]
            sys.modules["torch"]._dynamo = importlib.import_module(NAME)  # type: ignore[attr-defined]
        return getattr(sys.modules[NAME], name)


def without_compiler(torch: Any) -> None:
    """Load the compiler only when somebody wants more of it than to be left alone."""
    if NAME not in sys.modules:
        sys.modules[NAME] = torch._dynamo = _Later(NAME)
