"""`--report FILE`: a result as the HTML page that the window saves too."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import json
from ..core.errors import UsageError
from .arguments import new_file_path

if TYPE_CHECKING:
    from .output import Output

REPORT_SUFFIXES = (".html", ".htm")


def report_path(arguments: argparse.Namespace) -> Path | None:
    """Where the report is to be saved; None without one. Asked before anything is measured.

    Raises UsageError("report-suffix") for a name of another kind of file, and what `new_file_path` raises; an earlier
    report alone is replaced.
    """
    from ..reports.page import is_report

    if arguments.report is None:
        return None
    path = new_file_path(arguments.report, is_report)
    if path.suffix.lower() not in REPORT_SUFFIXES:
        raise UsageError("report-suffix", path=str(path))
    return path


def save_report(path: Path | None, render: Callable[[], str], output: Output) -> None:
    """Write the report in the language of the output, and say where it is: on stderr, since stdout may hold JSON.

    Without a `path` nothing is written.
    """
    from ..texts import current

    if path is None:
        return
    current.set_language(output.texts.language)
    json.write_file(path, render().encode())
    output.write_note(output.translate("report-saved", path=str(path)))
