"""A bundle as an install uses it: every file from there, none over the network."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from ...core.errors import AppError, CallError
from ...core.plan import Plan
from ...fetch.wanted import Wanted
from .. import lock
from ..lock import Lock
from ..target import Target
from ..wish import Wish
from .contents import HERE, LOCK, BundleFile, place, read


class Shelf:
    """Reads the list once; raises what reading it raises."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.contents = read(folder)
        self._by_hash = {file.sha256: file for file in self.contents.files}
        self._by_url = {file.url: file for file in self.contents.files if file.url is not None}

    def refuse_strange(self, plan: Plan, target: Target) -> None:
        """Raise CallError("bundle-other-machine") or AppError("bundle-lacks") before anything is done."""
        self.contents.refuse_others(self.folder, target)
        for step in plan.steps:
            for file in step.files:
                self._find(file.url, file.sha256, file.name)

    def wanted(self, wanted: Wanted) -> Wanted:
        """The same file from here, with what it must come to; raises AppError("bundle-lacks"), CallError."""
        file = self._find(wanted.url, wanted.sha256, wanted.path.name)
        path = place(self.folder, file)
        # A checksum that the catalog or an index knows stays the one that counts.
        return structs.replace(
            wanted, url=path.as_uri(), sha256=wanted.sha256 or file.sha256, bytes=file.bytes, mirrors=(), reserve=()
        )

    def lock(self, wish: Wish) -> Lock:
        """The lock that the bundle was made from; raises CallError("bundle-other-wish"), AppError."""
        if not wish.same_packages(self.contents.wish):
            raise CallError("bundle-other-wish", path=str(self.folder), made_for=self.contents.wish.label)
        (listed,) = (file for file in self.contents.files if file.path == LOCK)
        path = place(self.folder, listed)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise AppError("local-file-missing", path=str(path)) from error
        from hashlib import sha256

        if sha256(data).hexdigest() != listed.sha256:
            raise AppError("local-file-broken", path=str(path))
        text = data.decode("utf-8", "replace").replace(f'"{HERE}', f'"{self.folder.as_uri()}/')
        return lock.parse(text, wish.python)

    def _find(self, url: str, sha256: str | None, name: str) -> BundleFile:
        file = self._by_hash.get(sha256) if sha256 is not None else self._by_url.get(url)
        if file is None:
            raise AppError("bundle-lacks", name=name, path=str(self.folder))
        return file
