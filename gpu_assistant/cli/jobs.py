"""Runs a job for the command line: Ctrl+C and SIGTERM cancel it, and its events are shown."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.errors import AppError, Cancelled
from ..core.jobs import Job, JobContext

if TYPE_CHECKING:
    from .output import Output

Result = TypeVar("Result")


def run_job(
    job: Job[Result],
    *,
    on_event: Callable[[Any], None] | None = None,
    cancel_code: str = "stopped",
) -> Result:
    """Run a job on this thread. Raises what the job raises, and Cancelled(cancel_code) after Ctrl+C."""
    with cancel_on_signal() as cancel:
        try:
            return job.run(JobContext(report=on_event, cancel=cancel))
        except Cancelled as error:
            if error.code != "cancelled":
                raise  # the job's own code says more
            raise Cancelled(cancel_code) from error


def run_with_events(
    job: Job[Result], output: Output, *, environment: str | None = None, cancel_code: str = "stopped"
) -> Result:
    """Run a job and show its events: as progress, or with --json as lines of which the last one is its end.

    `environment` is the folder named by an end event that is written for a job that failed without one.
    """
    if output.json:
        try:
            return run_job(job, on_event=output.write_event, cancel_code=cancel_code)
        except AppError as error:
            output.write_end_event(error, environment)
            raise
    from .progress import StepProgressDisplay

    with StepProgressDisplay(output) as display:
        return run_job(job, on_event=display.show_event, cancel_code=cancel_code)


@contextmanager
def cancel_on_signal() -> Iterator[threading.Event]:
    """An event that Ctrl+C and SIGTERM set while the context lasts; other threads than the main one get no signals."""
    cancel = threading.Event()

    def handle_signal(_number: int, _frame: FrameType | None) -> None:
        cancel.set()

    if threading.current_thread() is not threading.main_thread():
        yield cancel
        return
    previous_handlers = {
        signal_number: signal.signal(signal_number, handle_signal) for signal_number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield cancel
    finally:
        for signal_number, handler in previous_handlers.items():
            signal.signal(signal_number, handler)
