"""The progress of an install, computed from its events, without Qt.

    ProgressReporter (install/progress.py) -> PlanEvent, StepEvent -> JobRunner (gui/worker.py)
        -> InstallProgress -> StepProgress of each step -> CurrentStepPanel, StepList, the window's task bar

Times are seconds, speeds bytes per second, fractions 0 to 1.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from .....core.message import Message
from .....core.plan import (
    Bottleneck,
    Event,
    Plan,
    PlanEvent,
    StepEvent,
    StepState,
    number_steps,
    steps_before_restart,
)
from .....core.types import Value

# A resumed install repeats these steps from their beginning.
REPEATED_STEP_KINDS = frozenset({"python-packages"})
# A step's weight in the bar if its duration is unknown; relative to minutes.
DEFAULT_WEIGHTS = {"download": 6.0, "python-packages": 2.0, "python-runtime": 1.0, "conda-environment": 1.0}
MIN_WEIGHT = 0.5
MIN_REPORTED_SECONDS = 0.5
ENDED_STATES = ("done", "skipped")
DRIVER_CODE = "nvidia-driver"  # the beginning of the codes of steps that install the driver
# Beginnings of the codes of steps that only look: they install nothing.
PREPARING_CODES = ("check-space", "bundle-check", "python-here", "resolve", "download")


class StepProgress(Struct, frozen=True, kw_only=True):
    """One step: `done` of `total` in `unit`, and the `seconds` it took once it ended."""

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
        """The done part of the step; None while its total is unknown."""
        if self.state in ENDED_STATES:
            return 1.0
        if self.done is None or not self.total:
            return None
        # Items are counted when they are complete: none yet does not mean that nothing is done.
        if self.unit == "items" and self.done == 0:
            return None
        return min(self.done / self.total, 1.0)

    @property
    def reported_seconds(self) -> float | None:
        """The seconds it took; None below half a second."""
        return self.seconds if self.seconds is not None and self.seconds >= MIN_REPORTED_SECONDS else None

    @property
    def seconds_left(self) -> float | None:
        """Remaining bytes by speed; None where one of them is unknown."""
        if self.unit != "bytes" or not self.speed or self.total is None or self.done is None:
            return None
        return max(self.total - self.done, 0) / self.speed


class InstallProgress:
    """Takes events in order. Without a plan the first event names the steps. `clock` gives seconds."""

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
        self.before_restart = steps_before_restart(plan) if plan is not None else frozenset[str]()
        self.current_id: str | None = None

    def handle_event(self, event: Event) -> str | None:
        """Take an event; returns the id of the step that it changed."""
        if isinstance(event, PlanEvent):
            for summary in event.steps:
                if summary.id not in self.steps:
                    self.steps[summary.id] = StepProgress(
                        id=summary.id,
                        code=summary.code,
                        data=summary.data,
                        bytes=summary.bytes,
                        needs_admin=summary.needs_admin,
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
        """The install ended during a step, which failed or was cancelled; returns its id."""
        step = self.running_step
        if step is None:
            return None
        self.steps[step.id] = replace(step, state=state, speed=None, bottleneck=None)
        return step.id

    @property
    def running_step(self) -> StepProgress | None:
        """The step that runs, if one does."""
        step = self.steps.get(self.current_id) if self.current_id is not None else None
        return step if step is not None and step.state == "running" else None

    @property
    def has_downloads(self) -> bool:
        """Whether bytes were downloaded, which a resumed install uses."""
        return any(step.unit == "bytes" and step.done for step in self.steps.values())

    @property
    def has_changed_driver(self) -> bool:
        """Whether a step that installs NVIDIA's driver is done."""
        return any(step.code.startswith(DRIVER_CODE) and step.state == "done" for step in self.steps.values())

    @property
    def has_installed_nothing(self) -> bool:
        """Whether each step that was begun only looks or downloads."""
        begun = [step for step in self.steps.values() if step.state != "waiting"]
        return bool(begun) and all(step.code.startswith(PREPARING_CODES) for step in begun)

    @property
    def step_number(self) -> int:
        """The current step's number, from 1; 0 before the first."""
        return number_steps(self.steps, self.before_restart)[0].get(self.current_id or "", 0)

    @property
    def step_count(self) -> int:
        """How many steps there are, with each restart as one."""
        return number_steps(self.steps, self.before_restart)[1]

    def restart_state(self, step: str, *, resumed: bool) -> StepState:
        """The state of the restart after a step: once a later one has begun it is over, or was not needed."""
        ids = list(self.steps)
        if all(self.steps[each].state == "waiting" for each in ids[ids.index(step) + 1 :]):
            return "waiting"
        return "done" if resumed else "skipped"

    @property
    def fraction(self) -> float:
        """The done part of all steps, weighted by their expected minutes."""
        weights = {
            step.id: step.minutes or DEFAULT_WEIGHTS.get(step.kind or "", MIN_WEIGHT) for step in self.steps.values()
        }
        total_weight = sum(weights.values())
        done_weight = sum(weights[step.id] * (step.fraction or 0.0) for step in self.steps.values())
        return done_weight / total_weight if total_weight else 0.0

    @property
    def bar_fraction(self) -> float | None:
        """`fraction` for a progress bar: None while the running step has none, so that the bar is animated."""
        running = self.running_step
        return self.fraction if running is None or running.fraction is not None else None

    @property
    def seconds_left(self) -> float | None:
        """Of the running step by its speed, of the waiting ones as expected; None if one is unknown."""
        known_s, unknown = self.time_left
        return None if unknown else known_s

    @property
    def time_left(self) -> tuple[float, tuple[StepProgress, ...]]:
        """The seconds of the steps whose time is known, as in `seconds_left`, and the other steps."""
        known_s, unknown = 0.0, []
        for step in self.steps.values():
            if step.state not in ("waiting", "running"):
                continue
            if step.state == "running" and step.seconds_left is not None:
                known_s += step.seconds_left
            elif step.minutes is None:
                unknown.append(step)
            elif step.state == "waiting":
                known_s += 60 * step.minutes
            else:
                elapsed_s = self._clock() - self._started_at.get(step.id, self._clock())
                known_s += max(60 * step.minutes - elapsed_s, 1.0)
        return known_s, tuple(unknown)
