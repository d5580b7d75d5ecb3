"""The events of one run, from the steps to the job's caller.

Changes of state are passed on at once, progress at most ten times a second. The jobs in `jobs/` make one
`ProgressReporter` each and hand it to the steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Literal

from ..core.errors import AppError, Cancelled, RebootRequired
from ..core.filesystem import report_busy
from ..core.jobs import JobContext
from ..core.plan import (
    Bottleneck,
    EndEvent,
    EndState,
    Event,
    LogEvent,
    PlanEvent,
    Step,
    StepEvent,
    StepState,
    StepSummary,
)
from ..core.types import Value

PROGRESS_INTERVAL_S = 0.1


def failure_state(error: BaseException) -> Literal["failed", "cancelled"]:
    """The state of a step that raised this error."""
    return "cancelled" if isinstance(error, Cancelled) else "failed"


def end_state(error: BaseException) -> EndState:
    """The state of a run that raised this error."""
    return "reboot-needed" if isinstance(error, RebootRequired) else failure_state(error)


class ProgressReporter:
    """Builds events and passes them on; `elapsed_s` counts from its creation."""

    def __init__(self, context: JobContext[Any], clock: Callable[[], float] = time.monotonic) -> None:
        self._context = context
        self._clock = clock
        self._started = clock()
        self._last_sent = float("-inf")
        self._last_amount: tuple[int, int | None, str] | None = None
        self._step_id = ""

    def report_plan(self, steps: tuple[Step, ...]) -> None:
        """The first event: what is going to happen."""
        summaries = tuple(
            StepSummary(
                id=step.id, code=step.code, data=step.data, bytes=step.bytes, needs_admin=step.needs_admin, now=step.now
            )
            for step in steps
        )
        self._send(PlanEvent(steps=summaries))

    def report_step(
        self, step_id: str, state: StepState, *, code: str | None = None, data: dict[str, Value] | None = None
    ) -> None:
        self._step_id = step_id
        self._last_sent = float("-inf")
        self._send(StepEvent(id=step_id, state=state, code=code, data=data or {}))

    def report_progress(
        self,
        *,
        done: int,
        total: int | None,
        unit: Literal["bytes", "items"],
        speed: float | None = None,
        bottleneck: Bottleneck | None = None,
        code: str | None = None,
        data: dict[str, Value] | None = None,
    ) -> None:
        """The running step advanced; the last report of a step (`done` == `total`) is dropped only if it was sent."""
        now, amount = self._clock(), (done, total, unit)
        if now - self._last_sent < PROGRESS_INTERVAL_S and (done != total or amount == self._last_amount):
            return
        self._last_sent, self._last_amount = now, amount
        self._send(
            StepEvent(
                id=self._step_id,
                state="running",
                done=done,
                total=total,
                unit=unit,
                speed=speed,
                bottleneck=bottleneck,
                code=code,
                data=data or {},
            )
        )

    def show_busy_files(self) -> AbstractContextManager[None]:
        """In the context, on this thread, the running step says which file it waits for."""
        return report_busy(lambda path: self.report_note("progress.busy-file", {"name": path.name, "path": str(path)}))

    def report_note(self, code: str, data: dict[str, Value] | None = None) -> None:
        """What keeps the running step just now."""
        self.report_step(self._step_id, "running", code=code, data=data)

    def log(self, line: str) -> None:
        """A line of output of a program that a step runs."""
        # uv names the partial folder, which is renamed afterwards.
        if not line.startswith("Activate with:"):
            self._send(LogEvent(id=self._step_id, line=line))

    def end_run(
        self, state: EndState, environment: str, code: str | None = None, data: dict[str, Value] | None = None
    ) -> None:
        """The last event of a run."""
        elapsed = self._clock() - self._started
        self._send(EndEvent(state=state, env=environment, elapsed_s=elapsed, code=code, data=data or {}))

    def fail_step(self, step_id: str, error: BaseException) -> None:
        code, data = (error.message.code, error.data) if isinstance(error, AppError) else (None, None)
        self.report_step(step_id, failure_state(error), code=code, data=data)

    def fail_run(self, environment: str, error: AppError) -> None:
        """The last event of a run that raised an error."""
        self.end_run(end_state(error), environment, error.message.code, error.data)

    def _send(self, event: Event) -> None:
        self._context.report(event)
