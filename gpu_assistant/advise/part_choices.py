"""What the user picked by hand beside PyTorch: driver, CUDA Toolkit, cuDNN, TensorFlow."""

from __future__ import annotations

from msgspec.structs import replace

from ..catalog.versions import numbers
from ..core.errors import CallError, ChoiceImpossible
from ..core.recommendation import Choice, PartAdvice
from .drivers import reachable, series_of
from .pick import Pick, Site
from .tensorflow import TensorFlowPick, exact, judged, tensorflow_builds, tensorflow_for
from .toolkit import (
    Parts,
    chips_of,
    compiles_for,
    cudnn_for,
    may_compile,
    parts_for,
    releases_like,
    serves,
    toolkit_floor,
)


def impossible(part: str, choice: str | None, why: str, newest: str | None) -> CallError:
    """The refusal of one part, with the reason and what works instead."""
    return ChoiceImpossible(part=part, choice=(choice or "").lstrip("@"), why=f"@choice.{why}", newest=newest)


def chosen_parts(where: Site, pick: Pick | None, wish: Choice, *, wanted: bool) -> Parts:
    """Toolkit and cuDNN as picked, else as the goal wants them (`wanted`) or left out."""
    cuda = pick.build.cuda if pick is not None else None
    parts = parts_for(where, cuda) if wanted else Parts()
    if wish.cuda_toolkit is not None:
        parts = _toolkit(where, cuda, wish.cuda_toolkit, parts)
    if wish.cudnn is not None:
        parts = replace(parts, cudnn=_cudnn(where, cuda, wish.cudnn, parts))
    elif wish.cuda_toolkit == "none":
        parts = replace(parts, cudnn=PartAdvice(action="none"))
    return _by_way(where, wish.toolkit_way, parts)


def _by_way(where: Site, way: str | None, parts: Parts) -> Parts:
    """How the toolkit gets here as picked; what is not installed has no way."""
    if way not in (None, "archives", "installer"):
        raise CallError("choice-unreadable", choice=str(way).lstrip("@"))
    if way != "installer" or parts.toolkit.action != "install":
        return parts
    system, version = where.machine.os.system, parts.toolkit.version
    toolkit = next((t for t in where.catalog.cuda.toolkits if t.version == version), None)
    how = where.catalog.cuda.how(system)
    if toolkit is None or toolkit.installer(system, where.arch) is None or how is None or not how.runs_alone:
        raise impossible("toolkit_way", version, "no-checked-installer", None)
    return replace(parts, toolkit=replace(parts.toolkit, way="installer"))


def _toolkit(where: Site, cuda: tuple[int, int] | None, picked: str, parts: Parts) -> Parts:
    if picked == "none":
        return replace(parts, toolkit=PartAdvice(action="none"), near=False, lowest=None, impossible=False)
    offered = parts_for(where, cuda).offered
    series = series_of(picked)
    if series is None:
        raise CallError("choice-unreadable", choice=picked.lstrip("@"))
    if where.card is None or where.state is None:
        raise impossible("cuda_toolkit", picked, "no-card", offered)
    chips = chips_of(where)
    wanted = numbers(picked)
    here = next((t for t in where.machine.cuda_toolkits or () if t.nvcc and numbers(t.version) == wanted), None)
    known = next((t for t in where.catalog.cuda.toolkits if numbers(t.version) == wanted and not t.preview), None)
    if here is None and known is None:
        raise impossible("cuda_toolkit", picked, "no-toolkit", offered)
    like = [t for t in where.catalog.cuda.toolkits if series_of(t.version) == series]
    sure = any(compiles_for(t, chips) for t in like)
    if not sure and not any(may_compile(t, chips) for t in like):
        raise impossible("cuda_toolkit", picked, "toolkit-chip", offered)
    lowest = toolkit_floor(where, series)
    if lowest is None or not reachable(where.state, lowest):
        why = "driver-limit" if where.state.picked is None else "toolkit-driver-picked"
        raise impossible("cuda_toolkit", picked, why, offered)
    kind = (where.machine.os.system, where.arch)
    if here is None and known is not None and not any((i.system, i.arch) == kind for i in known.installers):
        raise impossible("cuda_toolkit", picked, "no-installer", offered)
    return replace(
        parts,
        toolkit=PartAdvice(action="keep" if here is not None else "install", version=picked),
        cudnn=cudnn_for(where, series[0], chips) if parts.cudnn.action != "none" else parts.cudnn,
        near=cuda is not None and series != cuda,
        lowest=lowest,
        impossible=False,
        chip_unknown=not sure,
    )


def _cudnn(where: Site, cuda: tuple[int, int] | None, picked: str, parts: Parts) -> PartAdvice:
    if picked == "none":
        return PartAdvice(action="none")
    if numbers(picked) is None:
        raise CallError("choice-unreadable", choice=picked.lstrip("@"))
    series = series_of(parts.toolkit.version) if parts.toolkit.version is not None else cuda
    if where.card is None or series is None:
        raise impossible("cudnn", picked, "no-card", None)
    chips = chips_of(where)
    best = cudnn_for(where, series[0], chips).version
    releases = [r for r in releases_like(where.catalog, picked) if not r.yanked]
    if not releases:
        raise impossible("cudnn", picked, "no-cudnn", best)
    if not any(series[0] in r.cuda_majors for r in releases):
        why = "@choice.cudnn-cuda"
        raise ChoiceImpossible(part="cudnn", choice=picked, why=why, newest=best, cuda=series[0])
    fitting = next((r for r in releases if serves(r, series[0], chips)), None)
    if fitting is None:
        unknown = any(r.lowest_capability.get(str(series[0])) is None for r in releases if series[0] in r.cuda_majors)
        raise impossible("cudnn", picked, "cudnn-chip-unknown" if unknown else "cudnn-chip", best)
    wanted = numbers(picked)
    here = any(numbers(c.version) == wanted for c in where.machine.cudnn or ())
    return PartAdvice(action="keep" if here else "install", version=picked if here else fitting.version)


def chosen_tensorflow(where: Site, picked: str | None) -> TensorFlowPick | None:
    """The TensorFlow that was picked, else the newest for this system."""
    if picked is None:
        return tensorflow_for(where)
    wanted, newest = numbers(picked), tensorflow_for(where)
    if wanted is None:
        raise CallError("choice-unreadable", choice=picked.lstrip("@"))
    for build in tensorflow_builds(where):
        if wanted in (numbers(build.version), numbers(exact(where.catalog, build))):
            return replace(judged(where, build), by_hand=True)
    raise impossible("tensorflow", picked, "no-tensorflow", newest.version if newest is not None else None)
