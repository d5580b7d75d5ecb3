"""What is worth knowing of a version that can be picked: when it came out, which kind it is, and what it goes with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from ...core.errors import UsageError
from ...core.machine import Machine
from ...core.recommendation import Channel, Choice, Goal

if TYPE_CHECKING:
    from ...advise.options import Options, PartName
    from ...app import App
    from ...catalog.load import Catalog

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
            if option.state == "refused" and has_other_choices and is_choice_possible(app, machine, single_choice, goal=goal, channel=channel):
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
        app.recommend(machine, goal=goal, channel=channel, choice=choice)
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
            packages = [package for package in catalog.drivers.packages if package.version == value and package.system == system]
            channels = dict.fromkeys(package.channel for package in packages if package.channel is not None)
            return Release(date=_first_date(package.date for package in packages), channels=tuple(channels))
        case "pytorch":
            return Release(date=_first_date(release.date for release in catalog.releases if release.version == value))
        case "cuda_toolkit":
            return Release(date=_first_date(toolkit.date for toolkit in catalog.cuda.toolkits if toolkit.version == value))
        case "cudnn":
            return Release(date=_first_date(release.date for release in catalog.cudnn.releases if release.version == value))
        case _:
            return Release()


def driver_channels(catalog: Catalog, machine: Machine, driver: str) -> tuple[Channel, ...]:
    """As which kinds a driver is published for this computer's system."""
    return _find_release(catalog, machine, "driver", driver).channels


def _first_date(dates: Iterable[str | None]) -> str | None:
    return next((date for date in dates if date is not None), None)
