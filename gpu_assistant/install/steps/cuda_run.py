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
from ..draft import PlanBuilder
from ..effects import TreeCreated
from ..fetching import download_files
from ..receipt import HASH_BLOCK_BYTES, LINK_PREFIX, ArchiveRecord, ReceiptPart, Receipt
from ..removal import delete_folder, commit_folder, partial_path
from ..unpacking import checking_progress
from ..work import Outcome, InstallContext
from .by_installer import NvidiaInstaller, InstallerSpec
from .cuda_toolkit import TOOLKIT_RECEIPT, check_compiler
from .kind import parse_spec

if TYPE_CHECKING:
    from ...catalog.toolkits import ToolkitInstaller, ToolkitInstallerSettings
    from ...core.machine import SystemName

SHELL = Path("/bin/sh")
RUN_FILE_PLATFORM = "linux-x86_64"
SCRATCH_FOLDER = ".scratch"
RUN_TIMEOUT_S = 3600.0
# What a text with the folder's own place in it does not exceed; larger files are libraries and programs.
MAX_TEXT_BYTES = 1 << 16


def run_file_folder(toolkits: Path, version: str) -> Path:
    """The folder of one; not that of the archives, whose folders lie otherwise."""
    return toolkits / f"cuda-{version}-installer"


class RunFileInstaller(NvidiaInstaller):
    """Any version beside others."""

    name: ClassVar[str] = "cuda-run"
    system: ClassVar[SystemName] = "linux"
    codes: ClassVar[tuple[str, ...]] = ("cuda-run",)

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step where the user picked this way on Linux; raises CannotSetUp."""
        version = builder.recommendation.cuda_toolkit.version
        if version is None or not own.is_requested(builder, self.system):
            return ()
        installer, install_options = own.planned_installer(builder)
        folder = run_file_folder(builder.data.toolkits, version)
        builder.variables |= {"CUDA_PATH": str(folder), "CUDA_HOME": str(folder)}
        builder.path_folders.append(str(folder / "bin"))
        builder.variable_owners.append(self.name)
        command = ("sh", installer.file, *_installer_arguments(install_options, folder, folder / SCRATCH_FOLDER))
        return (self.make_step(builder, version, str(folder), command, needs_admin=False),)

    def is_supported(self, install_options: ToolkitInstallerSettings) -> bool:
        """Into a folder of the user's own."""
        return bool(install_options.own_folder)

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """Every file is there with its hash."""
        version = parse_spec(step, InstallerSpec).version
        folder = run_file_folder(context.data.toolkits, version)
        existing = receipt.read_receipt(folder / TOOLKIT_RECEIPT)
        if existing is None or (existing.version, existing.platform) != (version, RUN_FILE_PLATFORM):
            return None
        if not receipt.files_match(folder, existing.files, context.cancel, checking_progress(context)):
            return None
        return Outcome(code="progress.toolkit-here", data={"version": version, "path": str(folder)})

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: toolkit-occupied, toolkit-run-failed, toolkit-broken, and what fetching raises."""
        version, installer, install_options = self.catalog_installer(step, context.catalog)
        (path,) = download_files(context, [own.download_request(installer, context.data.files)])
        folder = run_file_folder(context.data.toolkits, version)
        context.make_folder(step, folder.parent)
        is_managed = (folder / listing.FILE_MANIFEST).is_file()
        if not is_managed and folder.is_dir() and any(folder.iterdir()):
            raise AppError("toolkit-occupied", path=str(folder))
        tree_effect = context.tree_effect(folder)
        with context.record_effect(step, TreeCreated(path=tree_effect.path, stood=tree_effect.stood and not is_managed)):
            partial = partial_path(folder)
            # With its list it is whole, and may hold what others had put into a damaged one.
            if not (partial / listing.FILE_MANIFEST).is_file():
                delete_folder(partial)
                _run_installer(path, install_options, partial, version, context)
                _relocate(partial, folder)
                check_compiler(partial, context)
                part = ReceiptPart(archive=_archive_record(installer, version, path), files=_hash_tree(partial, context))
                complete_receipt = Receipt(
                    schema="gpu-assistant/receipt/1", version=version, platform=RUN_FILE_PLATFORM, index=None, parts=(part,)
                )
                json.write_file(partial / TOOLKIT_RECEIPT, json.encode_pretty(complete_receipt))
                listing.write_file_manifest(partial, sorted([*complete_receipt.files, TOOLKIT_RECEIPT]))
            if is_managed:
                _replace_damaged(folder, partial)
            commit_folder(folder)
        return Outcome(code="progress.toolkit", data={"version": version, "path": str(folder)})


def _installer_arguments(install_options: ToolkitInstallerSettings, folder: Path, scratch: Path) -> tuple[str, ...]:
    return tuple(argument.format(folder=folder, scratch=scratch) for argument in install_options.own_folder)


def _run_installer(path: Path, install_options: ToolkitInstallerSettings, partial: Path, version: str, context: InstallContext) -> None:
    """Run it into an empty folder, with what it unpacks inside of that."""
    scratch = partial / SCRATCH_FOLDER
    try:
        scratch.mkdir(parents=True)
    except OSError as error:
        raise storage_error(error, scratch) from error
    context.reporter.report_progress(done=0, total=None, unit="items", bottleneck="installing", code="progress.toolkit-run")
    finished = context.system.run(
        [SHELL, path, *_installer_arguments(install_options, partial, scratch)],
        timeout=RUN_TIMEOUT_S,
        environ={"TMPDIR": str(scratch)},
        cwd=scratch,
        cancel=context.cancel,
        on_line=context.reporter.log,
    )
    if finished.returncode != 0 or not own.is_complete(partial, install_options):
        output = (finished.stderr or finished.stdout).strip()[-300:] or None
        raise AppError("toolkit-run-failed", version=version, status=finished.returncode, detail=output)
    delete_folder(scratch)


def _relocate(partial: Path, folder: Path) -> None:
    """What names the folder that it was installed into names the one that it gets: texts, and links."""
    old_path, new_path = str(partial), str(folder)
    for relative_path in listing.iter_files(partial):
        path = partial / relative_path
        try:
            if path.is_symlink():
                target = str(path.readlink())
                if target.startswith(f"{old_path}/"):
                    path.unlink()
                    path.symlink_to(target.replace(old_path, new_path, 1))
            elif path.stat().st_size <= MAX_TEXT_BYTES and old_path.encode() in (content := path.read_bytes()):
                mode = path.stat().st_mode
                json.write_file(path, content.replace(old_path.encode(), new_path.encode()))
                path.chmod(mode)
        except OSError as error:
            raise storage_error(error, path) from error


def _archive_record(installer: ToolkitInstaller, version: str, path: Path) -> ArchiveRecord:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return ArchiveRecord(part="installer", version=version, url=installer.url, sha256=sha256, bytes=installer.bytes)


def _hash_tree(partial: Path, context: InstallContext) -> dict[str, str]:
    """Every file and link below, as a receipt has them; raises Cancelled."""
    hashes, progress, done_bytes = {}, checking_progress(context), 0
    for relative_path in listing.iter_files(partial):
        path = partial / relative_path
        try:
            if path.is_symlink():
                hashes[relative_path] = LINK_PREFIX + str(path.readlink())
                continue
            hasher = hashlib.sha256()
            with path.open("rb") as file:
                while block := file.read(HASH_BLOCK_BYTES):
                    if context.cancel.is_set():
                        raise Cancelled
                    hasher.update(block)
                    done_bytes += len(block)
                    progress(done_bytes)
        except OSError as error:
            raise storage_error(error, path) from error
        hashes[relative_path] = hasher.hexdigest()
    return hashes


def _replace_damaged(folder: Path, partial: Path) -> None:
    """A damaged tree of ours goes; what others put there moves along. Raises AppError("toolkit-occupied")."""
    old_receipt = receipt.read_receipt(folder / TOOLKIT_RECEIPT)
    if old_receipt is None:
        raise AppError("toolkit-occupied", path=str(folder))
    for relative_path in list(listing.walk(folder)):
        path, target = folder / relative_path, partial / relative_path
        if relative_path in (*old_receipt.files, TOOLKIT_RECEIPT, listing.FILE_MANIFEST):
            continue
        try:
            if relative_path.endswith("/"):
                target.mkdir(parents=True, exist_ok=True)
                continue
            if os.path.lexists(target):
                raise AppError("toolkit-occupied", path=str(path))
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
        except OSError as error:
            raise storage_error(error, path) from error
    delete_folder(folder)
