"""How far the advised driver reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...catalog.versions import numbers
from ...core.recommendation import DriverAdvice

if TYPE_CHECKING:
    from ...catalog.load import Catalog


def reach(catalog: Catalog, driver: DriverAdvice) -> str | None:
    """The highest CUDA that a driver which is to be installed runs; None where none is, or nobody knows."""
    from ...advise.drivers import native_cuda

    if not driver.changes or driver.recommended is None:
        return None
    found = native_cuda(catalog, numbers(driver.recommended))
    return f"{found[0]}.{found[1]}" if found is not None else None
