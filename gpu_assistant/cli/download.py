"""`gpu-assistant download`: one file, from one address or several that hold the same bytes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..core.errors import UsageError
from ..core.paths import normalize_path
from .jobs import run_with_events

if TYPE_CHECKING:
    from ..app import App
    from .output import Output


def run_download(app: App, arguments: argparse.Namespace, output: Output) -> int:
    """Download one file; a stopped download continues."""
    for url in arguments.urls:
        _check_url(url)
    path = normalize_path(arguments.file)
    if path.is_dir():
        name = Path(urlsplit(arguments.urls[0]).path).name or "file"
        raise UsageError("download-folder", path=str(path), example=str(path / name))
    if not path.parent.is_dir():
        raise UsageError("download-no-folder", path=str(path.parent))
    job = app.setup.download(arguments.urls, path, sha256=arguments.sha256, connections=arguments.connections)
    run_with_events(job, output, cancel_code="cancelled")
    if not output.json:
        output.write_line(output.translate("downloaded", path=str(path)))
    return 0


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_http_url = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:  # unbalanced brackets of an IPv6 address
        is_http_url = False
    if not is_http_url:
        raise UsageError("download-address", url=url)
    try:
        _port = parts.port
    except ValueError as error:
        raise UsageError("download-port", url=url) from error
