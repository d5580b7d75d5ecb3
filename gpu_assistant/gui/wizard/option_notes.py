"""What is worth knowing of a version that can be picked: when it came out, which kind it is, and what it goes with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from ...core.errors import CallError
from ...core.machine import Machine
from ...core.recommendation import Channel, Choice, Goal

if TYPE_CHECKING:
    from ...advise.options import Options, PartName
    from ...app import App
    from ...catalog.load import Catalog

Version = tuple[str, str]
"""A part and its value."""


class Release(Struct, frozen=True, kw_only=True):
    """When a version came out (as the publisher writes it, year first), and as which kinds of driver."""

    date: str | None = None
    channels: tuple[Channel, ...] = ()


class OptionNotes(Struct, frozen=True, kw_only=True):
    """`releases` by part and value, where anything is known; `alone` are the values that are refused only because of
    what else was picked; `picked` are the parts that were; `driver` is the version of the driver that is there.
    """

    releases: dict[Version, Release] = {}
    alone: frozenset[Version] = frozenset()
    picked: frozenset[PartName] = frozenset()
    driver: str | None = None


def notes(
    app: App, machine: Machine, options: Options, *, goal: Goal, channel: Channel, choice: Choice | None
) -> OptionNotes:
    """The notes on what there is to choose."""
    catalog = app.catalog
    releases: dict[Version, Release] = {}
    alone: set[Version] = set()
    for part in options.parts:
        others = _without(choice, part.name)
        for option in part.offered:
            found = _release(catalog, machine, part.name, option.value)
            if found != Release():
                releases[part.name, option.value] = found
            wish = Choice(**{part.name: option.value})
            if option.state == "refused" and others and works(app, machine, wish, goal=goal, channel=channel):
                alone.add((part.name, option.value))
    return OptionNotes(
        releases=releases,
        alone=frozenset(alone),
        picked=frozenset(part.name for part in options.parts if part.picked is not None),
        driver=machine.driver.version if machine.driver is not None else None,
    )


def _without(choice: Choice | None, name: PartName) -> bool:
    """Whether anything else is picked."""
    return choice is not None and any(getattr(choice, field) for field in choice.__struct_fields__ if field != name)


def works(app: App, machine: Machine, wish: Choice, *, goal: Goal, channel: Channel) -> bool:
    """Whether a choice can be carried out here."""
    try:
        app.recommend(machine, goal=goal, channel=channel, choice=wish)
    except CallError as error:
        if error.code != "choice-impossible":
            raise
        return False
    return True


def _release(catalog: Catalog, machine: Machine, name: PartName, value: str) -> Release:
    from ...advise.drivers import driver_system

    match name:
        case "driver":
            system = driver_system(machine)
            known = [p for p in catalog.drivers.packages if p.version == value and p.system == system]
            channels = dict.fromkeys(p.channel for p in known if p.channel is not None)
            return Release(date=_first(p.date for p in known), channels=tuple(channels))
        case "pytorch":
            return Release(date=_first(r.date for r in catalog.releases if r.version == value))
        case "cuda_toolkit":
            return Release(date=_first(t.date for t in catalog.cuda.toolkits if t.version == value))
        case "cudnn":
            return Release(date=_first(r.date for r in catalog.cudnn.releases if r.version == value))
        case _:
            return Release()


def kinds_of(catalog: Catalog, machine: Machine, driver: str) -> tuple[Channel, ...]:
    """As which kinds a driver is published for this computer's system."""
    return _release(catalog, machine, "driver", driver).channels


def _first(dates: Iterable[str | None]) -> str | None:
    return next((date for date in dates if date is not None), None)
