"""Unpacking for a step: the files of one archive, with progress told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from .archives import unpack
from .receipt import ArchiveRecord, ReceiptPart
from .work import InstallContext


def unpack_part(
    archive: ArchiveRecord,
    path: Path,
    destination: Path,
    context: InstallContext,
    *,
    path_for: Callable[[str], str | None],
    existing: Mapping[str, str] | None = None,
) -> ReceiptPart:
    """One archive's files below a folder; raises what `unpack` raises."""

    def progress(done_bytes: int) -> None:
        context.reporter.report_progress(
            done=done_bytes,
            total=None,
            unit="bytes",
            bottleneck="installing",
            code="progress.unpacking",
            data={"name": path.name},
        )

    files = unpack(path, destination, path_for=path_for, existing=existing, cancel=context.cancel, progress=progress)
    return ReceiptPart(archive=archive, files=files)


def checking_progress(context: InstallContext) -> Callable[[int], None]:
    """Tells how far a look at files has come, in bytes."""

    def progress(done_bytes: int) -> None:
        context.reporter.report_progress(done=done_bytes, total=None, unit="bytes", bottleneck="checking")

    return progress
