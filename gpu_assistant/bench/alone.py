"""One measurement of a computer at a time: two at once would be slower for it, and neither would be true."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from ..core.errors import AppError
from ..system.single import data_folder_lock

if TYPE_CHECKING:
    from ..core.paths import DataDir

ALREADY_RUNNING = "bench-running"


@contextmanager
def benchmark_lock(data: DataDir, log: Callable[[str], None]) -> Iterator[None]:
    """Hold the data folder for a measurement; raises AppError("bench-running", pid=…) while another is under way."""
    with ExitStack() as stack:
        try:
            stack.enter_context(data_folder_lock(data, "benchmark", ALREADY_RUNNING))
        except AppError as error:
            if error.code == ALREADY_RUNNING:
                raise
            log(f"{error.code}: {data.root}")  # a full disk is no reason not to measure
        yield
