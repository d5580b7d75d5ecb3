"""The CUDA Toolkit by NVIDIA's own installer.

`WindowsInstaller` runs the .exe with administrator rights, which installs into the system's folder and stays after an
uninstall. `RunFileInstaller` runs the .run file for Linux without them, into a folder of the user's that an uninstall
removes. The catalog has the installers' addresses, checksums and arguments. `cuda_redist.py` is the other way.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct, structs

from ...catalog.records.cuda import parse_version_json
from ...core import filesystem, json
from ...core.errors import AppError, SetupNotSupported, storage_errors
from ...core.files import hash_file
from ...core.paths import DataDir
from ...core.plan import PlanFile, Step
from ...core.plan_cost import COPY_BYTES
from ...core.types import Value
from ...fetch.request import Digest, DownloadRequest
from ..files import inventory
from ..files.archives import LINK_PREFIX, ArchiveRecord, Receipt, ReceiptPart, read_receipt
from ..files.staging import begin_partial, commit_folder, discard_folder, is_ours, partial_path
from ..host import Host
from ..journal.log import Effect, ProgramInstalled, TreeCreated
from ..journal.revert import EffectState
from ..journal.validation import is_tree_in
from .base import ProgramInstall, StepKind, parse_spec, plan_error
from .context import (
    DownloadContext,
    InstallContext,
    Outcome,
    checking_progress,
    download_files,
    has_receipt_files,
    own_copy,
)
from .cuda_redist import TOOLKIT_RECEIPT, check_compiler
from .plan_builder import UNKNOWN_SIZE, PlanBuilder

if TYPE_CHECKING:
    from ...catalog.records.cuda import ToolkitInstaller, ToolkitInstallerSettings
    from ...catalog.store import Catalog
    from ...core.machine import SystemName
    from ...system.base import Processes

SHELL = Path("/bin/sh")
RUN_FILE_PLATFORM = "linux-x86_64"
SCRATCH_FOLDER = ".scratch"
RUN_TIMEOUT_S = 3600.0
# Text files that contain the folder's path are smaller; larger files are libraries and programs.
MAX_TEXT_BYTES = 1 << 16


class InstallerSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The toolkit's full `version`."""

    version: str


class NvidiaInstaller(StepKind):
    """Downloads the catalog's installer of one version and runs it, on one `system`."""

    system: ClassVar[SystemName]

    def make_step(
        self, builder: PlanBuilder, version: str, folder: str, command: tuple[str, ...], *, needs_admin: bool
    ) -> Step:
        """The planned step; the toolkit is installed into `folder`. Raises SetupNotSupported."""
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
        _, installer, _ = self.catalog_installer(step, context.catalog)
        return (download_request(installer, context.data.files),)

    def catalog_installer(self, step: Step, catalog: Catalog) -> tuple[str, ToolkitInstaller, ToolkitInstallerSettings]:
        """A step's version, its installer and how that is run; raises UsageError("plan-refused") for an unknown one."""
        version = parse_spec(step, InstallerSpec).version
        installer, install_options = (
            catalog.cuda.installer(version, self.system),
            catalog.cuda.installer_settings(self.system),
        )
        if installer is None or install_options is None or not self.is_supported(install_options):
            raise plan_error(f"{step.id}: {version}")
        return version, installer, install_options

    def is_supported(self, install_options: ToolkitInstallerSettings) -> bool:
        """Whether the catalog has what this kind needs."""
        raise NotImplementedError


class WindowsInstaller(NvidiaInstaller, ProgramInstall):
    """NVIDIA's installer for Windows, into the system's folder, with administrator rights."""

    name: ClassVar[str] = "cuda-installer"
    system: ClassVar[SystemName] = "windows"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step if the user chose the installer on Windows; raises SetupNotSupported."""
        version = builder.recommendation.cuda_toolkit.version
        if version is None or not is_requested(builder, self.system):
            return ()
        installer, install_options = planned_installer(builder)
        command = (installer.file, *install_options.installer_arguments(version))
        return (self.make_step(builder, version, default_folder(install_options, version), command, needs_admin=True),)

    def is_supported(self, install_options: ToolkitInstallerSettings) -> bool:
        return install_options.signer is not None

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        version, _, how = self.catalog_installer(step, context.catalog)
        if installed_toolkit(context.system, how, version) != version:
            return None
        return Outcome(code="progress.toolkit-installed", data={"version": version})

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises ElevationDenied, AppError("toolkit-installer-failed"), and what downloading and the helper raise."""
        version, installer, install_options = self.catalog_installer(step, context.catalog)
        (path,) = download_files(context.downloads, [download_request(installer, context.data.files)])
        effect = ProgramInstalled(
            name=f"CUDA Toolkit {version.rpartition('.')[0]}",
            version=version,
            previous_version=installed_toolkit(context.system, install_options, version),
            details={"folder": default_folder_name(install_options, version)},
        )
        context.reporter.report_progress(
            done=0, total=None, unit="items", bottleneck="consent", code="progress.toolkit-asking"
        )
        with context.effect(step, effect):
            answer = self._make_client(context).install_cuda_toolkit(path, version)
            is_installed = installed_toolkit(context.system, install_options, version) == version
            restart = needs_restart(answer.exit_code or 0, version, install_options, is_installed=is_installed)
        return Outcome(code="progress.toolkit-installed", data={"version": version}, restart=restart)

    def program_state(self, effect: ProgramInstalled, host: Host) -> EffectState:
        """By the toolkit in the installer's folder."""
        installed = _effect_version(effect, host)
        if installed == effect.previous_version:
            return "absent"
        return "applied" if installed == effect.version else "modified"

    def uninstall_notice(self, effect: ProgramInstalled, step: Step | None) -> tuple[str, dict[str, Value]]:  # noqa: ARG002
        return "leave-cuda", {"version": effect.version}


def _effect_version(effect: ProgramInstalled, host: Host) -> str | None:
    """The version of the toolkit in the folder that the effect names."""
    folders = (folder for folder in host.system.cuda_folders() if folder.name == effect.details.get("folder"))
    return next((installed_version(folder) for folder in folders), None)


def run_file_folder(toolkits: Path, version: str) -> Path:
    """The folder of a toolkit from a .run file; those from archives have another layout."""
    return toolkits / f"cuda-{version}-installer"


class RunFileInstaller(NvidiaInstaller):
    """NVIDIA's .run file for Linux; several versions can be installed beside each other."""

    name: ClassVar[str] = "cuda-run"
    system: ClassVar[SystemName] = "linux"

    def plan(self, builder: PlanBuilder) -> tuple[Step, ...]:
        """One step if the user chose the installer on Linux; raises SetupNotSupported."""
        version = builder.recommendation.cuda_toolkit.version
        if version is None or not is_requested(builder, self.system):
            return ()
        installer, install_options = planned_installer(builder)
        folder = run_file_folder(builder.data.toolkits, version)
        builder.variables |= {"CUDA_PATH": str(folder), "CUDA_HOME": str(folder)}
        builder.on_path.append(str(folder / "bin"))
        builder.variable_owners.append(self.name)
        command = ("sh", installer.file, *_installer_arguments(install_options, folder, folder / SCRATCH_FOLDER))
        step = self.make_step(builder, version, str(folder), command, needs_admin=False)
        if builder.bundle is not None:
            # `own_copy` is there until the installer has ended.
            data = step.data if installer.bytes is None else {**step.data, COPY_BYTES: installer.bytes}
            step = structs.replace(step, code="cuda-run-bundle", data=data)
        return (step,)

    def is_supported(self, install_options: ToolkitInstallerSettings) -> bool:
        return bool(install_options.own_folder)

    def could_have_made(self, effect: Effect, environment: str | None, data: DataDir) -> bool:  # noqa: ARG002
        return is_tree_in(effect, data.toolkits)

    def is_satisfied(self, step: Step, context: InstallContext) -> Outcome | None:
        """Every file is there with its hash."""
        version = parse_spec(step, InstallerSpec).version
        folder = run_file_folder(context.data.toolkits, version)
        if not has_receipt_files(context, folder, TOOLKIT_RECEIPT, version=version, platform=RUN_FILE_PLATFORM):
            return None
        return Outcome(code="progress.toolkit-here", data={"version": version, "path": str(folder)})

    def run(self, step: Step, context: InstallContext) -> Outcome:
        """Raises AppError: toolkit-occupied, toolkit-run-failed, toolkit-broken, and what downloading raises."""
        version, installer, install_options = self.catalog_installer(step, context.catalog)
        request = download_request(installer, context.data.files)
        (path,) = download_files(context.downloads, [request])
        folder = run_file_folder(context.data.toolkits, version)
        context.folder(step, folder.parent)
        is_managed = (folder / inventory.FILE_MANIFEST).is_file()
        if not is_managed and folder.is_dir() and any(folder.iterdir()):
            raise AppError("toolkit-occupied", path=str(folder))
        tree_effect = context.tree_effect(folder)
        with context.effect(step, TreeCreated(path=tree_effect.path, existed=tree_effect.existed and not is_managed)):
            partial = partial_path(folder)
            # With a file manifest it is complete, and may already hold files of others from a damaged toolkit.
            if not is_ours(partial) or not (partial / inventory.FILE_MANIFEST).is_file():
                begin_partial(folder)
                scratch = partial / SCRATCH_FOLDER
                with storage_errors(scratch):
                    scratch.mkdir(parents=True)
                program = own_copy(context.downloads, request, path, scratch)
                _run_installer(program, install_options, partial, version, context)
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
    program: Path,
    install_options: ToolkitInstallerSettings,
    partial: Path,
    version: str,
    context: InstallContext,
) -> None:
    """Run the installer; its temporary files are inside the partial folder."""
    scratch = partial / SCRATCH_FOLDER
    context.reporter.report_progress(
        done=0, total=None, unit="items", bottleneck="installing", code="progress.toolkit-run"
    )
    finished = context.system.run(
        [SHELL, program, *_installer_arguments(install_options, partial, scratch)],
        timeout=RUN_TIMEOUT_S,
        environ={"TMPDIR": str(scratch)},
        cwd=scratch,
        cancel=context.cancel,
        on_line=context.reporter.log,
    )
    if finished.returncode != 0 or not is_complete(partial, install_options):
        output = (finished.stderr or finished.stdout).strip()[-300:] or None
        raise AppError("toolkit-run-failed", version=version, status=finished.returncode, detail=output)
    with storage_errors(scratch):
        filesystem.rmtree(scratch)


def _relocate(partial: Path, folder: Path) -> None:
    """Replace the partial folder's path by the final one in text files and links; raises AppError."""
    old_path, new_path = str(partial), str(folder)
    for relative_path in inventory.iter_files(partial):
        path = partial / relative_path
        with storage_errors(path):
            if path.is_symlink():
                target = str(path.readlink())
                if target.startswith(f"{old_path}/"):
                    filesystem.unlink(path)
                    path.symlink_to(target.replace(old_path, new_path, 1))
            elif path.stat().st_size <= MAX_TEXT_BYTES and old_path.encode() in (content := path.read_bytes()):
                mode = path.stat().st_mode
                json.write_file(path, content.replace(old_path.encode(), new_path.encode()))
                path.chmod(mode)


def _archive_record(installer: ToolkitInstaller, version: str, path: Path) -> ArchiveRecord:
    return ArchiveRecord(
        part="installer", version=version, url=installer.url, sha256=hash_file(path), bytes=installer.bytes
    )


def _hash_tree(partial: Path, context: InstallContext) -> dict[str, str]:
    """Every file and link below a folder, as a receipt lists them; raises AppError, Cancelled."""
    hashes, progress = {}, checking_progress(context)
    for relative_path in inventory.iter_files(partial):
        path = partial / relative_path
        if relative_path in inventory.OWN_NAMES:
            continue
        with storage_errors(path):
            if path.is_symlink():
                hashes[relative_path] = LINK_PREFIX + str(path.readlink())
            else:
                hashes[relative_path] = hash_file(path, context.cancel, progress=progress)
    return hashes


def _replace_damaged(folder: Path, partial: Path) -> None:
    """Delete a damaged toolkit after moving files of others into the new one; raises AppError("toolkit-occupied")."""
    old_receipt = read_receipt(folder / TOOLKIT_RECEIPT)
    if old_receipt is None:
        raise AppError("toolkit-occupied", path=str(folder))
    for relative_path in list(inventory.walk(folder)):
        path, target = folder / relative_path, partial / relative_path
        if relative_path in (*old_receipt.files, TOOLKIT_RECEIPT, *inventory.OWN_NAMES):
            continue
        with storage_errors(path):
            if relative_path.endswith("/"):
                target.mkdir(parents=True, exist_ok=True)
                continue
            if os.path.lexists(target):
                raise AppError("toolkit-occupied", path=str(path))
            target.parent.mkdir(parents=True, exist_ok=True)
            filesystem.rename(path, target)
    discard_folder(folder)


def is_requested(builder: PlanBuilder, system: SystemName) -> bool:
    """Whether the recommendation is to install a toolkit this way, for a machine with this system."""
    advice = builder.recommendation.cuda_toolkit
    return (advice.action, advice.way, builder.machine.os.system) == ("install", "installer", system)


def planned_installer(builder: PlanBuilder) -> tuple[ToolkitInstaller, ToolkitInstallerSettings]:
    """The installer of the recommended toolkit; raises SetupNotSupported if none can be verified or run unattended."""
    version, system = builder.recommendation.cuda_toolkit.version, builder.machine.os.system
    installer = builder.catalog.cuda.installer(version, system, builder.machine.os.arch or "x86_64")
    install_options = builder.catalog.cuda.installer_settings(system)
    if installer is None or install_options is None or not install_options.can_run_unattended:
        page = builder.catalog.source_url(builder.catalog.cuda, "installers")
        raise SetupNotSupported("setup-no-toolkit", version=version, page=page)
    return installer, install_options


def installer_file(installer: ToolkitInstaller) -> PlanFile:
    """The file of a plan; NVIDIA publishes no sha256 of most."""
    return PlanFile(url=installer.url, name=installer.file, sha256=installer.sha256, bytes=installer.bytes)


def download_request(installer: ToolkitInstaller, files: Path) -> DownloadRequest:
    """Its download into a folder of files; raises AppError("internal") for an installer without any checksum."""
    checksum = installer.checksum
    if checksum is None:
        raise AppError("internal", detail=f"{installer.file}: no checksum")
    digest = Digest(kind=checksum.kind, hex=checksum.hex)
    path = files / digest.hex[:16] / installer.file
    return DownloadRequest(file=installer_file(installer).remote, path=path, digest=digest)


def default_folder(install_options: ToolkitInstallerSettings, version: str) -> str:
    """The installer's folder for a version, as a Windows path."""
    major, minor = version.split(".")[:2]
    return (install_options.folder or "").format(major=major, minor=minor)


def default_folder_name(install_options: ToolkitInstallerSettings, version: str) -> str:
    """The name of that folder: "v13.2"."""
    return default_folder(install_options, version).rpartition("\\")[2]


def installed_toolkit(system: Processes, install_options: ToolkitInstallerSettings, version: str) -> str | None:
    """The full version of the complete toolkit in the folder of this version; None if there is none."""
    name = default_folder_name(install_options, version)
    folders = (
        folder for folder in system.cuda_folders() if folder.name == name and is_complete(folder, install_options)
    )
    return next((installed_version(folder) for folder in folders), None)


def is_complete(folder: Path, install_options: ToolkitInstallerSettings) -> bool:
    """Whether the files are there that a successful installation leaves."""
    return all(
        folder.joinpath(*relative_path.replace("\\", "/").split("/")).is_file()
        for relative_path in install_options.complete_when
    )


def installed_version(folder: Path) -> str | None:
    """The full version, from the toolkit's version.json."""
    try:
        return parse_version_json((folder / "version.json").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


def needs_restart(code: int, version: str, install_options: ToolkitInstallerSettings, *, is_installed: bool) -> bool:
    """Whether the installer asks for a restart. An unknown exit code is no error if the toolkit `is_installed`.

    Raises AppError("toolkit-installer-failed").
    """
    if code in install_options.restart_codes:
        return True
    if not is_installed:
        raise AppError("toolkit-installer-failed", version=version, status=code)
    return False
