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
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct, structs

from ...core.errors import AppError
from ...core.jobs import Job
from ...core.json import storage_error
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


class DownloadContext:
    """Where files go and come from: with a `bundle` all of them from there, and none over the network; else from
    their publishers and, as `mirrors` says, from those who mirror them.
    """

    def __init__(
        self,
        host: Host,
        catalog: Catalog,
        *,
        reporter: ProgressReporter,
        cancel: threading.Event,
        limits: Limits,
        mirrors: MirrorUse = "when-slow",
        pace: RateLimiter | None = None,
        bundle: BundleSource | None = None,
    ) -> None:
        self.host = host
        self.system = host.system
        self.data = host.data
        self.catalog = catalog
        self.reporter = reporter
        self.cancel = cancel
        self.limits = limits
        self.mirrors: MirrorUse = mirrors
        self.pace = pace or RateLimiter()
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
        resolved, cancel=context.cancel, progress=progress, limits=context.limits, rate=context.pace
    ).run()


class Verifier(Protocol):
    """Makes the job that proves an environment."""

    def __call__(self, environment: Path, system: System) -> Job[Checks]:
        """The job for one environment."""
        ...


class BaseInterpreter(Struct, frozen=True):
    """The Python that the environment is built on."""

    path: Path


class ResolvedLock(Struct, frozen=True):
    """What exactly is installed; `forget` makes the next run ask the sources again."""

    lock: Lockfile
    forget: Callable[[], None]


class EnvironmentStatus(Struct, frozen=True, kw_only=True):
    """How the environment stands before it is built: `complete` where it is made of the same lock and intact,
    `damaged` with what of it is not, `awaits_proof` where it is built of that lock and lacks only its proof and name.
    """

    complete: bool
    damaged: tuple[str, ...]
    awaits_proof: bool

    @property
    def built(self) -> bool:
        """Whether nothing has to be fetched or built."""
        return self.complete or self.awaits_proof


class FetchedPackages(Struct, frozen=True):
    """The files of the locked packages, in the lock's order."""

    files: tuple[Path, ...]


class StagedEnvironment(Struct, frozen=True):
    """The environment under way; `effect` is the number of the effect that is done when it has its name."""

    effect: int


Product = BaseInterpreter | ResolvedLock | EnvironmentStatus | FetchedPackages | StagedEnvironment
P = TypeVar("P", bound=Product)


class Outcome(Struct, frozen=True, kw_only=True):
    """How a step ended; `code` says it in a text. `produces` is what later steps require. With `restart` the computer
    must be restarted before the next one: the run ends there, and after it the step's `is_satisfied` is asked again.
    """

    code: str | None = None
    data: dict[str, Value] = {}
    restart: bool = False
    produces: tuple[Product, ...] = ()


class InstallContext:
    """One install under way: what all its steps need, and what each step produced for the later ones."""

    def __init__(self, plan: Plan, downloads: DownloadContext, *, journal: Journal, verifier: Verifier) -> None:
        self.plan = plan
        self.downloads = downloads
        self.journal = journal
        self.verifier = verifier
        self.host = downloads.host
        self.system = downloads.system
        self.data = downloads.data
        self.catalog = downloads.catalog
        self.reporter = downloads.reporter
        self.cancel = downloads.cancel
        self.environment = Path(plan.env)
        self.uv = Uv(self.system, self.data, cancel=self.cancel, log=self.reporter.log)
        self._products: dict[type[Any], Product] = {}

    def provide(self, *products: Product) -> None:
        """Keep what a step produced, for the later ones."""
        self._products.update({type(product): product for product in products})

    def produced(self, kind: type[P]) -> P | None:
        """What an earlier step produced of a kind, if one did."""
        product = self._products.get(kind)
        return product if isinstance(product, kind) else None

    def require(self, kind: type[P]) -> P:
        """What an earlier step produced of a kind; raises AppError("internal") where none did."""
        product = self.produced(kind)
        if product is None:
            raise AppError("internal", detail=f"no step produced {kind.__name__}")
        return product

    def effect(self, step: Step, effect: Effect) -> AbstractContextManager[None]:
        """What a step does to the world is done inside of this: the journal says so before and after it."""
        return self.journal.effect(step.kind, effect, step.id)

    def folder(self, step: Step, folder: Path) -> None:
        """Make a folder and what lacks above it; raises AppError."""
        lacking = [place for place in (folder, *folder.parents) if not place.exists()]
        for place in reversed(lacking):
            with self.effect(step, FolderCreated(path=str(place))):
                try:
                    place.mkdir(exist_ok=True)
                except OSError as error:
                    raise storage_error(error, place) from error

    def tree(self, step: Step, folder: Path) -> AbstractContextManager[None]:
        """A folder that is going to appear whole: its partial is made and named inside of this."""
        return self.effect(step, self.tree_made(folder))

    def tree_made(self, folder: Path) -> TreeCreated:
        """The effect of a folder that is going to appear whole; a killed run may have begun it, or it is made anew."""
        trees = (each.effect for each in active_effects(self.data) if isinstance(each.effect, TreeCreated))
        earlier = next((made for made in trees if made.path == str(folder)), None)
        stood = earlier.stood if earlier is not None else folder.is_dir()
        return TreeCreated(path=str(folder), stood=stood)

    @property
    def partial(self) -> Path:
        """Where the environment is until it has its name."""
        return staging_path(self.environment)

    @property
    def torch(self) -> PyTorchChoice | None:
        """The PyTorch build of the plan; None where it has only TensorFlow."""
        return self.plan.recommendation.pytorch

    @property
    def python(self) -> str:
        """The Python series of the plan, like "3.11"."""
        return str(self.plan.recommendation.python)


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
