"""The system's own C++ compiler, without which the CUDA Toolkit's compiles nothing: Microsoft's or GNU's."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.load import Catalog
from ..catalog.toolkits import HostCompiler
from ..catalog.versions import numbers
from ..core.machine import OperatingSystem
from ..core.recommendation import Warning as Caution
from .drivers import series_of
from .pick import Site
from .toolkit import Parts, chips_of, fits, toolkits


def host_compiler(catalog: Catalog, toolkit: str) -> HostCompiler | None:
    """Which of Microsoft's compilers a toolkit takes; None where nobody knows."""
    version = numbers(toolkit) or ()
    fitting = (h for h in catalog.cuda.host_compilers if version >= (numbers(h.from_toolkit) or ()))
    return next(fitting, None)


def newest_gnu(catalog: Catalog, toolkit: str) -> int | None:
    """The newest major of GNU's compiler that a toolkit takes; None where nobody knows."""
    version = numbers(toolkit) or ()
    fitting = (g.newest for g in catalog.cuda.gnu_compilers if version >= (numbers(g.from_toolkit) or ()))
    return next(fitting, None)


def compiler_cautions(where: Site, parts: Parts) -> Iterator[Caution]:
    """A compiler that is missing, or that the toolkit refuses."""
    toolkit = parts.toolkit.version
    if where.machine.tools is None or toolkit is None or parts.toolkit.action == "none":
        return
    if where.machine.os.system == "windows":
        yield from _microsoft(where, toolkit)
    elif where.machine.os.system == "linux":
        yield from _gnu(where, toolkit)


def _microsoft(where: Site, toolkit: str) -> Iterator[Caution]:
    msvc = where.machine.tools.msvc if where.machine.tools is not None else None
    known = host_compiler(where.catalog, toolkit)
    if msvc is None:
        if known is None:
            yield Caution(code="msvc-missing-any", data={"toolkit": toolkit})
        else:
            yield Caution(code="msvc-missing", data={"toolkit": toolkit, "products": known.products})
        return
    here = numbers(msvc)
    if known is None or here is None:
        return
    lowest, below = numbers(known.lowest), numbers(known.below)
    if (lowest is not None and here < lowest) or (below is not None and here >= below):
        data = {"toolkit": toolkit, "msvc": msvc, "products": known.products}
        yield Caution(code="msvc-unfit", data={**data})


def _gnu(where: Site, toolkit: str) -> Iterator[Caution]:
    gcc = where.machine.tools.gcc if where.machine.tools is not None else None
    newest, package = newest_gnu(where.catalog, toolkit), _package(where)
    if gcc is None:
        code = "gcc-missing-any" if newest is None else "gcc-missing"
        yield Caution(code=code, data={"toolkit": toolkit, "newest": newest})
    elif newest is not None and refused(gcc, newest):
        code, name = ("gcc-unfit", None) if package is None else ("gcc-unfit-package", package.format(major=newest))
        yield Caution(code=code, data={"toolkit": toolkit, "gcc": gcc, "newest": newest, "package": name})


def refused(gcc: str, newest: int) -> bool:
    """Whether a compiler is too new for a toolkit that takes none after the major `newest`."""
    return (numbers(gcc) or (0,))[0] > newest


def toolkit_for_compiler(where: Site, parts: Parts) -> str | None:
    """The next toolkit of the same CUDA major that takes the compiler that is here, where the chosen one does not."""
    tools, toolkit = where.machine.tools, parts.toolkit.version
    gcc, series = tools.gcc if tools is not None else None, series_of(toolkit) if toolkit is not None else None
    if gcc is None or toolkit is None or series is None or where.machine.os.system != "linux":
        return None
    chosen, newest = numbers(toolkit) or (), newest_gnu(where.catalog, toolkit)
    if parts.toolkit.action == "none" or newest is None or not refused(gcc, newest):
        return None
    chips, found = chips_of(where), None
    for other, its in toolkits(where.catalog, "linux", where.arch, chips):
        takes = newest_gnu(where.catalog, other.version)
        later = its[0] == series[0] and (numbers(other.version) or ()) > chosen
        # They come newest first: of the nearest series that takes it, the newest update.
        if later and takes is not None and not refused(gcc, takes) and fits(where, its, chips):
            found = other.version if found is None or series_of(found) != its else found
    return found


def _package(where: Site) -> str | None:
    """What the distribution calls a compiler of a given major ("g++-{major}"); None where that is not known."""
    packages = where.catalog.cuda.gnu_packages
    return next((packages[name] for name in _family(where.machine.os) if name in packages), None)


def _family(system: OperatingSystem) -> tuple[str, ...]:
    own = (system.distro,) if system.distro is not None else ()
    return (*own, *(system.distro_like or ()))
