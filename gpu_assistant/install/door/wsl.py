"""WSL2's parts of Windows, switched on by Windows' own program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.errors import AppError
from ..wsl import program, route_of
from .requests import Answer

if TYPE_CHECKING:
    from ...catalog.load import Catalog
    from ...system.base import System
    from ...system.rights import Rights

LONGEST_S = 3600.0
LAST_LINES = 40
# Else it writes UTF-16 into pipes.
PLAIN = {"WSL_UTF8": "1"}


def switch_on(system: System, rights: Rights, catalog: Catalog) -> Answer:
    """Run it with the catalog's words; raises AppError("door-request", "wsl-missing")."""
    route = route_of(catalog)
    if route is None:
        raise AppError("door-request", detail="wsl-platform")
    path = program(rights.system_folder())
    done = system.run([path, *route.system_words], timeout=LONGEST_S, environ=PLAIN, cwd=path.parent)
    lines = tuple((done.out + done.err).replace("\0", "").splitlines())
    return Answer(exit_code=done.code, lines=lines[-LAST_LINES:])
