"""Microsoft's compiler, without which the CUDA Toolkit's own compiles nothing on Windows."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.load import Catalog
from ..catalog.toolkits import HostCompiler
from ..catalog.versions import numbers
from ..core.recommendation import Warning as Caution
from .pick import Site
from .toolkit import Parts


def host_compiler(catalog: Catalog, toolkit: str) -> HostCompiler | None:
    """Which of Microsoft's compilers a toolkit takes; None where nobody knows."""
    version = numbers(toolkit) or ()
    fitting = (h for h in catalog.cuda.host_compilers if version >= (numbers(h.from_toolkit) or ()))
    return next(fitting, None)


def compiler_cautions(where: Site, parts: Parts) -> Iterator[Caution]:
    """A compiler that is missing, or that the toolkit refuses."""
    tools, toolkit = where.machine.tools, parts.toolkit.version
    if where.machine.os.system != "windows" or tools is None or toolkit is None or parts.toolkit.action == "none":
        return
    known = host_compiler(where.catalog, toolkit)
    if tools.msvc is None:
        if known is None:
            yield Caution(code="msvc-missing-any", data={"toolkit": toolkit})
        else:
            yield Caution(code="msvc-missing", data={"toolkit": toolkit, "products": known.products})
        return
    here = numbers(tools.msvc)
    if known is None or here is None:
        return
    lowest, below = numbers(known.lowest), numbers(known.below)
    if (lowest is not None and here < lowest) or (below is not None and here >= below):
        data = {"toolkit": toolkit, "msvc": tools.msvc, "products": known.products}
        yield Caution(code="msvc-unfit", data={**data})
