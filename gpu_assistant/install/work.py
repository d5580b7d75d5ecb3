"""What the steps of one install share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from ..core.jobs import Job
from ..core.json import storage_error
from ..core.names import MirrorUse, Value
from ..core.paths import DataDir
from ..core.plan import Plan, Step
from ..core.recommendation import PyTorchChoice
from ..core.results import Checks
from ..fetch.limits import Limits
from ..fetch.pace import Pace
from ..system.base import System
from .effects import Effect, FolderMade, TreeMade
from .fetching import Getting
from .journal import Journal
from .ledger import standing
from .lock import Lock
from .removal import making
from .reporter import Reporter
from .uv import Uv

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from .bundle.shelf import Shelf


class Verifier(Protocol):
    """Makes the job that proves an environment."""

    def __call__(self, environment: Path, system: System) -> Job[Checks]:
        """The job for one environment."""
        ...


class Outcome(Struct, frozen=True, kw_only=True):
    """How a step ended; `code` says it in a text. With `restart` the computer must be restarted before the next one:
    the run ends there, and after the restart the step's `done` is asked again.
    """

    code: str | None = None
    data: dict[str, Value] = {}
    restart: bool = False


class Work(Getting):
    """One install under way.

    Steps fill in `interpreter`, `lock`, `files` (one for each locked package, in its order), `forget_lock` (so
    that the next run asks the sources again), `standing` (the environment was there already, made from the same
    lock, and is whole), `damaged` (what of one that stands is not), `built` (it is built of that lock and only lacks
    its proof and its name) and `making`, the number of the effect that is there when the environment has its name.
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
        mirrors: MirrorUse = "when-slow",
        pace: Pace | None = None,
        shelf: Shelf | None = None,
    ) -> None:
        super().__init__(
            system,
            data,
            catalog,
            reporter=reporter,
            cancel=cancel,
            limits=limits,
            mirrors=mirrors,
            pace=pace,
            shelf=shelf,
        )
        self.plan = plan
        self.journal = journal
        self.verifier = verifier
        self.environment = Path(plan.env)
        self.uv = Uv(system, data, cancel=cancel, log=reporter.log)
        self.standing = self.built = False
        self.damaged: tuple[str, ...] = ()
        self.forget_lock: Callable[[], None] = lambda: None
        self.making = 0
        self._interpreter: Path | None = None
        self._lock: Lock | None = None
        self.files: tuple[Path, ...] = ()

    def effect(self, step: Step, effect: Effect) -> AbstractContextManager[None]:
        """What a step does to the world is done inside of this: the journal says so before and after it."""
        return self.journal.effect(step.kind, effect, step.id)

    def folder(self, step: Step, folder: Path) -> None:
        """Make a folder and what lacks above it; raises AppError."""
        lacking = [place for place in (folder, *folder.parents) if not place.exists()]
        for place in reversed(lacking):
            with self.effect(step, FolderMade(path=str(place))):
                try:
                    place.mkdir(exist_ok=True)
                except OSError as error:
                    raise storage_error(error, place) from error

    def tree(self, step: Step, folder: Path) -> AbstractContextManager[None]:
        """A folder that is going to appear whole: its partial is made and named inside of this."""
        return self.effect(step, self.tree_made(folder))

    def tree_made(self, folder: Path) -> TreeMade:
        """The effect of a folder that is going to appear whole; a killed run may have begun it, or it is made anew."""
        trees = (each.effect for each in standing(self.data) if isinstance(each.effect, TreeMade))
        earlier = next((made for made in trees if made.path == str(folder)), None)
        stood = earlier.stood if earlier is not None else folder.is_dir()
        return TreeMade(path=str(folder), stood=stood)

    @property
    def partial(self) -> Path:
        """Where the environment is until it has its name."""
        return making(self.environment)

    @property
    def torch(self) -> PyTorchChoice | None:
        """The PyTorch build of the plan; None where it has only TensorFlow."""
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
