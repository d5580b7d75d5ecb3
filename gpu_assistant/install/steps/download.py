"""Every file of the lock onto this disk, each one checked."""

from __future__ import annotations

from pathlib import Path

from ...core.errors import AppError
from ...core.plan import PlanFile, Step
from ...fetch.download import Wanted
from ..fetching import fetch
from ..work import Outcome, Work

# What asking the sources again may mend; a broken line is not among it.
OUTDATED = ("hash-mismatch", "source-refused", "local-file-missing", "local-file-broken")


def run(step: Step, work: Work) -> Outcome:  # noqa: ARG001 - every kind has this shape
    """Raises what fetching raises."""
    if work.standing:
        return Outcome(skipped=True, code="progress.standing")
    wanted = [_wanted(work.data.files, package.file) for package in work.lock.packages]
    try:
        work.files = fetch(work, wanted)
    except AppError as error:
        if error.code in OUTDATED:
            work.forget_lock()
        raise
    return Outcome()


def _wanted(folder: Path, file: PlanFile) -> Wanted:
    """By hash, because two indexes may give different files the same name."""
    place = folder / (file.sha256 or "")[:16] / file.name
    return Wanted(url=file.url, path=place, sha256=file.sha256, bytes=file.bytes)
