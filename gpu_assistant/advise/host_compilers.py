"""The system's own C++ compiler, without which the CUDA Toolkit's compiles nothing: Microsoft's or GNU's."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.load import Catalog
from ..catalog.toolkits import HostCompiler
from ..catalog.versions import parse_version
from ..core.machine import OperatingSystem
from ..core.recommendation import RecommendationWarning as Caution
from .drivers import parse_series
from .pick import TargetSystem
from .toolkit import ToolkitAdvice, target_chips, is_toolkit_compatible, list_toolkits


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
    if (minimum_version is not None and installed_version < minimum_version) or (below is not None and installed_version >= below):
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
        if is_later and newest_supported is not None and not is_too_new(gcc, newest_supported) and is_toolkit_compatible(target, candidate_series, chips):
            match = candidate.version if match is None or parse_series(match) != candidate_series else match
    return match


def _compiler_package(target: TargetSystem) -> str | None:
    """What the distribution calls a compiler of a given major ("g++-{major}"); None where that is not known."""
    packages = target.catalog.cuda.gnu_packages
    return next((packages[name] for name in _distribution_ids(target.machine.os) if name in packages), None)


def _distribution_ids(system: OperatingSystem) -> tuple[str, ...]:
    ids = (system.distro,) if system.distro is not None else ()
    return (*ids, *(system.distro_like or ()))
