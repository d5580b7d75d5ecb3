"""The driver's part of a recommendation: keep, update, go back or install, never past what the card still gets."""

from __future__ import annotations

from typing import Literal

from ..catalog.versions import numbers
from ..core.recommendation import DriverAdvice
from .drivers import DriverState, Floor, higher


def driver_advice(state: DriverState | None, floor: Floor | None) -> DriverAdvice:
    """What to do about the driver for a build that needs `floor` (None: the build needs no driver).

    `recommended` is the newest one known for the card, or the present one where that is newer; None where no
    driver is known for this kind of card. `url` is the package itself where it is known. A driver whose version
    says nothing is kept: whether it must be changed is not known, and a caution says so. One that no longer supports
    the card is taken back to the newest that does.
    """
    if state is None or floor is None:
        return DriverAdvice(action="none", installed=state.installed if state is not None else None)
    floor = higher(floor, state.first)
    newest, package = state.newest, state.package
    if state.picked is not None:
        return _picked(state, state.picked, floor)
    action = _action(state, floor)
    ahead = action == "keep" and state.version is not None and (newest is None or state.version >= newest)
    offered = None if ahead else package
    last = state.generation.first_without.get(state.system) if state.generation is not None else None
    return DriverAdvice(
        action=action,
        installed=state.installed,
        minimum=floor.text,
        recommended=state.installed if ahead else (package.version if package is not None else None),
        channel=offered.channel if offered is not None else None,
        url=offered.url if offered is not None else None,
        below=last if action != "keep" else None,
    )


def _picked(state: DriverState, picked: str, floor: Floor) -> DriverAdvice:
    """The driver that the user picked, which may be the one that is there."""
    here = numbers(state.installed)
    action: Literal["keep", "update", "back", "install"] = "install" if state.installed is None else "update"
    if here is not None and state.version is not None:
        action = "keep" if here == state.version else "back" if state.version < here else "update"
    return DriverAdvice(
        action=action,
        installed=state.installed,
        minimum=floor.text,
        recommended=picked,
        channel=state.package.channel if state.package is not None else None,
        url=state.package.url if state.package is not None else None,
    )


def _action(state: DriverState, floor: Floor) -> Literal["keep", "update", "back", "install"]:
    if state.installed is None:
        return "install"
    if state.refused is not None:
        return "back"
    return "keep" if state.version is None or state.version >= floor.version else "update"
