"""The contract of jobs: long work that reports progress and can be cancelled."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from .errors import Cancelled

MAX_JOB_LOG_CHARS = (
    256 * 1024
)  # characters of one job in the log file, which has 5 MB, so that lines of other jobs remain
MAX_LINE_CHARS = 2_000  # letters
LINE_PREFIX_CHARS = 60  # letters before each: when, and whose
_log = logging.getLogger(__name__)

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class JobContext(Generic[Result]):
    """What a running job gets: a way out for news, and the question whether to stop.

    `report` takes any of the core's frozen structs (an `Event`, a found `Machine` field, a benchmark line);
    it is called on the job's own thread. `log` takes one line of tool output, which is in the log file besides.
    """

    def __init__(
        self,
        report: Callable[[Any], None] | None = None,
        log: Callable[[str], None] | None = None,
        cancel: threading.Event | None = None,
    ) -> None:
        self._report = report
        self._log = log
        self._log_budget = MAX_JOB_LOG_CHARS
        self.cancel = cancel or threading.Event()

    def report(self, event: Any) -> None:  # noqa: ANN401 - each job documents its own kind of news
        """Pass a struct to the listener."""
        if self._report is not None:
            self._report(event)

    def log(self, line: str) -> None:
        """Pass one line for the log; of a long one, or of very many, the log file has the beginning."""
        if self._log_budget > 0:
            # Control characters, which could imitate a line of the log, are escaped.
            text = "".join(
                character if character.isprintable() else ascii(character)[1:-1] for character in line[:MAX_LINE_CHARS]
            )
            self._log_budget -= len(text) + LINE_PREFIX_CHARS
            _log.info("%s", text if self._log_budget > 0 else "…")
        if self._log is not None:
            self._log(line)

    def check_cancelled(self) -> None:
        """Raise `Cancelled` if the user has cancelled the job."""
        if self.cancel.is_set():
            raise Cancelled


class Job(Protocol[Result_co]):
    """Anything that runs for long. `run` raises `AppError` (or `Cancelled`), never anything a user could cause."""

    def run(self, context: JobContext[Any]) -> Result_co:
        """Do the work on the calling thread and return its result."""
        ...


class LazyJob(Generic[Result]):
    """A job that is made on the thread where it runs: making one loads its room, and a window cannot wait for that."""

    def __init__(self, factory: Callable[[], Job[Result]]) -> None:
        self._factory = factory

    def run(self, context: JobContext[Any]) -> Result:
        """Make the job and do its work."""
        return self._factory().run(context)
