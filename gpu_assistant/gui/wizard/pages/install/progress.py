"""How far an install is, from its events: step by step, as a whole, and how long it will still take."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from .....core.plan import Bottleneck, Event, Plan, PlanEvent, StepEvent, StepState
from .....core.message import Message
from .....core.types import Value

# The step after the download: what it made so far is made again by the next start.
REPEATED_STEP_KINDS = frozenset({"python-packages"})
# What a step counts in the bar where nobody knows its time: a share, no promise.
DEFAULT_WEIGHTS = {"download": 6.0, "python-packages": 2.0, "python-runtime": 1.0, "conda-environment": 1.0}
MIN_WEIGHT = 0.5
MIN_REPORTED_SECONDS = 0.5
ENDED_STATES = ("done", "skipped")


class StepProgress(Struct, frozen=True, kw_only=True):
    """One step: where it is, in bytes or parts, and the seconds it took once it ended."""

    id: str
    code: str
    data: dict[str, Value] = {}
    kind: str | None = None
    needs_admin: bool = False
    bytes: int | None = None
    minutes: float | None = None
    state: StepState = "waiting"
    done: int | None = None
    total: int | None = None
    unit: str | None = None
    speed: float | None = None
    bottleneck: Bottleneck | None = None
    message: Message | None = None
    seconds: float | None = None

    @property
    def fraction(self) -> float | None:
        """0 to 1 within the step; None while its total is unknown."""
        if self.state in ENDED_STATES:
            return 1.0
        if self.done is None or not self.total:
            return None
        # Parts are counted where one tool puts them all in place: none yet says nothing about how far it is.
        if self.unit == "items" and self.done == 0:
            return None
        return min(self.done / self.total, 1.0)

    @property
    def reported_seconds(self) -> float | None:
        """The seconds it took, unless it was a blink."""
        return self.seconds if self.seconds is not None and self.seconds >= MIN_REPORTED_SECONDS else None

    @property
    def seconds_left(self) -> float | None:
        """From bytes and speed; None where they do not tell."""
        if self.unit != "bytes" or not self.speed or self.total is None or self.done is None:
            return None
        return max(self.total - self.done, 0) / self.speed


class InstallProgress:
    """Takes in events, in order. Without a plan the first event tells the steps."""

    def __init__(self, plan: Plan | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started_at: dict[str, float] = {}
        self.steps: dict[str, StepProgress] = {
            step.id: StepProgress(
                id=step.id,
                code=step.code,
                data=step.data,
                kind=step.kind,
                needs_admin=step.needs_admin,
                bytes=step.bytes,
                minutes=step.minutes,
            )
            for step in (plan.steps if plan is not None else ())
        }
        self.current_id: str | None = None

    def handle_event(self, event: Event) -> str | None:
        """One event; gives the id of the step that changed, if one did."""
        if isinstance(event, PlanEvent):
            for brief in event.steps:
                if brief.id not in self.steps:
                    self.steps[brief.id] = StepProgress(
                        id=brief.id, code=brief.code, data=brief.data, bytes=brief.bytes, needs_admin=brief.needs_admin
                    )
            return None
        if not isinstance(event, StepEvent) or event.id not in self.steps:
            return None
        now = self._clock()
        if event.state == "running":
            self._started_at.setdefault(event.id, now)
            self.current_id = event.id
        previous = self.steps[event.id]
        started_at = self._started_at.get(event.id)
        has_ended = event.state not in ("running", "waiting")
        self.steps[event.id] = replace(
            previous,
            state=event.state,
            done=event.done if event.done is not None else previous.done,
            total=event.total if event.total is not None else previous.total,
            unit=event.unit or previous.unit,
            speed=event.speed,
            bottleneck=event.bottleneck,
            message=Message(event.code, event.data) if event.code is not None else previous.message,
            seconds=now - started_at if has_ended and started_at is not None else None,
        )
        return event.id

    def end_running_step(self, state: StepState) -> str | None:
        """The install ended in the middle of a step: that one failed or was cancelled; gives its id."""
        step = self.running_step
        if step is None:
            return None
        self.steps[step.id] = replace(step, state=state, speed=None, bottleneck=None)
        return step.id

    @property
    def running_step(self) -> StepProgress | None:
        """The step that runs."""
        step = self.steps.get(self.current_id) if self.current_id is not None else None
        return step if step is not None and step.state == "running" else None

    @property
    def has_downloads(self) -> bool:
        """Whether anything was fetched that the next start need not fetch again."""
        return any(step.unit == "bytes" and step.done for step in self.steps.values())

    @property
    def step_number(self) -> int:
        """The running step's place, from 1; 0 before the first."""
        return list(self.steps).index(self.current_id) + 1 if self.current_id in self.steps else 0

    @property
    def fraction(self) -> float:
        """0 to 1 over all steps, each weighing what it was expected to take."""
        weights = {
            step.id: step.minutes or DEFAULT_WEIGHTS.get(step.kind or "", MIN_WEIGHT) for step in self.steps.values()
        }
        total_weight = sum(weights.values())
        done_weight = sum(weights[step.id] * (step.fraction or 0.0) for step in self.steps.values())
        return done_weight / total_weight if total_weight else 0.0

    @property
    def bar_fraction(self) -> float | None:
        """What a bar shows of it: None while the running step cannot tell, for a bar that stands still looks dead."""
        running = self.running_step
        return self.fraction if running is None or running.fraction is not None else None

    @property
    def seconds_left(self) -> float | None:
        """What the running step's speed says, and what the waiting ones should take; None if one is unknown."""
        remaining_s = 0.0
        for step in self.steps.values():
            if step.state == "waiting":
                if step.minutes is None:
                    return None
                remaining_s += 60 * step.minutes
            elif step.state == "running":
                if step.seconds_left is not None:
                    remaining_s += step.seconds_left
                elif step.minutes is not None:
                    elapsed_s = self._clock() - self._started_at.get(step.id, self._clock())
                    remaining_s += max(60 * step.minutes - elapsed_s, 1.0)
                else:
                    return None
        return remaining_s
