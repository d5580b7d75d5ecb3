"""What the catalog says of a CUDA Toolkit's parts: which, how much, where they go, and NVIDIA's own installer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..catalog.load import Catalog
from ..catalog.records import Toolkit
from ..catalog.toolkits import CudaRedist, RedistFolders, RedistPart
from ..core.machine import SystemName
from ..core.names import Value
from ..core.plan import PlanFile
from .draft import UNKNOWN_SIZE

LICENCES = "licenses"


def tree(toolkits: Path, version: str) -> Path:
    """The folder of one toolkit."""
    return toolkits / f"cuda-{version}"


def platform_of(system: str, arch: str | None) -> str:
    """NVIDIA's name: "linux-x86_64"."""
    return f"{system}-{arch or 'x86_64'}"


def parts_of(redist: CudaRedist, major: int) -> tuple[RedistPart, ...]:
    """The parts of a CUDA major."""
    return tuple(part for part in redist.parts if _within(major, part))


def other_way(catalog: Catalog, toolkit: Toolkit, system: SystemName) -> dict[str, Value]:
    """NVIDIA's own installer: the page with it, its size, and what to type."""
    installer = next((i for i in toolkit.installers if (i.system, i.kind) == (system, "local")), None)
    how = catalog.cuda.how(system)
    if installer is None or how is None:
        return {"installer": None, "installer_bytes": None, "command": None}
    start = [installer.file] if system == "windows" else ["sh", installer.file]
    page = catalog.source(catalog.cuda, "installers")
    weight = UNKNOWN_SIZE if installer.bytes is None else installer.bytes
    return {"installer": page, "installer_bytes": weight, "command": " ".join([*start, *how.words(toolkit.version)])}


def inner_place(part: str, given: str) -> str:
    """Where a member goes: without the archive's own folder; its licence beside those of the others."""
    path = given.partition("/")[2]
    return path if "/" in path or not path else f"{LICENCES}/{part}/{path}"


def toolkit_of(catalog: Catalog, version: str) -> Toolkit | None:
    """The catalog's record of a full version."""
    return next((toolkit for toolkit in catalog.cuda.toolkits if toolkit.version == version), None)


def index_file(toolkit: Toolkit) -> PlanFile | None:
    """NVIDIA's index of its archives, with the sha256 where the catalog knows it."""
    if toolkit.redist_index is None:
        return None
    url = toolkit.redist_index
    return PlanFile(url=url, name=url.rpartition("/")[2], sha256=toolkit.redist_sha256)


def bytes_of(redist: CudaRedist, version: str, platform: str) -> int | None:
    """What all parts weigh; None as soon as one is not known."""
    known: Mapping[str, int] = next(
        (s.bytes for s in redist.sizes if (s.version, platform_of(s.system, s.arch)) == (version, platform)), {}
    )
    sizes = [known.get(part.names[0]) for part in parts_of(redist, major_of(version))]
    return sum(size or 0 for size in sizes) if all(sizes) else None


def layout_of(redist: CudaRedist, system: str, major: int) -> RedistFolders:
    """What belongs on PATH, and the links of the tree."""
    return next(each for each in redist.folders if each.system == system and _within(major, each))


def _within(major: int, record: RedistPart | RedistFolders) -> bool:
    return (record.from_major or 0) <= major and (record.before_major is None or major < record.before_major)


def major_of(version: str) -> int:
    """13 for "13.2.2"."""
    return int(version.partition(".")[0])
