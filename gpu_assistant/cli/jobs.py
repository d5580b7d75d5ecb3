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
    on_event: Callable[[Any], None] | None = None,
    cancel_code: str = "stopped",
) -> Result:
    """Run on this thread; raises what the job raises, `Cancelled(stopped)` after Ctrl+C."""
    with cancel_on_signal() as cancel:
        try:
            return job.run(JobContext(report=on_event, cancel=cancel))
        except Cancelled as error:
            if error.code != "cancelled":
                raise  # it says more than we know here
            raise Cancelled(cancel_code) from error


@contextmanager
def cancel_on_signal() -> Iterator[threading.Event]:
    """An event that is set by Ctrl+C or SIGTERM while the context lasts."""
    cancel = threading.Event()

    def handle_signal(_number: int, _frame: FrameType | None) -> None:
        cancel.set()

    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return
    previous_handlers = {signal_number: signal.signal(signal_number, handle_signal) for signal_number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield cancel
    finally:
        for signal_number, handler in previous_handlers.items():
            signal.signal(signal_number, handler)
