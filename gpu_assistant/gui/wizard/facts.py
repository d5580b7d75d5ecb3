"""What the wizard knows, and what can be done about trouble."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from ...core.errors import AppError, CallError
from ...core.machine import Machine
from ...core.message import Message, Value
from ...core.names import EnvironmentKind
from ...core.plan import EndEvent, Plan
from ...core.recommendation import Alternative, Channel, Choice, Goal, Recommendation
from ...core.results import Benchmark, Checks

if TYPE_CHECKING:
    from ...advise.options import Options, PartName
    from .option_notes import OptionNotes

Stage = Literal["idle", "running", "stopping", "done", "failed", "cancelled", "reboot-needed", "left-out"]
Way = Literal["retry", "offer", "folder", "back"]

# Another folder can lie on another disk, or belong to the user where this one does not.
FOLDER_CODES = frozenset(
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


class Trouble(Struct, frozen=True, kw_only=True):
    """What went wrong, and which ways there are from here, the most promising first."""

    message: Message
    ways: tuple[Way, ...]
    offers: tuple[Alternative, ...] = ()


class Turn(Struct, frozen=True, kw_only=True):
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
    wished: bool = False
    let_go: bool = False
    by_hand: bool = False


class Facts(Struct, frozen=True, kw_only=True):
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
    by_hand: bool = False
    choice: Choice | None = None
    dropped: Choice | None = None
    environment: str | None = None
    bundle: str | None = None
    made_by: EnvironmentKind = "venv"
    recommendation: Recommendation | None = None
    plan: Plan | None = None
    obstacle: AppError | None = None
    options: Options | None = None
    notes: OptionNotes | None = None
    turn: Turn | None = None
    fell: tuple[tuple[PartName, str], ...] = ()
    settled: bool = False
    stage: Stage = "idle"
    end: EndEvent | None = None
    left_out: tuple[str, ...] = ()
    trouble: Trouble | None = None
    continued: bool = False
    checks: Checks | None = None
    benchmark: Benchmark | None = None


def trouble(error: AppError) -> Trouble:
    """The ways out of an error: an offered release, another folder, once more, back."""
    ways: list[Way] = []
    if error.offers:
        ways.append("offer")
    if error.code in FOLDER_CODES:
        ways.append("folder")
    # A call that is wrong stays wrong however often it is made.
    if not isinstance(error, CallError):
        ways.append("retry")
    ways.append("back")
    return Trouble(message=error.message, ways=tuple(ways), offers=error.offers)


def apply(choice: Choice | None, change: dict[str, Value]) -> Choice:
    """The choice after an offered change; raises ValueError on a field that a choice does not have."""
    unknown = set(change) - set(Choice.__struct_fields__)
    if unknown:
        raise ValueError(f"an offer changes what no choice has: {sorted(unknown)}")
    return replace(choice or Choice(), **change)
