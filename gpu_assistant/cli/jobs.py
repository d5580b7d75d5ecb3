"""Runs a job for the command line: Ctrl+C and SIGTERM ask it to stop, and wait until it has."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from ..core.errors import Cancelled
from ..core.jobs import Job, JobContext

Result = TypeVar("Result")


def run_job(
    job: Job[Result],
    *,
    on_news: Callable[[Any], None] | None = None,
    stopped: str = "stopped",
) -> Result:
    """Run on this thread; raises what the job raises, `Cancelled(stopped)` after Ctrl+C."""
    with stop_signals() as cancel:
        try:
            return job.run(JobContext(report=on_news, cancel=cancel))
        except Cancelled as error:
            if error.code != "cancelled":
                raise  # it says more than we know here
            raise Cancelled(stopped) from error


@contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """An event that is set by Ctrl+C or SIGTERM while the context lasts."""
    cancel = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        cancel.set()

    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield cancel
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
