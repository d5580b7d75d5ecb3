"""What the catalog says of a CUDA Toolkit's parts: which, how much, where they go, and NVIDIA's own installer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..catalog.load import Catalog
from ..catalog.records import ToolkitRelease
from ..catalog.toolkits import CudaRedist, RedistFolders, RedistPart
from ..core.machine import SystemName
from ..core.names import Value
from ..core.plan import PlanFile
from .draft import UNKNOWN_SIZE

LICENSES_FOLDER = "licenses"


def toolkit_folder(toolkits: Path, version: str) -> Path:
    """The folder of one toolkit."""
    return toolkits / f"cuda-{version}"


def redist_platform(system: str, arch: str | None) -> str:
    """NVIDIA's name: "linux-x86_64"."""
    return f"{system}-{arch or 'x86_64'}"


def toolkit_parts(redist: CudaRedist, major: int) -> tuple[RedistPart, ...]:
    """The parts of a CUDA major."""
    return tuple(part for part in redist.parts if _applies_to(major, part))


def installer_hint(catalog: Catalog, toolkit: ToolkitRelease, system: SystemName) -> dict[str, Value]:
    """NVIDIA's own installer: the page with it, its size, and what to type."""
    installer = next((candidate for candidate in toolkit.installers if (candidate.system, candidate.kind) == (system, "local")), None)
    install_options = catalog.cuda.installer_settings(system)
    if installer is None or install_options is None:
        return {"installer": None, "installer_bytes": None, "command": None}
    command = [installer.file] if system == "windows" else ["sh", installer.file]
    page = catalog.source_url(catalog.cuda, "installers")
    size = UNKNOWN_SIZE if installer.bytes is None else installer.bytes
    return {"installer": page, "installer_bytes": size, "command": " ".join([*command, *install_options.installer_arguments(toolkit.version)])}


def member_path(part: str, member: str) -> str:
    """Where a member goes: without the archive's own folder; its licence beside those of the others."""
    path = member.partition("/")[2]
    return path if "/" in path or not path else f"{LICENSES_FOLDER}/{part}/{path}"


def find_toolkit(catalog: Catalog, version: str) -> ToolkitRelease | None:
    """The catalog's record of a full version."""
    return next((toolkit for toolkit in catalog.cuda.toolkits if toolkit.version == version), None)


def index_file(toolkit: ToolkitRelease) -> PlanFile | None:
    """NVIDIA's index of its archives, with the sha256 where the catalog knows it."""
    if toolkit.redist_index is None:
        return None
    url = toolkit.redist_index
    return PlanFile(url=url, name=url.rpartition("/")[2], sha256=toolkit.redist_sha256)


def toolkit_bytes(redist: CudaRedist, version: str, platform: str) -> int | None:
    """What all parts weigh; None as soon as one is not known."""
    known_sizes: Mapping[str, int] = next(
        (size_record.bytes for size_record in redist.sizes if (size_record.version, redist_platform(size_record.system, size_record.arch)) == (version, platform)), {}
    )
    sizes = [known_sizes.get(part.names[0]) for part in toolkit_parts(redist, major_version(version))]
    return sum(size or 0 for size in sizes) if all(sizes) else None


def toolkit_layout(redist: CudaRedist, system: str, major: int) -> RedistFolders:
    """What belongs on PATH, and the links of the tree."""
    return next(folders for folders in redist.folders if folders.system == system and _applies_to(major, folders))


def _applies_to(major: int, record: RedistPart | RedistFolders) -> bool:
    return (record.from_major or 0) <= major and (record.before_major is None or major < record.before_major)


def major_version(version: str) -> int:
    """13 for "13.2.2"."""
    return int(version.partition(".")[0])
