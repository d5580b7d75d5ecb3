"""The driver's part of a recommendation: keep, update, go back or install, never past what the card still gets."""

from __future__ import annotations

from typing import Literal

from ..catalog.versions import parse_version
from ..core.recommendation import DriverAdvice
from .drivers import DriverState, MinimumDriver, stricter_minimum


def advise_driver(state: DriverState | None, minimum: MinimumDriver | None) -> DriverAdvice:
    """What to do about the driver for a build that needs `floor` (None: the build needs no driver).

    `recommended` is the newest one known for the card, or the present one where that is newer; None where no
    driver is known for this kind of card. `url` is the package itself where it is known. A driver whose version
    says nothing is kept: whether it must be changed is not known, and a caution says so. One that no longer supports
    the card is taken back to the newest that does.
    """
    if state is None or minimum is None:
        return DriverAdvice(action="none", installed=state.installed if state is not None else None)
    minimum = stricter_minimum(minimum, state.first_driver)
    newest_version, package = state.newest_version, state.package
    if state.requested is not None:
        return _advise_requested_driver(state, state.requested, minimum)
    action = _driver_action(state, minimum)
    is_newest = action == "keep" and state.version is not None and (newest_version is None or state.version >= newest_version)
    package_to_offer = None if is_newest else package
    dropped_from = state.generation.first_without.get(state.system) if state.generation is not None else None
    return DriverAdvice(
        action=action,
        installed=state.installed,
        minimum=minimum.text,
        recommended=state.installed if is_newest else (package.version if package is not None else None),
        channel=package_to_offer.channel if package_to_offer is not None else None,
        url=package_to_offer.url if package_to_offer is not None else None,
        below=dropped_from if action != "keep" else None,
    )


def _advise_requested_driver(state: DriverState, requested: str, minimum: MinimumDriver) -> DriverAdvice:
    """The driver that the user picked, which may be the one that is there."""
    installed_version = parse_version(state.installed)
    action: Literal["keep", "update", "back", "install"] = "install" if state.installed is None else "update"
    if installed_version is not None and state.version is not None:
        action = "keep" if installed_version == state.version else "back" if state.version < installed_version else "update"
    return DriverAdvice(
        action=action,
        installed=state.installed,
        minimum=minimum.text,
        recommended=requested,
        channel=state.package.channel if state.package is not None else None,
        url=state.package.url if state.package is not None else None,
    )


def _driver_action(state: DriverState, minimum: MinimumDriver) -> Literal["keep", "update", "back", "install"]:
    if state.installed is None:
        return "install"
    if state.dropped_from is not None:
        return "back"
    return "keep" if state.version is None or state.version >= minimum.version else "update"
