"""A bundle as an install uses it: every file from there, none over the network."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from ...core.errors import AppError, UsageError
from ...core.plan import Plan
from ...fetch.request import DownloadRequest
from ..packages import lockfile
from ..packages.lockfile import Lockfile
from ..packages.requirements import PackageRequest, Platform
from .format import BUNDLE_URL, LOCK_FILE, BundleFile, locate_file, read_contents


class BundleSource:
    """Reads the list once; raises what reading it raises."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.contents = read_contents(folder)
        self._by_hash = {file.sha256: file for file in self.contents.files}
        self._by_url = {file.url: file for file in self.contents.files if file.url is not None}

    def check_plan(self, plan: Plan, platform: Platform) -> None:
        """Raise CallError("bundle-other-machine") or AppError("bundle-lacks") before anything is done."""
        self.contents.check_platform(self.folder, platform)
        for step in plan.steps:
            for file in step.files:
                self._find_file(file.url, file.sha256, file.name)

    def local_request(self, request: DownloadRequest) -> DownloadRequest:
        """The same file from here, with what it must come to; raises AppError("bundle-lacks"), CallError."""
        file = self._find_file(request.file.url, request.file.sha256, request.name)
        path = locate_file(self.folder, file)
        # A checksum that the catalog or an index knows stays the one that counts.
        sha256 = request.file.sha256 or file.sha256
        here = structs.replace(request.file, urls=(path.as_uri(),), sha256=sha256, bytes=file.bytes)
        return structs.replace(request, file=here, reserve=())

    def read_lockfile(self, request: PackageRequest) -> Lockfile:
        """The lock that the bundle was made from; raises CallError("bundle-other-wish"), AppError."""
        if not request.has_same_packages(self.contents.wish):
            raise UsageError("bundle-other-wish", path=str(self.folder), made_for=self.contents.wish.label)
        (lock_file,) = (file for file in self.contents.files if file.path == LOCK_FILE)
        path = locate_file(self.folder, lock_file)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise AppError("local-file-missing", path=str(path)) from error
        from hashlib import sha256

        if sha256(data).hexdigest() != lock_file.sha256:
            raise AppError("local-file-broken", path=str(path))
        text = data.decode("utf-8", "replace").replace(f'"{BUNDLE_URL}', f'"{self.folder.as_uri()}/')
        return lockfile.parse_lockfile(text, request.python)

    def _find_file(self, url: str, sha256: str | None, name: str) -> BundleFile:
        file = self._by_hash.get(sha256) if sha256 is not None else self._by_url.get(url)
        if file is None:
            raise AppError("bundle-lacks", name=name, path=str(self.folder))
        return file
