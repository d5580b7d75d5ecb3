"""Microsoft's Visual C++ runtime, without which PyTorch and TensorFlow on Windows do not start."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.libraries import VcNeed
from ..catalog.versions import numbers
from ..core.machine import Tools
from ..core.recommendation import Warning as Caution
from .builds import Build
from .driver_cautions import warn
from .pick import Site
from .tensorflow import TensorFlowPick


def runtime_cautions(where: Site, *, pytorch: Build | None, tensorflow: TensorFlowPick | None) -> Iterator[Caution]:
    """What is missing for those that come; one warning, for one installer mends it for both."""
    tools, catalog = where.machine.tools, where.catalog
    if where.machine.os.system != "windows" or tools is None:
        return
    needs: list[tuple[str, VcNeed | None]] = []
    if pytorch is not None:
        needs.append((pytorch.label, catalog.vc_need(pytorch.version)))
    if tensorflow is not None:
        needs.append((f"TensorFlow {tensorflow.version}", catalog.vc_need_tensorflow(tensorflow.version)))
    for judge in (_lacking, _not_current):
        for label, need in needs:
            found = judge(where, tools, label, need) if need is not None else None
            if found is not None:
                yield found
                return


def _lacking(where: Site, tools: Tools, label: str, need: VcNeed) -> Caution | None:
    """What the plan mends."""
    url = where.catalog.vc_redist.package.url
    here, lowest = numbers(tools.vc_redist), numbers(need.lowest)
    there = tools.vc_libraries
    lacking = [file for file in need.needs_files if there is not None and file not in there]
    if tools.vc_redist is None:
        return warn("vc-missing", build=label, url=url)
    if lacking:
        return warn("vc-files", build=label, installed=tools.vc_redist, files=", ".join(lacking), url=url)
    if here is not None and lowest is not None and here < lowest:
        return warn("vc-old", build=label, installed=tools.vc_redist, needed=need.lowest, url=url)
    return None


def _not_current(where: Site, tools: Tools, label: str, need: VcNeed) -> Caution | None:
    """What the newest release asks for is in the current runtime: one without it is older."""
    package, there = where.catalog.vc_redist.package, tools.vc_libraries
    if not need.advise_current or there is None:
        return None
    newer = [file for file in where.catalog.vc_redist.needs[0].needs_files if file not in there]
    if not newer:
        return None
    files = ", ".join(newer)
    return warn("vc-not-current", build=label, installed=tools.vc_redist, files=files, url=package.url)
