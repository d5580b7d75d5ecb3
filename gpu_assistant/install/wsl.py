"""WSL2 on Windows: the catalog's way to it, and Windows' own program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import AppError

if TYPE_CHECKING:
    from ..catalog.libraries import TensorFlowRoute
    from ..catalog.load import Catalog

WSL_PROGRAM = "wsl.exe"


def wsl_route(catalog: Catalog) -> TensorFlowRoute | None:
    """The way through WSL2, where the catalog says how it is set up in both halves."""
    route = catalog.tensorflow.find_route("windows", "wsl2")
    return route if route is not None and route.system_words and route.user_words else None


def find_wsl(folder: Path | None) -> Path:
    """In Windows' own folder, where only administrators write; raises AppError("wsl-missing")."""
    path = folder / WSL_PROGRAM if folder is not None else None
    if path is None or not path.is_file():
        raise AppError("wsl-missing")
    return path
