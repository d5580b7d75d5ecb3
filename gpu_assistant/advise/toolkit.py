"""The CUDA Toolkit and the cuDNN beside it, for those who compile CUDA code themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from ..catalog.libraries import CudnnRelease
from ..catalog.load import Catalog
from ..catalog.records import Toolkit
from ..catalog.versions import capability, numbers
from ..core.machine import CudaToolkit, SystemName
from ..core.recommendation import PartAdvice
from .drivers import Floor, floor, reachable, series_of
from .pick import Site

Chip = tuple[int, int]
Series = tuple[int, int]


class Parts(Struct, frozen=True, kw_only=True):
    """What is done about both parts. `near` tells that the kept toolkit is of another minor than PyTorch's CUDA,
    `lowest` the driver that programs of this toolkit need, `broken` the toolkits here without their compiler, `offered`
    the toolkit to install if none were here, `impossible` that none fits this card, `chip_unknown` that nobody knows
    whether the picked one compiles for it.
    """

    toolkit: PartAdvice = PartAdvice(action="none")
    cudnn: PartAdvice = PartAdvice(action="none")
    near: bool = False
    lowest: Floor | None = None
    broken: str | None = None
    offered: str | None = None
    impossible: bool = False
    chip_unknown: bool = False


def chips_of(where: Site) -> tuple[Chip, ...]:
    """The chips that compiled code has to serve; none where the deciding card's is not known."""
    if where.card is None or where.card.capability is None:
        return where.others
    return (where.card.capability, *where.others)


def compiles_for(toolkit: Toolkit, chips: tuple[Chip, ...]) -> bool:
    """Whether a toolkit is known to compile for all of the chips."""
    low, high = capability(toolkit.lowest_capability), capability(toolkit.highest_capability)
    also = {capability(text) for text in toolkit.also_capabilities}
    return all(chip in also or (low is not None and high is not None and low <= chip <= high) for chip in chips)


def may_compile(toolkit: Toolkit, chips: tuple[Chip, ...]) -> bool:
    """Whether it is not known how new the chips are that a toolkit compiles for, and they are not too old for it."""
    low = capability(toolkit.lowest_capability)
    return toolkit.highest_capability is None and all(low is None or chip >= low for chip in chips)


@lru_cache(maxsize=512)
def toolkits(
    catalog: Catalog, system: SystemName, arch: str, chips: tuple[Chip, ...]
) -> tuple[tuple[Toolkit, tuple[int, int]], ...]:
    """The finished toolkits that compile for the chips and have an installer for the system, newest first, each
    with its (major, minor).
    """
    return tuple(
        (toolkit, series)
        for toolkit in catalog.cuda.toolkits
        if not toolkit.preview
        and (series := series_of(toolkit.version)) is not None
        and any((i.system, i.arch) == (system, arch) for i in toolkit.installers)
        and compiles_for(toolkit, chips)
    )


def installable(where: Site) -> bool:
    """Whether an installer of any toolkit is known for this system and processor type."""
    wanted = (where.machine.os.system, where.arch)
    return any((i.system, i.arch) == wanted for t in where.catalog.cuda.toolkits for i in t.installers)


def toolkit_floor(where: Site, series: tuple[int, int]) -> Floor | None:
    """The lowest driver for what a toolkit compiles."""
    system = where.state.system if where.state is not None else where.machine.os.system
    return floor(where.catalog, series, system, "binary")


def _runs(where: Site, series: tuple[int, int]) -> bool:
    lowest = toolkit_floor(where, series)
    return where.state is not None and lowest is not None and reachable(where.state, lowest)


def parts_for(where: Site, cuda: Series | None) -> Parts:
    """The toolkit that fits the chips, the driver and PyTorch's own CUDA (None: PyTorch has none), with the cuDNN
    that fits them too.

    What is here and fits is kept: of PyTorch's very minor first, else of its major, which PyTorch accepts.
    """
    incomplete = [t.version or t.path for t in where.machine.cuda_toolkits or () if t.nvcc is False]
    broken = ", ".join(dict.fromkeys(incomplete)) or None
    if where.card is None or where.state is None:
        return Parts(broken=broken)
    chips = chips_of(where)
    here, offered = _best_here(where, chips, cuda), _best_offered(where, chips, cuda)
    best = here if here is not None else offered
    if best is None:
        return Parts(broken=broken, impossible=True)
    version, series = best
    # Which cuDNN an unknown chip needs, nobody can say; what is here is left.
    cudnn = cudnn_for(where, series[0], chips)
    return Parts(
        toolkit=PartAdvice(action="install" if here is None else "keep", version=version),
        cudnn=cudnn if chips or cudnn.action == "keep" else PartAdvice(action="none"),
        near=cuda is not None and series != cuda,
        lowest=toolkit_floor(where, series),
        broken=broken,
        offered=offered[0] if offered is not None else None,
    )


def _best_offered(where: Site, chips: tuple[Chip, ...], cuda: Series | None) -> tuple[str, Series] | None:
    """The newest of PyTorch's own minor, else of its major, else (without PyTorch's CUDA) the newest of all."""
    near = None
    for toolkit, series in toolkits(where.catalog, where.machine.os.system, where.arch, chips):
        if cuda is None or series == cuda:
            if _runs(where, series):
                return toolkit.version, series
        elif near is None and series[0] == cuda[0] and _runs(where, series):
            near = (toolkit.version, series)
    return near


def _best_here(where: Site, chips: tuple[Chip, ...], cuda: Series | None) -> tuple[str, Series] | None:
    """The best whole toolkit on this computer that fits."""
    fitting = [
        (version, series) for version, series in _whole(where.machine.cuda_toolkits or ()) if fits(where, series, chips)
    ]
    same = [f for f in fitting if f[1] == cuda] or [f for f in fitting if cuda is None or f[1][0] == cuda[0]]
    return max(same, key=lambda f: numbers(f[0]) or (), default=None)


def _whole(here: tuple[CudaToolkit, ...]) -> Iterator[tuple[str, tuple[int, int]]]:
    for toolkit in here:
        series = series_of(toolkit.version) if toolkit.version is not None else None
        if toolkit.nvcc and toolkit.version is not None and series is not None:
            yield toolkit.version, series


def fits(where: Site, series: tuple[int, int], chips: tuple[Chip, ...]) -> bool:
    """Whether a toolkit of this series compiles for the chips and its programs run on a driver for them."""
    known = (t for t in where.catalog.cuda.toolkits if series_of(t.version) == series)
    return any(compiles_for(t, chips) for t in known) and _runs(where, series)


def cudnn_for(where: Site, major: int, chips: tuple[Chip, ...]) -> PartAdvice:
    """The cuDNN for a CUDA major and the chips: the newest that fits among those here, else among those published."""
    here = [
        c.version
        for c in where.machine.cudnn or ()
        if c.version is not None and any(r for r in releases_like(where.catalog, c.version) if serves(r, major, chips))
    ]
    if here:
        return PartAdvice(action="keep", version=max(here, key=lambda v: numbers(v) or ()))
    newest = None
    for release in where.catalog.cudnn.releases:
        if serves(release, major, chips):
            if _archived(where, release, major):
                return PartAdvice(action="install", version=release.version)
            newest = newest or release
    # Where none has an archive with a known hash, the newest that fits is still the right one to name.
    return PartAdvice(action="none") if newest is None else PartAdvice(action="install", version=newest.version)


def releases_like(catalog: Catalog, version: str) -> Iterator[CudnnRelease]:
    """The releases that a version stands for: "9.10.2" is 9.10.2.21."""
    wanted = numbers(version)
    for release in catalog.cudnn.releases:
        known = numbers(release.version)
        if wanted and known is not None and known[: len(wanted)] == wanted:
            yield release


def serves(release: CudnnRelease, major: int, chips: tuple[Chip, ...]) -> bool:
    """Whether a cuDNN is known to work with a CUDA major on all of the chips."""
    lowest = capability(release.lowest_capability.get(str(major)))
    return not release.yanked and lowest is not None and all(chip >= lowest for chip in chips)


def _archived(where: Site, release: CudnnRelease, major: int) -> bool:
    wanted = (where.machine.os.system, where.arch, major)
    return any((a.system, a.arch, a.cuda) == wanted for a in release.archives)
