"""Where effects are made and looked at: the system and the data folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..core.paths import DataDir
from ..system.base import System

if TYPE_CHECKING:
    from ..catalog.store import Catalog


class ValidationContext(NamedTuple):
    """What a plan is checked against."""

    system: System
    data: DataDir
    catalog: Catalog


class Host(NamedTuple):
    """The computer and the data folder in which effects are seen and reverted."""

    system: System
    data: DataDir
