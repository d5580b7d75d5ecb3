"""Makes a bundle: resolves the packages for a computer, downloads all files of its plan, and lists them.

The list `bundle.json` is written last: a folder without it is no bundle, and the next run continues with its files.
Files that are in the download cache are copied. `bundle/format.py` says what a bundle contains.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import structs

from ... import __version__
from ...core import filesystem, json
from ...core.errors import AppError, UsageError, storage_errors
from ...core.files import hash_file
from ...core.jobs import JobContext
from ...core.paths import DataDir
from ...core.plan import Plan, PlanFile, Step
from ...core.recommendation import Choice
from ...core.types import Channel, MirrorUse, Value
from ...fetch import partial_file
from ...fetch.rate import RateLimiter
from ...fetch.request import DownloadRequest, Limits
from ...system.base import System
from ...system.locks import data_folder_lock
from ...system.paths import enclosing_system_folder, reserved_path_part
from ..bundle import minisign
from ..bundle.format import (
    BUNDLE_URL,
    FILES_FOLDER,
    LIST_FILE,
    LOCK_FILE,
    SIGNATURE_FILE,
    UNFINISHED_FILE,
    WHEELS_FOLDER,
    BundleContents,
    BundleFile,
    list_hash,
    read_contents,
)
from ..bundle.minisign import SecretKey
from ..environment.location import check_no_file, check_not_app_data
from ..host import Host, PreviewContext
from ..packages.lockfile import Lockfile
from ..packages.requirements import PackageRequest, Platform, build_request
from ..packages.resolver import Resolver
from ..packages.uv import Uv, own_interpreter
from ..progress import ProgressReporter
from ..steps import wsl2
from ..steps.base import check_file
from ..steps.conda_environment import CondaEnvironment
from ..steps.context import DownloadContext, download_files, has_mirror
from ..steps.download import STALE_LOCK_ERRORS
from ..steps.kinds import STEP_KINDS
from .check_sources import CHECK_SECONDS, SourceCheck

if TYPE_CHECKING:
    from ...catalog.store import Catalog


# Files of the downloader beside one that it has not finished.
PARTIAL_SUFFIXES = (".part", ".part.json", ".part.lock", ".partial")
RESOLVE_STEP, DOWNLOAD_STEP, WRITE_STEP = "resolve", "download", "bundle"


class CreateBundleJob:
    """Makes the bundle of a plan for a `platform`; `choice` is what the user chose by hand, `signing_key` signs the
    list, `rate_limiter` pauses or limits the downloads. Reports `Event`s, the last one an `EndEvent`.
    """

    def __init__(
        self,
        plan: Plan,
        platform: Platform,
        folder: Path,
        context: PreviewContext,
        *,
        channel: Channel,
        choice: Choice | None = None,
        limits: Limits | None = None,
        mirrors: MirrorUse = "when-slow",
        signing_key: SecretKey | None = None,
        rate_limiter: RateLimiter | None = None,
    ) -> None:
        self.plan, self.platform, self.folder = plan, platform, folder
        self._system: System = context.system
        self._data: DataDir = context.data
        self._catalog: Catalog = context.catalog
        self._channel: Channel = channel
        self._choice = choice
        self._signing_key = signing_key
        self._rate_limiter = rate_limiter
        self._limits = limits or Limits()
        self._mirrors: MirrorUse = mirrors

    @property
    def excluded_codes(self) -> tuple[str, ...]:
        """The codes of the steps whose programs need the network themselves."""
        bundled_steps = self.bundled_plan.steps
        return tuple(step.code for step in self.plan.steps if step not in bundled_steps)

    @property
    def bundled_plan(self) -> Plan:
        """The plan without these steps."""
        steps = (step for step in self.plan.steps if not _needs_network(step))
        return structs.replace(self.plan, steps=tuple(steps))

    def steps(self) -> tuple[Step, ...]:
        """The steps that `run` reports."""
        (resolve,) = (step for step in self.plan.steps if step.kind == "resolve")
        folder, release = str(self.folder), resolve.data["release"]
        download = Step(
            id=DOWNLOAD_STEP,
            kind="bundle",
            code="bundle-gather",
            data={"path": folder, "release": release},
            bytes=self.plan.bytes,
        )
        write = Step(id=WRITE_STEP, kind="bundle", code="bundle-write", data={"path": folder})
        return (structs.replace(resolve, needs=()), download, write)

    def preview(self, context: JobContext[Any]) -> None:
        """Report what a run would do; raises what it would raise before it changes anything."""
        reporter, steps = ProgressReporter(context), self.steps()
        reporter.report_plan(steps)
        try:
            self._check_folder()
        except AppError as error:
            reporter.fail_run(str(self.folder), error)
            raise
        for step in steps:
            reporter.report_step(step.id, "skipped")
        reporter.end_run("done", str(self.folder))

    def run(self, context: JobContext[Any]) -> BundleContents:
        """The bundle's list. Raises UsageError: bundle-folder-occupied, bundle-folder-of-system, bundle-link,
        folder-name-odd, folder-of-ours; Cancelled, what resolving and downloading raise, and AppError: not-a-folder,
        folder-unwritable, disk-full, storage.
        """
        reporter = ProgressReporter(context)
        reporter.report_plan(self.steps())
        try:
            with storage_errors(self.folder), reporter.show_busy_files():
                self._check_folder()
                with data_folder_lock(self._data), self._system.keep_awake("A bundle is being gathered"):
                    contents = self._create(reporter, context)
        except AppError as error:
            reporter.fail_run(str(self.folder), error)
            raise
        reporter.end_run("done", str(self.folder))
        return contents

    def _create(self, reporter: ProgressReporter, context: JobContext[Any]) -> BundleContents:
        stale_paths = self._claim_folder()
        downloads = DownloadContext(
            Host(self._system, self._data),
            self._catalog,
            reporter=reporter,
            cancel=context.cancel,
            limits=self._limits,
            mirrors=self._mirrors,
            rate_limiter=self._rate_limiter,
        )
        request = build_request(self.plan.recommendation, self._catalog, self.platform, wheelhouse=self.plan.wheelhouse)
        uv = Uv(self._system, self._data, cancel=context.cancel, log=reporter.log)
        resolver = Resolver(request, uv, self._data, own_interpreter())
        with _reported_step(reporter, RESOLVE_STEP, "progress.resolved") as data:
            cached = resolver.read_cached_lockfile()
            lockfile = _checked(cached or resolver.resolve())
            contents = self._contents(request)
            data |= {"count": len(lockfile.packages), "release": contents.request.label}
        with _reported_step(reporter, DOWNLOAD_STEP):
            try:
                files = self._download(lockfile, downloads)
            except AppError as error:
                if error.code not in (*STALE_LOCK_ERRORS, "file-gone"):
                    raise
                resolver.discard_cached_lockfile()
                if cached is None:
                    raise
                reporter.log(f"{error.code}: {error.data}; the sources are asked again")
                lockfile = _checked(resolver.resolve())
                files = self._download(lockfile, downloads)
        with _reported_step(reporter, WRITE_STEP, "progress.bundle-whole") as data:
            written = self._write_list(lockfile, structs.replace(contents, files=files), stale_paths)
            data |= {"count": len(written.files), "mark": list_hash(self.folder)}
        return written

    def _check_folder(self) -> None:
        invalid_name, system_path = reserved_path_part(self.folder), enclosing_system_folder(self.folder)
        if invalid_name is not None:
            raise UsageError("folder-name-odd", path=str(self.folder), name=invalid_name)
        if system_path is not None:
            raise UsageError("bundle-folder-of-system", path=str(self.folder), own=str(system_path))
        check_not_app_data(self.folder, self._data)
        check_no_file(self.folder)
        list_file, unfinished_file = self.folder / LIST_FILE, self.folder / UNFINISHED_FILE
        if (
            self.folder.is_dir()
            and not (list_file.is_file() or unfinished_file.is_file())
            and any(self.folder.iterdir())
        ):
            raise UsageError("bundle-folder-occupied", path=str(self.folder))
        signature_file = self.folder / SIGNATURE_FILE
        for path in (
            list_file,
            signature_file,
            unfinished_file,
            self.folder / WHEELS_FOLDER,
            self.folder / FILES_FOLDER,
        ):
            if path.is_symlink():
                raise UsageError("bundle-link", path=str(path))

    def _claim_folder(self) -> frozenset[str]:
        """Mark the folder as unfinished; returns the paths that an earlier bundle in it listed."""
        list_file, unfinished_file = self.folder / LIST_FILE, self.folder / UNFINISHED_FILE
        self.folder.mkdir(parents=True, exist_ok=True)
        filesystem.unlink(self.folder / SIGNATURE_FILE, missing_ok=True)
        if list_file.is_file():
            filesystem.replace(list_file, unfinished_file)
        elif not unfinished_file.is_file():
            json.write_file(unfinished_file, "{}\n")
        try:
            return frozenset(file.path for file in read_contents(self.folder, UNFINISHED_FILE).files)
        except UsageError:
            return frozenset()

    def _contents(self, request: PackageRequest) -> BundleContents:
        """The list, without files."""
        # The bundle is given to others: no folders and addresses of this computer.
        anonymous_request = structs.replace(request, wheelhouse=None, default_index=None)
        return BundleContents(
            schema="gpu-assistant/bundle/1",
            program=__version__,
            catalog=self._catalog.date,
            goal=self.plan.goal,
            channel=self._channel,
            choice=self._choice,
            request=anonymous_request,
            platform=self.platform,
            files=(),
            excluded_codes=self.excluded_codes,
        )

    def _download(self, lockfile: Lockfile, context: DownloadContext) -> tuple[BundleFile, ...]:
        requests: list[DownloadRequest] = []
        for package in lockfile.packages:
            cached = self._data.files / (package.file.sha256 or "")[:16] / package.file.name
            target = self.folder / WHEELS_FOLDER / package.file.name
            requests.append(DownloadRequest(file=package.file.remote, path=target, copies=(cached,)))
        for step in self.plan.steps:
            for request in STEP_KINDS[step.kind].downloads(step, context):
                folder_key = request.file.sha256 or hashlib.sha256(request.file.url.encode()).hexdigest()
                target = self.folder / FILES_FOLDER / folder_key[:16] / request.path.name
                if request.file.sha256 is None:
                    filesystem.unlink(target, missing_ok=True)  # without a hash an earlier one may be outdated
                requests.append(structs.replace(request, path=target, copies=(request.path,)))
        remote = [request for request in requests if not _copy_local_file(request, context)]
        self._check_sources(remote, context)
        download_files(context, remote)
        return tuple(_bundle_file(self.folder, request, context) for request in requests)

    def _check_sources(self, requests: list[DownloadRequest], context: DownloadContext) -> None:
        """Raise AppError("file-gone") where a publisher no longer has a file and no mirror may, before the rest is
        downloaded for nothing. One that does not answer within the time is left to the download.
        """
        missing = [each for each in requests if not any(path.exists() for path in (each.path, *each.copies))]
        files = [PlanFile(name=r.file.name, url=r.file.url, sha256=r.file.sha256, bytes=r.file.bytes) for r in missing]
        preview = PreviewContext(self._system, self._data, self._catalog)
        check = SourceCheck(preview, cancel=context.cancel, log=context.reporter.log, seconds=CHECK_SECONDS)
        try:
            check.ask_files(files)
            found = check.wait_for_files()
        finally:
            check.finish()
        for request in missing:
            if found.get(request.file.url) is False and not has_mirror(request, self._catalog, self._mirrors):
                raise AppError("file-gone", name=request.file.name, host=urlsplit(request.file.url).hostname)

    def _write_list(self, lockfile: Lockfile, contents: BundleContents, stale_paths: frozenset[str]) -> BundleContents:
        text = lockfile.text
        for package in lockfile.packages:
            if partial_file.local_path(package.file.url) is not None:
                text = text.replace(f'"{package.file.url}"', f'"{BUNDLE_URL}{WHEELS_FOLDER}/{package.file.name}"')
        data = text.encode()
        json.write_file(self.folder / LOCK_FILE, data)
        lock_file = BundleFile(path=LOCK_FILE, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))
        complete = structs.replace(contents, files=(lock_file, *contents.files))
        for path in stale_paths - {file.path for file in complete.files}:
            filesystem.unlink(self.folder.joinpath(*path.split("/")), missing_ok=True)
        _remove_partial_downloads(self.folder)
        list_data = f"{json.encode_pretty(complete)}\n".encode()
        if self._signing_key is not None:
            signature = minisign.sign(list_data, self._signing_key, LIST_FILE)
            json.write_file(self.folder / SIGNATURE_FILE, signature)
        json.write_file(self.folder / LIST_FILE, list_data)
        filesystem.unlink(self.folder / UNFINISHED_FILE, missing_ok=True)
        return complete


def _needs_network(step: Step) -> bool:
    """Whether conda, apt or wsl.exe downloads for a step, which cannot be served from a folder."""
    return step.kind == CondaEnvironment.name or step.code == wsl2.INSTALL_CODE or bool(step.spec.get("packages"))


def _remove_partial_downloads(folder: Path) -> None:
    """Delete what an earlier run for another plan began to download."""
    for pattern in (f"{WHEELS_FOLDER}/*", f"{FILES_FOLDER}/*/*"):
        for path in folder.glob(pattern):
            if path.name.endswith(PARTIAL_SUFFIXES):
                filesystem.unlink(path)
    for subfolder in folder.glob(f"{FILES_FOLDER}/*"):
        with suppress(OSError):
            filesystem.rmdir(subfolder)


@contextmanager
def _reported_step(reporter: ProgressReporter, step: str, code: str | None = None) -> Iterator[dict[str, Value]]:
    """Report the start and end of a step; the caller fills the dictionary with the data of the text `code`."""
    reporter.report_step(step, "running")
    data: dict[str, Value] = {}
    try:
        yield data
    except BaseException as error:
        reporter.fail_step(step, error)
        raise
    reporter.report_step(step, "done", code=code, data=data)


def _checked(lockfile: Lockfile) -> Lockfile:
    """The lock file; raises AppError where a file of it is not to be used."""
    for package in lockfile.packages:
        check_file(package.file)
    return lockfile


def _copy_local_file(request: DownloadRequest, context: DownloadContext) -> bool:
    """Copy a local file; returns False for any other. Raises AppError if it is missing or has another hash."""
    source = partial_file.local_path(request.file.url)
    if source is None:
        return False
    request.path.parent.mkdir(parents=True, exist_ok=True)
    copy_request = structs.replace(request, copies=(*request.copies, source))
    done_bytes = 0

    def advance(count: int) -> None:
        nonlocal done_bytes
        done_bytes += count
        context.reporter.report_progress(done=done_bytes, total=request.file.bytes, unit="bytes", bottleneck="disk")

    if not partial_file.use_local_copy(copy_request, context.cancel, advance):
        raise AppError("local-file-broken" if source.is_file() else "local-file-missing", path=str(source))
    return True


def _bundle_file(folder: Path, request: DownloadRequest, context: DownloadContext) -> BundleFile:
    path, sha256 = request.path, request.file.sha256
    if sha256 is None:
        sha256 = hash_file(path, context.cancel)
    official_url = request.file.url if partial_file.local_path(request.file.url) is None else None
    relative_path = path.relative_to(folder).as_posix()
    return BundleFile(path=relative_path, sha256=sha256, bytes=path.stat().st_size, url=official_url)
