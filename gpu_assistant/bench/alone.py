"""One measurement of a computer at a time: two at once would be slower for it, and neither would be true."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from ..core.errors import AppError
from ..system.single import one_at_a_time

if TYPE_CHECKING:
    from ..core.paths import DataDir

RUNNING = "bench-running"


@contextmanager
def alone(data: DataDir, log: Callable[[str], None]) -> Iterator[None]:
    """Hold the data folder for a measurement; raises AppError("bench-running", pid=…) while another is under way."""
    with ExitStack() as held:
        try:
            held.enter_context(one_at_a_time(data, "benchmark", RUNNING))
        except AppError as error:
            if error.code == RUNNING:
                raise
            log(f"{error.code}: {data.root}")  # a full disk is no reason not to measure
        yield
