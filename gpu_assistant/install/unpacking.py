"""Unpacking for a step: the files of one archive, with progress told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from .archives import unpack
from .receipt import Archive, Part
from .work import Work


def unpacked(
    archive: Archive,
    path: Path,
    into: Path,
    work: Work,
    *,
    place: Callable[[str], str | None],
    taken: Mapping[str, str] | None = None,
) -> Part:
    """One archive's files below a folder; raises what `unpack` raises."""

    def progress(done: int) -> None:
        work.reporter.progress(
            done=done,
            total=None,
            unit="bytes",
            bottleneck="installing",
            code="progress.unpacking",
            data={"name": path.name},
        )

    files = unpack(path, into, place=place, taken=taken, cancel=work.cancel, progress=progress)
    return Part(archive=archive, files=files)


def checking(work: Work) -> Callable[[int], None]:
    """Tells how far a look at files has come, in bytes."""

    def progress(done: int) -> None:
        work.reporter.progress(done=done, total=None, unit="bytes", bottleneck="checking")

    return progress
