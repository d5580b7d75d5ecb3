"""Why a CUDA Toolkit and a cuDNN are installed, kept or left out, and what TensorFlow can do here."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.versions import capability, numbers
from ..core.message import Value
from ..core.recommendation import Reason
from .builds import code_for
from .cards import Card, nvidia_cards
from .cudnn import cudnn_fit
from .drivers import series_of
from .pick import Pick, Site
from .reasons_driver import say
from .tensorflow import TensorFlowPick
from .toolkit import Parts, chips_of, installable


def part_reasons(where: Site, pick: Pick | None, parts: Parts, *, wanted: bool) -> Iterator[Reason]:
    """The reasons for both; `wanted` tells that the goal is to compile CUDA code."""
    if wanted or parts.toolkit.action != "none":
        yield from _toolkit_wanted(where, pick, parts)
    elif pick is not None:
        yield _toolkit_unwanted(where, pick)
    if wanted or parts.cudnn.action != "none":
        yield from _cudnn_wanted(where, pick, parts)
    elif pick is not None:
        yield _cudnn_inside(where, pick)


def _cuda(pick: Pick) -> str | None:
    cuda = pick.build.cuda
    return pick.build.record.cuda or (f"{cuda[0]}.{cuda[1]}" if cuda is not None else None)


def _toolkit_wanted(where: Site, pick: Pick | None, parts: Parts) -> Iterator[Reason]:
    cuda, about = where.catalog.cuda, "cuda_toolkit"
    if where.card is None or parts.toolkit.action == "none":
        code = "toolkit-no-card" if where.card is None else "toolkit-left-out"
        if parts.impossible:
            code = "toolkit-impossible" if installable(where) else "toolkit-no-installer"
        yield say(
            where,
            about,
            code,
            cuda,
            "release-notes",
            gpu=where.card.name if where.card is not None else None,
            arch=where.arch,
        )
        return
    inside = _cuda(pick) if pick is not None else None
    data: dict[str, Value] = {"toolkit": parts.toolkit.version, "gpu": where.card.name, "cuda": inside}
    if not chips_of(where):
        yield say(where, about, f"toolkit-{parts.toolkit.action}-unknown", cuda, "release-notes", **data)
    elif parts.toolkit.action == "keep":
        yield say(where, about, "toolkit-keep", cuda, "release-notes", **data)
    else:
        code = "toolkit-install" if inside is None or parts.near else "toolkit-install-match"
        yield say(where, about, code, cuda, "release-notes", **data)
    if inside is not None:
        yield say(where, about, "toolkit-not-for-pytorch", where.catalog.pytorch, "install", cuda=inside)
    if where.machine.os.wsl:
        yield say(where, about, "toolkit-without-driver-wsl", where.catalog.drivers, "wsl")
    elif where.state is not None and where.state.system != "windows":
        yield say(where, about, "toolkit-without-driver", cuda, "release-notes")


def _toolkit_unwanted(where: Site, pick: Pick) -> Reason:
    torch = where.catalog.pytorch
    if pick.build.cuda is None:
        return say(where, "cuda_toolkit", "toolkit-no-cuda", torch, "install")
    here = next((t.version for t in where.machine.cuda_toolkits or () if numbers(t.version)), None)
    if here is not None:
        return say(where, "cuda_toolkit", "toolkit-unused", torch, "install", cuda=_cuda(pick), toolkit=here)
    return say(where, "cuda_toolkit", "toolkit-inside", torch, "install", cuda=_cuda(pick))


def _cudnn_wanted(where: Site, pick: Pick | None, parts: Parts) -> Iterator[Reason]:
    about, cudnn = "cudnn", where.catalog.cudnn
    if where.card is None or parts.cudnn.action == "none":
        unknown = where.card is not None and not chips_of(where) and parts.toolkit.action != "none"
        code, gpu = ("cudnn-chip-unknown", where.card.name) if unknown and where.card else ("cudnn-left-out", None)
        yield say(where, about, code, cudnn, "redist", gpu=gpu)
        return
    series = series_of(parts.toolkit.version) if parts.toolkit.version is not None else None
    if series is None and pick is not None:
        series = pick.build.cuda
    data: dict[str, Value] = {
        "cudnn": parts.cudnn.version,
        "gpu": where.card.name,
        "cuda": series[0] if series is not None else None,
    }
    last = cudnn.last_for_old_chips
    bound = next((c for c in _oldest_first(where) if _ends_with(where, parts.cudnn.version, c)), None)
    old = bound is not None
    if bound is not None and parts.cudnn.action != "keep":
        data["gpu"] = bound.name
    code = "cudnn-keep" if parts.cudnn.action == "keep" else "cudnn-install-last" if old else "cudnn-install"
    if code == "cudnn-install" and series is not None and _last_for(where, parts.cudnn.version, series[0]):
        code = "cudnn-install-last-cuda"
    yield say(where, about, code, cudnn, last.source if old else "redist", **data)
    if pick is not None and pick.build.cuda is not None:
        yield say(where, about, "cudnn-not-for-pytorch", where.catalog.pytorch, "install")


def _oldest_first(where: Site) -> list[Card]:
    return sorted(nvidia_cards(where.machine, where.catalog), key=lambda card: card.capability or (99, 0))


def _ends_with(where: Site, version: str | None, card: Card) -> bool:
    """Whether a cuDNN is the last one that supports a card."""
    last, chips = where.catalog.cudnn.last_for_old_chips, chips_of(where)
    below, chip = capability(last.below_capability), card.capability
    old = chip in chips and chip is not None and below is not None and chip < below
    return old and numbers(version) == numbers(last.version)


def _last_for(where: Site, version: str | None, major: int) -> bool:
    """Whether a cuDNN is the newest of a CUDA major that others have followed."""
    releases = [r for r in where.catalog.cudnn.releases if not r.yanked]
    mine = next((r for r in releases if major in r.cuda_majors), None)
    return mine is not None and mine != releases[0] and numbers(mine.version) == numbers(version)


def _cudnn_inside(where: Site, pick: Pick) -> Reason:
    torch, build = where.catalog.pytorch, pick.build
    if build.cuda is None:
        return say(where, "cudnn", "cudnn-no-cuda", torch, "install")
    if build.record.cudnn is None:
        return say(where, "cudnn", "cudnn-inside-unnamed", torch, "matrix")
    card = where.card
    fit = cudnn_fit(where.catalog, build, card.capability if card is not None else None)
    if fit != "fits":
        code = "cudnn-kept-back" if fit == "last" else "cudnn-too-new"
        return say(where, "cudnn", code, torch, "cudnn", cudnn=build.record.cudnn)
    for other in _oldest_first(where):
        chip = other.capability
        if chip is None or code_for(where.catalog, build.record, chip) is None:
            continue
        if cudnn_fit(where.catalog, build, chip) == "last":
            said = {"cudnn": build.record.cudnn, "gpu": other.name}
            return say(where, "cudnn", "cudnn-kept-back-other", torch, "cudnn", **said)
    return say(where, "cudnn", "cudnn-inside", torch, "matrix", cudnn=build.record.cudnn)


def tensorflow_reasons(where: Site, found: TensorFlowPick, *, beside_pytorch: bool) -> Iterator[Reason]:
    """Which TensorFlow, whether it uses the card, where its CUDA comes from, and what its processor must have.

    Alone, what computes says already whether there is a card for it.
    """
    flow = where.catalog.tensorflow
    data: dict[str, Value] = {
        "version": found.version,
        "gpu": where.card.name if where.card is not None else None,
        "last": flow.last_windows_gpu,
        "cuda": found.build.cuda,
        "cudnn": found.build.cudnn,
    }
    source = found.build.source
    if found.by_hand:
        yield say(where, "tensorflow.version", "tensorflow-by-hand", flow, source, **data)
    elif found.version == flow.newest:
        yield say(where, "tensorflow.version", "tensorflow-newest", flow, source, **data)
    else:
        yield say(where, "tensorflow.version", "tensorflow-chosen", flow, source, **data)
    route = {"chip": "compiled", "no-code": "compiled", "no-gpu-build": "arm"}.get(found.why, "pip")
    if beside_pytorch or found.why not in ("card", "no-card"):
        yield say(where, "tensorflow.gpu", f"tensorflow-{found.why}", flow, route, **data)
    if found.gpu:
        code = "tensorflow-bundled" if found.build.bundled_cuda else "tensorflow-not-bundled"
        yield say(where, "tensorflow.requirement", code, flow, "pip", **data)
    for need in (each for each in flow.cpu_needs if each.arch == where.arch):
        yield say(where, "tensorflow", "tensorflow-cpu", flow, need.source, feature=need.feature.upper())
