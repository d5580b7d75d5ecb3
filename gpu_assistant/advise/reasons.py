"""Why each part was chosen; the sentences lie in `resources/texts/advise.json`."""

from __future__ import annotations

from ..catalog.records import Subject
from ..core.message import Value
from ..core.recommendation import Reason
from .beside import driver_after
from .builds import code_for
from .cards import Card, said_name
from .decision import Decision
from .drivers import build_floor, native_cuda, reachable, series_of
from .pick import with_code
from .pythons import passed_kind
from .reasons_accelerator import accelerator_reason, idle_graphics
from .reasons_driver import driver_reasons, say
from .reasons_parts import part_reasons, tensorflow_reasons
from .systems import held_back
from .working import said_of


def reasons(d: Decision) -> tuple[Reason, ...]:
    """The reasons, in the order in which a person would ask for them."""
    found = [
        accelerator_reason(d),
        *idle_graphics(d),
        _version(d),
        _variant(d),
        *_newer_cuda(d),
        *_certainty(d),
        *_index(d),
        *_vision(d),
        *_audio(d),
        _python(d),
    ]
    if d.tensorflow is not None:
        found += tensorflow_reasons(d.where, d.tensorflow, beside_pytorch=True)
    found += _driver(d)
    found += part_reasons(d.where, d.pick, d.parts, wanted=d.compiles)
    return tuple(found)


def _driver(d: Decision) -> list[Reason]:
    """NVIDIA's driver; where another maker's graphics compute, theirs."""
    known = d.where.catalog
    match d.accelerator:
        case "rocm" if d.other is not None:
            return [
                _say(
                    d, "driver.action", "driver-rocm", known.accelerators, "uv", gpu=said_name(d.other, d.where.catalog)
                )
            ]
        case "xpu" if d.other is not None:
            return [
                _say(
                    d, "driver.action", "driver-xpu", known.accelerators, "xpu", gpu=said_name(d.other, d.where.catalog)
                )
            ]
        case "mps":
            return [_say(d, "driver.action", "driver-mps", known.pytorch, "mps")]
        case _:
            return [*_not_needed(d), *driver_reasons(d.where, d.driver, driver_cuda(d))]


def _not_needed(d: Decision) -> tuple[Reason, ...]:
    """First of all, that what is here works without another driver."""
    data = said_of(d) if d.driver.changes else None
    if data is None:
        return ()
    return (_say(d, "driver.action", "driver-not-needed", d.where.catalog.cuda, "compatibility", **data),)


def driver_cuda(d: Decision) -> str | None:
    """The CUDA that sets the driver's minimum: PyTorch's own, as "13.2", else the toolkit's, as "Toolkit 13.2"."""
    cuda = d.pick.build.cuda
    if cuda is None and d.parts.toolkit.version is not None:
        # The sentence says whose demand it is: "CUDA Toolkit 13.0 needs …".
        series = series_of(d.parts.toolkit.version)
        return f"Toolkit {series[0]}.{series[1]}" if series is not None else None
    return f"{cuda[0]}.{cuda[1]}" if cuda is not None else None


def _say(d: Decision, about: str, code: str, subject: Subject, source: str, **data: Value) -> Reason:
    return say(d.where, about, code, subject, source, **data)


def _version(d: Decision) -> Reason:
    torch = d.where.catalog.pytorch
    version, newest = d.pick.build.version, d.where.catalog.releases[0].version
    about = "pytorch.version"
    picked = _version_picked(d, newest)
    if picked is not None:
        return picked
    if version == newest:
        return _say(d, about, "version-newest", torch, "releases", version=version)
    glibc = held_back(d.where)
    if glibc is not None:
        here = {"installed": d.where.machine.os.glibc, "needed": glibc.lowest}
        return _say(d, about, "version-newest-for-glibc", torch, glibc.source, version=version, newest=newest, **here)
    if d.picked_python is not None:
        data: dict[str, Value] = {"version": version, "python": d.picked_python, "newest": newest}
        return _say(d, about, "version-newest-for-python", torch, "releases", **data)
    if d.accelerator == "cuda" and d.where.card is not None:
        return _version_for_driver(d, d.where.card) or _version_for_card(d, d.where.card, newest)
    maker, code, of = _maker(d), "version-newest-for-system", dict[str, Value]()
    if maker is not None:
        # The processor may have a newer one here: only the builds for a maker's cards end earlier.
        code, of = "version-newest-for-maker", {"maker": maker}
    return _say(d, about, code, torch, "matrix", version=version, newest=newest, **of)


def _maker(d: Decision) -> str | None:
    """Whose cards a build is made for that is neither NVIDIA's, Apple's nor the processor's."""
    build = d.pick.build
    if build.cuda is not None or build.record.mps or build.variant == "cpu":
        return None
    return "Intel" if build.variant == "xpu" else "AMD"


def _version_picked(d: Decision, newest: str) -> Reason | None:
    """What was picked decides: the release itself, or the build that holds the release back."""
    torch, version, about = d.where.catalog.pytorch, d.pick.build.version, "pytorch.version"
    doubtful = "-doubtful" if d.accelerator == "cuda" and d.pick.code == "unknown" else ""
    if d.wish.pytorch is not None:
        return _say(d, about, f"version-by-hand{doubtful}", torch, "releases", version=version)
    if d.wish.variant is None or (version == newest and not doubtful):
        return None
    data: dict[str, Value] = {"version": version, "variant": d.wish.variant, "newest": newest}
    return _say(d, about, f"version-of-build{doubtful}", torch, "releases", **data)


def _version_for_driver(d: Decision, card: Card) -> Reason | None:
    """The driver that the user picked holds PyTorch back: a newer one has code for the card, and needs more of it."""
    state = d.where.state
    if state is None or state.picked is None:
        return None
    held = next((found for found in with_code(d.where) if found[0].rank < d.pick.build.rank), None)
    needed = build_floor(d.where.catalog, state, *held) if held is not None else None
    if held is None or needed is None or reachable(state, needed):
        return None
    code = "version-newest-for-kept-driver" if d.wish.driver == "keep" else "version-newest-for-picked-driver"
    data: dict[str, Value] = {"version": d.pick.build.version, "newer": held[0].version, "needed": needed.text}
    torch = d.where.catalog.pytorch
    return _say(d, "pytorch.version", code, torch, "matrix", driver=state.picked.lstrip("@"), gpu=card.name, **data)


def _version_for_card(d: Decision, card: Card, newest: str) -> Reason:
    torch, version, about = d.where.catalog.pytorch, d.pick.build.version, "pytorch.version"
    if d.where.others:
        return _say(d, about, "version-for-all", torch, "matrix", version=version, newest=newest, gpus=_all(d))
    if card.capability is None and d.where.state is not None and d.where.state.generation is not None:
        return _say(d, about, "version-widest-newer", torch, "matrix", version=version, newest=newest)
    if card.capability is None:
        return _say(d, about, "version-widest", torch, "matrix", version=version, newest=newest)
    source = "legacy" if _old_card(d) else "matrix"
    code = "version-newest-with-code"
    return _say(d, about, code, torch, source, version=version, newest=newest, gpu=card.name)


def _all(d: Decision) -> str:
    """The names of the cards that the build serves."""
    chips = (d.where.card.capability if d.where.card is not None else None, *d.where.others)
    return ", ".join(dict.fromkeys(card.listed for card in d.cards if card.capability in chips))


def _old_card(d: Decision) -> bool:
    state = d.where.state
    return state is not None and state.generation is not None and state.generation.last_branch is not None


def _variant(d: Decision) -> Reason:
    torch, build = d.where.catalog.pytorch, d.pick.build
    about = "pytorch.variant"
    if build.cuda is None or d.where.card is None:
        return _variant_without_cuda(d)
    card = d.where.card
    cuda = f"{build.cuda[0]}.{build.cuda[1]}"
    if card.capability is None:
        # A driver that refuses old cards runs here: only newer ones were counted.
        newer = d.where.state is not None and d.where.state.generation is not None
        code = "variant-widest-newer" if newer else "variant-widest"
        return _say(d, about, code, torch, "matrix", variant=build.variant, gpu=card.name)
    data: dict[str, Value] = {
        "variant": build.variant,
        "cuda": cuda,
        "gpu": card.name,
        "capability": card.capability_text,
    }
    if d.pick.code == "unknown":
        return _say(d, about, "variant-code-unknown", torch, "matrix", **data)
    if d.pick.code == "ptx":
        return _say(d, about, "variant-ptx", torch, "device-rule", **data)
    return _say(d, about, "variant-code", torch, "device-rule", **data)


def _newer_cuda(d: Decision) -> tuple[Reason, ...]:
    """Why not the build of the same release for a newer CUDA: the driver that will be there brings it only in part."""
    cuda, state, after = d.pick.build.cuda, d.where.state, driver_after(d.where.state, d.driver)
    own = native_cuda(d.where.catalog, after)
    if cuda is None or state is None or after is None or own is None or own < cuda or d.by_hand or d.pick.build.local:
        return ()
    for build, code in with_code(d.where):
        lowest = build_floor(d.where.catalog, state, build, code)
        runs = lowest is not None and after >= lowest.version
        if runs and build.cuda is not None and build.cuda > own and build.version == d.pick.build.version:
            said: dict[str, Value] = {"newer": f"{build.cuda[0]}.{build.cuda[1]}", "cuda": f"{own[0]}.{own[1]}"}
            said["driver"] = ((d.driver.recommended if d.driver.changes else d.driver.installed) or "").lstrip("@")
            known = d.where.catalog.cuda
            return (_say(d, "pytorch.variant", "variant-native", known, "compatibility", **said),)
    return ()


def _variant_without_cuda(d: Decision) -> Reason:
    build, card, maker = d.pick.build, d.where.card, _maker(d)
    code = "variant-cpu"
    data: dict[str, Value] = {"variant": build.variant}
    if build.record.mps:
        code = "variant-mps"
    elif maker is not None:
        code, data["maker"] = "variant-other", maker
    elif d.by_hand and card is not None:
        # What leaves a card idle is right for the computer only where its owner says so.
        code, data["gpu"] = "variant-cpu-by-hand", card.name
    return _say(d, "pytorch.variant", code, d.where.catalog.pytorch, "install", **data)


def _certainty(d: Decision) -> tuple[Reason, ...]:
    build = d.pick.build
    if build.record.confidence == "high" or build.cuda is None:
        return ()
    code = f"build-{build.record.confidence}"
    return (_say(d, "pytorch.variant", code, d.where.catalog.pytorch, "matrix", build=build.label),)


def _index(d: Decision) -> tuple[Reason, ...]:
    build, torch = d.pick.build, d.where.catalog.pytorch
    default = d.where.catalog.default_variant(build.version, d.where.machine.os.system, d.where.arch)
    if build.record.index_url is None or default is None or default == build.variant:
        return ()
    code = "index-own" if default == "cpu" else "index-own-cuda"
    data = {"variant": build.variant, "default": default}
    return (_say(d, "pytorch.index_url", code, torch, "install", **data),)


def _vision(d: Decision) -> tuple[Reason, ...]:
    build = d.pick.build
    if build.release.torchvision is not None:
        return ()
    known = d.where.catalog.release(build.version)
    data: dict[str, Value] = {"version": build.version}
    code = "vision-unknown"
    if build.record.alone:
        return (_say(d, "pytorch.torchvision", "vision-not-published", d.where.catalog.pytorch, "windows-arm", **data),)
    if known is not None and known.torchvision is not None:
        code = "vision-not-in-folder"
        data["vision"] = known.torchvision
    return (_say(d, "pytorch.torchvision", code, d.where.catalog.pytorch, "matrix", **data),)


def _audio(d: Decision) -> tuple[Reason, ...]:
    known = d.pick.build.release.torchaudio
    if d.torchaudio is not None or known is None:
        return ()
    data = {"version": d.pick.build.version, "audio": known}
    return (_say(d, "pytorch.torchaudio", "audio-frozen", d.where.catalog.pytorch, "audio", **data),)


def _python(d: Decision) -> Reason:
    torch, pythons = d.where.catalog.pytorch, d.where.catalog.pythons
    if d.python is None:
        return _say(d, "python", "python-unknown", torch, "releases", version=d.pick.build.version)
    series, version = d.python.series, d.pick.build.version
    if d.picked_python is not None:
        return _say(d, "python", "python-by-hand", torch, "releases", python=series, version=version)
    if d.python.origin == "here":
        return _say(d, "python", "python-here", torch, "releases", python=d.python.version, version=version)
    # Pythons that were left out are not known to be missing.
    machine = d.where.machine
    silent = any(note.code == "detect.pythons.partly" for note in machine.notes)
    code = "python-download-partly" if silent else "python-download"
    if machine.pythons is None:
        code = "python-download-unknown"
    data: dict[str, Value] = {"python": d.python.version, "version": version}
    if d.python.passed is not None:
        code, data["passed"] = f"python-{passed_kind(d.python.passed)}", d.python.passed.version.lstrip("@")
    return _say(d, "python", code, pythons, "project", **data)


def lacks_code(d: Decision) -> tuple[str, ...]:
    """The names of the other NVIDIA cards that the chosen build has no code for."""
    if d.pick.build.cuda is None:
        return ()
    return tuple(
        card.listed
        for card in d.cards[1:]
        if card.capability is not None and code_for(d.where.catalog, d.pick.build.record, card.capability) is None
    )
