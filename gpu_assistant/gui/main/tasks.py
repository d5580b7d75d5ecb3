"""A single call as a job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.jobs import JobContext


class FunctionJob:
    """Runs one function that may wait for the system."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function

    def run(self, context: JobContext[Any]) -> None:
        """Do it, unless it was cancelled before it began."""
        context.check_cancelled()
        self._function()
