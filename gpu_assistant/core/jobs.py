"""Long work as an object: it says what it will do, reports what it does, and stops when asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from .errors import Cancelled

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class JobContext(Generic[Result]):
    """What a running job gets: a way out for news, and the question whether to stop.

    `report` takes any of the core's frozen structs (an `Event`, a found `Machine` field, a benchmark line);
    it is called on the job's own thread. `log` takes one line of tool output.
    """

    def __init__(
        self,
        report: Callable[[Any], None] | None = None,
        log: Callable[[str], None] | None = None,
        cancel: threading.Event | None = None,
    ) -> None:
        self._report = report
        self._log = log
        self.cancel = cancel or threading.Event()

    def report(self, news: Any) -> None:  # noqa: ANN401 - each job documents its own kind of news
        """Pass news to whoever watches."""
        if self._report is not None:
            self._report(news)

    def log(self, line: str) -> None:
        """Pass one line for the log."""
        if self._log is not None:
            self._log(line)

    def check_cancelled(self) -> None:
        """Raise `Cancelled` once the user asked to stop."""
        if self.cancel.is_set():
            raise Cancelled


class Job(Protocol[Result_co]):
    """Anything that runs for long. `run` raises `AppError` (or `Cancelled`), never anything a user could cause."""

    def run(self, context: JobContext[Any]) -> Result_co:
        """Do the work on the calling thread and return its result."""
        ...


class Later(Generic[Result]):
    """A job that is made on the thread where it runs: making one loads its room, and a window cannot wait for that."""

    def __init__(self, make: Callable[[], Job[Result]]) -> None:
        self._make = make

    def run(self, context: JobContext[Any]) -> Result:
        """Make the job and do its work."""
        return self._make().run(context)
