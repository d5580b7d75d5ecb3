"""News of an install: states at once, progress at most ten times a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

from ..core.errors import AppError, Cancelled, RebootNeeded
from ..core.jobs import JobContext
from ..core.names import Value
from ..core.plan import (
    Bottleneck,
    EndEvent,
    EndState,
    Event,
    LogEvent,
    PlanEvent,
    Step,
    StepBrief,
    StepEvent,
    StepState,
)

INTERVAL_S = 0.1


def outcome(error: BaseException) -> Literal["failed", "cancelled"]:
    """How a step ended that raised this."""
    return "cancelled" if isinstance(error, Cancelled) else "failed"


def end_state(error: BaseException) -> EndState:
    """How a run ended that raised this."""
    return "reboot-needed" if isinstance(error, RebootNeeded) else outcome(error)


class Reporter:
    """Builds the events of one run and passes them on; `elapsed_s` counts from here."""

    def __init__(self, context: JobContext[Any], clock: Callable[[], float] = time.monotonic) -> None:
        self._context = context
        self._clock = clock
        self._began = clock()
        self._last = float("-inf")
        self._step = ""

    def plan(self, steps: tuple[Step, ...]) -> None:
        """What is going to happen."""
        briefs = tuple(
            StepBrief(id=s.id, code=s.code, data=s.data, bytes=s.bytes, needs_admin=s.needs_admin, now=s.now)
            for s in steps
        )
        self._send(PlanEvent(steps=briefs))

    def step(
        self, step: str, state: StepState, *, code: str | None = None, data: dict[str, Value] | None = None
    ) -> None:
        """A step is in a new state."""
        self._step = step
        self._last = float("-inf")
        self._send(StepEvent(id=step, state=state, code=code, data=data or {}))

    def progress(
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
        """The running step came further; the last word of a step (`done` == `total`) is always passed on."""
        now = self._clock()
        if now - self._last < INTERVAL_S and done != total:
            return
        self._last = now
        self._send(
            StepEvent(
                id=self._step,
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

    def log(self, line: str) -> None:
        """A line that a tool wrote."""
        # uv's advice for the folder that is moved to its place afterwards: followed, it would lead nowhere.
        if not line.startswith("Activate with:"):
            self._send(LogEvent(id=self._step, line=line))

    def end(self, state: EndState, env: str, code: str | None = None, data: dict[str, Value] | None = None) -> None:
        """The last event."""
        elapsed = self._clock() - self._began
        self._send(EndEvent(state=state, env=env, elapsed_s=elapsed, code=code, data=data or {}))

    def failed(self, step: str, error: BaseException) -> None:
        """A step came to no good end."""
        code, data = (error.message.code, error.data) if isinstance(error, AppError) else (None, None)
        self.step(step, outcome(error), code=code, data=data)

    def ended(self, env: str, error: AppError) -> None:
        """The last event of a run that came to no good end."""
        self.end(end_state(error), env, error.message.code, error.data)

    def _send(self, event: Event) -> None:
        self._context.report(event)
