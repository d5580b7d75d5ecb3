"""Install plans (`Plan`) and the events of carrying one out, which are also JSON output."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from .files import RemoteFile
from .machine import Machine, OperatingSystem
from .recommendation import DriverAdvice, Recommendation
from .types import Goal, Value

PLAN_SCHEMA = "gpu-assistant/plan/1"

Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
StepState = Literal["waiting", "running", "done", "skipped", "failed", "cancelled"]
FileSource = Literal["index", "general", "mirror", "wheelhouse", "bundle"]
EndState = Literal["done", "failed", "cancelled", "reboot-needed"]
Bottleneck = Literal["network", "source", "disk", "checking", "installing", "consent", "elsewhere", "mending"]


class PlanFile(Struct, frozen=True, kw_only=True):
    """One file to download; `sha256` is lower-case hex from the official index or the catalog, None where unknown.

    `source`: the publisher's own server ("index"), or what serves in its place. `checked`: whether the file is there;
    None where nobody was asked, or none answered.
    """

    url: str
    name: str
    sha256: str | None = None
    bytes: int | None = None
    source: FileSource = "index"
    checked: bool | None = None

    @property
    def remote(self) -> RemoteFile:
        """The same as a `RemoteFile`."""
        return RemoteFile(urls=(self.url,), name=self.name, bytes=self.bytes, sha256=self.sha256)


class CurrentState(Struct, frozen=True, kw_only=True):
    """What exists already of a step's result on this computer; `text` is the text of `code` and `data`."""

    code: str
    data: dict[str, Value] = {}
    text: str | None = None


class Step(Struct, frozen=True, kw_only=True):
    """One step, carried out by its `kind`, `spec` and `files`; `commands` and `data` are for display only.

    `kind` is an entry of `install/steps/kinds.py`, which parses `spec` into its own struct. `needs` are the ids of
    earlier steps that this one depends on. `bytes` to download and `disk_bytes` kept are None where they are unknown;
    with `minutes_least`, `minutes` is a lower bound. `now` is None where nothing exists yet or it was not inspected.
    Texts: `step.<code>.title`, `.what`, `.undo`, filled with `data`.
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
    folder that `bundle create` made, every file comes from there and none over the network. `wheelhouse_files` are
    the SHA-256 of the wheelhouse's packages by name, `bundle_sha256` that of the bundle's list: what is there now must
    have them. A `simulated` one is for the computer of a machine file, whose system is `os`. `machine` is what it was
    made for: the journal has it, a plan file only of another computer, and what is printed never.
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
    wheelhouse_files: dict[str, Sha256] | UnsetType = UNSET
    bundle_sha256: Sha256 | UnsetType = UNSET
    simulated: bool = False
    os: OperatingSystem | None = None
    machine: Machine | UnsetType = UNSET


def plan_for_file(plan: Plan) -> Plan:
    """The plan as it is written into a file: what this computer is stays here."""
    return plan if plan.simulated else replace(plan, machine=UNSET)


def with_checked_files(plan: Plan, files: Mapping[str, bool | None]) -> Plan:
    """The plan with what publishers said about its files, by address: whether they are there (None: unknown)."""
    if not files:
        return plan
    steps = tuple(
        replace(
            step,
            files=tuple(
                replace(file, checked=files[file.url]) if file.url in files and file.checked is None else file
                for file in step.files
            ),
        )
        for step in plan.steps
    )
    return replace(plan, steps=steps)


# A proof of which the driver before it is left to the user.
VERIFY_AFTER_DRIVER = "verify-by-hand"


def alternative_command(step: Step) -> str | None:
    """A command line that does the same as a step, for display; None where there is none."""
    command = step.data.get("command")
    return command if isinstance(command, str) else None


def requirements_text(step: Step) -> str | None:
    """The content of `requirements.in` for a step's command, one package on each line; None where it has none."""
    lines = step.data.get("requirements")
    return "\n".join(lines.split()) if isinstance(lines, str) else None


def needs_manual_driver(plan: Plan) -> bool:
    """Whether the final verification fails until the user has installed the driver."""
    return any(step.code == VERIFY_AFTER_DRIVER for step in plan.steps)


def manual_driver(recommendation: Recommendation, plan: Plan | None) -> DriverAdvice | None:
    """The driver that the user has to install; None if none is needed, or if the plan installs it."""
    return recommendation.driver if recommendation.driver.needs_install and not _installs_driver(plan) else None


def _installs_driver(plan: Plan | None) -> bool:
    """Whether the plan installs a driver; a step that only says what to do needs no administrator rights."""
    return plan is not None and any("driver" in step.kind and step.needs_admin for step in plan.steps)


def steps_before_restart(plan: Plan) -> frozenset[str]:
    """The ids of the steps after which the computer has to restart, also for a driver that the user installs."""
    ids = {step.id for step in plan.steps if step.needs_reboot}
    ids |= {step.id for step, following in pairwise(plan.steps) if following.code == VERIFY_AFTER_DRIVER}
    return frozenset(ids)


def number_steps(steps: Iterable[str], before_restart: Collection[str]) -> tuple[dict[str, int], int]:
    """The number of each step, given by its id, and how many there are; a restart counts as a step of its own."""
    numbers, count = {}, 0
    for step in steps:
        numbers[step] = count + 1
        count += 2 if step in before_restart else 1
    return numbers, count


class InterruptedInstall(Struct, frozen=True, kw_only=True):
    """An incomplete install: its plan, the step at which it stopped (None: before the first), and its start in seconds
    since the epoch. `state` is None where the process was killed.
    """

    plan: Plan
    step: str | None
    began: float
    state: EndState | None = None


class StepSummary(Struct, frozen=True, kw_only=True):
    """A step in `PlanEvent`."""

    id: str
    title: str | None = None
    what: str | None = None
    code: str
    data: dict[str, Value] = {}
    bytes: int | None = None
    needs_admin: bool = False
    now: CurrentState | None = None


class PlanEvent(Struct, frozen=True, kw_only=True, tag_field="event", tag="plan"):
    """The first event, with all steps."""

    steps: tuple[StepSummary, ...]


class StepEvent(Struct, frozen=True, kw_only=True, tag_field="event", tag="step"):
    """Progress of one step; `done` of `total` are in `unit`: bytes of a download, otherwise items.

    `code` and `data` describe its present activity; command line and window fill in `message` from them.
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
    """One line of a tool's output, for the log."""

    id: str
    line: str


class EndEvent(Struct, frozen=True, kw_only=True, tag_field="event", tag="end"):
    """The last event; with the state "failed", `code` and `data` are the error's."""

    state: EndState
    env: str | None = None
    elapsed_s: float = 0.0
    code: str | None = None
    data: dict[str, Value] = {}
    message: str | None = None


Event = PlanEvent | StepEvent | LogEvent | EndEvent
