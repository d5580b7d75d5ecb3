"""Keeps torch's compiler from being loaded where nothing is compiled: that takes longer than torch itself.

torch's optimizers ask it on every step to leave them alone (`torch._dynamo.disable`, `graph_break`), and load it
to ask.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

DYNAMO_MODULE = "torch._dynamo"


class _LazyCompiler(types.ModuleType):
    """Stands in for the compiler, which compiles nothing here; for whatever else is wanted of it, it is loaded."""

    @staticmethod
    def disable(work: Any = None, *_: Any, **__: Any) -> Any:
        """It would not be compiled anyway."""
        return (lambda function: function) if work is None else work

    @staticmethod
    def graph_break(*_: Any, **__: Any) -> None:
        """There is no graph."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        if sys.modules.get(DYNAMO_MODULE) is self:
            del sys.modules[DYNAMO_MODULE]
            sys.modules["torch"]._dynamo = importlib.import_module(DYNAMO_MODULE)  # type: ignore[attr-defined]
        return getattr(sys.modules[DYNAMO_MODULE], name)


def defer_compiler(torch: Any) -> None:
    """Load the compiler only when somebody wants more of it than to be left alone."""
    if DYNAMO_MODULE not in sys.modules:
        sys.modules[DYNAMO_MODULE] = torch._dynamo = _LazyCompiler(DYNAMO_MODULE)
