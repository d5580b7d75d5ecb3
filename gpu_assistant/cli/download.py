"""`gpu-assistant download`: one file, from one address or several that hold the same bytes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..core.errors import UsageError

if TYPE_CHECKING:
    from ..app import App
    from .output import Output


def add_download_command_options(
    command: argparse._ArgumentGroup, translate: Callable[[str], str], path: Callable[[str], str]
) -> None:
    """What can be typed after `download`; `path` is the parser's own check."""

    def checksum(text: str) -> str:
        if not re.fullmatch(r"[0-9A-Fa-f]{64}", text):
            raise argparse.ArgumentTypeError(translate("range.sha256"))
        return text.lower()

    def connections(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= 16:
            raise argparse.ArgumentTypeError(translate("range.connections"))
        return int(text)

    command.add_argument("urls", metavar="URL", nargs="+", help=translate("opt.urls"))
    command.add_argument("-o", dest="file", metavar="FILE", type=path, required=True, help=translate("opt.file"))
    command.add_argument("--sha256", metavar="H", type=checksum, help=translate("opt.sha256"))
    command.add_argument("--connections", metavar="N", type=connections, default=8, help=translate("opt.connections"))


def download(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Fetch one file; a stopped download goes on where it was."""
    from ..core.paths import normalize_path
    from .arguments import run_job

    for url in arguments.urls:
        _check_url(url)
    path = normalize_path(arguments.file)
    if path.is_dir():
        name = Path(urlsplit(arguments.urls[0]).path).name or "file"
        raise UsageError("download-folder", path=str(path), example=str(path / name))
    if not path.parent.is_dir():
        # A folder that was mistyped is not made: the file would lie where nobody looks for it.
        raise UsageError("download-no-folder", path=str(path.parent))
    job = app.setup.download(arguments.urls, path, sha256=arguments.sha256, connections=arguments.connections)
    if output.json:
        run_job(job, on_event=output.write_event, cancel_code="cancelled")
        return 0
    from .progress import StepProgressDisplay

    with StepProgressDisplay(output) as lines:
        run_job(job, on_event=lines.show_event, cancel_code="cancelled")
    output.write_line(output.translate("downloaded", path=str(path)))
    return 0


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_http_url = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:  # half a pair of brackets
        is_http_url = False
    if not is_http_url:
        raise UsageError("download-address", url=url)
    try:
        _port = parts.port
    except ValueError as error:
        raise UsageError("download-port", url=url) from error
