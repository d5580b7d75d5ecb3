"""What will be done, and what happens while it is done: the `plan` and the `events` of the contract."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from .files import RemoteFile
from .machine import Machine, OperatingSystem
from .recommendation import Recommendation
from .types import Goal, Value

PLAN_SCHEMA = "gpu-assistant/plan/1"

StepState = Literal["waiting", "running", "done", "skipped", "failed", "cancelled"]
EndState = Literal["done", "failed", "cancelled", "reboot-needed"]
Bottleneck = Literal["network", "source", "disk", "checking", "installing", "consent", "elsewhere", "mending"]


class PlanFile(Struct, frozen=True, kw_only=True):
    """One file to fetch. `sha256` is lower-case hex from the official index or the catalog; unknown is None."""

    url: str
    name: str
    sha256: str | None = None
    bytes: int | None = None

    @property
    def remote(self) -> RemoteFile:
        """As a download names it."""
        return RemoteFile(urls=(self.url,), name=self.name, bytes=self.bytes, sha256=self.sha256)


class CurrentState(Struct, frozen=True, kw_only=True):
    """What a step finds on this computer just now; `text` is the sentence of `code` and `data`."""

    code: str
    data: dict[str, Value] = {}
    text: str | None = None


class Step(Struct, frozen=True, kw_only=True):
    """One step. What runs is decided by `kind`, `spec` and `files`; `commands` and `data` are for people to read.

    `kind` names an entry of `install/steps/`, which reads `spec` in a shape of its own. `needs` are the ids of
    earlier steps that this one cannot do without. `bytes` to fetch and `disk_bytes` to keep are None while
    unknown; `minutes` are a lower bound with `minutes_least`, where a part of it is unknown. `now` is None where
    nothing of it is there yet, or nobody looked. `code` is the texts' key: `step.<code>.title`, `.what`, `.undo`
    filled with `data`.
    """

    id: str
    kind: str
    code: str
    needs: tuple[str, ...] = ()
    spec: dict[str, Any] = {}
    data: dict[str, Value] = {}
    title: str | None = None
    what: str | None = None
    undo: str | None = None
    bytes: int | None = None
    disk_bytes: int | None = None
    minutes: float | None = None
    minutes_least: bool = False
    needs_admin: bool = False
    needs_reboot: bool = False
    commands: tuple[tuple[str, ...], ...] = ()
    files: tuple[PlanFile, ...] = ()
    now: CurrentState | None = None


class Plan(Struct, frozen=True, kw_only=True):
    """The ordered steps for one environment. `wheelhouse` is the local source given by the user; with `bundle`, a
    folder that `bundle create` made, every file comes from there and none over the network. A `simulated` one is for
    the computer of a machine file, whose system is `os`; its `machine` is left out where a plan is only printed.
    """

    schema: Literal["gpu-assistant/plan/1"]
    goal: Goal
    env: str
    recommendation: Recommendation
    steps: tuple[Step, ...]
    bytes: int | None = None
    disk_bytes: int | None = None
    minutes: float | None = None
    wheelhouse: str | None = None
    bundle: str | None = None
    simulated: bool = False
    os: OperatingSystem | None = None
    machine: Machine | UnsetType = UNSET


# A proof of which the driver before it is left to the user.
VERIFY_AFTER_DRIVER = "verify-by-hand"


def alternative_command(step: Step) -> str | None:
    """The command line of a step's other way, which nothing here runs; None where there is none."""
    command = step.data.get("command")
    return command if isinstance(command, str) else None


def requirements_text(step: Step) -> str | None:
    """What stands in the `requirements.in` of a step's command, a package a line; None where it reads none."""
    lines = step.data.get("requirements")
    return "\n".join(lines.split()) if isinstance(lines, str) else None


def needs_manual_driver(plan: Plan) -> bool:
    """Whether the proof at its end fails until somebody has installed the driver by hand."""
    return any(step.code == VERIFY_AFTER_DRIVER for step in plan.steps)


class InterruptedInstall(Struct, frozen=True, kw_only=True):
    """An install that did not come to a good end: its plan, the step at which it stopped (None: before the first)
    and when it began, in seconds since the epoch. `state` is None where it was killed.
    """

    plan: Plan
    step: str | None
    began: float
    state: EndState | None = None


class StepSummary(Struct, frozen=True, kw_only=True):
    """A step as the first event shows it."""

    id: str
    title: str | None = None
    what: str | None = None
    code: str
    data: dict[str, Value] = {}
    bytes: int | None = None
    needs_admin: bool = False
    now: CurrentState | None = None


class PlanEvent(Struct, frozen=True, kw_only=True, tag_field="event", tag="plan"):
    """First event: what is going to happen."""

    steps: tuple[StepSummary, ...]


class StepEvent(Struct, frozen=True, kw_only=True, tag_field="event", tag="step"):
    """Progress of one step; `done`/`total` in bytes where the step fetches, else in parts of the work.

    `unit` says which. `code` + `data` is what the step does just now; faces put it into `message`.
    """

    id: str
    state: StepState
    done: int | None = None
    total: int | None = None
    unit: Literal["bytes", "items"] | None = None
    speed: float | None = None
    bottleneck: Bottleneck | None = None
    code: str | None = None
    data: dict[str, Value] = {}
    message: str | None = None


class LogEvent(Struct, frozen=True, kw_only=True, tag_field="event", tag="log"):
    """One line for the log drawer, as the tools wrote it."""

    id: str
    line: str


class EndEvent(Struct, frozen=True, kw_only=True, tag_field="event", tag="end"):
    """Last event. With `failed`, `code` and `data` are the error's."""

    state: EndState
    env: str | None = None
    elapsed_s: float = 0.0
    code: str | None = None
    data: dict[str, Value] = {}
    message: str | None = None


Event = PlanEvent | StepEvent | LogEvent | EndEvent
