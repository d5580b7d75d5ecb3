"""NVIDIA's indexes of redistributable archives: which archive a part of a release is, and what it must come to.

An index whose sha256 the catalog knows must be that very file. Another one is taken from NVIDIA's own address alone,
over https, anew each time; what it came to is kept with what was installed from it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import structs

from ..core import json
from ..core.errors import AppError
from ..core.json import storage_error
from ..core.plan import PlanFile
from ..fetch.wanted import Wanted
from .fetching import DownloadContext, download_files
from .receipt import ArchiveRecord, IndexSource

_RELATIVE_PATH = re.compile(r"(?!/)(?!.*(?:^|/)\.\.?(?:/|$))[A-Za-z0-9._+/-]{1,300}\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_DIGITS = re.compile(r"[0-9]{1,13}\Z")


class RedistIndex:
    """A fetched index; raises AppError("redist-index-broken", name=…) where it does not say what an index says."""

    def __init__(self, file: PlanFile, context: DownloadContext) -> None:
        self.request = Wanted(url=file.url, path=context.data.files / file.name, sha256=file.sha256, bytes=file.bytes)
        if file.sha256 is None:
            self.request.path.unlink(missing_ok=True)
        (path,) = download_files(context, [self.request])
        try:
            data = path.read_bytes()
        except OSError as error:
            raise storage_error(error, path) from error
        self.name = file.name
        self.source = IndexSource(url=file.url, sha256=hashlib.sha256(data).hexdigest(), pinned=file.sha256 is not None)
        try:
            self._entries = json.decode(data, dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._broken_error() from error
        # What the archives' names and hashes were read from is what counts from here on.
        self.request = structs.replace(self.request, sha256=self.source.sha256)
        context.reporter.log(f"{file.url} sha256 {self.source.sha256}")

    def find_archive(self, names: Sequence[str], platform: str, variant: str | None = None) -> ArchiveRecord:
        """The archive of the first of these parts that is there, for "linux-x86_64" and a variant like "cuda13".

        Raises AppError("redist-part-missing") too.
        """
        named_part = next(((name, part) for name in names if isinstance(part := self._entries.get(name), dict)), None)
        entry = named_part[1].get(platform) if named_part is not None else None
        if isinstance(entry, dict) and variant is not None:
            entry = entry.get(variant)
        if named_part is None or not isinstance(entry, dict):
            raise AppError("redist-part-missing", part=names[0], name=self.name)
        path, sha256, size = (entry.get(key) for key in ("relative_path", "sha256", "size"))
        version = named_part[1].get("version")
        texts = (path, sha256, size, version)
        if not all(isinstance(text, str) for text in texts):
            raise self._broken_error()
        if not (_RELATIVE_PATH.match(str(path)) and _SHA256.match(str(sha256)) and _DIGITS.match(str(size))):
            raise self._broken_error()
        base = self.source.url.rpartition("/")[0]
        return ArchiveRecord(
            part=names[0], version=str(version), url=f"{base}/{path}", sha256=str(sha256), bytes=int(str(size))
        )

    def _broken_error(self) -> AppError:
        return AppError("redist-index-broken", name=self.name)
