"""NVIDIA's package for Windows, and Microsoft's runtime: what their exit codes mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.errors import AppError

if TYPE_CHECKING:
    from ...catalog.driver_ways import WindowsDriverInstall
    from ...catalog.libraries import VcPackage
    from ...catalog.load import Catalog
    from ...catalog.records import DriverPackage

ERRORS = {"no-compatible-card": "driver-no-card", "wrong-package-kind": "driver-wrong-kind"}


def package(url: str | None, catalog: Catalog) -> DriverPackage | None:
    """The catalog's record of a package by its address; None where it is not one with a published hash."""
    return next(
        (
            found
            for found in catalog.drivers.packages
            if url is not None and found.url == url and found.system == "windows" and found.sha256 is not None
        ),
        None,
    )


def driver_restart(code: int, version: str, facts: WindowsDriverInstall) -> bool:
    """Whether a driver that its installer put there wants a restart.

    Raises AppError("driver-no-card", "driver-wrong-kind", "driver-failed") for every other code.
    """
    means = next((exit_.means for exit_ in facts.exit_codes if (exit_.code, exit_.of) == (code, "driver")), "failed")
    if means in ("done", "restart"):
        return means == "restart"
    raise AppError(ERRORS.get(means, "driver-failed"), version=version, status=code)


def runtime_restart(code: int, facts: VcPackage) -> bool:
    """Whether Microsoft's runtime wants a restart; raises AppError("vc-redist-failed")."""
    if code in facts.success_codes:
        return code in facts.restart_codes
    raise AppError("vc-redist-failed", status=code)
