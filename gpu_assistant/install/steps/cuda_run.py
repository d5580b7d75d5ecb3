"""The CUDA Toolkit by NVIDIA's own .run for Linux, into a folder of the user's own: without an administrator."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ...core import json
from ...core.errors import AppError, Cancelled
from ...core.json import storage_error
from ...core.plan import Step
from .. import listing, receipt
from .. import toolkit_installer as own
from ..draft import Draft
from ..effects import TreeMade
from ..fetching import fetch
from ..receipt import BLOCK, LINK, Archive, Part, Receipt
from ..removal import delete, name, partial_path
from ..unpacking import checking
from ..work import Outcome, Work
from .by_installer import ByInstaller, Spec
from .cuda_toolkit import RECEIPT, prove
from .kind import spec_of

if TYPE_CHECKING:
    from ...catalog.toolkits import Installer, ToolkitInstall
    from ...core.machine import SystemName

SHELL = Path("/bin/sh")
PLATFORM = "linux-x86_64"
SCRATCH = ".scratch"
LONGEST_S = 3600.0
# What a text with the folder's own place in it does not exceed; larger files are libraries and programs.
LARGEST_TEXT = 1 << 16


def tree(toolkits: Path, version: str) -> Path:
    """The folder of one; not that of the archives, whose folders lie otherwise."""
    return toolkits / f"cuda-{version}-installer"


class CudaRun(ByInstaller):
    """Any version beside others."""

    name: ClassVar[str] = "cuda-run"
    system: ClassVar[SystemName] = "linux"
    codes: ClassVar[tuple[str, ...]] = ("cuda-run",)

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step where the user picked this way on Linux; raises CannotSetUp."""
        version = draft.recommendation.cuda_toolkit.version
        if version is None or not own.wants_it(draft, self.system):
            return ()
        installer, how = own.planned(draft)
        folder = tree(draft.data.toolkits, version)
        draft.variables |= {"CUDA_PATH": str(folder), "CUDA_HOME": str(folder)}
        draft.on_path.append(str(folder / "bin"))
        draft.variable_owners.append(self.name)
        command = ("sh", installer.file, *_words(how, folder, folder / SCRATCH))
        return (self.step(draft, version, str(folder), command, needs_admin=False),)

    def can_be_run(self, how: ToolkitInstall) -> bool:
        """Into a folder of the user's own."""
        return bool(how.own_folder)

    def done(self, step: Step, work: Work) -> Outcome | None:
        """Every file is there with its hash."""
        version = spec_of(step, Spec).version
        folder = tree(work.data.toolkits, version)
        there = receipt.read(folder / RECEIPT)
        if there is None or (there.version, there.platform) != (version, PLATFORM):
            return None
        if not receipt.whole(folder, there.files, work.cancel, checking(work)):
            return None
        return Outcome(code="progress.toolkit-here", data={"version": version, "path": str(folder)})

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises AppError: toolkit-occupied, toolkit-run-failed, toolkit-broken, and what fetching raises."""
        version, installer, how = self.known(step, work.catalog)
        (path,) = fetch(work, [own.wanted(installer, work.data.files)])
        folder = tree(work.data.toolkits, version)
        work.folder(step, folder.parent)
        ours = (folder / listing.FILES).is_file()
        if not ours and folder.is_dir() and any(folder.iterdir()):
            raise AppError("toolkit-occupied", path=str(folder))
        made = work.tree_made(folder)
        with work.effect(step, TreeMade(path=made.path, stood=made.stood and not ours)):
            partial = partial_path(folder)
            # With its list it is whole, and may hold what others had put into a damaged one.
            if not (partial / listing.FILES).is_file():
                delete(partial)
                _install(path, how, partial, version, work)
                _tell_its_place(partial, folder)
                prove(partial, work)
                part = Part(archive=_archive(installer, version, path), files=_hashed(partial, work))
                whole = Receipt(
                    schema="gpu-assistant/receipt/1", version=version, platform=PLATFORM, index=None, parts=(part,)
                )
                json.write_file(partial / RECEIPT, json.encode_pretty(whole))
                listing.write(partial, sorted([*whole.files, RECEIPT]))
            if ours:
                _give_way(folder, partial)
            name(folder)
        return Outcome(code="progress.toolkit", data={"version": version, "path": str(folder)})


def _words(how: ToolkitInstall, folder: Path, scratch: Path) -> tuple[str, ...]:
    return tuple(word.format(folder=folder, scratch=scratch) for word in how.own_folder)


def _install(path: Path, how: ToolkitInstall, partial: Path, version: str, work: Work) -> None:
    """Run it into an empty folder, with what it unpacks inside of that."""
    scratch = partial / SCRATCH
    try:
        scratch.mkdir(parents=True)
    except OSError as error:
        raise storage_error(error, scratch) from error
    work.reporter.progress(done=0, total=None, unit="items", bottleneck="installing", code="progress.toolkit-run")
    done = work.system.run(
        [SHELL, path, *_words(how, partial, scratch)],
        timeout=LONGEST_S,
        environ={"TMPDIR": str(scratch)},
        cwd=scratch,
        cancel=work.cancel,
        on_line=work.reporter.log,
    )
    if done.code != 0 or not own.complete(partial, how):
        said = (done.err or done.out).strip()[-300:] or None
        raise AppError("toolkit-run-failed", version=version, status=done.code, detail=said)
    delete(scratch)


def _tell_its_place(partial: Path, folder: Path) -> None:
    """What names the folder that it was installed into names the one that it gets: texts, and links."""
    made, named = str(partial), str(folder)
    for inner in listing.files(partial):
        path = partial / inner
        try:
            if path.is_symlink():
                target = str(path.readlink())
                if target.startswith(f"{made}/"):
                    path.unlink()
                    path.symlink_to(target.replace(made, named, 1))
            elif path.stat().st_size <= LARGEST_TEXT and made.encode() in (text := path.read_bytes()):
                mode = path.stat().st_mode
                json.write_file(path, text.replace(made.encode(), named.encode()))
                path.chmod(mode)
        except OSError as error:
            raise storage_error(error, path) from error


def _archive(installer: Installer, version: str, path: Path) -> Archive:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Archive(part="installer", version=version, url=installer.url, sha256=sha256, bytes=installer.bytes)


def _hashed(partial: Path, work: Work) -> dict[str, str]:
    """Every file and link below, as a receipt has them; raises Cancelled."""
    found, progress, done = {}, checking(work), 0
    for inner in listing.files(partial):
        path = partial / inner
        try:
            if path.is_symlink():
                found[inner] = LINK + str(path.readlink())
                continue
            now = hashlib.sha256()
            with path.open("rb") as file:
                while block := file.read(BLOCK):
                    if work.cancel.is_set():
                        raise Cancelled
                    now.update(block)
                    done += len(block)
                    progress(done)
        except OSError as error:
            raise storage_error(error, path) from error
        found[inner] = now.hexdigest()
    return found


def _give_way(folder: Path, partial: Path) -> None:
    """A damaged tree of ours goes; what others put there moves along. Raises AppError("toolkit-occupied")."""
    old = receipt.read(folder / RECEIPT)
    if old is None:
        raise AppError("toolkit-occupied", path=str(folder))
    for inner in list(listing.walk(folder)):
        path, target = folder / inner, partial / inner
        if inner in (*old.files, RECEIPT, listing.FILES):
            continue
        try:
            if inner.endswith("/"):
                target.mkdir(parents=True, exist_ok=True)
                continue
            if os.path.lexists(target):
                raise AppError("toolkit-occupied", path=str(path))
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
        except OSError as error:
            raise storage_error(error, path) from error
    delete(folder)
