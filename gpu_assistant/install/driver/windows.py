"""NVIDIA's package for Windows, and Microsoft's runtime: what their exit codes mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.errors import AppError

if TYPE_CHECKING:
    from ...catalog.driver_ways import WindowsDriverInstall
    from ...catalog.libraries import VcRuntimePackage
    from ...catalog.load import Catalog
    from ...catalog.records import DriverPackage

EXIT_CODE_ERRORS = {"no-compatible-card": "driver-no-card", "wrong-package-kind": "driver-wrong-kind"}


def find_package(url: str | None, catalog: Catalog) -> DriverPackage | None:
    """The catalog's record of a package by its address; None where it is not one with a published hash."""
    return next(
        (
            package
            for package in catalog.drivers.packages
            if url is not None and package.url == url and package.system == "windows" and package.sha256 is not None
        ),
        None,
    )


def driver_needs_restart(status: int, version: str, facts: WindowsDriverInstall) -> bool:
    """Whether a driver that its installer put there wants a restart.

    Raises AppError("driver-no-card", "driver-wrong-kind", "driver-failed") for every other code.
    """
    meaning = next((exit_code.means for exit_code in facts.exit_codes if (exit_code.code, exit_code.of) == (status, "driver")), "failed")
    if meaning in ("done", "restart"):
        return meaning == "restart"
    raise AppError(EXIT_CODE_ERRORS.get(meaning, "driver-failed"), version=version, status=status)


def vc_redist_needs_restart(status: int, facts: VcRuntimePackage) -> bool:
    """Whether Microsoft's runtime wants a restart; raises AppError("vc-redist-failed")."""
    if status in facts.success_codes:
        return status in facts.restart_codes
    raise AppError("vc-redist-failed", status=status)
