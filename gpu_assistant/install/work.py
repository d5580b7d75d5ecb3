"""What the steps of one install share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from ..core.errors import AppError
from ..core.jobs import Job
from ..core.names import Value
from ..core.paths import DataDir
from ..core.plan import Plan
from ..core.recommendation import PyTorchChoice
from ..core.results import Checks
from ..fetch.limits import Limits
from ..system.base import System
from .journal import Journal
from .lock import Lock
from .removal import partial_path
from .reporter import Reporter
from .uv import Uv

if TYPE_CHECKING:
    from ..catalog.load import Catalog


class Verifier(Protocol):
    """Makes the job that proves an environment."""

    def __call__(self, environment: Path, system: System) -> Job[Checks]:
        """The job for one environment."""
        ...


class Outcome(Struct, frozen=True, kw_only=True):
    """How a step ended: `done`, or `skipped` because there was nothing to do; `code` says it in a text."""

    skipped: bool = False
    code: str | None = None
    data: dict[str, Value] = {}


class Work:
    """One install under way.

    Steps fill in `interpreter`, `lock`, `files` (one for each locked package, in its order), `forget_lock` (so
    that the next run asks the sources again) and `standing` (the environment was there already, made from the
    same lock).
    """

    def __init__(
        self,
        plan: Plan,
        system: System,
        data: DataDir,
        catalog: Catalog,
        *,
        reporter: Reporter,
        journal: Journal,
        cancel: threading.Event,
        verifier: Verifier,
        limits: Limits,
    ) -> None:
        self.plan = plan
        self.system = system
        self.data = data
        self.catalog = catalog
        self.reporter = reporter
        self.journal = journal
        self.cancel = cancel
        self.verifier = verifier
        self.limits = limits
        self.environment = Path(plan.env)
        self.partial = partial_path(self.environment)
        self.uv = Uv(system, data, cancel=cancel, log=reporter.log)
        self.standing = False
        self.forget_lock: Callable[[], None] = lambda: None
        self._interpreter: Path | None = None
        self._lock: Lock | None = None
        self.files: tuple[Path, ...] = ()

    @property
    def torch(self) -> PyTorchChoice:
        """The PyTorch build of the plan."""
        if self.plan.recommendation.pytorch is None:
            raise AppError("goal-not-yet", goal=self.plan.goal)
        return self.plan.recommendation.pytorch

    @property
    def python(self) -> str:
        """The Python series of the plan, like "3.11"."""
        return str(self.plan.recommendation.python)

    @property
    def interpreter(self) -> Path:
        """The Python that the environment is built on."""
        if self._interpreter is None:
            raise RuntimeError("python-runtime comes first")
        return self._interpreter

    @interpreter.setter
    def interpreter(self, path: Path) -> None:
        self._interpreter = path

    @property
    def lock(self) -> Lock:
        """What exactly is installed."""
        if self._lock is None:
            raise RuntimeError("resolve comes first")
        return self._lock

    @lock.setter
    def lock(self, lock: Lock) -> None:
        self._lock = lock
