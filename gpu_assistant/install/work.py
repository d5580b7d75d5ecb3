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
from .effects import Effect, FolderCreated, TreeCreated
from .fetching import DownloadContext
from .journal import Journal
from .ledger import active_effects
from .lock import Lockfile
from .removal import staging_path
from .reporter import ProgressReporter
from .uv import Uv

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from .bundle.shelf import BundleSource


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


class InstallContext(DownloadContext):
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
        reporter: ProgressReporter,
        journal: Journal,
        cancel: threading.Event,
        verifier: Verifier,
        limits: Limits,
        mirrors: MirrorUse = "when-slow",
        rate_limiter: Pace | None = None,
        bundle: BundleSource | None = None,
    ) -> None:
        super().__init__(
            system,
            data,
            catalog,
            reporter=reporter,
            cancel=cancel,
            limits=limits,
            mirrors=mirrors,
            rate_limiter=rate_limiter,
            bundle=bundle,
        )
        self.plan = plan
        self.journal = journal
        self.verifier = verifier
        self.environment = Path(plan.env)
        self.uv = Uv(system, data, cancel=cancel, log=reporter.log)
        self.is_installed = self.awaits_verification = False
        self.damaged_files: tuple[str, ...] = ()
        self.discard_lockfile: Callable[[], None] = lambda: None
        self.environment_effect = 0
        self._interpreter: Path | None = None
        self._lockfile: Lockfile | None = None
        self.wheel_paths: tuple[Path, ...] = ()

    def record_effect(self, step: Step, effect: Effect) -> AbstractContextManager[None]:
        """What a step does to the world is done inside of this: the journal says so before and after it."""
        return self.journal.effect(step.kind, effect, step.id)

    def make_folder(self, step: Step, folder: Path) -> None:
        """Make a folder and what lacks above it; raises AppError."""
        missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
        for parent in reversed(missing):
            with self.record_effect(step, FolderCreated(path=str(parent))):
                try:
                    parent.mkdir(exist_ok=True)
                except OSError as error:
                    raise storage_error(error, parent) from error

    def record_tree(self, step: Step, folder: Path) -> AbstractContextManager[None]:
        """A folder that is going to appear whole: its partial is made and named inside of this."""
        return self.record_effect(step, self.tree_effect(folder))

    def tree_effect(self, folder: Path) -> TreeCreated:
        """The effect of a folder that is going to appear whole; a killed run may have begun it, or it is made anew."""
        trees = (active.effect for active in active_effects(self.data) if isinstance(active.effect, TreeCreated))
        earlier = next((tree for tree in trees if tree.path == str(folder)), None)
        existed = earlier.stood if earlier is not None else folder.is_dir()
        return TreeCreated(path=str(folder), stood=existed)

    @property
    def staging_path(self) -> Path:
        """Where the environment is until it has its name."""
        return staging_path(self.environment)

    @property
    def pytorch_choice(self) -> PyTorchChoice | None:
        """The PyTorch build of the plan; None where it has only TensorFlow."""
        return self.plan.recommendation.pytorch

    @property
    def python_series(self) -> str:
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
    def lockfile(self) -> Lockfile:
        """What exactly is installed."""
        if self._lockfile is None:
            raise RuntimeError("resolve comes first")
        return self._lockfile

    @lockfile.setter
    def lockfile(self, lock: Lockfile) -> None:
        self._lockfile = lock
