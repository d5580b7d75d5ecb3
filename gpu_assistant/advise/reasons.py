"""Why each part was chosen; the sentences lie in `resources/texts/advise.json`."""

from __future__ import annotations

from ..catalog.records import Subject
from ..catalog.versions import numbers
from ..core.message import Value
from ..core.recommendation import DriverAdvice, Reason
from .builds import Build, builds_for, code_for
from .cards import said_name
from .cudnn import cudnn_fit
from .decision import Decision
from .drivers import DriverState
from .systems import too_old


def reasons(d: Decision) -> tuple[Reason, ...]:
    """The reasons, in the order in which a person would ask for them."""
    found = [_accelerator(d), _version(d), _variant(d), *_certainty(d), *_index(d), *_vision(d), *_audio(d), _python(d)]
    found += [*_driver(d), _toolkit(d), _cudnn(d)]
    return tuple(found)


def _say(d: Decision, about: str, code: str, subject: Subject, source: str, **data: Value) -> Reason:
    return Reason(code=code, about=about, data=data, source=d.where.catalog.source(subject, source))


def _accelerator(d: Decision) -> Reason:
    torch, about = d.where.catalog.pytorch, "accelerator"
    if d.accelerator == "cuda" and d.where.card is not None:
        card = d.where.card
        # Only of a data centre's card can it be said that it was built for this.
        code = "cuda" if card.segment == "datacenter" else "cuda-card"
        return _say(d, about, code, torch, "install", gpu=card.name, capability=card.capability_text)
    if d.accelerator == "mps":
        return _say(d, about, "mps", torch, "mps")
    if d.accelerator != "cpu":
        return _say(d, about, "by-hand", torch, "matrix", build=d.pick.build.label)
    return _processor(d)


def _processor(d: Decision) -> Reason:
    machine, torch, about = d.where.machine, d.where.catalog.pytorch, "accelerator"
    if machine.os.system == "darwin":
        return _say(d, about, "cpu-mac", torch, "intel-mac")
    if d.cards:
        card = d.cards[0]
        code = "cpu-by-hand" if d.by_hand else "cpu-card"
        return _say(d, about, code, torch, "matrix", gpu=card.name, capability=card.capability_text)
    for vendor in ("amd", "intel"):
        gpu = next((g for g in machine.gpus if g.vendor == vendor), None)
        if gpu is not None:
            rocm = vendor == "amd" and any(b.variant.startswith("rocm") for b in _published(d))
            return _say(d, about, f"cpu-{vendor}{'-rocm' if rocm else ''}", torch, "install", gpu=said_name(gpu))
    return _say(d, about, "cpu-no-gpu", torch, "install")


def _published(d: Decision) -> tuple[Build, ...]:
    return builds_for(d.where.catalog, d.where.machine.os.system, d.where.arch)


def _version(d: Decision) -> Reason:
    torch = d.where.catalog.pytorch
    version, newest = d.pick.build.version, d.where.catalog.releases[0].version
    about = "pytorch.version"
    # A system that is too old gets a warning; that it fits would contradict it.
    only = "-only" if too_old(d.where, d.pick.build) else ""
    if d.by_hand:
        return _say(d, about, f"version-by-hand{only}", torch, "releases", version=version)
    if version == newest:
        return _say(d, about, f"version-newest{only}", torch, "releases", version=version)
    if d.picked_python is not None:
        data: dict[str, Value] = {"version": version, "python": d.picked_python, "newest": newest}
        return _say(d, about, "version-newest-for-python", torch, "releases", **data)
    if d.accelerator == "cuda" and d.where.card is not None:
        if d.where.card.capability is None:
            return _say(d, about, "version-widest", torch, "matrix", version=version, newest=newest)
        return _say(
            d,
            about,
            "version-newest-with-code",
            torch,
            "legacy" if _old_card(d) else "matrix",
            version=version,
            newest=newest,
            gpu=d.where.card.name,
        )
    return _say(d, about, "version-newest-for-system", torch, "matrix", version=version, newest=newest)


def _old_card(d: Decision) -> bool:
    state = d.where.state
    return state is not None and state.generation is not None and state.generation.last_branch is not None


def _variant(d: Decision) -> Reason:
    torch, build = d.where.catalog.pytorch, d.pick.build
    about = "pytorch.variant"
    if build.cuda is None or d.where.card is None:
        return _say(
            d,
            about,
            "variant-cpu" if build.variant == "cpu" else "variant-other",
            torch,
            "install",
            variant=build.variant,
        )
    card = d.where.card
    cuda = f"{build.cuda[0]}.{build.cuda[1]}"
    if card.capability is None:
        return _say(d, about, "variant-widest", torch, "matrix", variant=build.variant, gpu=card.name)
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


def _certainty(d: Decision) -> tuple[Reason, ...]:
    build = d.pick.build
    if build.record.confidence == "high" or build.cuda is None:
        return ()
    code = f"build-{build.record.confidence}"
    return (_say(d, "pytorch.variant", code, d.where.catalog.pytorch, "matrix", build=build.label),)


def _index(d: Decision) -> tuple[Reason, ...]:
    build, torch = d.pick.build, d.where.catalog.pytorch
    default = d.where.catalog.default_variant(build.version, d.where.machine.os.system)
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
    code = "python-download" if d.where.machine.pythons is not None else "python-download-unknown"
    return _say(d, "python", code, pythons, "project", python=d.python.version, version=version)


def _driver(d: Decision) -> tuple[Reason, ...]:
    cuda, drivers = d.where.catalog.cuda, d.where.catalog.drivers
    state, advice, build = d.where.state, d.driver, d.pick.build
    about = "driver.action"
    if advice.action == "none" or state is None or build.cuda is None or d.where.card is None:
        return (_say(d, about, "driver-none", d.where.catalog.pytorch, "install"),)
    data: dict[str, Value] = {
        "installed": advice.installed.lstrip("@") if advice.installed is not None else None,
        "minimum": advice.minimum,
        "recommended": advice.recommended,
        "cuda": f"{build.cuda[0]}.{build.cuda[1]}",
    }
    if state.package is not None:
        data["newest"] = state.package.version
    found = [_say(d, about, _driver_code(state, advice), cuda, "compatibility", **data)]
    generation = state.generation
    if generation is not None and generation.last_branch is not None:
        found.append(
            _say(
                d,
                "driver.recommended",
                "driver-last-branch",
                drivers,
                state.package.source if state.package is not None else "nvidia",
                gpu=d.where.card.name,
                branch=f"R{generation.last_branch}",
                without=generation.first_without.get(state.system),
            )
        )
    return tuple(found)


def _driver_code(state: DriverState, advice: DriverAdvice) -> str:
    """The sentence for the driver: what is called the newest known is what the catalog knows."""
    if advice.action != "keep":
        return f"driver-{advice.action}" + ("-unnamed" if advice.recommended is None else "")
    if state.version is None:
        return "driver-unreadable"
    if state.newest is None:
        return "driver-keep-unnamed"
    return "driver-keep-ahead" if state.version > state.newest else "driver-keep"


def _toolkit(d: Decision) -> Reason:
    torch, build = d.where.catalog.pytorch, d.pick.build
    if build.cuda is None:
        return _say(d, "cuda_toolkit", "toolkit-no-cuda", torch, "install")
    cuda = build.record.cuda or f"{build.cuda[0]}.{build.cuda[1]}"
    here = next((t.version for t in d.where.machine.cuda_toolkits or () if numbers(t.version)), None)
    if here is not None:
        return _say(d, "cuda_toolkit", "toolkit-unused", torch, "install", cuda=cuda, toolkit=here)
    return _say(d, "cuda_toolkit", "toolkit-inside", torch, "install", cuda=cuda)


def _cudnn(d: Decision) -> Reason:
    torch, build = d.where.catalog.pytorch, d.pick.build
    if build.cuda is None:
        return _say(d, "cudnn", "cudnn-no-cuda", torch, "install")
    if build.record.cudnn is None:
        return _say(d, "cudnn", "cudnn-inside-unnamed", torch, "matrix")
    card = d.where.card
    fit = cudnn_fit(d.where.catalog, build, card.capability if card is not None else None)
    if fit != "fits":
        code = "cudnn-kept-back" if fit == "last" else "cudnn-too-new"
        return _say(d, "cudnn", code, torch, "cudnn", cudnn=build.record.cudnn)
    return _say(d, "cudnn", "cudnn-inside", torch, "matrix", cudnn=build.record.cudnn)


def lacks_code(d: Decision) -> tuple[str, ...]:
    """The names of the other NVIDIA cards that the chosen build has no code for."""
    if d.pick.build.cuda is None:
        return ()
    return tuple(
        card.name
        for card in d.cards[1:]
        if card.capability is not None and code_for(d.where.catalog, d.pick.build.record, card.capability) is None
    )
