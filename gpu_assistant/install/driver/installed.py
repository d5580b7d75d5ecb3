"""Which NVIDIA driver is here just now, and whether it is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...catalog.versions import parse_version

if TYPE_CHECKING:
    from ...system.base import System


def installed_driver(system: System) -> str | None:
    """The version of the driver that answers, or of the one that sleeps; None where there is none."""
    sleeping = system.sleeping_driver()
    if sleeping is not None:
        return sleeping.version
    from ...system.nvml import NvmlMonitor

    with NvmlMonitor(system) as nvml:
        snapshot = nvml.snapshot()
    return snapshot.driver.version if snapshot is not None else None


def is_sufficient(installed_version: str | None, required: str) -> bool:
    """Whether the driver that is here is the wanted one or newer."""
    installed_numbers, required_numbers = parse_version(installed_version), parse_version(required)
    return installed_numbers is not None and required_numbers is not None and installed_numbers >= required_numbers
