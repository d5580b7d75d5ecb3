"""A bundle as the source of an install: every file comes from its folder, none over the network."""

from __future__ import annotations

import hashlib
from pathlib import Path

from msgspec import structs

from ...core import filesystem
from ...core.errors import AppError, UsageError
from ...core.plan import Plan
from ...fetch.request import DownloadRequest
from ..packages.lockfile import Lockfile, parse_lockfile
from ..packages.requirements import PackageRequest, Platform
from .format import BUNDLE_URL, LOCK_FILE, BundleFile, locate_file, read_contents


class BundleSource:
    """Reads the list when it is made; it must have the `sha256`, if given. Raises what `read_contents` raises."""

    def __init__(self, folder: Path, sha256: str | None = None) -> None:
        self.folder = folder
        self.contents = read_contents(folder, sha256=sha256)
        self._by_hash = {file.sha256: file for file in self.contents.files}
        self._by_url = {file.url: file for file in self.contents.files if file.url is not None}

    def check_plan(self, plan: Plan, platform: Platform) -> None:
        """Raise UsageError("bundle-other-machine") or AppError("bundle-lacks") before anything is installed."""
        self.contents.check_platform(self.folder, platform)
        for step in plan.steps:
            for file in step.files:
                self._find_file(file.url, file.sha256, file.name)

    def local_request(self, request: DownloadRequest) -> DownloadRequest:
        """The request for the same file in the bundle; raises AppError("bundle-lacks"), UsageError("bundle-link")."""
        file = self._find_file(request.file.url, request.file.sha256, request.name)
        path = locate_file(self.folder, file)
        # A checksum from the catalog or an index takes precedence over the list's.
        sha256 = request.file.sha256 or file.sha256
        local_file = structs.replace(request.file, urls=(path.as_uri(),), sha256=sha256, bytes=file.bytes)
        return structs.replace(request, file=local_file, reserve=())

    def read_lockfile(self, request: PackageRequest) -> Lockfile:
        """The bundle's lock file; raises UsageError("bundle-other-wish") if it is for other packages, AppError."""
        if not request.has_same_packages(self.contents.request):
            raise UsageError("bundle-other-wish", path=str(self.folder), made_for=self.contents.request.label)
        (lock_file,) = (file for file in self.contents.files if file.path == LOCK_FILE)
        path = locate_file(self.folder, lock_file)
        try:
            data = filesystem.read_bytes(path)
        except OSError as error:
            raise AppError("local-file-missing", path=str(path)) from error
        if hashlib.sha256(data).hexdigest() != lock_file.sha256:
            raise AppError("local-file-broken", path=str(path))
        text = data.decode("utf-8", "replace").replace(f'"{BUNDLE_URL}', f'"{self.folder.as_uri()}/')
        return parse_lockfile(text, request.python, sdists=request.sdists)

    def _find_file(self, url: str, sha256: str | None, name: str) -> BundleFile:
        file = self._by_hash.get(sha256) if sha256 is not None else self._by_url.get(url)
        if file is None:
            raise AppError("bundle-lacks", name=name, path=str(self.folder))
        return file
