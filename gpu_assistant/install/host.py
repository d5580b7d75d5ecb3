"""The computer that is installed to, as every floor above sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..core.paths import DataDir
from ..system.base import System

if TYPE_CHECKING:
    from ..catalog.store import Catalog


class Host(NamedTuple):
    """The operating system and the data folder, in which effects are made, observed and reverted."""

    system: System
    data: DataDir


class PreviewContext(NamedTuple):
    """A host and the catalog: what a plan is previewed with, without running it."""

    system: System
    data: DataDir
    catalog: Catalog
