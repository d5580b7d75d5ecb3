"""What the wizard knows, and what can be done about trouble.

What is worth knowing of a version that can be picked: when it came out, which kind it is, and what it goes with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from ...core.errors import AppError, UsageError
from ...core.machine import Machine
from ...core.plan import EndEvent, Plan
from ...core.recommendation import Alternative, Choice, Recommendation
from ...core.results import Benchmark, Checks
from ...core.message import Message
from ...core.types import Channel, EnvironmentKind, Goal, Value

if TYPE_CHECKING:
    from ...advise.options import Options, PartName
    from ...app import App
    from ...catalog.store import Catalog


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


PartVersion = tuple[str, str]
"""A part and its value."""


class Release(Struct, frozen=True, kw_only=True):
    """When a version came out (as the publisher writes it, year first), and as which kinds of driver."""

    date: str | None = None
    channels: tuple[Channel, ...] = ()


class OptionNotes(Struct, frozen=True, kw_only=True):
    """`releases` by part and value, where anything is known; `alone` are the values that are refused only because of
    what else was picked; `picked` are the parts that were; `driver` is the version of the driver that is there.
    """

    releases: dict[PartVersion, Release] = {}
    excluded_by_choices: frozenset[PartVersion] = frozenset()
    chosen_parts: frozenset[PartName] = frozenset()
    installed_driver: str | None = None


def build_option_notes(
    app: App, machine: Machine, options: Options, *, goal: Goal, channel: Channel, choice: Choice | None
) -> OptionNotes:
    """The notes on what there is to choose."""
    catalog = app.catalog
    releases: dict[PartVersion, Release] = {}
    excluded: set[PartVersion] = set()
    for part in options.parts:
        has_other_choices = _has_other_choices(choice, part.name)
        for option in part.options:
            release = _find_release(catalog, machine, part.name, option.value)
            if release != Release():
                releases[part.name, option.value] = release
            single_choice = Choice(**{part.name: option.value})
            if (
                option.state == "refused"
                and has_other_choices
                and is_choice_possible(app, machine, single_choice, goal=goal, channel=channel)
            ):
                excluded.add((part.name, option.value))
    return OptionNotes(
        releases=releases,
        excluded_by_choices=frozenset(excluded),
        chosen_parts=frozenset(part.name for part in options.parts if part.selected is not None),
        installed_driver=machine.driver.version if machine.driver is not None else None,
    )


def _has_other_choices(choice: Choice | None, name: PartName) -> bool:
    """Whether anything else is picked."""
    return choice is not None and any(getattr(choice, other) for other in choice.__struct_fields__ if other != name)


def is_choice_possible(app: App, machine: Machine, choice: Choice, *, goal: Goal, channel: Channel) -> bool:
    """Whether a choice can be carried out here."""
    try:
        app.setup.recommend(machine, goal=goal, channel=channel, choice=choice)
    except UsageError as error:
        if error.code != "choice-impossible":
            raise
        return False
    return True


def _find_release(catalog: Catalog, machine: Machine, name: PartName, value: str) -> Release:
    from ...advise.drivers import select_driver_system

    match name:
        case "driver":
            system = select_driver_system(machine)
            packages = [
                package for package in catalog.drivers.packages if package.version == value and package.system == system
            ]
            channels = dict.fromkeys(package.channel for package in packages if package.channel is not None)
            return Release(date=_first_date(package.date for package in packages), channels=tuple(channels))
        case "pytorch":
            return Release(date=_first_date(release.date for release in catalog.releases if release.version == value))
        case "cuda_toolkit":
            return Release(
                date=_first_date(toolkit.date for toolkit in catalog.cuda.toolkits if toolkit.version == value)
            )
        case "cudnn":
            return Release(
                date=_first_date(release.date for release in catalog.cudnn.releases if release.version == value)
            )
        case _:
            return Release()


def driver_channels(catalog: Catalog, machine: Machine, driver: str) -> tuple[Channel, ...]:
    """As which kinds a driver is published for this computer's system."""
    return _find_release(catalog, machine, "driver", driver).channels


def _first_date(dates: Iterable[str | None]) -> str | None:
    return next((date for date in dates if date is not None), None)
