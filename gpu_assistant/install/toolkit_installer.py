"""NVIDIA's own installer of a CUDA Toolkit: its file, what it is called with, what its exit code says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..catalog.toolkits import version_json
from ..core.errors import AppError, CannotSetUp
from ..core.plan import PlanFile
from ..fetch.wanted import Digest, Wanted
from .toolkit import toolkit_of

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..catalog.toolkits import Installer, ToolkitInstall
    from ..core.machine import SystemName
    from ..system.base import System
    from .draft import Draft

X86 = "x86_64"


def wants_it(draft: Draft, system: SystemName) -> bool:
    """Whether a toolkit is to be installed by it, on this system."""
    advice = draft.recommendation.cuda_toolkit
    return (advice.action, advice.way, draft.machine.os.system) == ("install", "installer", system)


def planned(draft: Draft) -> tuple[Installer, ToolkitInstall]:
    """The installer of the toolkit that is to be installed; raises CannotSetUp where none can be checked."""
    version, system = draft.recommendation.cuda_toolkit.version, draft.machine.os.system
    installer = installer_of(draft.catalog, version, system, draft.machine.os.arch or X86)
    how = draft.catalog.cuda.how(system)
    if installer is None or how is None or not how.runs_alone:
        page = draft.catalog.source(draft.catalog.cuda, "installers")
        raise CannotSetUp("setup-no-toolkit", version=version, page=page)
    return installer, how


def installer_of(catalog: Catalog, version: str | None, system: SystemName, arch: str = X86) -> Installer | None:
    """The catalog's record of it; None where it knows none, or none that can be checked."""
    toolkit = toolkit_of(catalog, version) if version is not None else None
    return toolkit.installer(system, arch) if toolkit is not None else None


def file_of(installer: Installer) -> PlanFile:
    """As a plan names it; most have no sha256 that anybody published."""
    return PlanFile(url=installer.url, name=installer.file, sha256=installer.sha256, bytes=installer.bytes)


def digest_of(installer: Installer) -> Digest | None:
    """What its bytes must come to: the sha256 where somebody published one, else NVIDIA's MD5."""
    if installer.sha256 is not None:
        return Digest(hex=installer.sha256)
    return Digest(kind="md5", hex=installer.md5) if installer.md5 is not None else None


def wanted(installer: Installer, files: Path) -> Wanted:
    """As the downloader takes it, below a folder of files; it never comes without a checksum."""
    digest = digest_of(installer)
    if digest is None:
        raise AppError("internal", detail=f"{installer.file}: no checksum")
    path = files / digest.hex[:16] / installer.file
    return Wanted(url=installer.url, path=path, sha256=installer.sha256, digest=digest, bytes=installer.bytes)


def folder_of(how: ToolkitInstall, version: str) -> str:
    """Where it puts a toolkit, as Windows writes it."""
    major, minor = version.split(".")[:2]
    return (how.folder or "").format(major=major, minor=minor)


def folder_name(how: ToolkitInstall, version: str) -> str:
    """The folder's own name, beside those of other versions: "v13.2"."""
    return folder_of(how, version).rpartition("\\")[2]


def here(system: System, how: ToolkitInstall, version: str) -> str | None:
    """The version of the whole toolkit that stands where this one belongs; None where none does."""
    name = folder_name(how, version)
    found = (folder for folder in system.cuda_folders() if folder.name == name and complete(folder, how))
    return next((installed_version(folder) for folder in found), None)


def complete(folder: Path, how: ToolkitInstall) -> bool:
    """Whether the files are there that tell a success."""
    return all(folder.joinpath(*inner.replace("\\", "/").split("/")).is_file() for inner in how.complete_when)


def installed_version(folder: Path) -> str | None:
    """What the installer wrote down beside the toolkit."""
    try:
        return version_json((folder / "version.json").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


def wants_restart(code: int, version: str, how: ToolkitInstall, *, whole: bool) -> bool:
    """Whether the computer has to be restarted; `whole` tells that the toolkit is there now, which counts more than
    an exit code that nobody knows. Raises AppError("toolkit-installer-failed").
    """
    if code in how.restart_codes:
        return True
    if not whole:
        raise AppError("toolkit-installer-failed", version=version, status=code)
    return False
