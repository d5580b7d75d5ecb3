"""The mirrors of every publisher's file, by the catalog. What the bytes must come to never comes from a mirror.

Fetching for a step: the files' places, with progress told.

What the steps of one install share.

Unpacking for a step: the files of one archive, with progress told.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from msgspec import Struct, structs

from ...core.jobs import Job
from ...core.json import storage_error
from ...core.paths import DataDir
from ...core.plan import Plan, Step
from ...core.recommendation import PyTorchChoice
from ...core.results import Checks
from ...core.types import MirrorUse, Value
from ...fetch.rate import RateLimiter
from ...fetch.request import DownloadRequest, Limits
from ...fetch.sources import Mirror, mirror_urls
from ...system.base import System
from ..files.archives import ArchiveRecord, ReceiptPart, unpack
from ..files.staging import staging_path
from ..host import Host
from ..journal.log import Effect, FolderCreated, Journal, TreeCreated
from ..journal.recovery import active_effects
from ..packages.lockfile import Lockfile
from ..packages.uv import Uv
from ..progress import ProgressReporter

if TYPE_CHECKING:
    from ...catalog.records.catalog import Publisher
    from ...catalog.store import Catalog
    from ...fetch.downloader import Totals
    from ..bundle.source import BundleSource


def with_mirrors(request: DownloadRequest, catalog: Catalog, mirror_use: MirrorUse) -> DownloadRequest:
    """The same file with its mirrors as the user wants them; without a checksum it has none."""
    if mirror_use == "never" or request.expected is None:
        return request
    file, known = request.file, (*request.file.urls, *request.reserve)
    candidates = tuple(url for url in mirror_urls(file.url, _mirror_pairs(catalog)) if url not in known)
    if mirror_use == "first":
        file = structs.replace(file, urls=(*file.urls, *candidates))
        return structs.replace(request, file=file, mirrors_first=bool(candidates))
    slow_threshold = float(catalog.mirrors.slow.bytes_per_second)
    return structs.replace(request, reserve=(*request.reserve, *candidates), slow_bytes=slow_threshold)


def _mirror_pairs(catalog: Catalog) -> Iterator[Mirror]:
    for publisher in catalog.mirrors.publishers:
        for mirror in catalog.mirrors_of(publisher.id):
            for official in _official_urls(publisher):
                address = mirror.files if publisher.files is not None else mirror.url
                if address is not None:
                    yield Mirror(official=official, mirror=address)


def _official_urls(publisher: Publisher) -> Iterator[str]:
    """Where its files lie: at each of its hosts."""
    if publisher.files is not None:
        yield publisher.files
    elif publisher.url is not None:
        host = urlsplit(publisher.url).netloc
        for other in dict.fromkeys((host, *publisher.hosts)):
            yield publisher.url.replace(f"//{host}/", f"//{other}/", 1)


class DownloadContext(Host):
    """Where files go and come from: with a `shelf` all of them from there, and none over the network; else from
    their publishers and, as `mirrors` says, from those who mirror them.
    """

    def __init__(
        self,
        system: System,
        data: DataDir,
        catalog: Catalog,
        *,
        reporter: ProgressReporter,
        cancel: threading.Event,
        limits: Limits,
        mirrors: MirrorUse = "when-slow",
        rate_limiter: RateLimiter | None = None,
        bundle: BundleSource | None = None,
    ) -> None:
        super().__init__(system, data, reporter=reporter, cancel=cancel)
        self.catalog = catalog
        self.limits = limits
        self.mirrors: MirrorUse = mirrors
        self.rate_limiter = rate_limiter or RateLimiter()
        self.bundle = bundle


def download_files(context: DownloadContext, requests: Sequence[DownloadRequest]) -> tuple[Path, ...]:
    """The files, in order; one that another install fetches just now is waited for. Raises what
    `Downloader.run` raises, and AppError("bundle-lacks").
    """

    from ...fetch.downloader import Downloader  # loads the network, which a plan does not need

    def progress(totals: Totals) -> None:
        activity = totals.bottleneck if totals.bottleneck in ("elsewhere", "mending") else "fetching"
        context.reporter.report_progress(
            done=totals.done,
            total=totals.total,
            unit="bytes",
            speed=totals.speed,
            bottleneck=totals.bottleneck,
            code=f"progress.{activity}" if totals.name else None,
            data={"name": totals.name} if totals.name else None,
        )

    bundle, catalog, mirror_use = context.bundle, context.catalog, context.mirrors
    resolved = [
        bundle.local_request(request) if bundle is not None else with_mirrors(request, catalog, mirror_use)
        for request in requests
    ]
    resolved = [structs.replace(request, patient=True) for request in resolved]
    return Downloader(
        resolved, cancel=context.cancel, progress=progress, limits=context.limits, rate=context.rate_limiter
    ).run()


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
        rate_limiter: RateLimiter | None = None,
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


def unpack_part(
    archive: ArchiveRecord,
    path: Path,
    destination: Path,
    context: InstallContext,
    *,
    path_for: Callable[[str], str | None],
    existing: Mapping[str, str] | None = None,
) -> ReceiptPart:
    """One archive's files below a folder; raises what `unpack` raises."""

    def progress(done_bytes: int) -> None:
        context.reporter.report_progress(
            done=done_bytes,
            total=None,
            unit="bytes",
            bottleneck="installing",
            code="progress.unpacking",
            data={"name": path.name},
        )

    files = unpack(path, destination, path_for=path_for, existing=existing, cancel=context.cancel, progress=progress)
    return ReceiptPart(archive=archive, files=files)


def checking_progress(context: InstallContext) -> Callable[[int], None]:
    """Tells how far a look at files has come, in bytes."""

    def progress(done_bytes: int) -> None:
        context.reporter.report_progress(done=done_bytes, total=None, unit="bytes", bottleneck="checking")

    return progress
