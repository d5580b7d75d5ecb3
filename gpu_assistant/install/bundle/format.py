"""What lies in a bundle, as its own list says it. The list comes with the folder: it is untrusted like all of it.

Reads every byte of a bundle and compares it with the bundle's list.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, structs

from ...core import json
from ...core.errors import AppError, UsageError
from ...core.jobs import JobContext
from ...core.json import storage_error
from ...core.machine import OperatingSystem
from ...core.plan import Step
from ...core.recommendation import Choice
from ...core.types import Channel, Goal, Value
from ...fetch import partial_file
from ...fetch.rate import SpeedMeter
from ..files import inventory
from ..files.inventory import format_names
from ..packages.requirements import PackageRequest, Platform, platform_for
from ..progress import ProgressReporter

LIST_FILE = "bundle.json"
# There while a bundle is being made: what lies in such a folder is no bundle yet, and ours to go on with.
UNFINISHED_FILE = ".bundle-begun.json"
LOCK_FILE = "pylock.toml"
WHEELS_FOLDER, FILES_FOLDER = "wheels", "files"
# A local file's address in the lock of a bundle, wherever the folder will stand.
BUNDLE_URL = "file:///bundle/"

_OUTSIDE_PATTERN = re.compile(r"\A(?:[/\\]|[A-Za-z]:)|(?:\A|[/\\])\.\.(?:[/\\]|\Z)")
_PATH_PATTERN = re.compile(r"(?:pylock\.toml|wheels/[^/]+|files/[0-9a-f]{16}/[^/]+)\Z")
_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+%-]{0,200}\Z")


class BundleFile(Struct, frozen=True, kw_only=True):
    """One file by its path below the folder; `url` is where it officially comes from (None: a file of the user's)."""

    path: str
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
    bytes: Annotated[int, Meta(ge=0)]
    url: str | None = None


class BundleContents(Struct, frozen=True, kw_only=True):
    """`bundle.json`: what it was made for and its files.

    `left_out` are the titles' codes of steps that need a network of their own, which no folder can hold.
    `catalog` is the day of the facts that the plan rests on, `choice` what was picked by hand when it was made. When
    that was does not stand here: the same files have the same list, and its sha256 stays.
    """

    schema: Literal["gpu-assistant/bundle/1"]
    program: str
    catalog: str | None
    goal: Goal
    channel: Channel
    wish: PackageRequest
    target: Platform
    files: tuple[BundleFile, ...]
    left_out: tuple[str, ...] = ()
    choice: Choice | None = None

    @property
    def bytes(self) -> int:
        """What all files take."""
        return sum(file.bytes for file in self.files)

    @property
    def pinned_choice(self) -> Choice:
        """What has to be picked where it is used, so that the same comes out."""
        request = self.wish
        return structs.replace(
            self.choice or Choice(), pytorch=request.torch, variant=request.variant, python=request.python
        )

    def check_platform(self, folder: Path, platform: Platform) -> None:
        """Raise CallError("bundle-other-machine") where it was made for another kind of computer."""
        if not self.target.is_compatible_with(platform):
            raise UsageError("bundle-other-machine", path=str(folder), made_for=self.target.label, here=platform.label)


def read_contents(folder: Path, name: str = LIST_FILE) -> BundleContents:
    """A bundle's list; raises CallError: bundle-missing, bundle-unfinished, bundle-list (broken or unsafe), and those
    of reading.
    """
    path = folder / name
    if not path.is_file() or path.is_symlink():
        raise UsageError(
            "bundle-unfinished" if (folder / UNFINISHED_FILE).is_file() else "bundle-missing", path=str(folder)
        )
    contents = json.read_file(path, BundleContents, code="bundle-list")
    seen_paths: set[str] = set()
    for file in contents.files:
        name = file.path.rpartition("/")[2]
        # Two names that a file system takes for one would hide a file behind another.
        if (
            _PATH_PATTERN.match(file.path) is None
            or _NAME_PATTERN.match(name) is None
            or file.path.casefold() in seen_paths
        ):
            fault = "@file.fault.outside" if _OUTSIDE_PATTERN.search(file.path) else "@file.fault.form"
            raise UsageError("bundle-list", path=str(path), fault=fault, where=file.path)
        seen_paths.add(file.path.casefold())
    if LOCK_FILE not in seen_paths:
        raise UsageError("bundle-list", path=str(path), fault="@file.fault.missing", where=LOCK_FILE)
    return contents


def list_hash(folder: Path) -> str:
    """The sha256 of the list, which holds those of all files: who has it from the maker can trust the folder."""
    return hashlib.sha256((folder / LIST_FILE).read_bytes()).hexdigest()


def locate_file(folder: Path, file: BundleFile) -> Path:
    """Where a file of a checked list lies; raises CallError("bundle-link") where something leads out of the folder."""
    path = folder.joinpath(*file.path.split("/"))
    if any(each.is_symlink() for each in (path, *path.parents) if folder in each.parents):
        raise UsageError("bundle-link", path=str(path))
    return path


CHECK_STEP = "check"


class CheckBundleJob:
    """News are `Event`s, the last one an `EndEvent`. With `here` it must also be for this kind of computer."""

    def __init__(self, folder: Path, target_system: OperatingSystem | None = None) -> None:
        self.folder = folder
        self._target_system = target_system

    def run(self, context: JobContext[Any]) -> BundleContents:
        """The list of a whole bundle. Raises CallError: bundle-missing, bundle-unfinished, bundle-list, bundle-link,
        bundle-other-machine; Cancelled; AppError("bundle-damaged") with the paths that are missing or differ.
        """
        reporter = ProgressReporter(context)
        reporter.report_plan(
            (Step(id=CHECK_STEP, kind="bundle", code="bundle-check", data={"path": str(self.folder)}),)
        )
        reporter.report_step(CHECK_STEP, "running")
        try:
            contents = self._verify_files(reporter, context)
            bundle_hash = list_hash(self.folder)
            unlisted = tuple(
                sorted({*inventory.iter_files(self.folder)} - {LIST_FILE, *(file.path for file in contents.files)})
            )
        except AppError as error:
            self._report_failure(reporter, error)
            raise
        except OSError as error:
            failure = storage_error(error, self.folder)
            self._report_failure(reporter, failure)
            raise failure from error
        data: dict[str, Value] = {"count": len(contents.files), "mark": bundle_hash}
        code = "progress.bundle-whole"
        if unlisted:
            code, data = "progress.bundle-whole-extra", {**data, "kept": len(unlisted), "files": format_names(unlisted)}
        reporter.report_step(CHECK_STEP, "done", code=code, data=data)
        reporter.end_run("done", str(self.folder))
        return contents

    def _verify_files(self, reporter: ProgressReporter, context: JobContext[Any]) -> BundleContents:
        contents = read_contents(self.folder)
        if self._target_system is not None:
            contents.check_platform(self.folder, platform_for(self._target_system, contents.wish.label))
        done_bytes, damaged, speed_meter = 0, list[str](), SpeedMeter()

        def advance(count: int) -> None:
            nonlocal done_bytes
            done_bytes += count
            speed_meter.add(done_bytes)
            rate = speed_meter.rate()
            reporter.report_progress(
                done=done_bytes, total=contents.bytes, unit="bytes", speed=rate, bottleneck="checking"
            )

        for file in contents.files:
            path = locate_file(self.folder, file)
            if not path.is_file() or path.stat().st_size != file.bytes:
                damaged.append(file.path)
                advance(file.bytes)
                continue
            with path.open("rb", buffering=0) as stream:
                hasher = partial_file.hash_rest(stream, hashlib.sha256(), context.cancel, advance)
            if hasher.hexdigest() != file.sha256:
                damaged.append(file.path)
        if damaged:
            raise AppError("bundle-damaged", path=str(self.folder), files=", ".join(damaged))
        return contents

    def _report_failure(self, reporter: ProgressReporter, error: AppError) -> None:
        reporter.fail_step(CHECK_STEP, error)
        reporter.fail_run(str(self.folder), error)
