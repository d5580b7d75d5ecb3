"""Where effects are made and looked at: the system and the data folder."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from ..core.paths import DataDir
from ..system.base import System
from .progress import ProgressReporter

if TYPE_CHECKING:
    from ..catalog.store import Catalog


class ValidationContext(NamedTuple):
    """What a plan is checked against."""

    system: System
    data: DataDir
    catalog: Catalog


class Host:
    """What looking at an effect and taking it back need; an install's `Work` is one, too."""

    def __init__(self, system: System, data: DataDir, *, reporter: ProgressReporter, cancel: threading.Event) -> None:
        self.system = system
        self.data = data
        self.reporter = reporter
        self.cancel = cancel
