"""What the wizard knows, immutable: `WizardFlow` replaces it on every change, pages read it."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from ...core.errors import AppError
from ...core.machine import Machine
from ...core.plan import EndEvent, Plan
from ...core.recommendation import Choice, Recommendation, SourceAnswer
from ...core.results import Benchmark, Checks
from ...core.types import Channel, EnvironmentKind, Goal, Value
from .failure import Failure

if TYPE_CHECKING:
    from ...advise.options import Options, PartName


InstallStage = Literal["idle", "running", "stopping", "done", "failed", "cancelled", "reboot-needed", "steps-skipped"]


class UndoState(Struct, frozen=True, kw_only=True):
    """The user's last change of versions or options, and what it replaced: `choice`, `goal`, `channel`,
    `environment` and `customizing` are the old values, `recommendation` the last one that was computed.
    """

    part: str | None  # whose version was chosen; None: an alternative, another option, or all choices
    choice: Choice | None
    recommendation: Recommendation | None
    goal: Goal
    channel: Channel
    environment: str | None
    is_goal_change: bool = False  # another goal or kind of driver, or earlier choices restored
    is_reset: bool = False  # all choices dropped
    customizing: bool = False


SmallerChoiceCode = Literal["no-tensorflow", "no-toolkit", "pytorch-only", "recommended"]


class SmallerChoice(Struct, frozen=True, kw_only=True):
    """Goal and choice that need less disk space than the user's own: `needed_bytes`, downloads included. `fits`: the
    disk has them free. `code` says what is left out.
    """

    code: SmallerChoiceCode
    goal: Goal
    choice: Choice | None
    needed_bytes: int
    fits: bool


PartVersion = tuple[str, str]  # a part's name and a value of it


class Release(Struct, frozen=True, kw_only=True):
    """A version's release date, as the publisher writes it, year first, and for a driver its kinds."""

    date: str | None = None
    channels: tuple[Channel, ...] = ()


class OptionNotes(Struct, frozen=True, kw_only=True):
    """What is known of the options besides the versions themselves."""

    releases: dict[PartVersion, Release] = {}
    excluded_by_choices: frozenset[PartVersion] = frozenset()  # refused only because of other chosen parts
    chosen_parts: frozenset[PartName] = frozenset()
    installed_driver: str | None = None


class WizardState(Struct, frozen=True, kw_only=True):
    """Options of the user, what was computed from them, and how far the install is."""

    machine: Machine | None = None
    # Options
    goal: Goal = "pytorch"
    channel: Channel = "studio"
    customizing: bool = False  # the user chooses versions
    choice: Choice | None = None
    previous_choice: Choice | None = None  # what the last reset dropped
    environment: str | None = None  # the folder, where the user chose one
    bundle: str | None = None  # the offline folder that all files come from
    environment_kind: EnvironmentKind = "venv"
    # What the sources answered when they were asked: of PyTorch's builds, and by address of the publishers' files
    sources: tuple[SourceAnswer, ...] = ()
    checked_files: dict[str, bool | None] = {}
    # Recommendation
    recommendation: Recommendation | None = None
    plan: Plan | None = None
    blocking_error: AppError | None = None  # why there is no plan, or why its folder cannot be used
    smaller_choice: SmallerChoice | None = None  # where the disk is too small for the user's own
    options: Options | None = None
    option_notes: OptionNotes | None = None
    undo_state: UndoState | None = None
    dropped_choices: tuple[tuple[PartName, str], ...] = ()  # choices that the new options excluded
    already_installed: bool = False  # an environment has exactly this PyTorch
    # Install
    stage: InstallStage = "idle"
    end_event: EndEvent | None = None
    skipped_steps: tuple[str, ...] = ()  # ids of the steps that were left out without administrator rights
    failure: Failure | None = None
    resumed: bool = False  # the install was begun earlier: its duration is unknown
    # Verification and benchmark
    checks: Checks | None = None
    benchmark: Benchmark | None = None


def apply_choice_change(choice: Choice | None, change: dict[str, Value]) -> Choice:
    """The choice with the fields of `change` replaced; raises ValueError for a field that a choice does not have."""
    unknown = set(change) - set(Choice.__struct_fields__)
    if unknown:
        raise ValueError(f"not a field of a choice: {sorted(unknown)}")
    return replace(choice or Choice(), **change)


def folder_of_goal(folder: str | None, old_goal: Goal, goal: Goal) -> str | None:
    """A chosen folder that is named after its goal, for another goal: beside it, so on the same disk."""
    if folder is None or PurePath(folder).name != old_goal:
        return folder
    return str(PurePath(folder).with_name(goal))


def is_usable(checks: Checks, recommendation: Recommendation | None) -> bool:
    """Whether PyTorch works, though a part that it does not need may have failed."""
    from ...verify.job import first_failure  # loaded by now: it ran the checks

    return first_failure(checks, recommendation) is None
