"""Reads every byte of a bundle and compares it with the bundle's list."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from ...core.errors import AppError
from ...core.jobs import JobContext
from ...core.json import storage_error
from ...core.machine import OperatingSystem
from ...core.names import Value
from ...core.plan import Step
from ...fetch import local
from ...fetch.speed import Speed
from .. import listing
from ..reporter import ProgressReporter
from ..strangers import format_names
from ..target import platform_for
from .contents import LIST_FILE, BundleContents, list_hash, locate_file, read_contents

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
        reporter.report_plan((Step(id=CHECK_STEP, kind="bundle", code="bundle-check", data={"path": str(self.folder)}),))
        reporter.report_step(CHECK_STEP, "running")
        try:
            contents = self._verify_files(reporter, context)
            bundle_hash = list_hash(self.folder)
            unlisted = tuple(sorted({*listing.iter_files(self.folder)} - {LIST_FILE, *(file.path for file in contents.files)}))
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
        done_bytes, damaged, speed_meter = 0, list[str](), Speed()

        def advance(count: int) -> None:
            nonlocal done_bytes
            done_bytes += count
            speed_meter.add(done_bytes)
            rate = speed_meter.rate()
            reporter.report_progress(done=done_bytes, total=contents.bytes, unit="bytes", speed=rate, bottleneck="checking")

        for file in contents.files:
            path = locate_file(self.folder, file)
            if not path.is_file() or path.stat().st_size != file.bytes:
                damaged.append(file.path)
                advance(file.bytes)
                continue
            with path.open("rb", buffering=0) as stream:
                hasher = local.digest(stream, hashlib.sha256(), context.cancel, advance)
            if hasher.hexdigest() != file.sha256:
                damaged.append(file.path)
        if damaged:
            raise AppError("bundle-damaged", path=str(self.folder), files=", ".join(damaged))
        return contents

    def _report_failure(self, reporter: ProgressReporter, error: AppError) -> None:
        reporter.fail_step(CHECK_STEP, error)
        reporter.fail_run(str(self.folder), error)
