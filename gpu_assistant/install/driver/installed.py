"""Which NVIDIA driver is here just now, and whether it is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...catalog.versions import numbers

if TYPE_CHECKING:
    from ...system.base import System


def installed(system: System) -> str | None:
    """The version of the driver that answers, or of the one that sleeps; None where there is none."""
    sleeping = system.sleeping_driver()
    if sleeping is not None:
        return sleeping.version
    from ...system.nvml import Nvml

    with Nvml(system) as nvml:
        found = nvml.snapshot()
    return found.driver.version if found is not None else None


def enough(here: str | None, wanted: str) -> bool:
    """Whether the driver that is here is the wanted one or newer."""
    now, then = numbers(here), numbers(wanted)
    return now is not None and then is not None and now >= then
