"""The downloader alone, as a job: one file from one or several addresses, told in the contract's events."""

from __future__ import annotations

import time
from typing import Any, Literal

from ..core.errors import AppError, Cancelled
from ..core.jobs import JobContext
from ..core.plan import EndEvent, PlanEvent, StepEvent, StepSummary
from .limits import Limits
from .many import Fetch, Totals
from .pace import Pace
from .wanted import Wanted

STEP = "download"
INTERVAL_S = 0.1


class LastStepEvent(StepEvent, frozen=True, kw_only=True, tag_field="event", tag="step"):
    """How the download ended, and where its bytes came from."""

    bytes_reused: int
    bytes_fetched: int


class LastEvent(EndEvent, frozen=True, kw_only=True, tag_field="event", tag="end"):
    """The end, and where the bytes came from."""

    bytes_reused: int
    bytes_fetched: int


class DownloadJob:
    """`run` reports `Event`s and returns the last figures; raises AppError, NetworkError, Cancelled."""

    def __init__(self, wanted: Wanted, limits: Limits | None = None, pace: Pace | None = None) -> None:
        self._wanted, self._limits, self._pace = wanted, limits, pace
        self._last: Totals | None = None
        self._told = float("-inf")

    def run(self, context: JobContext[Any]) -> Totals | None:
        """Fetch the file."""
        began, name = time.monotonic(), self._wanted.path.name
        brief = StepSummary(id=STEP, code="download-file", data={"name": name}, bytes=self._wanted.bytes)
        context.report(PlanEvent(steps=(brief,)))
        context.report(StepEvent(id=STEP, state="running"))
        error: AppError | None = None
        try:
            Fetch(
                [self._wanted],
                cancel=context.cancel,
                progress=lambda totals: self._progress(totals, context),
                limits=self._limits,
                pace=self._pace,
            ).run()
        except AppError as caught:
            error = caught
        self._end(error, time.monotonic() - began, context)
        if error is not None:
            raise error
        return self._last

    def _progress(self, totals: Totals, context: JobContext[Any]) -> None:
        self._last = totals
        now = time.monotonic()
        if now - self._told < INTERVAL_S:
            return
        self._told = now
        context.report(
            StepEvent(
                id=STEP,
                state="running",
                done=totals.done,
                total=totals.total,
                unit="bytes",
                speed=totals.speed,
                bottleneck=totals.bottleneck,
            )
        )

    def _end(self, error: AppError | None, seconds: float, context: JobContext[Any]) -> None:
        last = self._last
        reused, fetched = (last.reused, last.fetched) if last is not None else (0, 0)
        state: Literal["done", "failed", "cancelled"]
        state = "done" if error is None else "cancelled" if isinstance(error, Cancelled) else "failed"
        code, data = (error.message.code, error.data) if error is not None else (None, {})
        context.report(
            LastStepEvent(
                id=STEP,
                state=state,
                done=last.done if last is not None else None,
                total=last.total if last is not None else None,
                unit="bytes",
                code=code,
                data=data,
                bytes_reused=reused,
                bytes_fetched=fetched,
            )
        )
        context.report(
            LastEvent(state=state, elapsed_s=seconds, code=code, data=data, bytes_reused=reused, bytes_fetched=fetched)
        )
