"""The CUDA Toolkit and the cuDNN beside it, for those who compile CUDA code themselves.

The system's own C++ compiler, without which the CUDA Toolkit's compiles nothing: Microsoft's or GNU's.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from ..catalog.records.catalog import ToolkitRelease
from ..catalog.records.software import CudnnRelease, HostCompiler
from ..catalog.store import Catalog
from ..catalog.versions import parse_capability, parse_version
from ..core.machine import CudaToolkit, OperatingSystem, SystemName
from ..core.recommendation import PartAdvice
from ..core.recommendation import RecommendationWarning as Caution
from .candidates import TargetSystem
from .drivers import MinimumDriver, find_minimum_driver, is_reachable, parse_series

Chip = tuple[int, int]
Series = tuple[int, int]


class ToolkitAdvice(Struct, frozen=True, kw_only=True):
    """What is done about both parts. `near` tells that the kept toolkit is of another minor than PyTorch's CUDA,
    `lowest` the driver that programs of this toolkit need, `broken` the toolkits here without their compiler, `offered`
    the toolkit to install if none were here, `impossible` that none fits this card, `chip_unknown` that nobody knows
    whether the picked one compiles for it.
    """

    toolkit: PartAdvice = PartAdvice(action="none")
    cudnn: PartAdvice = PartAdvice(action="none")
    is_other_minor: bool = False
    minimum_driver: MinimumDriver | None = None
    broken_toolkits: str | None = None
    installable_version: str | None = None
    is_impossible: bool = False
    is_chip_unknown: bool = False


def target_chips(target: TargetSystem) -> tuple[Chip, ...]:
    """The chips that compiled code has to serve; none where the deciding card's is not known."""
    if target.gpu is None or target.gpu.capability is None:
        return target.other_chips
    return (target.gpu.capability, *target.other_chips)


def compiles_for(toolkit: ToolkitRelease, chips: tuple[Chip, ...]) -> bool:
    """Whether a toolkit is known to compile for all of the chips."""
    lowest, highest = parse_capability(toolkit.lowest_capability), parse_capability(toolkit.highest_capability)
    extra_chips = {parse_capability(text) for text in toolkit.also_capabilities}
    return all(
        chip in extra_chips or (lowest is not None and highest is not None and lowest <= chip <= highest)
        for chip in chips
    )


def may_compile(toolkit: ToolkitRelease, chips: tuple[Chip, ...]) -> bool:
    """Whether it is not known how new the chips are that a toolkit compiles for, and they are not too old for it."""
    lowest = parse_capability(toolkit.lowest_capability)
    return toolkit.highest_capability is None and all(lowest is None or chip >= lowest for chip in chips)


@lru_cache(maxsize=512)
def list_toolkits(
    catalog: Catalog, system: SystemName, arch: str, chips: tuple[Chip, ...]
) -> tuple[tuple[ToolkitRelease, tuple[int, int]], ...]:
    """The finished toolkits that compile for the chips and have an installer for the system, newest first, each
    with its (major, minor).
    """
    return tuple(
        (toolkit, series)
        for toolkit in catalog.cuda.toolkits
        if not toolkit.preview
        and (series := parse_series(toolkit.version)) is not None
        and any((i.system, i.arch) == (system, arch) for i in toolkit.installers)
        and compiles_for(toolkit, chips)
    )


def has_installer(target: TargetSystem) -> bool:
    """Whether an installer of any toolkit is known for this system and processor type."""
    platform = (target.machine.os.system, target.arch)
    return any((i.system, i.arch) == platform for t in target.catalog.cuda.toolkits for i in t.installers)


def toolkit_minimum_driver(target: TargetSystem, series: tuple[int, int]) -> MinimumDriver | None:
    """The lowest driver for what a toolkit compiles."""
    system = target.driver_state.system if target.driver_state is not None else target.machine.os.system
    return find_minimum_driver(target.catalog, series, system, "binary")


def _can_run(target: TargetSystem, series: tuple[int, int]) -> bool:
    minimum = toolkit_minimum_driver(target, series)
    return target.driver_state is not None and minimum is not None and is_reachable(target.driver_state, minimum)


def advise_toolkit(target: TargetSystem, cuda: Series | None) -> ToolkitAdvice:
    """The toolkit that fits the chips, the driver and PyTorch's own CUDA (None: PyTorch has none), with the cuDNN
    that fits them too.

    What is here and fits is kept: of PyTorch's very minor first, else of its major, which PyTorch accepts.
    """
    incomplete = [t.version or t.path for t in target.machine.cuda_toolkits or () if t.nvcc is False]
    broken_toolkits = ", ".join(dict.fromkeys(incomplete)) or None
    if target.gpu is None or target.driver_state is None:
        return ToolkitAdvice(broken_toolkits=broken_toolkits)
    chips = target_chips(target)
    installed, installable = _best_installed(target, chips, cuda), _best_installable(target, chips, cuda)
    best = installed if installed is not None else installable
    if best is None:
        return ToolkitAdvice(broken_toolkits=broken_toolkits, is_impossible=True)
    version, series = best
    # Which cuDNN an unknown chip needs, nobody can say; what is here is left.
    cudnn = advise_cudnn(target, series[0], chips)
    return ToolkitAdvice(
        toolkit=PartAdvice(action="install" if installed is None else "keep", version=version),
        cudnn=cudnn if chips or cudnn.action == "keep" else PartAdvice(action="none"),
        is_other_minor=cuda is not None and series != cuda,
        minimum_driver=toolkit_minimum_driver(target, series),
        broken_toolkits=broken_toolkits,
        installable_version=installable[0] if installable is not None else None,
    )


def _best_installable(target: TargetSystem, chips: tuple[Chip, ...], cuda: Series | None) -> tuple[str, Series] | None:
    """The newest of PyTorch's own minor, else of its major, else (without PyTorch's CUDA) the newest of all."""
    same_major = None
    for toolkit, series in list_toolkits(target.catalog, target.machine.os.system, target.arch, chips):
        if cuda is None or series == cuda:
            if _can_run(target, series):
                return toolkit.version, series
        elif same_major is None and series[0] == cuda[0] and _can_run(target, series):
            same_major = (toolkit.version, series)
    return same_major


def _best_installed(target: TargetSystem, chips: tuple[Chip, ...], cuda: Series | None) -> tuple[str, Series] | None:
    """The best whole toolkit on this computer that fits."""
    compatible = [
        (version, series)
        for version, series in _complete_toolkits(target.machine.cuda_toolkits or ())
        if is_toolkit_compatible(target, series, chips)
    ]
    preferred = [f for f in compatible if f[1] == cuda] or [f for f in compatible if cuda is None or f[1][0] == cuda[0]]
    return max(preferred, key=lambda f: parse_version(f[0]) or (), default=None)


def _complete_toolkits(installed: tuple[CudaToolkit, ...]) -> Iterator[tuple[str, tuple[int, int]]]:
    for toolkit in installed:
        series = parse_series(toolkit.version) if toolkit.version is not None else None
        if toolkit.nvcc and toolkit.version is not None and series is not None:
            yield toolkit.version, series


def is_toolkit_compatible(target: TargetSystem, series: tuple[int, int], chips: tuple[Chip, ...]) -> bool:
    """Whether a toolkit of this series compiles for the chips and its programs run on a driver for them."""
    releases = (t for t in target.catalog.cuda.toolkits if parse_series(t.version) == series)
    return any(compiles_for(t, chips) for t in releases) and _can_run(target, series)


def advise_cudnn(target: TargetSystem, major: int, chips: tuple[Chip, ...]) -> PartAdvice:
    """The cuDNN for a CUDA major and the chips: the newest that fits among those here, else among those published."""
    installed = [
        c.version
        for c in target.machine.cudnn or ()
        if c.version is not None
        and any(r for r in find_cudnn_releases(target.catalog, c.version) if supports_chips(r, major, chips))
    ]
    if installed:
        return PartAdvice(action="keep", version=max(installed, key=lambda v: parse_version(v) or ()))
    newest = None
    for release in target.catalog.cudnn.releases:
        if supports_chips(release, major, chips):
            if _has_archive(target, release, major):
                return PartAdvice(action="install", version=release.version)
            newest = newest or release
    # Where none has an archive with a known hash, the newest that fits is still the right one to name.
    return PartAdvice(action="none") if newest is None else PartAdvice(action="install", version=newest.version)


def find_cudnn_releases(catalog: Catalog, version: str) -> Iterator[CudnnRelease]:
    """The releases that a version stands for: "9.10.2" is 9.10.2.21."""
    prefix = parse_version(version)
    for release in catalog.cudnn.releases:
        version_parts = parse_version(release.version)
        if prefix and version_parts is not None and version_parts[: len(prefix)] == prefix:
            yield release


def supports_chips(release: CudnnRelease, major: int, chips: tuple[Chip, ...]) -> bool:
    """Whether a cuDNN is known to work with a CUDA major on all of the chips."""
    lowest = parse_capability(release.lowest_capability.get(str(major)))
    return not release.yanked and lowest is not None and all(chip >= lowest for chip in chips)


def _has_archive(target: TargetSystem, release: CudnnRelease, major: int) -> bool:
    platform = (target.machine.os.system, target.arch, major)
    return any((a.system, a.arch, a.cuda) == platform for a in release.archives)


def find_host_compiler(catalog: Catalog, toolkit: str) -> HostCompiler | None:
    """Which of Microsoft's compilers a toolkit takes; None where nobody knows."""
    version = parse_version(toolkit) or ()
    compilers = (h for h in catalog.cuda.host_compilers if version >= (parse_version(h.from_toolkit) or ()))
    return next(compilers, None)


def newest_gnu_compiler(catalog: Catalog, toolkit: str) -> int | None:
    """The newest major of GNU's compiler that a toolkit takes; None where nobody knows."""
    version = parse_version(toolkit) or ()
    versions = (g.newest for g in catalog.cuda.gnu_compilers if version >= (parse_version(g.from_toolkit) or ()))
    return next(versions, None)


def compiler_warnings(target: TargetSystem, parts: ToolkitAdvice) -> Iterator[Caution]:
    """A compiler that is missing, or that the toolkit refuses."""
    toolkit = parts.toolkit.version
    if target.machine.tools is None or toolkit is None or parts.toolkit.action == "none":
        return
    if target.machine.os.system == "windows":
        yield from _msvc_warnings(target, toolkit)
    elif target.machine.os.system == "linux":
        yield from _gcc_warnings(target, toolkit)


def _msvc_warnings(target: TargetSystem, toolkit: str) -> Iterator[Caution]:
    msvc = target.machine.tools.msvc if target.machine.tools is not None else None
    supported = find_host_compiler(target.catalog, toolkit)
    if msvc is None:
        if supported is None:
            yield Caution(code="msvc-missing-any", data={"toolkit": toolkit})
        else:
            yield Caution(code="msvc-missing", data={"toolkit": toolkit, "products": supported.products})
        return
    installed_version = parse_version(msvc)
    if supported is None or installed_version is None:
        return
    minimum_version, below = parse_version(supported.lowest), parse_version(supported.below)
    if (minimum_version is not None and installed_version < minimum_version) or (
        below is not None and installed_version >= below
    ):
        data = {"toolkit": toolkit, "msvc": msvc, "products": supported.products}
        yield Caution(code="msvc-unfit", data={**data})


def _gcc_warnings(target: TargetSystem, toolkit: str) -> Iterator[Caution]:
    gcc = target.machine.tools.gcc if target.machine.tools is not None else None
    newest, package = newest_gnu_compiler(target.catalog, toolkit), _compiler_package(target)
    if gcc is None:
        code = "gcc-missing-any" if newest is None else "gcc-missing"
        yield Caution(code=code, data={"toolkit": toolkit, "newest": newest})
    elif newest is not None and is_too_new(gcc, newest):
        code, name = ("gcc-unfit", None) if package is None else ("gcc-unfit-package", package.format(major=newest))
        yield Caution(code=code, data={"toolkit": toolkit, "gcc": gcc, "newest": newest, "package": name})


def is_too_new(gcc: str, newest: int) -> bool:
    """Whether a compiler is too new for a toolkit that takes none after the major `newest`."""
    return (parse_version(gcc) or (0,))[0] > newest


def find_toolkit_for_compiler(target: TargetSystem, parts: ToolkitAdvice) -> str | None:
    """The next toolkit of the same CUDA major that takes the compiler that is here, where the chosen one does not."""
    tools, toolkit = target.machine.tools, parts.toolkit.version
    gcc, series = tools.gcc if tools is not None else None, parse_series(toolkit) if toolkit is not None else None
    if gcc is None or toolkit is None or series is None or target.machine.os.system != "linux":
        return None
    chosen_version, newest = parse_version(toolkit) or (), newest_gnu_compiler(target.catalog, toolkit)
    if parts.toolkit.action == "none" or newest is None or not is_too_new(gcc, newest):
        return None
    chips, match = target_chips(target), None
    for candidate, candidate_series in list_toolkits(target.catalog, "linux", target.arch, chips):
        newest_supported = newest_gnu_compiler(target.catalog, candidate.version)
        is_later = candidate_series[0] == series[0] and (parse_version(candidate.version) or ()) > chosen_version
        # They come newest first: of the nearest series that takes it, the newest update.
        if (
            is_later
            and newest_supported is not None
            and not is_too_new(gcc, newest_supported)
            and is_toolkit_compatible(target, candidate_series, chips)
        ):
            match = candidate.version if match is None or parse_series(match) != candidate_series else match
    return match


def _compiler_package(target: TargetSystem) -> str | None:
    """What the distribution calls a compiler of a given major ("g++-{major}"); None where that is not known."""
    packages = target.catalog.cuda.gnu_packages
    return next((packages[name] for name in _distribution_ids(target.machine.os) if name in packages), None)


def _distribution_ids(system: OperatingSystem) -> tuple[str, ...]:
    ids = (system.distro,) if system.distro is not None else ()
    return (*ids, *(system.distro_like or ()))
