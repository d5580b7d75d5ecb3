"""Every file of the lock onto this disk, each one checked."""

from __future__ import annotations

from ...core.plan import Step
from ...fetch.download import Wanted
from ..fetching import fetch
from ..work import Outcome, Work


def run(step: Step, work: Work) -> Outcome:  # noqa: ARG001 - every kind has this shape
    """Raises what fetching raises."""
    if work.standing:
        return Outcome(skipped=True, code="progress.standing")
    work.files = fetch(
        work, [_wanted(work, package.file.sha256 or "", i) for i, package in enumerate(work.lock.packages)]
    )
    return Outcome()


def _wanted(work: Work, sha256: str, index: int) -> Wanted:
    """By hash, because two indexes may give different files the same name."""
    file = work.lock.packages[index].file
    return Wanted(url=file.url, path=work.data.files / sha256[:16] / file.name, sha256=sha256, bytes=file.bytes)
