"""WSL2's parts of Windows, switched on by Windows' own program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.errors import AppError
from ..wsl import find_wsl, wsl_route
from .requests import HelperAnswer

if TYPE_CHECKING:
    from ...catalog.load import Catalog
    from ...system.base import System
    from ...system.rights import ElevatedSystem

WSL_TIMEOUT_S = 3600.0
WSL_LOG_LINES = 40
# Else it writes UTF-16 into pipes.
WSL_ENVIRONMENT = {"WSL_UTF8": "1"}


def enable_wsl(system: System, rights: ElevatedSystem, catalog: Catalog) -> HelperAnswer:
    """Run it with the catalog's words; raises AppError("door-request", "wsl-missing")."""
    route = wsl_route(catalog)
    if route is None:
        raise AppError("door-request", detail="wsl-platform")
    path = find_wsl(rights.system_programs_folder())
    finished = system.run([path, *route.system_words], timeout=WSL_TIMEOUT_S, environ=WSL_ENVIRONMENT, cwd=path.parent)
    lines = tuple((finished.stdout + finished.stderr).replace("\0", "").splitlines())
    return HelperAnswer(exit_code=finished.returncode, lines=lines[-WSL_LOG_LINES:])
