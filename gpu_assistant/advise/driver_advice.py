"""The driver's part of a recommendation: keep, update or install, never past what the card still gets."""

from __future__ import annotations

from typing import Literal

from ..core.recommendation import DriverAdvice
from .drivers import DriverState, Floor


def driver_advice(state: DriverState | None, floor: Floor | None) -> DriverAdvice:
    """What to do about the driver for a build that needs `floor` (None: the build needs no driver).

    `recommended` is the newest one known for the card, or the present one where that is newer; None where no
    driver is known for this kind of card. `url` is the package itself where it is known. A driver whose version
    says nothing is kept: whether it must be changed is not known, and a caution says so.
    """
    if state is None or floor is None:
        return DriverAdvice(action="none", installed=state.installed if state is not None else None)
    newest, package = state.newest, state.package
    action = _action(state, floor)
    ahead = action == "keep" and state.version is not None and (newest is None or state.version >= newest)
    offered = None if ahead else package
    return DriverAdvice(
        action=action,
        installed=state.installed,
        minimum=floor.text,
        recommended=state.installed if ahead else (package.version if package is not None else None),
        channel=offered.channel if offered is not None else None,
        url=offered.url if offered is not None else None,
    )


def _action(state: DriverState, floor: Floor) -> Literal["keep", "update", "install"]:
    if state.installed is None:
        return "install"
    return "keep" if state.version is None or state.version >= floor.version else "update"
