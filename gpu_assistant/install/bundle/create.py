"""Makes a bundle: chooses the exact files for a machine, gathers them in a folder, and lists them.

The list comes last, by an atomic rename: a folder without it is no bundle, and the next run goes on with what lies
there. Nothing is fetched twice; what the cache of downloads holds is taken from it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from ... import __version__
from ...core import json
from ...core.errors import AppError, CallError
from ...core.jobs import JobContext
from ...core.json import storage_error
from ...core.names import Channel, MirrorUse, Value
from ...core.paths import DataDir
from ...core.plan import Plan, Step
from ...core.recommendation import Choice
from ...fetch import local
from ...fetch.limits import Limits
from ...fetch.pace import Pace
from ...fetch.wanted import Wanted
from ...system.base import System
from ...system.own_folders import odd_name, system_folder
from ...system.single import one_at_a_time
from ..fetching import Getting, fetch
from ..lock import Lock
from ..occupied import refuse_files, refuse_ours
from ..place import Ground
from ..reporter import Reporter
from ..resolve import Resolver
from ..target import Target
from ..untrusted import check_file
from ..uv import Uv
from .contents import BEGUN, FILES, HERE, LIST, LOCK, WHEELS, BundleFile, Contents, fingerprint, read

if TYPE_CHECKING:
    from ...catalog.load import Catalog

# The downloader's own names beside a file that it has begun.
LEFT = (".part", ".part.json", ".part.lock", ".partial")
RESOLVE, GATHER, WRITE = "resolve", "download", "bundle"


class CreateJob:
    """`plan` is the plan for the machine, `target` that machine, `choice` what was picked for it by hand; `pace` holds
    or slows its downloads. News are `Event`s, the last one an `EndEvent`.
    """

    def __init__(
        self,
        plan: Plan,
        target: Target,
        folder: Path,
        ground: Ground,
        *,
        channel: Channel,
        choice: Choice | None = None,
        limits: Limits | None = None,
        mirrors: MirrorUse = "when-slow",
        pace: Pace | None = None,
    ) -> None:
        self.plan, self.target, self.folder = plan, target, folder
        self._system: System = ground.system
        self._data: DataDir = ground.data
        self._catalog: Catalog = ground.catalog
        self._channel: Channel = channel
        self._choice = choice
        self._pace = pace
        self._limits = limits or Limits()
        self._mirrors: MirrorUse = mirrors

    @property
    def left_out(self) -> tuple[str, ...]:
        """The texts' codes of what needs a network of its own, which no folder can hold."""
        held = self.gathered.steps
        return tuple(step.code for step in self.plan.steps if step not in held)

    @property
    def gathered(self) -> Plan:
        """The plan without that."""
        from ..steps import KINDS

        steps = (step for step in self.plan.steps if not KINDS[step.kind].needs_network(step))
        return structs.replace(self.plan, steps=tuple(steps))

    def steps(self) -> tuple[Step, ...]:
        """What will be done."""
        (resolve,) = (step for step in self.plan.steps if step.kind == "resolve")
        folder, label = str(self.folder), resolve.data["release"]
        gather = Step(
            id=GATHER,
            kind="bundle",
            code="bundle-gather",
            data={"path": folder, "release": label},
            bytes=self.plan.bytes,
        )
        write = Step(id=WRITE, kind="bundle", code="bundle-write", data={"path": folder})
        return (structs.replace(resolve, needs=()), gather, write)

    def rehearse(self, context: JobContext[Any]) -> None:
        """Only say what would be done, as a run does; raises what a run would before it begins."""
        reporter, steps = Reporter(context), self.steps()
        reporter.plan(steps)
        try:
            self._refuse_place()
        except AppError as error:
            reporter.ended(str(self.folder), error)
            raise
        for step in steps:
            reporter.step(step.id, "skipped")
        reporter.end("done", str(self.folder))

    def run(self, context: JobContext[Any]) -> Contents:
        """The bundle's list. Raises CallError: bundle-folder-occupied, bundle-folder-of-system, bundle-link,
        folder-name-odd, folder-of-ours; Cancelled, what resolving and fetching raise, and AppError: not-a-folder,
        folder-unwritable, disk-full, storage.
        """
        reporter = Reporter(context)
        reporter.plan(self.steps())
        try:
            self._refuse_place()
            with one_at_a_time(self._data), self._system.keep_awake("A bundle is being gathered"):
                made = self._make(reporter, context)
        except AppError as error:
            reporter.ended(str(self.folder), error)
            raise
        except OSError as error:
            failure = storage_error(error, self.folder)
            reporter.ended(str(self.folder), failure)
            raise failure from error
        reporter.end("done", str(self.folder))
        return made

    def _make(self, reporter: Reporter, context: JobContext[Any]) -> Contents:
        stale = self._begin()
        getting = Getting(
            self._system,
            self._data,
            self._catalog,
            reporter=reporter,
            cancel=context.cancel,
            limits=self._limits,
            mirrors=self._mirrors,
            pace=self._pace,
        )
        with _told(reporter, RESOLVE, "progress.resolved") as said:
            lock, contents = self._resolve(getting)
            said |= {"count": len(lock.packages), "release": contents.wish.label}
        with _told(reporter, GATHER):
            files = self._gather(lock, getting)
        with _told(reporter, WRITE, "progress.bundle-whole") as said:
            made = self._write(lock, structs.replace(contents, files=files), stale)
            said |= {"count": len(made.files), "mark": fingerprint(self.folder)}
        return made

    def _refuse_place(self) -> None:
        odd, own = odd_name(self.folder), system_folder(self.folder)
        if odd is not None:
            raise CallError("folder-name-odd", path=str(self.folder), name=odd)
        if own is not None:
            raise CallError("bundle-folder-of-system", path=str(self.folder), own=str(own))
        refuse_ours(self.folder, self._data)
        refuse_files(self.folder)
        whole, begun = self.folder / LIST, self.folder / BEGUN
        if self.folder.is_dir() and not (whole.is_file() or begun.is_file()) and any(self.folder.iterdir()):
            raise CallError("bundle-folder-occupied", path=str(self.folder))
        for path in (whole, begun, self.folder / WHEELS, self.folder / FILES):
            if path.is_symlink():
                raise CallError("bundle-link", path=str(path))

    def _begin(self) -> frozenset[str]:
        """Claim the folder; the paths that an earlier bundle there listed."""
        whole, begun = self.folder / LIST, self.folder / BEGUN
        self.folder.mkdir(parents=True, exist_ok=True)
        if whole.is_file():
            whole.replace(begun)  # from now on it is no bundle
        elif not begun.is_file():
            json.write_file(begun, "{}\n")
        try:
            return frozenset(file.path for file in read(self.folder, BEGUN).files)
        except CallError:
            return frozenset()

    def _resolve(self, getting: Getting) -> tuple[Lock, Contents]:
        from ..steps.resolve import asked

        wish = asked(self.plan.recommendation, getting, folder=self.plan.wheelhouse, target=self.target)
        uv = Uv(self._system, self._data, cancel=getting.cancel, log=getting.reporter.log)
        resolver = Resolver(wish, uv, self._data, Path(sys.executable))
        lock = resolver.earlier() or resolver.resolve()
        for package in lock.packages:
            check_file(package.file)
        # Folders and addresses of this computer are nobody else's business.
        told = structs.replace(wish, wheelhouse=None, general=None)
        return lock, Contents(
            schema="gpu-assistant/bundle/1",
            program=__version__,
            catalog=self._catalog.date,
            goal=self.plan.goal,
            channel=self._channel,
            choice=self._choice,
            wish=told,
            target=self.target,
            files=(),
            left_out=self.left_out,
        )

    def _gather(self, lock: Lock, getting: Getting) -> tuple[BundleFile, ...]:
        from ..steps import KINDS

        todo: list[Wanted] = []
        for package in lock.packages:
            cached = self._data.files / (package.file.sha256 or "")[:16] / package.file.name
            place = self.folder / WHEELS / package.file.name
            todo.append(
                Wanted(
                    url=package.file.url,
                    path=place,
                    sha256=package.file.sha256,
                    bytes=package.file.bytes,
                    copies=(cached,),
                )
            )
        for step in self.plan.steps:
            for wanted in KINDS[step.kind].gather(step, getting):
                mark = wanted.sha256 or hashlib.sha256(wanted.url.encode()).hexdigest()
                place = self.folder / FILES / mark[:16] / wanted.path.name
                if wanted.sha256 is None:
                    place.unlink(missing_ok=True)  # nobody could say whether an earlier one is still the current one
                todo.append(structs.replace(wanted, path=place, copies=(wanted.path,)))
        remote = [wanted for wanted in todo if not _brought(wanted, getting)]
        fetch(getting, remote)
        return tuple(_listed(self.folder, wanted, getting) for wanted in todo)

    def _write(self, lock: Lock, contents: Contents, stale: frozenset[str]) -> Contents:
        text = lock.text
        for package in lock.packages:
            if local.local_path(package.file.url) is not None:
                text = text.replace(f'"{package.file.url}"', f'"{HERE}{WHEELS}/{package.file.name}"')
        data = text.encode()
        json.write_file(self.folder / LOCK, data)
        listed = BundleFile(path=LOCK, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))
        whole = structs.replace(contents, files=(listed, *contents.files))
        for path in stale - {file.path for file in whole.files}:
            self.folder.joinpath(*path.split("/")).unlink(missing_ok=True)
        _sweep(self.folder)
        json.write_file(self.folder / LIST, json.encode_pretty(whole) + "\n")
        (self.folder / BEGUN).unlink(missing_ok=True)
        return whole


def _sweep(folder: Path) -> None:
    """Take away what an earlier run for another plan began to fetch."""
    for pattern in (f"{WHEELS}/*", f"{FILES}/*/*"):
        for path in folder.glob(pattern):
            if path.name.endswith(LEFT):
                path.unlink()
    for place in folder.glob(f"{FILES}/*"):
        with suppress(OSError):
            place.rmdir()


@contextmanager
def _told(reporter: Reporter, step: str, code: str | None = None) -> Iterator[dict[str, Value]]:
    """A step's beginning and end as news; `code` says its end with what is put into the dictionary."""
    reporter.step(step, "running")
    data: dict[str, Value] = {}
    try:
        yield data
    except BaseException as error:
        reporter.failed(step, error)
        raise
    reporter.step(step, "done", code=code, data=data)


def _brought(wanted: Wanted, getting: Getting) -> bool:
    """Whether it came from a folder of this computer; raises AppError for a file of the user's that is not right."""
    here = local.local_path(wanted.url)
    if here is None:
        return False
    wanted.path.parent.mkdir(parents=True, exist_ok=True)
    copy = structs.replace(wanted, copies=(*wanted.copies, here))
    done = 0

    def more(count: int) -> None:
        nonlocal done
        done += count
        getting.reporter.progress(done=done, total=wanted.bytes, unit="bytes", bottleneck="disk")

    if not local.here(copy, getting.cancel, more):
        raise AppError("local-file-broken" if here.is_file() else "local-file-missing", path=str(here))
    return True


def _listed(folder: Path, wanted: Wanted, getting: Getting) -> BundleFile:
    path, sha256 = wanted.path, wanted.sha256
    if sha256 is None:
        with path.open("rb", buffering=0) as file:
            sha256 = local.digest(file, hashlib.sha256(), getting.cancel, lambda _count: None).hexdigest()
    official = wanted.url if local.local_path(wanted.url) is None else None
    inner = path.relative_to(folder).as_posix()
    return BundleFile(path=inner, sha256=sha256, bytes=path.stat().st_size, url=official)
