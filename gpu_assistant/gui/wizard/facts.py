"""What the wizard knows, and what can be done about trouble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from ...core.errors import AppError, UsageError
from ...core.machine import Machine
from ...core.message import Message, Value
from ...core.names import EnvironmentKind
from ...core.plan import EndEvent, Plan
from ...core.recommendation import Alternative, Channel, Choice, Goal, Recommendation
from ...core.results import Benchmark, Checks

if TYPE_CHECKING:
    from ...advise.options import Options, PartName
    from .option_notes import OptionNotes

InstallStage = Literal["idle", "running", "stopping", "done", "failed", "cancelled", "reboot-needed", "left-out"]
Remedy = Literal["retry", "offer", "folder", "back"]

# Another folder can lie on another disk, or belong to the user where this one does not.
FOLDER_ERROR_CODES = frozenset(
    {
        "disk-full",
        "disk-read-only",
        "disk-too-small",
        "folder-name-odd",
        "folder-of-ours",
        "folder-of-system",
        "folder-shared",
        "folder-synced",
        "folder-too-long",
        "environment-differs",
        "environment-occupied",
        "environment-elsewhere",
        "folder-unwritable",
        "storage",
    }
)


class Failure(Struct, frozen=True, kw_only=True):
    """What went wrong, and which ways there are from here, the most promising first."""

    message: Message
    remedies: tuple[Remedy, ...]
    alternatives: tuple[Alternative, ...] = ()


class UndoState(Struct, frozen=True, kw_only=True):
    """What the user changed last, and what held before: `part` is what was picked by hand (None: an offer taken, or,
    where `wished`, another goal or kind of driver, or earlier picks taken up again, or, where `let_go`, all picks
    dropped), `recommendation` the last one that worked out, `by_hand` whether versions were being chosen.
    """

    part: str | None
    choice: Choice | None
    recommendation: Recommendation | None
    goal: Goal
    channel: Channel
    environment: str | None
    is_goal_change: bool = False
    is_reset: bool = False
    customizing: bool = False


class WizardState(Struct, frozen=True, kw_only=True):
    """What the wizard knows. `environment` is the folder picked by hand; `settled` is an environment that already is
    what was recommended; `continued` an install that was begun before, so that its time is not known. `by_hand` tells
    that the user chooses versions, `dropped` the picks that were let go last; `options` are what there is to choose,
    `notes` what is worth knowing of them. `turn` is the last change of versions, `fell` the picks (part and value)
    that did not go with it. `obstacle` is why a recommendation has no plan, or why its folder will not do.
    `left_out` are the steps that a refused question for rights left undone.
    `bundle` is the folder that everything comes from, where no internet is used. `made_by` is what shall make the
    environment.
    """

    machine: Machine | None = None
    goal: Goal = "pytorch"
    channel: Channel = "studio"
    customizing: bool = False
    choice: Choice | None = None
    previous_choice: Choice | None = None
    environment: str | None = None
    bundle: str | None = None
    environment_kind: EnvironmentKind = "venv"
    recommendation: Recommendation | None = None
    plan: Plan | None = None
    blocking_error: AppError | None = None
    options: Options | None = None
    option_notes: OptionNotes | None = None
    undo_state: UndoState | None = None
    dropped_choices: tuple[tuple[PartName, str], ...] = ()
    already_installed: bool = False
    stage: InstallStage = "idle"
    end_event: EndEvent | None = None
    skipped_steps: tuple[str, ...] = ()
    failure: Failure | None = None
    resumed: bool = False
    checks: Checks | None = None
    benchmark: Benchmark | None = None


def failure_from_error(error: AppError) -> Failure:
    """The ways out of an error: an offered release, another folder, once more, back."""
    remedies: list[Remedy] = []
    if error.alternatives:
        remedies.append("offer")
    if error.code in FOLDER_ERROR_CODES:
        remedies.append("folder")
    # A call that is wrong stays wrong however often it is made.
    if not isinstance(error, UsageError):
        remedies.append("retry")
    remedies.append("back")
    return Failure(message=error.message, remedies=tuple(remedies), alternatives=error.alternatives)


def apply_choice_change(choice: Choice | None, change: dict[str, Value]) -> Choice:
    """The choice after an offered change; raises ValueError on a field that a choice does not have."""
    unknown = set(change) - set(Choice.__struct_fields__)
    if unknown:
        raise ValueError(f"an offer changes what no choice has: {sorted(unknown)}")
    return replace(choice or Choice(), **change)
