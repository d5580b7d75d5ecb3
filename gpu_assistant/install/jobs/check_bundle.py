"""Compares every byte of a bundle with its list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.errors import AppError, storage_errors
from ...core.files import hash_file
from ...core.jobs import JobContext
from ...core.machine import OperatingSystem
from ...core.plan import Step
from ...core.types import Value
from ...fetch.rate import SpeedMeter
from ..bundle.format import LIST_FILE, SIGNATURE_FILE, BundleContents, list_hash, locate_file, read_contents
from ..files import inventory
from ..files.inventory import format_names
from ..packages.requirements import platform_for
from ..progress import ProgressReporter

CHECK_STEP = "check"


class CheckBundleJob:
    """Reports `Event`s, the last one an `EndEvent`. With `target_system` the bundle must also be for that computer."""

    def __init__(self, folder: Path, target_system: OperatingSystem | None = None) -> None:
        self.folder = folder
        self._target_system = target_system

    def run(self, context: JobContext[Any]) -> BundleContents:
        """The list of an intact bundle. Raises UsageError: bundle-missing, bundle-unfinished, bundle-list, bundle-link,
        bundle-other-machine; Cancelled; AppError("bundle-damaged") with the paths that are missing or differ.
        """
        reporter = ProgressReporter(context)
        reporter.report_plan(
            (Step(id=CHECK_STEP, kind="bundle", code="bundle-check", data={"path": str(self.folder)}),)
        )
        reporter.report_step(CHECK_STEP, "running")
        try:
            with storage_errors(self.folder):
                contents = self._verify_files(reporter, context)
                data: dict[str, Value] = {"count": len(contents.files), "mark": list_hash(self.folder)}
                listed = {LIST_FILE, SIGNATURE_FILE, *(file.path for file in contents.files)}
                unlisted = tuple(sorted({*inventory.iter_files(self.folder)} - listed))
        except AppError as error:
            reporter.fail_step(CHECK_STEP, error)
            reporter.fail_run(str(self.folder), error)
            raise
        code = "progress.bundle-whole"
        if unlisted:
            code, data = "progress.bundle-whole-extra", {**data, "kept": len(unlisted), "files": format_names(unlisted)}
        reporter.report_step(CHECK_STEP, "done", code=code, data=data)
        reporter.end_run("done", str(self.folder))
        return contents

    def _verify_files(self, reporter: ProgressReporter, context: JobContext[Any]) -> BundleContents:
        contents = read_contents(self.folder)
        if self._target_system is not None:
            contents.check_platform(self.folder, platform_for(self._target_system, contents.request.label))
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
            elif hash_file(path, context.cancel, progress=advance) != file.sha256:
                damaged.append(file.path)
        if damaged:
            raise AppError("bundle-damaged", path=str(self.folder), files=", ".join(damaged))
        return contents
