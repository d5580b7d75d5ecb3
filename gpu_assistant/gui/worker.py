"""Runs a job of the core in a thread and delivers its reports on the window's thread, at most 10 times a second.

    thread:  Job.run(context) ── context.report, context.log ──> _SignalThrottle (lock)
    window:  JobRunner, every 100 ms ── drain ──> `reported`, `logged`
             thread finished ──> remaining reports ──> `done` | `failed` | `cancelled` ──> `finished`

Cancelling sets an event that the job checks; nothing is interrupted. `cli/jobs.py` runs the same jobs.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, QThread, QTimer, Signal, Slot

from ..core.errors import AppError, Cancelled
from ..core.jobs import Job, JobContext
from ..core.plan import LogEvent

REPORT_INTERVAL_MS = 100
MAX_LOG_LINES = 5000  # in one interval; a log shows no more
_log = logging.getLogger(__name__)


class _SignalThrottle:
    """Reports between the job's thread and the window's, in order of arrival.

    Of progress reports (those with `id` and `done`) only the latest for each type, id and state is kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reports: dict[object, Any] = {}
        self._lines: deque[str] = deque(maxlen=MAX_LOG_LINES)
        self._count = 0

    def add_report(self, report: Any) -> None:  # noqa: ANN401 - each job documents its reports
        if isinstance(report, LogEvent):
            self.add_line(report.line)
            return
        with self._lock:
            self._count += 1
            key: object = self._count
            if hasattr(report, "id") and hasattr(report, "done"):
                key = (type(report), report.id, getattr(report, "state", None))
                self._reports.pop(key, None)
            self._reports[key] = report

    def add_line(self, line: str) -> None:
        with self._lock:
            self._lines.append(line)

    def drain(self) -> tuple[list[Any], list[str]]:
        with self._lock:
            reports, self._reports = list(self._reports.values()), {}
            lines = list(self._lines)
            self._lines.clear()
        return reports, lines


class FunctionJob:
    """A job that calls one function."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function

    def run(self, context: JobContext[Any]) -> None:
        context.check_cancelled()
        self._function()


class _JobThread(QThread):
    """Runs the job once.

    Qt aborts the process over a thread that is destroyed while it runs: it belongs to the application, and outlives a
    runner that goes first.
    """

    def __init__(self, job: Job[Any], context: JobContext[Any]) -> None:
        super().__init__(QCoreApplication.instance())
        self.setObjectName(type(job).__name__)
        self._job = job
        self._context = context
        self.result: Any = None
        self.error: AppError | None = None

    def run(self) -> None:
        try:
            self.result = self._job.run(self._context)
        except AppError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - a defect must still end in a message, not in silence
            _log.exception("a job failed unexpectedly")
            self.error = AppError("internal", detail=f"{type(error).__name__}: {error}")


class JobRunner(QObject):
    """Runs one job at a time. Each start ends in exactly one of `done`, `failed`, `cancelled`, then `finished`."""

    started = Signal()
    reported = Signal(object)
    logged = Signal(object)  # `object`: Qt would convert a list item by item
    done = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    finished = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: _JobThread | None = None
        self._cancel = threading.Event()
        self._throttle = _SignalThrottle()
        self._timer = QTimer(self)
        self._timer.setInterval(REPORT_INTERVAL_MS)
        self._timer.timeout.connect(self._emit_reports)

    @property
    def running(self) -> bool:
        """Whether a job runs, or its end was not delivered yet."""
        return self._thread is not None

    def start(self, job: Job[Any]) -> None:
        """Start a job; raises RuntimeError while another runs."""
        if self.running:
            raise RuntimeError("a job is already running")
        self._cancel = threading.Event()
        self._throttle = _SignalThrottle()
        self._thread = _JobThread(job, JobContext(self._throttle.add_report, self._throttle.add_line, self._cancel))
        self._thread.finished.connect(self._on_thread_finished)
        self._thread.finished.connect(self._thread.deleteLater)
        self._timer.start()
        self._thread.start()
        self.started.emit()

    def cancel(self) -> None:
        """Ask the job to stop; it ends with `cancelled`, or `done` if it was faster."""
        self._cancel.set()

    def wait(self, ms: int) -> bool:
        """Wait for the job's end and deliver it; False if that takes longer than `ms`."""
        if self._thread is None:
            return True
        if not self._thread.wait(ms):
            return False
        self._on_thread_finished()
        return True

    def _emit_reports(self) -> None:
        reports, lines = self._throttle.drain()
        if lines:
            self.logged.emit(lines)
        for each in reports:
            self.reported.emit(each)

    @Slot()
    def _on_thread_finished(self) -> None:
        thread = self._thread
        if thread is None or not thread.isFinished():
            return
        self._timer.stop()
        self._emit_reports()
        self._thread = None
        thread.wait()
        if isinstance(thread.error, Cancelled):
            self.cancelled.emit()
        elif thread.error is not None:
            self.failed.emit(thread.error)
        else:
            self.done.emit(thread.result)
        self.finished.emit()
