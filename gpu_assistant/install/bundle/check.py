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
from ..reporter import Reporter
from ..strangers import named
from ..target import target_of
from .contents import LIST, Contents, fingerprint, place, read

CHECK = "check"


class CheckJob:
    """News are `Event`s, the last one an `EndEvent`. With `here` it must also be for this kind of computer."""

    def __init__(self, folder: Path, here: OperatingSystem | None = None) -> None:
        self.folder = folder
        self._here = here

    def run(self, context: JobContext[Any]) -> Contents:
        """The list of a whole bundle. Raises CallError: bundle-missing, bundle-unfinished, bundle-list, bundle-link,
        bundle-other-machine; Cancelled; AppError("bundle-damaged") with the paths that are missing or differ.
        """
        reporter = Reporter(context)
        reporter.plan((Step(id=CHECK, kind="bundle", code="bundle-check", data={"path": str(self.folder)}),))
        reporter.step(CHECK, "running")
        try:
            found = self._check(reporter, context)
            mark = fingerprint(self.folder)
            extra = tuple(sorted({*listing.files(self.folder)} - {LIST, *(file.path for file in found.files)}))
        except AppError as error:
            self._failed(reporter, error)
            raise
        except OSError as error:
            failure = storage_error(error, self.folder)
            self._failed(reporter, failure)
            raise failure from error
        data: dict[str, Value] = {"count": len(found.files), "mark": mark}
        code = "progress.bundle-whole"
        if extra:
            code, data = "progress.bundle-whole-extra", {**data, "kept": len(extra), "files": named(extra)}
        reporter.step(CHECK, "done", code=code, data=data)
        reporter.end("done", str(self.folder))
        return found

    def _check(self, reporter: Reporter, context: JobContext[Any]) -> Contents:
        contents = read(self.folder)
        if self._here is not None:
            contents.refuse_others(self.folder, target_of(self._here, contents.wish.label))
        done, wrong, speed = 0, list[str](), Speed()

        def more(count: int) -> None:
            nonlocal done
            done += count
            speed.add(done)
            rate = speed.rate()
            reporter.progress(done=done, total=contents.bytes, unit="bytes", speed=rate, bottleneck="checking")

        for file in contents.files:
            path = place(self.folder, file)
            if not path.is_file() or path.stat().st_size != file.bytes:
                wrong.append(file.path)
                more(file.bytes)
                continue
            with path.open("rb", buffering=0) as opened:
                found = local.digest(opened, hashlib.sha256(), context.cancel, more)
            if found.hexdigest() != file.sha256:
                wrong.append(file.path)
        if wrong:
            raise AppError("bundle-damaged", path=str(self.folder), files=", ".join(wrong))
        return contents

    def _failed(self, reporter: Reporter, error: AppError) -> None:
        reporter.failed(CHECK, error)
        reporter.ended(str(self.folder), error)
