"""The CUDA Toolkit by NVIDIA's own installer for Windows, for who wants it in the system's folder: through the door.

NVIDIA's own installer of a CUDA Toolkit: its file, what it is called with, what its exit code says.

What the two ways to a CUDA Toolkit by NVIDIA's own installer share: Windows' through the door, Linux' without.

The CUDA Toolkit by NVIDIA's own .run for Linux, into a folder of the user's own: without an administrator.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from ...catalog.records.software import parse_version_json
from ...core import json
from ...core.errors import AppError, Cancelled, SetupNotSupported
from ...core.json import storage_error
from ...core.plan import PlanFile, Step
from ...core.types import Value
from ...fetch.request import Digest, DownloadRequest
from ..elevation.client import ElevationClient
from ..files import archives, inventory
from ..files.archives import HASH_BLOCK_BYTES, LINK_PREFIX, ArchiveRecord, Receipt, ReceiptPart
from ..files.staging import commit_folder, delete_folder, partial_path
from ..host import Host
from ..journal.log import Effect, ProgramInstalled, RetentionReason, TreeCreated
from ..journal.revert import EffectState
from .base import StepKind, parse_spec, refused
from .context import DownloadContext, InstallContext, Outcome, checking_progress, download_files
from .cuda_redist import TOOLKIT_RECEIPT, check_compiler
from .plan_builder import UNKNOWN_SIZE, PlanBuilder

if TYPE_CHECKING:
    from ...catalog.records.software import ToolkitInstaller, ToolkitInstallerSettings
    from ...catalog.store import Catalog
    from ...core.machine import SystemName
    from ...system.base import Processes


X86_64 = "x86_64"


def is_requested(builder: PlanBuilder, system: SystemName) -> bool:
    """Whether a toolkit is to be installed by it, on this system."""
    advice = builder.recommendation.cuda_toolkit
    return (advice.action, advice.way, builder.machine.os.system) == ("install", "installer", system)


def planned_installer(builder: PlanBuilder) -> tuple[ToolkitInstaller, ToolkitInstallerSettings]:
    """The installer of the toolkit that is to be installed; raises CannotSetUp where none can be checked."""
    version, system = builder.recommendation.cuda_toolkit.version, builder.machine.os.system
    installer = builder.catalog.cuda.installer(version, system, builder.machine.os.arch or X86_64)
    install_options = builder.catalog.cuda.installer_settings(system)
    if installer is None or install_options is None or not install_options.can_run_unattended:
        page = builder.catalog.source_url(builder.catalog.cuda, "installers")
        raise SetupNotSupported("setup-no-toolkit", version=version, page=page)
    return installer, install_options


def installer_file(installer: ToolkitInstaller) -> PlanFile:
    """As a plan names it; most have no sha256 that anybody published."""
    return PlanFile(url=installer.url, name=installer.file, sha256=installer.sha256, bytes=installer.bytes)


def download_request(installer: ToolkitInstaller, files: Path) -> DownloadRequest:
    """As the downloader takes it, below a folder of files; it never comes without a checksum."""
    checksum = installer.checksum
    if checksum is None:
        raise AppError("internal", detail=f"{installer.file}: no checksum")
    digest = Digest(kind=checksum.kind, hex=checksum.hex)
    path = files / digest.hex[:16] / installer.file
    return DownloadRequest(file=installer_file(installer).remote, path=path, digest=digest)


def default_folder(install_options: ToolkitInstallerSettings, version: str) -> str:
    """Where it puts a toolkit, as Windows writes it."""
    major, minor = version.split(".")[:2]
    return (install_options.folder or "").format(major=major, minor=minor)


def default_folder_name(install_options: ToolkitInstallerSettings, version: str) -> str:
    """The folder's own name, beside those of other versions: "v13.2"."""
    return default_folder(install_options, version).rpartition("\\")[2]


def installed_toolkit(system: Processes, install_options: ToolkitInstallerSettings, version: str) -> str | None:
    """The version of the whole toolkit that stands where this one belongs; None where none does."""
    name = default_folder_name(install_options, version)
    folders = (
        folder for folder in system.cuda_folders() if folder.name == name and is_complete(folder, install_options)
    )
    return next((installed_version(folder) for folder in folders), None)


def is_complete(folder: Path, install_options: ToolkitInstallerSettings) -> bool:
    """Whether the files are there that tell a success."""
    return all(
        folder.joinpath(*relative_path.replace("\\", "/").split("/")).is_file()
        for relative_path in install_options.complete_when
    )


def installed_version(folder: Path) -> str | None:
    """What the installer wrote down beside the toolkit."""
    try:
        return parse_version_json((folder / "version.json").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


def needs_restart(code: int, version: str, install_options: ToolkitInstallerSettings, *, is_installed: bool) -> bool:
    """Whether the computer has to be restarted; `whole` tells that the toolkit is there now, which counts more than
    an exit code that nobody knows. Raises AppError("toolkit-installer-failed").
    """
    if code in install_options.restart_codes:
        return True
    if not is_installed:
        raise AppError("toolkit-installer-failed", version=version, status=code)
    return False


class InstallerSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The toolkit's full `version`."""

    version: str


class NvidiaInstaller(StepKind):
    """A step that fetches the catalog's own file of one version and runs it, on one `system`."""

    system: ClassVar[SystemName]

    def make_step(
        self, builder: PlanBuilder, version: str, folder: str, command: tuple[str, ...], *, needs_admin: bool
    ) -> Step:
        """As a plan has it, the toolkit going into `folder`; raises CannotSetUp."""
        installer, _ = planned_installer(builder)
        data: dict[str, Value] = {
            "version": version,
            "path": folder,
            "bytes": UNKNOWN_SIZE if installer.bytes is None else installer.bytes,
        }
        return Step(
            id=self.name,
            kind=self.name,
            code=self.name,
            data=data,
            spec={"version": version},
            bytes=installer.bytes,
            needs_admin=needs_admin,
            commands=(command,),
            files=(installer_file(installer),),
        )

    def downloads(self, step: Step, context: DownloadContext) -> tuple[DownloadRequest, ...]:
        """The installer, by whichever checksum its publisher gives."""
        _, installer, _ = self.catalog_installer(step, context.catalog)
        return (download_request(installer, context.data.files),)

    def catalog_installer(self, step: Step, catalog: Catalog) -> tuple[str, ToolkitInstaller, ToolkitInstallerSettings]:
        """A step's version, its file and how that is run; raises CallError("plan-refused") for any other."""
        version = parse_spec(step, InstallerSpec).version
        installer, install_options = (
            catalog.cuda.installer(version, self.system),
            catalog.cuda.installer_settings(self.system),
        )
        if installer is None or install_options is None or not self.is_supported(install_options):
            raise refused(f"{step.id}: {version}")
        return version, installer, install_options

    def is_supported(self, install_options: ToolkitInstallerSettings) -> bool:
        """Whether the catalog tells what this way needs."""
        raise NotImplementedError


def _elevation_client(context: InstallContext) -> ElevationClient:
    return ElevationClient(context.data.state, context.system, cancel=context.cancel)


class WindowsInstaller(NvidiaInstaller):
    """`door` replaces the way to administrator rights."""

    name: ClassVar[str] = "cuda-installer"
    system: ClassVar[SystemName] = "windows"
    external_installer: ClassVar[bool] = True

    def __init__(self, make_client: Callable[[InstallContext], ElevationClient] = _elevation_client) -> None:
        self._make_client = make_client

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step where the user picked this way on Windows; raises CannotSetUp."""
        version = builder.recommendation.cuda_toolkit.version
        if version is None or not is_requested(builder, self.system):
            return ()
        installer, install_options = planned_installer(builder)
        command = (installer.file, *install_options.installer_arguments(version))
        return (self.make_step(builder, version, default_folder(install_options, version), command, needs_admin=True),)

    def is_supported(self, install_options: ToolkitInstallerSettings) -> bool:
        """By whom it must be signed."""
        return install_options.signer is not None

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """This very version stands where its installer puts it."""
        version, _, how = self.catalog_installer(step, context.catalog)
        if installed_toolkit(context.system, how, version) != version:
            return None
        return Outcome(code="progress.toolkit-installed", data={"version": version})

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises RightsRefused, AppError("toolkit-installer-failed"), and what fetching and the door raise."""
        version, installer, install_options = self.catalog_installer(step, context.catalog)
        (path,) = download_files(context.downloads, [download_request(installer, context.data.files)])
        effect = ProgramInstalled(
            name=f"CUDA Toolkit {version.rpartition('.')[0]}",
            after=version,
            before=installed_toolkit(context.system, install_options, version),
            more={"folder": default_folder_name(install_options, version)},
        )
        context.reporter.report_progress(
            done=0, total=None, unit="items", bottleneck="consent", code="progress.toolkit-asking"
        )
        with context.effect(step, effect):
            answer = self._make_client(context).install_cuda_toolkit(path, version)
            is_complete = installed_toolkit(context.system, install_options, version) == version
            restart = needs_restart(answer.exit_code or 0, version, install_options, is_installed=is_complete)
        return Outcome(code="progress.toolkit-installed", data={"version": version}, restart=restart)

    def effect_state(self, effect: Effect, host: Host) -> EffectState:
        """By what stands in the installer's folder."""
        if not isinstance(effect, ProgramInstalled):
            return super().effect_state(effect, host)
        there = _effect_version(effect, host)
        if there == effect.before:
            return "before"
        return "made" if there == effect.after else "changed"

    def revert(self, effect: Effect, host: Host) -> RetentionReason | None:
        """Other programs may have found it since: it stays, and the step's words say where Windows removes it."""
        if not isinstance(effect, ProgramInstalled):
            return super().revert(effect, host)
        return None if self.effect_state(effect, host) == "before" else "system"

    def uninstall_notice(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:  # noqa: ARG002
        """Where Windows removes it."""
        return "leave-cuda", {"version": effect.after}


def _effect_version(effect: ProgramInstalled, host: Host) -> str | None:
    """The toolkit in the folder that the effect names."""
    folders = (folder for folder in host.system.cuda_folders() if folder.name == effect.more.get("folder"))
    return next((installed_version(folder) for folder in folders), None)


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

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step where the user picked this way on Linux; raises CannotSetUp."""
        version = builder.recommendation.cuda_toolkit.version
        if version is None or not is_requested(builder, self.system):
            return ()
        installer, install_options = planned_installer(builder)
        folder = run_file_folder(builder.data.toolkits, version)
        builder.variables |= {"CUDA_PATH": str(folder), "CUDA_HOME": str(folder)}
        builder.on_path.append(str(folder / "bin"))
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
        there = archives.read_receipt(folder / TOOLKIT_RECEIPT)
        if there is None or (there.version, there.platform) != (version, RUN_FILE_PLATFORM):
            return None
        if not archives.files_match(folder, there.files, context.cancel, checking_progress(context)):
            return None
        return Outcome(code="progress.toolkit-here", data={"version": version, "path": str(folder)})

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: toolkit-occupied, toolkit-run-failed, toolkit-broken, and what fetching raises."""
        version, installer, install_options = self.catalog_installer(step, context.catalog)
        (path,) = download_files(context.downloads, [download_request(installer, context.data.files)])
        folder = run_file_folder(context.data.toolkits, version)
        context.folder(step, folder.parent)
        is_managed = (folder / inventory.FILE_MANIFEST).is_file()
        if not is_managed and folder.is_dir() and any(folder.iterdir()):
            raise AppError("toolkit-occupied", path=str(folder))
        tree_effect = context.tree_made(folder)
        with context.effect(step, TreeCreated(path=tree_effect.path, stood=tree_effect.stood and not is_managed)):
            partial = partial_path(folder)
            # With its list it is whole, and may hold what others had put into a damaged one.
            if not (partial / inventory.FILE_MANIFEST).is_file():
                delete_folder(partial)
                _run_installer(path, install_options, partial, version, context)
                _relocate(partial, folder)
                check_compiler(partial, context)
                part = ReceiptPart(
                    archive=_archive_record(installer, version, path), files=_hash_tree(partial, context)
                )
                complete_receipt = Receipt(
                    schema="gpu-assistant/receipt/1",
                    version=version,
                    platform=RUN_FILE_PLATFORM,
                    index=None,
                    parts=(part,),
                )
                json.write_file(partial / TOOLKIT_RECEIPT, json.encode_pretty(complete_receipt))
                inventory.write_file_manifest(partial, sorted([*complete_receipt.files, TOOLKIT_RECEIPT]))
            if is_managed:
                _replace_damaged(folder, partial)
            commit_folder(folder)
        return Outcome(code="progress.toolkit", data={"version": version, "path": str(folder)})


def _installer_arguments(install_options: ToolkitInstallerSettings, folder: Path, scratch: Path) -> tuple[str, ...]:
    return tuple(argument.format(folder=folder, scratch=scratch) for argument in install_options.own_folder)


def _run_installer(
    path: Path, install_options: ToolkitInstallerSettings, partial: Path, version: str, context: InstallContext
) -> None:
    """Run it into an empty folder, with what it unpacks inside of that."""
    scratch = partial / SCRATCH_FOLDER
    try:
        scratch.mkdir(parents=True)
    except OSError as error:
        raise storage_error(error, scratch) from error
    context.reporter.report_progress(
        done=0, total=None, unit="items", bottleneck="installing", code="progress.toolkit-run"
    )
    finished = context.system.run(
        [SHELL, path, *_installer_arguments(install_options, partial, scratch)],
        timeout=RUN_TIMEOUT_S,
        environ={"TMPDIR": str(scratch)},
        cwd=scratch,
        cancel=context.cancel,
        on_line=context.reporter.log,
    )
    if finished.returncode != 0 or not is_complete(partial, install_options):
        output = (finished.stderr or finished.stdout).strip()[-300:] or None
        raise AppError("toolkit-run-failed", version=version, status=finished.returncode, detail=output)
    delete_folder(scratch)


def _relocate(partial: Path, folder: Path) -> None:
    """What names the folder that it was installed into names the one that it gets: texts, and links."""
    old_path, new_path = str(partial), str(folder)
    for relative_path in inventory.iter_files(partial):
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
    for relative_path in inventory.iter_files(partial):
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
    old_receipt = archives.read_receipt(folder / TOOLKIT_RECEIPT)
    if old_receipt is None:
        raise AppError("toolkit-occupied", path=str(folder))
    for relative_path in list(inventory.walk(folder)):
        path, target = folder / relative_path, partial / relative_path
        if relative_path in (*old_receipt.files, TOOLKIT_RECEIPT, inventory.FILE_MANIFEST):
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
