"""How far the advised driver reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...catalog.versions import parse_version
from ...core.recommendation import DriverAdvice

if TYPE_CHECKING:
    from ...catalog.load import Catalog


def max_cuda_of_driver(catalog: Catalog, driver: DriverAdvice) -> str | None:
    """The highest CUDA that a driver which is to be installed runs; None where none is, or nobody knows."""
    from ...advise.drivers import native_cuda

    if not driver.needs_install or driver.recommended is None:
        return None
    cuda = native_cuda(catalog, parse_version(driver.recommended))
    return f"{cuda[0]}.{cuda[1]}" if cuda is not None else None
