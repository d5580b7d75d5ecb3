"""What a step works with: the host, downloads, the journal, and what earlier steps produced.

`InstallContext` is made for one install by `jobs/install.py`, with a `DownloadContext` that `jobs/create_bundle.py`
also uses alone. Every file is fetched through `download_files`, which takes it from a bundle or adds the catalog's
mirrors; every archive is unpacked through `unpack_part`.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct, structs

from ...core import filesystem
from ...core.errors import AppError, Cancelled, storage_errors
from ...core.jobs import Job
from ...core.paths import DataDir
from ...core.plan import Plan, Step
from ...core.recommendation import PyTorchChoice
from ...core.results import Checks
from ...core.types import MirrorUse, Value
from ...fetch.rate import RateLimiter
from ...fetch.request import DownloadRequest, Limits
from ...fetch.sources import Mirror, mirror_urls
from ...system.base import System
from ..elevation.client import ElevationClient, ElevationPrompt
from ..files.archives import ArchiveRecord, ReceiptPart, files_match, read_receipt, unpack
from ..files.staging import staging_path
from ..host import Host
from ..journal.log import Effect, FolderCreated, Journal, TreeCreated
from ..journal.recovery import active_effects
from ..packages.lockfile import Lockfile
from ..packages.uv import Uv
from ..progress import ProgressReporter

if TYPE_CHECKING:
    from ...catalog.records.mirrors import Publisher
    from ...catalog.store import Catalog
    from ...fetch.downloader import Totals
    from ...verify.cuda_program import ToolkitProof
    from ..bundle.source import BundleSource


COPY_BYTES = 1 << 20


def with_mirrors(request: DownloadRequest, catalog: Catalog, mirror_use: MirrorUse) -> DownloadRequest:
    """Add the catalog's mirrors, as the user allows. A file without a checksum never comes from a mirror."""
    if mirror_use == "never" or request.expected is None:
        return request
    file, known = request.file, (*request.file.urls, *request.reserve)
    candidates = tuple(url for url in mirror_urls(file.url, _mirror_pairs(catalog)) if url not in known)
    if mirror_use == "first":
        file = structs.replace(file, urls=(*file.urls, *candidates))
        return structs.replace(request, file=file, mirrors_first=bool(candidates))
    slow_threshold = float(catalog.mirrors.slow.bytes_per_second)
    return structs.replace(request, reserve=(*request.reserve, *candidates), slow_bytes=slow_threshold)


def has_mirror(request: DownloadRequest, catalog: Catalog, mirror_use: MirrorUse) -> bool:
    """Whether another source than the publisher may have a file."""
    resolved = with_mirrors(request, catalog, mirror_use)
    return len(resolved.file.urls) + len(resolved.reserve) > 1


def _mirror_pairs(catalog: Catalog) -> Iterator[Mirror]:
    for publisher in catalog.mirrors.publishers:
        for mirror in catalog.mirrors_of(publisher.id):
            for official in _official_urls(publisher):
                address = mirror.files if publisher.files is not None else mirror.url
                if address is not None:
                    yield Mirror(official=official, mirror=address)


def _official_urls(publisher: Publisher) -> Iterator[str]:
    """The addresses of its files, at each of its hosts."""
    if publisher.files is not None:
        yield publisher.files
    elif publisher.url is not None:
        host = urlsplit(publisher.url).netloc
        for other in dict.fromkeys((host, *publisher.hosts)):
            yield publisher.url.replace(f"//{host}/", f"//{other}/", 1)


class DownloadContext:
    """How files are downloaded: all of them from the `bundle` if there is one, else from their publishers and, as
    `mirrors` allows, from mirrors.
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
        rate_limiter: RateLimiter | None = None,
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
        self.rate_limiter = rate_limiter or RateLimiter()
        self.bundle = bundle


def download_files(context: DownloadContext, requests: Sequence[DownloadRequest]) -> tuple[Path, ...]:
    """Download files and return their paths, in order; waits for a file that another install is downloading.

    Raises what `Downloader.run` raises, and AppError("bundle-lacks").
    """
    from ...fetch.downloader import Downloader  # loads requests, which planning does not need

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

    context.data.claim(context.data.files)
    bundle, catalog, mirror_use = context.bundle, context.catalog, context.mirrors
    resolved = [
        bundle.local_request(request) if bundle is not None else with_mirrors(request, catalog, mirror_use)
        for request in requests
    ]
    resolved = [structs.replace(request, patient=True) for request in resolved]
    return Downloader(
        resolved, cancel=context.cancel, progress=progress, limits=context.limits, rate=context.rate_limiter
    ).run()


def download_bytes(context: DownloadContext, request: DownloadRequest) -> bytes:
    """Download a small file and return its content, which has the request's checksum also if the file was replaced
    meanwhile. Raises what `download_files` raises, and AppError("local-file-broken").
    """
    (path,) = download_files(context, [request])
    resolved = context.bundle.local_request(request) if context.bundle is not None else request
    with storage_errors(path):
        data = path.read_bytes()
    if resolved.file.sha256 not in (None, hashlib.sha256(data).hexdigest()):
        raise AppError("local-file-broken", path=str(path))
    return data


def own_copy(context: DownloadContext, request: DownloadRequest, path: Path, folder: Path) -> Path:
    """A downloaded file that will be run as it lies. One of a bundle is copied into `folder`, which is ours: whoever
    may write to the bundle could exchange it after it was checked. Raises AppError("local-file-broken"), Cancelled.
    """
    if context.bundle is None:
        return path
    expected = context.bundle.local_request(request).file.sha256
    copy, hasher = folder / path.name, hashlib.sha256()
    with storage_errors(copy), context.system.open_unchanging(path) as source, copy.open("xb") as target:
        while block := source.read(COPY_BYTES):
            if context.cancel.is_set():
                raise Cancelled
            hasher.update(block)
            target.write(block)
    if hasher.hexdigest() != expected:
        filesystem.unlink(copy)
        raise AppError("local-file-broken", path=str(path))
    return copy


class Verifier(Protocol):
    """Makes the job that verifies an environment, and the toolkit that belongs to it."""

    def __call__(self, environment: Path, system: System, toolkit: ToolkitProof | None) -> Job[Checks]: ...


class BaseInterpreter(Struct, frozen=True):
    """The Python that the environment is made with."""

    path: Path


class ResolvedLock(Struct, frozen=True):
    """The lock file of the environment. `discard` deletes the cached copy: the next run asks the sources again.
    `resolve_again` asks them at once, for a lock file of an earlier run, whose files may be gone; None for a new one.
    """

    lock: Lockfile
    discard: Callable[[], None]
    resolve_again: Callable[[], Outcome] | None = None


class EnvironmentStatus(Struct, frozen=True, kw_only=True):
    """The environment as the run finds it: `is_complete` if it was made from the same lock file and is intact, else its
    `damaged` files; `is_unverified` if it was built from that lock file, but not verified and renamed.
    """

    is_complete: bool
    damaged: tuple[str, ...]
    is_unverified: bool

    @property
    def is_built(self) -> bool:
        """Whether nothing has to be downloaded or built."""
        return self.is_complete or self.is_unverified


class FetchedPackages(Struct, frozen=True):
    """The downloaded files of the locked packages, in the order of the lock file."""

    files: tuple[Path, ...]


class StagedEnvironment(Struct, frozen=True):
    """The environment under its partial name; `effect` is the number of its journal effect, done when it is renamed."""

    effect: int


Product = BaseInterpreter | ResolvedLock | EnvironmentStatus | FetchedPackages | StagedEnvironment
P = TypeVar("P", bound=Product)


class Outcome(Struct, frozen=True, kw_only=True):
    """How a step ended. `code` and `data` are a text, `produces` what later steps require. With `restart` the run ends
    here: after the restart it continues with this step's `is_satisfied`.
    """

    code: str | None = None
    data: dict[str, Value] = {}
    restart: bool = False
    produces: tuple[Product, ...] = ()


class ElevationContext(Protocol):
    """What a kind of step asks for administrator rights with."""

    @property
    def system(self) -> System: ...

    @property
    def data(self) -> DataDir: ...

    def elevation_client(self) -> ElevationClient:
        """The way to administrator rights."""
        ...


class RemovalContext(NamedTuple):
    """One running uninstall that also takes away what has an installer of its own."""

    host: Host
    catalog: Catalog
    reporter: ProgressReporter
    cancel: threading.Event

    @property
    def system(self) -> System:
        return self.host.system

    @property
    def data(self) -> DataDir:
        return self.host.data

    def elevation_client(self) -> ElevationClient:
        """See `ElevationContext`."""
        return ElevationClient(
            self.data.state,
            self.system,
            cancel=self.cancel,
            on_kept_running=lambda: self.reporter.report_note("progress.kept-running"),
        )


class InstallContext:
    """One running install: what all steps need, and what each one produced for the later ones."""

    def __init__(
        self,
        plan: Plan,
        downloads: DownloadContext,
        *,
        journal: Journal,
        verifier: Verifier,
        prompt: ElevationPrompt | None = None,
    ) -> None:
        self.plan = plan
        self._prompt = prompt
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
        self._products.update({type(product): product for product in products})

    def produced(self, kind: type[P]) -> P | None:
        """What an earlier step produced of this type, if one did."""
        product = self._products.get(kind)
        return product if isinstance(product, kind) else None

    def require(self, kind: type[P]) -> P:
        """What an earlier step produced of this type; raises AppError("internal") if none did."""
        product = self.produced(kind)
        if product is None:
            raise AppError("internal", detail=f"no step produced {kind.__name__}")
        return product

    def elevation_client(self) -> ElevationClient:
        """See `ElevationContext`."""
        return ElevationClient(
            self.data.state,
            self.system,
            cancel=self.cancel,
            on_kept_running=lambda: self.reporter.report_note("progress.kept-running"),
            prompt=self._prompt,
        )

    def effect(self, step: Step, effect: Effect) -> AbstractContextManager[None]:
        """The context in which a step makes a change: the journal records it before and after."""
        return self.journal.effect(step.kind, effect, step.id)

    def folder(self, step: Step, folder: Path) -> None:
        """Make a folder, and those above it that are missing; raises AppError."""
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        for path in reversed(missing):
            with self.effect(step, FolderCreated(path=str(path))), storage_errors(path):
                path.mkdir(exist_ok=True)

    def tree(self, step: Step, folder: Path) -> AbstractContextManager[None]:
        """The context in which a folder is made under its partial name and committed."""
        return self.effect(step, self.tree_effect(folder))

    def tree_effect(self, folder: Path) -> TreeCreated:
        """The effect of a folder that is committed later. An earlier run may have begun it: what was there before that
        run counts.
        """
        effects = (active.effect for active in active_effects(self.data))
        earlier = next((each for each in effects if isinstance(each, TreeCreated) and each.path == str(folder)), None)
        return TreeCreated(path=str(folder), existed=earlier.existed if earlier is not None else folder.is_dir())

    @property
    def partial(self) -> Path:
        """Where the environment is built."""
        return staging_path(self.environment)

    @property
    def torch(self) -> PyTorchChoice | None:
        """The PyTorch build of the plan; None if it has only TensorFlow."""
        return self.plan.recommendation.pytorch

    @property
    def python_series(self) -> str:
        """The Python of the plan, like "3.11"."""
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
    """Unpack one archive into a folder, reporting progress; raises what `unpack` raises."""

    def progress(done_bytes: int) -> None:
        context.reporter.report_progress(
            done=done_bytes,
            total=None,
            unit="bytes",
            bottleneck="installing",
            code="progress.unpacking",
            data={"name": path.name},
        )

    files = unpack(
        path,
        destination,
        sha256=archive.sha256,
        open_archive=context.system.open_unchanging,
        path_for=path_for,
        existing=existing,
        cancel=context.cancel,
        progress=progress,
    )
    return ReceiptPart(archive=archive, files=files)


def has_receipt_files(context: InstallContext, folder: Path, name: str, *, version: str, platform: str) -> bool:
    """Whether a folder has the receipt `name` of this version and platform, and every file in it has its hash."""
    receipt = read_receipt(folder / name)
    if receipt is None or (receipt.version, receipt.platform) != (version, platform):
        return False
    return files_match(folder, receipt.files, context.cancel, checking_progress(context))


def checking_progress(context: InstallContext) -> Callable[[int], None]:
    """A callback for the bytes of each chunk that is hashed, which reports their sum."""
    done_bytes = 0

    def progress(count: int) -> None:
        nonlocal done_bytes
        done_bytes += count
        context.reporter.report_progress(done=done_bytes, total=None, unit="bytes", bottleneck="checking")

    return progress
