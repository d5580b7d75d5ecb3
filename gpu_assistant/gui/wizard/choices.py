"""Which versions the user can choose, and which choices survive another goal or another kind of driver.

All functions ask `app.setup.recommend`, some of them many times: they run on a job's thread (jobs.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ...core.errors import UsageError
from ...core.machine import Machine
from ...core.recommendation import Choice
from ...core.types import Channel, Goal
from .state import OptionNotes, PartVersion, Release, SmallerChoiceCode, UndoState, WizardState

if TYPE_CHECKING:
    from ...advise.options import Options, PartName
    from ...app import App
    from ...catalog.store import Catalog


# The most important part first: of two choices that exclude each other, the first one stays.
CHOICE_PRIORITY: tuple[PartName, ...] = (
    *("driver", "pytorch", "variant", "python", "tensorflow"),
    *("cuda_toolkit", "cudnn", "toolkit_way"),
)
COMPILER_GOALS = frozenset({"cuda-dev", "all"})


def retained_choice(app: App, machine: Machine, state: WizardState) -> Choice | None:
    """The choices that go with the current goal and kind of driver; None if none is left. All of them, unless goal or
    kind of driver is what changed last.
    """
    choice, undo_state = state.choice, state.undo_state
    if choice is None or undo_state is None or not undo_state.is_goal_change:
        return choice
    retained = _without_conflicts(app, machine, choice, state, undo_state)
    if not is_choice_possible(app, machine, retained, goal=state.goal, channel=state.channel):
        # The way has no list of versions, and means nothing to the goals without one.
        candidate, retained = retained, Choice(way=retained.way)
        for name in (*CHOICE_PRIORITY, "wsl"):
            extended = replace(retained, **{name: getattr(candidate, name)})
            if extended != retained and is_choice_possible(
                app, machine, extended, goal=state.goal, channel=state.channel
            ):
                retained = extended
    return _choice_or_none(retained)


def dropped_choices(choice: Choice | None, retained: Choice | None) -> tuple[tuple[PartName, str], ...]:
    """The chosen parts and values that are not in `retained`."""
    previous, current = choice or Choice(), retained or Choice()
    choices = ((name, getattr(previous, name)) for name in CHOICE_PRIORITY)
    return tuple((name, value) for name, value in choices if value is not None and getattr(current, name) is None)


def smaller_choices(
    goal: Goal, choice: Choice | None, *, has_toolkit: bool
) -> Iterator[tuple[SmallerChoiceCode, Goal, Choice | None]]:
    """Goals and choices with a part less, the nearest to the user's own first. `has_toolkit`: a CUDA Toolkit is to be
    installed.
    """
    own = choice or Choice()
    without_tensorflow = replace(own, tensorflow=None)
    without_toolkit = replace(own, cuda_toolkit=None, cudnn=None, toolkit_way=None)
    if goal == "all" and has_toolkit:
        yield "no-tensorflow", "cuda-dev", _choice_or_none(without_tensorflow)
        yield "no-toolkit", goal, replace(without_toolkit, cuda_toolkit="none", cudnn="none")
    elif goal in ("pytorch", "tensorflow") and without_toolkit != own:
        yield "no-toolkit", goal, _choice_or_none(without_toolkit)
    if goal in COMPILER_GOALS:
        yield "pytorch-only", "pytorch", _choice_or_none(replace(without_toolkit, tensorflow=None))
    elif own != Choice():
        yield "recommended", goal, None


def _choice_or_none(choice: Choice) -> Choice | None:
    return choice if choice != Choice() else None


def _without_conflicts(app: App, machine: Machine, choice: Choice, state: WizardState, undo_state: UndoState) -> Choice:
    """Without the choices that contradict the new goal or kind of driver; a driver may be of both kinds."""
    dropped_parts: set[str] = set()
    driver_version = choice.driver if choice.driver != "keep" else None
    if (
        state.channel != undo_state.channel
        and driver_version
        and state.channel not in driver_channels(app.catalog, machine, driver_version)
    ):
        dropped_parts.add("driver")
    if state.goal != undo_state.goal:
        if state.goal == "tensorflow":
            dropped_parts |= {"pytorch", "variant"}
        elif state.goal != "all":
            dropped_parts.add("tensorflow")
        if state.goal in COMPILER_GOALS:
            # Compiling needs them.
            dropped_parts |= {name for name in ("cuda_toolkit", "cudnn") if getattr(choice, name) == "none"}
    return replace(choice, **dict.fromkeys(dropped_parts))


def build_option_notes(
    app: App, machine: Machine, options: Options, *, goal: Goal, channel: Channel, choice: Choice | None
) -> OptionNotes:
    """What is worth knowing of each option."""
    catalog = app.catalog
    releases: dict[PartVersion, Release] = {}
    excluded: set[PartVersion] = set()
    for part in options.parts:
        has_other_choices = _has_other_choices(choice, part.name)
        for option in part.options:
            release = _find_release(catalog, machine, part.name, option.value)
            if release != Release():
                releases[part.name, option.value] = release
            single_choice = replace(Choice(), **{part.name: option.value})
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
    return choice is not None and any(getattr(choice, other) for other in choice.__struct_fields__ if other != name)


def is_choice_possible(app: App, machine: Machine, choice: Choice, *, goal: Goal, channel: Channel) -> bool:
    """Whether there is a recommendation with this choice."""
    try:
        app.setup.recommend(machine, goal=goal, channel=channel, choice=choice)
    except UsageError as error:
        if error.code != "choice-impossible":
            raise
        return False
    return True


def _find_release(catalog: Catalog, machine: Machine, name: PartName, value: str) -> Release:
    # Imported on the job's thread, which does not delay the window.
    from ...advise.drivers import select_driver_system

    match name:
        case "driver":
            system = select_driver_system(machine)
            packages = [
                package
                for package in catalog.drivers.packages
                if package.version.text == value and package.system == system
            ]
            channels = dict.fromkeys(package.channel for package in packages if package.channel is not None)
            return Release(date=_first_date(package.date for package in packages), channels=tuple(channels))
        case "pytorch":
            return Release(
                date=_first_date(release.date for release in catalog.releases if release.version.text == value)
            )
        case "cuda_toolkit":
            return Release(
                date=_first_date(toolkit.date for toolkit in catalog.cuda.toolkits if toolkit.version.text == value)
            )
        case "cudnn":
            return Release(
                date=_first_date(release.date for release in catalog.cudnn.releases if release.version.text == value)
            )
        case _:
            return Release()


def driver_channels(catalog: Catalog, machine: Machine, driver: str) -> tuple[Channel, ...]:
    """The kinds as which a driver version is published for this machine's system."""
    return _find_release(catalog, machine, "driver", driver).channels


def _first_date(dates: Iterable[str | None]) -> str | None:
    return next((date for date in dates if date is not None), None)
