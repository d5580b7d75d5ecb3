"""NVIDIA's own installer of a CUDA Toolkit: its file, what it is called with, what its exit code says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..catalog.toolkits import parse_version_json
from ..core.errors import AppError, SetupNotSupported
from ..core.plan import PlanFile
from ..fetch.wanted import Digest, Wanted
from .toolkit import find_toolkit

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..catalog.toolkits import ToolkitInstaller, ToolkitInstallerSettings
    from ..core.machine import SystemName
    from ..system.base import System
    from .draft import PlanBuilder

X86_64 = "x86_64"


def is_requested(builder: PlanBuilder, system: SystemName) -> bool:
    """Whether a toolkit is to be installed by it, on this system."""
    advice = builder.recommendation.cuda_toolkit
    return (advice.action, advice.way, builder.machine.os.system) == ("install", "installer", system)


def planned_installer(builder: PlanBuilder) -> tuple[ToolkitInstaller, ToolkitInstallerSettings]:
    """The installer of the toolkit that is to be installed; raises CannotSetUp where none can be checked."""
    version, system = builder.recommendation.cuda_toolkit.version, builder.machine.os.system
    installer = find_installer(builder.catalog, version, system, builder.machine.os.arch or X86_64)
    install_options = builder.catalog.cuda.installer_settings(system)
    if installer is None or install_options is None or not install_options.can_run_unattended:
        page = builder.catalog.source_url(builder.catalog.cuda, "installers")
        raise SetupNotSupported("setup-no-toolkit", version=version, page=page)
    return installer, install_options


def find_installer(catalog: Catalog, version: str | None, system: SystemName, arch: str = X86_64) -> ToolkitInstaller | None:
    """The catalog's record of it; None where it knows none, or none that can be checked."""
    toolkit = find_toolkit(catalog, version) if version is not None else None
    return toolkit.find_installer(system, arch) if toolkit is not None else None


def installer_file(installer: ToolkitInstaller) -> PlanFile:
    """As a plan names it; most have no sha256 that anybody published."""
    return PlanFile(url=installer.url, name=installer.file, sha256=installer.sha256, bytes=installer.bytes)


def installer_digest(installer: ToolkitInstaller) -> Digest | None:
    """What its bytes must come to: the sha256 where somebody published one, else NVIDIA's MD5."""
    if installer.sha256 is not None:
        return Digest(hex=installer.sha256)
    return Digest(kind="md5", hex=installer.md5) if installer.md5 is not None else None


def download_request(installer: ToolkitInstaller, files: Path) -> Wanted:
    """As the downloader takes it, below a folder of files; it never comes without a checksum."""
    digest = installer_digest(installer)
    if digest is None:
        raise AppError("internal", detail=f"{installer.file}: no checksum")
    path = files / digest.hex[:16] / installer.file
    return Wanted(url=installer.url, path=path, sha256=installer.sha256, digest=digest, bytes=installer.bytes)


def default_folder(install_options: ToolkitInstallerSettings, version: str) -> str:
    """Where it puts a toolkit, as Windows writes it."""
    major, minor = version.split(".")[:2]
    return (install_options.folder or "").format(major=major, minor=minor)


def default_folder_name(install_options: ToolkitInstallerSettings, version: str) -> str:
    """The folder's own name, beside those of other versions: "v13.2"."""
    return default_folder(install_options, version).rpartition("\\")[2]


def installed_toolkit(system: System, install_options: ToolkitInstallerSettings, version: str) -> str | None:
    """The version of the whole toolkit that stands where this one belongs; None where none does."""
    name = default_folder_name(install_options, version)
    folders = (folder for folder in system.cuda_folders() if folder.name == name and is_complete(folder, install_options))
    return next((installed_version(folder) for folder in folders), None)


def is_complete(folder: Path, install_options: ToolkitInstallerSettings) -> bool:
    """Whether the files are there that tell a success."""
    return all(folder.joinpath(*relative_path.replace("\\", "/").split("/")).is_file() for relative_path in install_options.complete_when)


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
