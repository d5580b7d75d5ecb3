"""Why each part was chosen; the sentences lie in `resources/texts/advise.json`.

Why PyTorch computes on this processor and not on another.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.records.base import CatalogFile
from ..core.machine import Machine, Vendor
from ..core.recommendation import Reason
from ..core.types import Value
from .builds import code_kind
from .candidates import amd_chip, find_vendor_index, list_runnable_builds, unmet_glibc_of_newest, unsupported_reason
from .decision import Decision, working_torch_data
from .drivers import build_minimum_driver, is_reachable, native_cuda, parse_series
from .gpus import NvidiaGpu, display_label, display_name
from .multi_gpu import planned_driver_version, usable_gpus
from .python import skipped_reason_code
from .reasons_driver import driver_reasons, make_reason
from .reasons_parts import tensorflow_reasons, toolkit_reasons


def accelerator_reason(decision: Decision) -> Reason:
    """What computes, and why."""
    pytorch_catalog, about = decision.target.catalog.pytorch, "accelerator"
    if decision.accelerator == "cuda" and decision.target.gpu is not None:
        card = decision.target.gpu
        # Only of a data centre's card can it be said that it was built for this.
        code = "cuda" if card.segment == "datacenter" else "cuda-card"
        if card.capability is None:
            code = "cuda-unknown"
        gpus = usable_gpus(decision.target, decision.cards, decision.candidate.build, decision.driver)
        if len(gpus) > 1:
            return _multi_gpu_reason(decision, gpus)
        return make_reason(
            decision.target, about, code, pytorch_catalog, "install", gpu=card.name, capability=card.capability_text
        )
    if decision.accelerator == "mps":
        return make_reason(decision.target, about, "mps", pytorch_catalog, "mps")
    if decision.accelerator != "cpu" and decision.other_gpu is not None:
        accelerator_catalog, source = (
            decision.target.catalog.accelerators,
            "uv" if decision.accelerator == "rocm" else "xpu",
        )
        return make_reason(
            decision.target,
            about,
            decision.accelerator,
            accelerator_catalog,
            source,
            gpu=display_name(decision.other_gpu, decision.target.catalog),
        )
    if decision.accelerator != "cpu":
        return make_reason(
            decision.target, about, "by-hand", pytorch_catalog, "matrix", build=decision.candidate.build.label
        )
    return _cpu_reason(decision)


def _multi_gpu_reason(decision: Decision, cards: tuple[NvidiaGpu, ...]) -> Reason:
    """All cards that compute; which is the strongest depends on the work, which has the most memory does not."""
    names = [card.label for card in cards]
    count = {name: names.count(name) for name in names}
    labels = [name if number == 1 else f"{number} × {name}" for name, number in count.items()]
    data: dict[str, Value] = {"gpus": ", ".join(labels)}
    code, largest_memory = "cuda-cards", max(card.memory_bytes for card in cards)
    largest = {card.label for card in cards if card.memory_bytes == largest_memory}
    if len(count) > 1 and len(largest) == 1 and all(card.memory_bytes for card in cards):
        code, data["gpu"] = "cuda-cards-most", largest.pop()
    return make_reason(decision.target, "accelerator", code, decision.target.catalog.pytorch, "install", **data)


def _cpu_reason(decision: Decision) -> Reason:
    machine, pytorch_catalog, about = decision.target.machine, decision.target.catalog.pytorch, "accelerator"
    if machine.os.system == "darwin":
        return make_reason(decision.target, about, "cpu-mac", pytorch_catalog, "intel-mac")
    if decision.cards:
        card = decision.cards[0]
        code = (
            "cpu-by-hand"
            if decision.is_build_chosen
            else "cpu-driver-picked"
            if decision.choice.driver is not None
            else "cpu-card"
        )
        data: dict[str, Value] = {"gpu": card.name, "capability": card.capability_text}
        if code == "cpu-card" and find_vendor_index(decision.target) is not None:
            code = "cpu-card-own"
        elif code == "cpu-card" and unsupported_reason(decision.target, card) == "new":
            code = "cpu-card-new"
        elif code == "cpu-card" and unmet_glibc_of_newest(decision.target) is not None:
            code, data["installed"] = "cpu-card-glibc", machine.os.glibc
        return make_reason(decision.target, about, code, pytorch_catalog, "matrix", **data)
    accelerator_catalog = decision.target.catalog.accelerators
    amd = next(iter(machine.gpus_of("amd")), None)
    if amd is not None:
        code = _amd_reason_code(decision)
        source = "amd-windows" if code == "cpu-amd-windows" else "uv"
        return make_reason(
            decision.target,
            about,
            code,
            accelerator_catalog,
            source,
            gpu=display_name(amd, decision.target.catalog),
            chip=amd_chip(decision.target.catalog, amd),
        )
    intel = next(iter(machine.gpus_of("intel")), None)
    if intel is not None:
        return make_reason(
            decision.target,
            about,
            "cpu-intel",
            accelerator_catalog,
            "xpu",
            gpu=display_name(intel, decision.target.catalog),
        )
    # A driver that answers has a card, which nothing here has named.
    code = "cpu-no-gpu" if machine.driver is None else "cpu-gpu-unnamed"
    if code == "cpu-no-gpu" and machine.os.wsl:
        # From inside, a Windows without a driver that serves WSL looks like a computer without a card.
        code = "cpu-no-gpu-wsl"
    return make_reason(
        decision.target, about, code, pytorch_catalog, "install", installed=_installed_driver_version(machine)
    )


def _installed_driver_version(machine: Machine) -> str | None:
    version = machine.driver.version if machine.driver is not None else None
    return version.lstrip("@") if version is not None else None


def _amd_reason_code(decision: Decision) -> str:
    """Why none of the AMD cards can be used."""
    if decision.is_build_chosen:
        return "cpu-amd-by-hand"
    if decision.target.machine.os.system == "windows":
        return "cpu-amd-windows"
    if decision.target.machine.os.wsl:
        return "cpu-amd-wsl"
    if not any(build.variant.startswith("rocm") for build in decision.target.builds):
        return "cpu-amd-computer"
    amd = next(iter(decision.target.machine.gpus_of("amd")))
    return "cpu-amd-unknown" if amd_chip(decision.target.catalog, amd) is None else "cpu-amd-chip"


def idle_gpu_reasons(decision: Decision) -> Iterator[Reason]:
    """The graphics of another maker beside the card that computes: they keep drawing the screen."""
    vendors: dict[str, tuple[Vendor, ...]] = {"cuda": ("amd", "intel"), "rocm": ("intel",), "xpu": ("amd",)}
    idle_gpus = [
        gpu for vendor in vendors.get(decision.accelerator, ()) for gpu in decision.target.machine.gpus_of(vendor)
    ]
    if idle_gpus:
        name = ", ".join(dict.fromkeys(display_label(gpu, decision.target.catalog) for gpu in idle_gpus))
        code = "idle-graphics" if decision.accelerator == "cuda" else f"idle-graphics-{decision.accelerator}"
        yield make_reason(decision.target, "accelerator", code, decision.target.catalog.pytorch, "install", gpu=name)


def collect_reasons(decision: Decision) -> tuple[Reason, ...]:
    """The reasons, in the order in which a person would ask for them."""
    result = [
        accelerator_reason(decision),
        *idle_gpu_reasons(decision),
        _version_reason(decision),
        _variant_reason(decision),
        *_native_cuda_reasons(decision),
        *_confidence_reasons(decision),
        *_index_reasons(decision),
        *_torchvision_reasons(decision),
        *_torchaudio_reasons(decision),
        _python_reason(decision),
    ]
    if decision.tensorflow is not None:
        result += tensorflow_reasons(decision.target, decision.tensorflow, beside_pytorch=True)
    result += _driver_reasons(decision)
    result += toolkit_reasons(decision.target, decision.candidate, decision.parts, required=decision.is_for_compiling)
    return tuple(result)


def _driver_reasons(decision: Decision) -> list[Reason]:
    """NVIDIA's driver; where another maker's graphics compute, theirs."""
    catalog = decision.target.catalog
    match decision.accelerator:
        case "rocm" if decision.other_gpu is not None:
            return [
                _make_reason(
                    decision,
                    "driver.action",
                    "driver-rocm",
                    catalog.accelerators,
                    "uv",
                    gpu=display_name(decision.other_gpu, decision.target.catalog),
                )
            ]
        case "xpu" if decision.other_gpu is not None:
            return [
                _make_reason(
                    decision,
                    "driver.action",
                    "driver-xpu",
                    catalog.accelerators,
                    "xpu",
                    gpu=display_name(decision.other_gpu, decision.target.catalog),
                )
            ]
        case "mps":
            return [_make_reason(decision, "driver.action", "driver-mps", catalog.pytorch, "mps")]
        case _:
            return [
                *_driver_not_needed_reason(decision),
                *driver_reasons(decision.target, decision.driver, cuda_for_driver(decision)),
            ]


def _driver_not_needed_reason(decision: Decision) -> tuple[Reason, ...]:
    """First of all, that what is here works without another driver."""
    data = working_torch_data(decision) if decision.driver.needs_install else None
    if data is None:
        return ()
    return (
        _make_reason(
            decision, "driver.action", "driver-not-needed", decision.target.catalog.cuda, "compatibility", **data
        ),
    )


def cuda_for_driver(decision: Decision) -> str | None:
    """The CUDA that sets the driver's minimum: PyTorch's own, as "13.2", else the toolkit's, as "Toolkit 13.2"."""
    cuda = decision.candidate.build.cuda
    if cuda is None and decision.parts.toolkit.version is not None:
        # The sentence says whose demand it is: "CUDA Toolkit 13.0 needs …".
        series = parse_series(decision.parts.toolkit.version)
        return f"Toolkit {series[0]}.{series[1]}" if series is not None else None
    return f"{cuda[0]}.{cuda[1]}" if cuda is not None else None


def _make_reason(decision: Decision, about: str, code: str, subject: CatalogFile, source: str, **data: Value) -> Reason:
    return make_reason(decision.target, about, code, subject, source, **data)


def _version_reason(decision: Decision) -> Reason:
    pytorch_catalog = decision.target.catalog.pytorch
    version, newest_version = decision.candidate.build.version, decision.target.catalog.releases[0].version
    about = "pytorch.version"
    by_choice = _version_choice_reason(decision, newest_version)
    if by_choice is not None:
        return by_choice
    if version == newest_version:
        return _make_reason(decision, about, "version-newest", pytorch_catalog, "releases", version=version)
    glibc = unmet_glibc_of_newest(decision.target)
    if glibc is not None:
        versions = {"installed": decision.target.machine.os.glibc, "needed": glibc.lowest}
        return _make_reason(
            decision,
            about,
            "version-newest-for-glibc",
            pytorch_catalog,
            glibc.source,
            version=version,
            newest=newest_version,
            **versions,
        )
    if decision.requested_python is not None:
        data: dict[str, Value] = {"version": version, "python": decision.requested_python, "newest": newest_version}
        return _make_reason(decision, about, "version-newest-for-python", pytorch_catalog, "releases", **data)
    if decision.accelerator == "cuda" and decision.target.gpu is not None:
        return _version_for_driver_reason(decision, decision.target.gpu) or _version_for_gpu_reason(
            decision, decision.target.gpu, newest_version
        )
    vendor, code, vendor_data = _build_vendor(decision), "version-newest-for-system", dict[str, Value]()
    if vendor is not None:
        # The processor may have a newer one here: only the builds for a maker's cards end earlier.
        code, vendor_data = "version-newest-for-maker", {"maker": vendor}
    return _make_reason(
        decision, about, code, pytorch_catalog, "matrix", version=version, newest=newest_version, **vendor_data
    )


def _build_vendor(decision: Decision) -> str | None:
    """Whose cards a build is made for that is neither NVIDIA's, Apple's nor the processor's."""
    build = decision.candidate.build
    if build.cuda is not None or build.record.mps or build.variant == "cpu":
        return None
    return "Intel" if build.variant == "xpu" else "AMD"


def _version_choice_reason(decision: Decision, newest: str) -> Reason | None:
    """What was picked decides: the release itself, or the build that holds the release back."""
    pytorch_catalog, version, about = (
        decision.target.catalog.pytorch,
        decision.candidate.build.version,
        "pytorch.version",
    )
    suffix = "-doubtful" if decision.accelerator == "cuda" and decision.candidate.code_kind == "unknown" else ""
    if decision.choice.pytorch is not None:
        return _make_reason(decision, about, f"version-by-hand{suffix}", pytorch_catalog, "releases", version=version)
    if decision.choice.variant is None or (version == newest and not suffix):
        return None
    data: dict[str, Value] = {"version": version, "variant": decision.choice.variant, "newest": newest}
    return _make_reason(decision, about, f"version-of-build{suffix}", pytorch_catalog, "releases", **data)


def _version_for_driver_reason(decision: Decision, card: NvidiaGpu) -> Reason | None:
    """The driver that the user picked holds PyTorch back: a newer one has code for the card, and needs more of it."""
    state = decision.target.driver_state
    if state is None or state.requested is None:
        return None
    newer = next(
        (
            candidate
            for candidate in list_runnable_builds(decision.target)
            if candidate[0].rank < decision.candidate.build.rank
        ),
        None,
    )
    minimum = build_minimum_driver(decision.target.catalog, state, *newer) if newer is not None else None
    if newer is None or minimum is None or is_reachable(state, minimum):
        return None
    code = "version-newest-for-kept-driver" if decision.choice.driver == "keep" else "version-newest-for-picked-driver"
    data: dict[str, Value] = {
        "version": decision.candidate.build.version,
        "newer": newer[0].version,
        "needed": minimum.text,
    }
    pytorch_catalog = decision.target.catalog.pytorch
    return _make_reason(
        decision,
        "pytorch.version",
        code,
        pytorch_catalog,
        "matrix",
        driver=state.requested.lstrip("@"),
        gpu=card.name,
        **data,
    )


def _version_for_gpu_reason(decision: Decision, card: NvidiaGpu, newest: str) -> Reason:
    pytorch_catalog, version, about = (
        decision.target.catalog.pytorch,
        decision.candidate.build.version,
        "pytorch.version",
    )
    if decision.target.other_chips:
        return _make_reason(
            decision,
            about,
            "version-for-all",
            pytorch_catalog,
            "matrix",
            version=version,
            newest=newest,
            gpus=_supported_gpu_names(decision),
        )
    if (
        card.capability is None
        and decision.target.driver_state is not None
        and decision.target.driver_state.generation is not None
    ):
        return _make_reason(
            decision, about, "version-widest-newer", pytorch_catalog, "matrix", version=version, newest=newest
        )
    if card.capability is None:
        return _make_reason(
            decision, about, "version-widest", pytorch_catalog, "matrix", version=version, newest=newest
        )
    source = "legacy" if _is_legacy_gpu(decision) else "matrix"
    code = "version-newest-with-code"
    return _make_reason(decision, about, code, pytorch_catalog, source, version=version, newest=newest, gpu=card.name)


def _supported_gpu_names(decision: Decision) -> str:
    """The names of the cards that the build serves."""
    chips = (decision.target.gpu.capability if decision.target.gpu is not None else None, *decision.target.other_chips)
    return ", ".join(dict.fromkeys(card.label for card in decision.cards if card.capability in chips))


def _is_legacy_gpu(decision: Decision) -> bool:
    state = decision.target.driver_state
    return state is not None and state.generation is not None and state.generation.last_branch is not None


def _variant_reason(decision: Decision) -> Reason:
    pytorch_catalog, build = decision.target.catalog.pytorch, decision.candidate.build
    about = "pytorch.variant"
    if build.cuda is None or decision.target.gpu is None:
        return _non_cuda_variant_reason(decision)
    card = decision.target.gpu
    cuda = f"{build.cuda[0]}.{build.cuda[1]}"
    if card.capability is None:
        # A driver that refuses old cards runs here: only newer ones were counted.
        is_newer_gpu = decision.target.driver_state is not None and decision.target.driver_state.generation is not None
        code = "variant-widest-newer" if is_newer_gpu else "variant-widest"
        return _make_reason(decision, about, code, pytorch_catalog, "matrix", variant=build.variant, gpu=card.name)
    data: dict[str, Value] = {
        "variant": build.variant,
        "cuda": cuda,
        "gpu": card.name,
        "capability": card.capability_text,
    }
    if decision.candidate.code_kind == "unknown":
        return _make_reason(decision, about, "variant-code-unknown", pytorch_catalog, "matrix", **data)
    if decision.candidate.code_kind == "ptx":
        return _make_reason(decision, about, "variant-ptx", pytorch_catalog, "device-rule", **data)
    return _make_reason(decision, about, "variant-code", pytorch_catalog, "device-rule", **data)


def _native_cuda_reasons(decision: Decision) -> tuple[Reason, ...]:
    """Why not the build of the same release for a newer CUDA: the driver that will be there brings it only in part."""
    cuda, state, planned_version = (
        decision.candidate.build.cuda,
        decision.target.driver_state,
        planned_driver_version(decision.target.driver_state, decision.driver),
    )
    native_version = native_cuda(decision.target.catalog, planned_version)
    if (
        cuda is None
        or state is None
        or planned_version is None
        or native_version is None
        or native_version < cuda
        or decision.is_build_chosen
        or decision.candidate.build.local
    ):
        return ()
    for build, code in list_runnable_builds(decision.target):
        minimum = build_minimum_driver(decision.target.catalog, state, build, code)
        is_supported = minimum is not None and planned_version >= minimum.version
        if (
            is_supported
            and build.cuda is not None
            and build.cuda > native_version
            and build.version == decision.candidate.build.version
        ):
            data: dict[str, Value] = {
                "newer": f"{build.cuda[0]}.{build.cuda[1]}",
                "cuda": f"{native_version[0]}.{native_version[1]}",
            }
            data["driver"] = (
                (decision.driver.recommended if decision.driver.needs_install else decision.driver.installed) or ""
            ).lstrip("@")
            cuda_catalog = decision.target.catalog.cuda
            return (_make_reason(decision, "pytorch.variant", "variant-native", cuda_catalog, "compatibility", **data),)
    return ()


def _non_cuda_variant_reason(decision: Decision) -> Reason:
    build, card, vendor = decision.candidate.build, decision.target.gpu, _build_vendor(decision)
    code = "variant-cpu"
    data: dict[str, Value] = {"variant": build.variant}
    if build.record.mps:
        code = "variant-mps"
    elif vendor is not None:
        code, data["maker"] = "variant-other", vendor
    elif decision.is_build_chosen and card is not None:
        # What leaves a card idle is right for the computer only where its owner says so.
        code, data["gpu"] = "variant-cpu-by-hand", card.name
    return _make_reason(decision, "pytorch.variant", code, decision.target.catalog.pytorch, "install", **data)


def _confidence_reasons(decision: Decision) -> tuple[Reason, ...]:
    build = decision.candidate.build
    if build.record.confidence == "high" or build.cuda is None:
        return ()
    code = f"build-{build.record.confidence}"
    return (
        _make_reason(decision, "pytorch.variant", code, decision.target.catalog.pytorch, "matrix", build=build.label),
    )


def _index_reasons(decision: Decision) -> tuple[Reason, ...]:
    build, pytorch_catalog = decision.candidate.build, decision.target.catalog.pytorch
    default = decision.target.catalog.default_variant(
        build.version, decision.target.machine.os.system, decision.target.arch
    )
    if build.record.index_url is None or default is None or default == build.variant:
        return ()
    code = "index-own" if default == "cpu" else "index-own-cuda"
    data = {"variant": build.variant, "default": default}
    return (_make_reason(decision, "pytorch.index_url", code, pytorch_catalog, "install", **data),)


def _torchvision_reasons(decision: Decision) -> tuple[Reason, ...]:
    build = decision.candidate.build
    if build.release.torchvision is not None:
        return ()
    release = decision.target.catalog.release(build.version)
    data: dict[str, Value] = {"version": build.version}
    code = "vision-unknown"
    if build.record.alone:
        return (
            _make_reason(
                decision,
                "pytorch.torchvision",
                "vision-not-published",
                decision.target.catalog.pytorch,
                "windows-arm",
                **data,
            ),
        )
    if release is not None and release.torchvision is not None:
        code = "vision-not-in-folder"
        data["vision"] = release.torchvision
    return (_make_reason(decision, "pytorch.torchvision", code, decision.target.catalog.pytorch, "matrix", **data),)


def _torchaudio_reasons(decision: Decision) -> tuple[Reason, ...]:
    version = decision.candidate.build.release.torchaudio
    if decision.torchaudio is not None or version is None:
        return ()
    data = {"version": decision.candidate.build.version, "audio": version}
    return (
        _make_reason(decision, "pytorch.torchaudio", "audio-frozen", decision.target.catalog.pytorch, "audio", **data),
    )


def _python_reason(decision: Decision) -> Reason:
    pytorch_catalog, pythons = decision.target.catalog.pytorch, decision.target.catalog.pythons
    if decision.python is None:
        return _make_reason(
            decision, "python", "python-unknown", pytorch_catalog, "releases", version=decision.candidate.build.version
        )
    series, version = decision.python.series, decision.candidate.build.version
    if decision.requested_python is not None:
        return _make_reason(
            decision, "python", "python-by-hand", pytorch_catalog, "releases", python=series, version=version
        )
    if decision.python.origin == "here":
        return _make_reason(
            decision,
            "python",
            "python-here",
            pytorch_catalog,
            "releases",
            python=decision.python.version,
            version=version,
        )
    # Pythons that were left out are not known to be missing.
    machine = decision.target.machine
    is_partial = any(note.code == "detect.pythons.partly" for note in machine.notes)
    code = "python-download-partly" if is_partial else "python-download"
    if machine.pythons is None:
        code = "python-download-unknown"
    data: dict[str, Value] = {"python": decision.python.version, "version": version}
    if decision.python.skipped is not None:
        code, data["passed"] = (
            f"python-{skipped_reason_code(decision.python.skipped)}",
            decision.python.skipped.version.lstrip("@"),
        )
    return _make_reason(decision, "python", code, pythons, "project", **data)


def gpus_without_code(decision: Decision) -> tuple[str, ...]:
    """The names of the other NVIDIA cards that the chosen build has no code for."""
    if decision.candidate.build.cuda is None:
        return ()
    return tuple(
        card.label
        for card in decision.cards[1:]
        if card.capability is not None
        and code_kind(decision.target.catalog, decision.candidate.build.record, card.capability) is None
    )
