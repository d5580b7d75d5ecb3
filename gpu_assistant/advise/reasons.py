"""Why each part was chosen: `collect_reasons` in the order in which a person asks. The texts are in
`resources/texts/advise.json`, `reason.<code>`. `main_reasons` are the few that decide, for a person.

Accelerator, PyTorch and Python are explained here, the NVIDIA driver in `reasons_driver`, toolkit, cuDNN and TensorFlow
in `reasons_parts`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.records.base import CatalogFile
from ..core.machine import Machine, Vendor
from ..core.recommendation import Reason, Recommendation
from ..core.types import Goal, Value
from ..core.versions import Version, version_text
from .builds import code_kind, list_builds
from .candidates import (
    Candidate,
    amd_chip,
    best_candidate,
    find_host_obstacle,
    find_needed_windows,
    find_vendor_index,
    list_runnable_builds,
    unmet_glibc_of_newest,
    unsupported_reason,
)
from .decision import Decision
from .drivers import build_minimum_driver, is_reachable, native_cuda
from .gpus import NvidiaGpu, display_label, display_name, lacks_cuda
from .installed_torch import working_torch_data
from .multi_gpu import planned_driver_version, usable_gpus
from .python import skipped_reason_code
from .reasons_driver import driver_reasons, make_reason
from .reasons_parts import tensorflow_reasons, toolkit_reasons

MAX_MAIN_REASONS = 3
# What the reasons of each goal are about, the most important first.
_MAIN_SUBJECTS: dict[Goal, tuple[str, ...]] = {
    "pytorch": ("accelerator", "pytorch.version", "driver.action"),
    "tensorflow": ("accelerator", "tensorflow", "driver.action"),
    "cuda-dev": ("accelerator", "cuda_toolkit", "driver.action"),
    "all": ("accelerator", "pytorch.version", "driver.action", "cuda_toolkit"),
}


def collect_reasons(decision: Decision) -> tuple[Reason, ...]:
    """All reasons: what computes, PyTorch, Python, TensorFlow, the driver, toolkit and cuDNN."""
    result = [
        accelerator_reason(decision),
        *idle_gpu_reasons(decision),
        _version_reason(decision),
        _variant_reason(decision),
        *_native_cuda_reasons(decision),
        *_confidence_reasons(decision),
        *_statement_reasons(decision),
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


def main_reasons(recommendation: Recommendation) -> tuple[Reason, ...]:
    """At most three: what computes, why this version, what happens to the driver; the first reason about each."""
    reasons = []
    for about in _MAIN_SUBJECTS[recommendation.goal]:
        # A driver that nothing uses decides nothing.
        if about == "driver.action" and recommendation.driver.action == "none":
            continue
        reason = next((each for each in recommendation.reasons if each.about.startswith(about)), None)
        if reason is not None:
            reasons.append(reason)
    return tuple(reasons[:MAX_MAIN_REASONS])


def _make_reason(decision: Decision, about: str, code: str, subject: CatalogFile, source: str, **data: Value) -> Reason:
    return make_reason(decision.target, about, code, subject, source, **data)


def _torch_reason(decision: Decision, about: str, code: str, source: str, **data: Value) -> Reason:
    return make_reason(decision.target, about, code, decision.target.catalog.pytorch, source, **data)


def accelerator_reason(decision: Decision) -> Reason:
    """What computes, and why."""
    about, card, other_gpu = "accelerator", decision.target.gpu, decision.other_gpu
    if decision.accelerator == "cuda" and card is not None:
        gpus = usable_gpus(decision.target, decision.cards, decision.candidate.build, decision.driver)
        if len(gpus) > 1:
            return _multi_gpu_reason(decision, gpus)
        # Only a data centre GPU can be said to be built for this.
        code = "cuda" if card.segment == "datacenter" else "cuda-card"
        if card.capability is None:
            code = "cuda-unknown"
        return _torch_reason(decision, about, code, "install", gpu=card.name, capability=card.capability_text)
    if decision.accelerator == "mps":
        return _torch_reason(decision, about, "mps", "mps")
    if decision.accelerator != "cpu" and other_gpu is not None:
        catalog, source = decision.target.catalog, "uv" if decision.accelerator == "rocm" else "xpu"
        if decision.candidate.build.record.chip_extra is not None:
            source = "amd-windows"
        name = display_name(other_gpu, catalog)
        return _make_reason(decision, about, decision.accelerator, catalog.accelerators, source, gpu=name)
    if decision.accelerator != "cpu":
        return _torch_reason(decision, about, "by-hand", "matrix", build=decision.candidate.build.label)
    return _cpu_reason(decision)


def _multi_gpu_reason(decision: Decision, cards: tuple[NvidiaGpu, ...]) -> Reason:
    """All GPUs that compute, and which has the most memory. (Which is the fastest depends on the work.)"""
    names = [card.label for card in cards]
    count = {name: names.count(name) for name in names}
    labels = [name if number == 1 else f"{number} × {name}" for name, number in count.items()]
    data: dict[str, Value] = {"gpus": ", ".join(labels)}
    code, largest_memory = "cuda-cards", max(card.memory_bytes for card in cards)
    largest = {card.label for card in cards if card.memory_bytes == largest_memory}
    if len(count) > 1 and len(largest) == 1 and all(card.memory_bytes for card in cards):
        code, data["gpu"] = "cuda-cards-most", largest.pop()
    return _torch_reason(decision, "accelerator", code, "install", **data)


def _mac_reason(decision: Decision) -> Reason:
    newest = next(iter(list_builds(decision.target.catalog, "darwin", decision.target.arch)), None)
    if newest is None or not newest.record.mps:
        return _torch_reason(decision, "accelerator", "cpu-mac", "intel-mac")
    data: dict[str, Value] = {"version": decision.candidate.build.version, "newest": newest.version}
    data["needed"] = version_text(newest.record.lowest_system)
    return _torch_reason(decision, "accelerator", "cpu-mac-old", "macos-14", **data)


def _cpu_reason(decision: Decision) -> Reason:
    machine, catalog, about = decision.target.machine, decision.target.catalog, "accelerator"
    if machine.os.system == "darwin":
        return _mac_reason(decision)
    if decision.cards:
        return _unused_nvidia_gpu_reason(decision, decision.cards[0])
    amd = next(iter(machine.gpus_of("amd")), None)
    if amd is not None:
        code = _amd_reason_code(decision)
        unproven = catalog.unproven_amd_chip(amd_chip(catalog, amd)) if code == "cpu-amd-chip-unproven" else None
        source = "amd-windows" if code.startswith("cpu-amd-windows") else "uv"
        source = unproven.source if unproven is not None else source
        data: dict[str, Value] = {"gpu": display_name(amd, catalog), "chip": amd_chip(catalog, amd)}
        if code == "cpu-amd-windows-old":
            data["windows"] = catalog.accelerators.amd_windows.lowest_windows
        return _make_reason(decision, about, code, catalog.accelerators, source, **data)
    intel = next(iter(machine.gpus_of("intel")), None)
    if intel is not None:
        name, windows = display_name(intel, catalog), find_needed_windows(decision.target, intel)
        if windows is not None:
            needed: dict[str, Value] = {"gpu": name, "windows": windows}
            return _make_reason(decision, about, "cpu-intel-windows", catalog.accelerators, "xpu", **needed)
        return _make_reason(decision, about, "cpu-intel", catalog.accelerators, "xpu", gpu=name)
    return _no_gpu_reason(decision)


def _no_gpu_reason(decision: Decision) -> Reason:
    """Where no GPU of any maker computes."""
    machine, catalog, about = decision.target.machine, decision.target.catalog, "accelerator"
    virtual = next((gpu for gpu in machine.gpus_of("nvidia") if lacks_cuda(gpu, catalog)), None)
    if virtual is not None and catalog.drivers.virtual_gpus is not None:
        source = catalog.drivers.virtual_gpus.cuda_source
        name = display_name(virtual, catalog)
        return _make_reason(decision, about, "cpu-card-virtual", catalog.drivers, source, gpu=name)
    # A driver that answers has a GPU, though no probe found its name.
    code = "cpu-no-gpu" if machine.driver is None else "cpu-gpu-unnamed"
    if code == "cpu-no-gpu" and machine.os.wsl:
        # Inside WSL, a Windows whose driver does not serve WSL looks like a computer without a GPU.
        code = "cpu-no-gpu-wsl"
    return _torch_reason(decision, about, code, "install", installed=_installed_driver_version(machine))


def _unused_nvidia_gpu_reason(decision: Decision, card: NvidiaGpu) -> Reason:
    code = (
        "cpu-by-hand"
        if decision.is_build_chosen
        else "cpu-driver-picked"
        if decision.choice.driver is not None
        else "cpu-card"
    )
    data: dict[str, Value] = {"gpu": card.name, "capability": card.capability_text}
    obstacle, state = find_host_obstacle(decision.target), decision.target.driver_state
    if code == "cpu-card" and obstacle is not None and state is not None:
        suffix = "-windows" if state.host == "windows" else ""
        code, data["installed"] = f"cpu-card-host-{obstacle}{suffix}", (state.installed or "").lstrip("@")
    elif code == "cpu-card" and find_vendor_index(decision.target) is not None:
        code = "cpu-card-own"
    elif code == "cpu-card" and unsupported_reason(decision.target, card) == "new":
        code = "cpu-card-new"
    elif code == "cpu-card" and unmet_glibc_of_newest(decision.target) is not None:
        code, data["installed"] = "cpu-card-glibc", decision.target.machine.os.glibc
    return _torch_reason(decision, "accelerator", code, "matrix", **data)


def _installed_driver_version(machine: Machine) -> str | None:
    version = machine.driver.version if machine.driver is not None else None
    return version.lstrip("@") if version is not None else None


def _amd_reason_code(decision: Decision) -> str:
    """Why none of the AMD GPUs can be used."""
    if decision.is_build_chosen:
        return "cpu-amd-by-hand"
    if decision.target.machine.os.system == "windows":
        support, catalog = decision.target.catalog.accelerators.amd_windows, decision.target.catalog
        listed = any(amd_chip(catalog, gpu) in support.chips for gpu in decision.target.machine.gpus_of("amd"))
        return "cpu-amd-windows-old" if listed else "cpu-amd-windows"
    if decision.target.machine.os.wsl:
        return "cpu-amd-wsl"
    if not any(build.variant.startswith("rocm") for build in decision.target.builds):
        return "cpu-amd-computer"
    catalog, amd = decision.target.catalog, next(iter(decision.target.machine.gpus_of("amd")))
    chip = amd_chip(catalog, amd)
    if catalog.unproven_amd_chip(chip) is not None:
        return "cpu-amd-chip-unproven"
    return "cpu-amd-unknown" if chip is None else "cpu-amd-chip"


def idle_gpu_reasons(decision: Decision) -> Iterator[Reason]:
    """The GPUs of other vendors beside the one that computes: they drive the screen only."""
    vendors: dict[str, tuple[Vendor, ...]] = {"cuda": ("amd", "intel"), "rocm": ("intel",), "xpu": ("amd",)}
    idle_gpus = [
        gpu for vendor in vendors.get(decision.accelerator, ()) for gpu in decision.target.machine.gpus_of(vendor)
    ]
    if idle_gpus:
        name = ", ".join(dict.fromkeys(display_label(gpu, decision.target.catalog) for gpu in idle_gpus))
        code = "idle-graphics" if decision.accelerator == "cuda" else f"idle-graphics-{decision.accelerator}"
        yield _torch_reason(decision, "accelerator", code, "install", gpu=name)


def _version_reason(decision: Decision) -> Reason:
    version, newest_version = decision.candidate.build.version, decision.target.catalog.releases[0].version.text
    by_choice = _version_choice_reason(decision, newest_version)
    if by_choice is not None:
        return by_choice
    supply = decision.supply
    if supply is not None and version != supply.wanted.version:
        data: dict[str, Value] = {"version": version, "newest": supply.wanted.version}
        return _torch_reason(decision, "pytorch.version", "version-available", "releases", **data)
    if version == newest_version:
        return _torch_reason(decision, "pytorch.version", "version-newest", "releases", version=version)
    return _older_version_reason(decision, version, newest_version)


def _older_version_reason(decision: Decision, version: str, newest: str) -> Reason:
    """What keeps PyTorch at an older release: glibc, the chosen Python, the NVIDIA GPU, or the published builds."""
    target, about = decision.target, "pytorch.version"
    data: dict[str, Value] = {"version": version, "newest": newest}
    glibc = unmet_glibc_of_newest(target)
    if glibc is not None:
        data |= {"installed": target.machine.os.glibc, "needed": glibc.lowest.text}
        return _torch_reason(decision, about, "version-newest-for-glibc", glibc.source, **data)
    if decision.requested_python is not None:
        data = {"version": version, "python": decision.requested_python, "newest": newest}
        return _torch_reason(decision, about, "version-newest-for-python", "releases", **data)
    if decision.accelerator == "cuda" and target.gpu is not None:
        by_driver = _version_for_driver_reason(decision, target.gpu)
        return by_driver or _version_for_gpu_reason(decision, target.gpu, newest)
    vendor, code = _build_vendor(decision), "version-newest-for-system"
    if vendor is not None:
        # Newer releases have a CPU build for this system: only the builds for the vendor's GPUs end earlier.
        code, data["maker"] = "version-newest-for-maker", vendor
    return _torch_reason(decision, about, code, "matrix", **data)


def _build_vendor(decision: Decision) -> str | None:
    """The vendor of the GPUs that a ROCm or XPU build is for; None for other builds."""
    build = decision.candidate.build
    if build.cuda is not None or build.record.mps or build.variant == "cpu":
        return None
    return "Intel" if build.variant == "xpu" else "AMD"


def _version_choice_reason(decision: Decision, newest: str) -> Reason | None:
    """Where the user chose the release, or a variant that the newest release does not have."""
    version, about = decision.candidate.build.version, "pytorch.version"
    suffix = "-doubtful" if decision.accelerator == "cuda" and decision.candidate.code_kind == "unknown" else ""
    if decision.choice.pytorch is not None:
        return _torch_reason(decision, about, f"version-by-hand{suffix}", "releases", version=version)
    if decision.choice.variant is None or (version == newest and not suffix):
        return None
    data: dict[str, Value] = {"version": version, "variant": decision.choice.variant, "newest": newest}
    return _torch_reason(decision, about, f"version-of-build{suffix}", "releases", **data)


def _version_for_driver_reason(decision: Decision, card: NvidiaGpu) -> Reason | None:
    """Where a newer release has code for the GPU, but needs a newer driver than the one that is kept or was chosen."""
    target, build, state = decision.target, decision.candidate.build, decision.target.driver_state
    driver = state.requested or (state.installed if state.is_kept else None) if state is not None else None
    if state is None or driver is None:
        return None
    newer = next((runnable for runnable in list_runnable_builds(target) if runnable[0].rank < build.rank), None)
    minimum = build_minimum_driver(target.catalog, state, *newer) if newer is not None else None
    if newer is None or minimum is None or is_reachable(state, minimum):
        return None
    code = "version-newest-for-picked-driver"
    if decision.choice.driver == "keep":
        code = "version-newest-for-kept-driver"
    elif state.is_kept:
        code = "version-newest-for-present-driver"
    data: dict[str, Value] = {"driver": driver.lstrip("@"), "gpu": card.name, "version": build.version}
    data |= {"newer": newer[0].version, "needed": minimum.text}
    return _torch_reason(decision, "pytorch.version", code, "matrix", **data)


def _version_for_gpu_reason(decision: Decision, card: NvidiaGpu, newest: str) -> Reason:
    target, about = decision.target, "pytorch.version"
    data: dict[str, Value] = {"version": decision.candidate.build.version, "newest": newest}
    if target.other_chips:
        gpus = _supported_gpu_names(decision)
        return _torch_reason(decision, about, "version-for-all", "matrix", **data, gpus=gpus)
    if card.capability is None:
        code = "version-widest-newer" if _is_known_as_newer(decision) else "version-widest"
        return _torch_reason(decision, about, code, "matrix", **data)
    source = "legacy" if _is_legacy_gpu(decision) else "matrix"
    return _torch_reason(decision, about, "version-newest-with-code", source, **data, gpu=card.name)


def _is_known_as_newer(decision: Decision) -> bool:
    """Of an unknown GPU: whether its driver supports no older generations, so that it is of the newest."""
    return decision.target.driver_state is not None and decision.target.driver_state.generation is not None


def _supported_gpu_names(decision: Decision) -> str:
    """The names of the GPUs that the build serves."""
    chips = (decision.target.gpu.capability if decision.target.gpu is not None else None, *decision.target.other_chips)
    return ", ".join(dict.fromkeys(card.label for card in decision.cards if card.capability in chips))


def _is_legacy_gpu(decision: Decision) -> bool:
    state = decision.target.driver_state
    return state is not None and state.generation is not None and state.generation.last_branch is not None


def _variant_reason(decision: Decision) -> Reason:
    build, card, about = decision.candidate.build, decision.target.gpu, "pytorch.variant"
    if build.cuda is None or card is None:
        return _non_cuda_variant_reason(decision)
    if card.capability is None:
        code = "variant-widest-newer" if _is_known_as_newer(decision) else "variant-widest"
        return _torch_reason(decision, about, code, "matrix", variant=build.variant, gpu=card.name)
    data: dict[str, Value] = {
        "variant": build.variant,
        "cuda": build.cuda.text,
        "gpu": card.name,
        "capability": card.capability_text,
    }
    if decision.candidate.code_kind == "unknown":
        return _torch_reason(decision, about, "variant-code-unknown", "matrix", **data)
    code = "variant-ptx" if decision.candidate.code_kind == "ptx" else "variant-code"
    return _torch_reason(decision, about, code, "device-rule", **data)


def _non_cuda_variant_reason(decision: Decision) -> Reason:
    build, card, vendor = decision.candidate.build, decision.target.gpu, _build_vendor(decision)
    code = "variant-on-cpu" if decision.candidate.on_cpu else "variant-cpu"
    data: dict[str, Value] = {"variant": build.variant}
    if build.record.mps:
        code = "variant-mps"
    elif vendor is not None:
        code, data["maker"] = "variant-other", vendor
    elif decision.is_build_chosen and card is not None:
        # The text for a CPU build says that it is right for this computer; with a GPU it is only what the user chose.
        code, data["gpu"] = "variant-cpu-by-hand", card.name
    return _torch_reason(decision, "pytorch.variant", code, "install", **data)


def _native_cuda_reasons(decision: Decision) -> tuple[Reason, ...]:
    """Why not the build of this release for a newer CUDA: the planned driver implements that one only in part."""
    target, chosen = decision.target, decision.candidate.build
    planned_version = planned_driver_version(target.driver_state, decision.driver)
    native_version = native_cuda(target.catalog, planned_version)
    if chosen.cuda is None or target.driver_state is None or planned_version is None or native_version is None:
        return ()
    if native_version < chosen.cuda or decision.is_build_chosen or chosen.local:
        return ()
    for build, code in list_runnable_builds(target):
        if build.version != chosen.version or build.cuda is None or build.cuda <= native_version:
            continue
        minimum = build_minimum_driver(target.catalog, target.driver_state, build, code)
        if minimum is not None and planned_version >= minimum:
            driver = decision.driver.recommended if decision.driver.needs_install else decision.driver.installed
            data: dict[str, Value] = {"newer": version_text(build.cuda), "cuda": native_version.text}
            data["driver"] = (driver or "").lstrip("@")
            subject = target.catalog.cuda
            return (_make_reason(decision, "pytorch.variant", "variant-native", subject, "compatibility", **data),)
    return ()


def _confidence_reasons(decision: Decision) -> Iterator[Reason]:
    build = decision.candidate.build
    if decision.is_unconfirmed:
        data: dict[str, Value] = {"build": build.label}
        code, sure = f"build-{build.record.confidence}", find_confident_candidate(decision)
        if code == "build-medium" and sure is not None:
            code, data["sure"] = "build-medium-sure", sure.build.label
        yield _torch_reason(decision, "pytorch.variant", code, "matrix", **data)


def find_confident_candidate(decision: Decision) -> Candidate | None:
    """A build that was seen at its source, in place of one of which that is not sure; None where there is none that the
    planned driver runs.
    """
    if not decision.is_unconfirmed:
        return None
    candidate = best_candidate(decision.target, lambda b: b.record.confidence == "high")
    planned_version = planned_driver_version(decision.target.driver_state, decision.driver)
    if candidate is None or planned_version is None or candidate.minimum_driver is None:
        return candidate
    return candidate if planned_version >= candidate.minimum_driver else None


def _statement_reasons(decision: Decision) -> Iterator[Reason]:
    """Where the publisher's own metadata says what the build is made for."""
    build = decision.candidate.build
    if build.record.stated is not None:
        site = decision.target.catalog.index_site(build.record.index_url)
        yield _torch_reason(
            decision, "pytorch.variant", "build-stated", build.record.stated, build=build.label, site=site
        )


def _index_reasons(decision: Decision) -> Iterator[Reason]:
    build, target, supply = decision.candidate.build, decision.target, decision.supply
    if supply is not None and supply.source is not None and supply.source.source != "index":
        return  # a warning says where it comes from
    default = target.catalog.default_variant(build.version, target.machine.os.system, target.arch)
    if build.record.index_url is not None and default is not None and default != build.variant:
        code = "index-own" if default == "cpu" else "index-own-cuda"
        if code == "index-own-cuda" and build.cuda is None:
            code = "index-own-cpu" if build.variant == "cpu" else "index-own-other"
        if build.record.chip_extra is not None:
            code = "index-amd"
        yield _torch_reason(decision, "pytorch.index_url", code, "install", variant=build.variant, default=default)


def _torchvision_reasons(decision: Decision) -> Iterator[Reason]:
    build, about = decision.candidate.build, "pytorch.torchvision"
    if build.release.torchvision is not None:
        return
    release = decision.target.catalog.release(build.version)
    data: dict[str, Value] = {"version": build.version}
    if build.record.alone:
        yield _torch_reason(decision, about, "vision-not-published", "windows-arm", **data)
    elif release is not None and release.torchvision is not None:
        data["vision"] = release.torchvision.text
        yield _torch_reason(decision, about, "vision-not-in-folder", "matrix", **data)
    else:
        yield _torch_reason(decision, about, "vision-unknown", "matrix", **data)


def _torchaudio_reasons(decision: Decision) -> Iterator[Reason]:
    version = decision.candidate.build.release.torchaudio
    if decision.torchaudio is None and version is not None:
        data = {"version": decision.candidate.build.version, "audio": version.text}
        yield _torch_reason(decision, "pytorch.torchaudio", "audio-frozen", "audio", **data)


def _python_reason(decision: Decision) -> Reason:
    python, machine, version = decision.python, decision.target.machine, decision.candidate.build.version
    if python is None:
        return _torch_reason(decision, "python", "python-unknown", "releases", version=version)
    if decision.requested_python is not None:
        return _torch_reason(decision, "python", "python-by-hand", "releases", python=python.series, version=version)
    if python.origin == "here":
        return _torch_reason(decision, "python", "python-here", "releases", python=python.version, version=version)
    # Where the probe was stopped, or never ran, there may be interpreters that it did not see.
    is_partial = any(note.code == "detect.pythons.partly" for note in machine.notes)
    code = "python-download-partly" if is_partial else "python-download"
    if machine.pythons is None:
        code = "python-download-unknown"
    data: dict[str, Value] = {"python": python.version, "version": version}
    if python.skipped is not None:
        code = f"python-{skipped_reason_code(python.skipped)}"
        data["passed"] = python.skipped.version.lstrip("@")
    return _make_reason(decision, "python", code, decision.target.catalog.pythons, "project", **data)


def _driver_reasons(decision: Decision) -> Iterator[Reason]:
    """Why the NVIDIA driver stays or changes; where another vendor's GPU computes, which driver that one has."""
    catalog, about, other_gpu = decision.target.catalog, "driver.action", decision.other_gpu
    if other_gpu is None and decision.accelerator in ("rocm", "xpu"):  # picked by hand
        vendor: Vendor = "amd" if decision.accelerator == "rocm" else "intel"
        other_gpu = next(iter(decision.target.machine.gpus_of(vendor)), None)
    match decision.accelerator:
        case "rocm" | "xpu" if other_gpu is not None:
            code, source = ("driver-rocm", "uv") if decision.accelerator == "rocm" else ("driver-xpu", "xpu")
            if decision.candidate.build.record.chip_extra is not None:
                code, source = "driver-rocm-windows", "amd-windows"
            name = display_name(other_gpu, catalog)
            yield _make_reason(decision, about, code, catalog.accelerators, source, gpu=name)
        case "mps":
            yield _torch_reason(decision, about, "driver-mps", "mps")
        case _:
            # The first thing to know is that the installed PyTorch works without another driver.
            data = working_torch_data(decision) if decision.driver.needs_install else None
            if data is not None:
                yield _make_reason(decision, about, "driver-not-needed", catalog.cuda, "compatibility", **data)
            if decision.way == "works-now" and decision.choice.way is None:
                yield _make_reason(decision, about, "driver-stays-for-now", catalog.drivers, "nvidia")
            is_translated = decision.candidate.build.cuda is not None and decision.candidate.code_kind == "ptx"
            program = decision.candidate.build.label if is_translated else None
            yield from driver_reasons(decision.target, decision.driver, cuda_for_driver(decision), translated=program)


def cuda_for_driver(decision: Decision) -> str | None:
    """The CUDA that sets the minimum driver: PyTorch's own ("13.2"), else the toolkit's ("Toolkit 13.2")."""
    cuda = decision.candidate.build.cuda
    if cuda is not None:
        return cuda.text
    # The text puts "CUDA" before it: "CUDA Toolkit 13.0 needs …".
    toolkit = Version.parse(decision.parts.toolkit.version)
    return f"Toolkit {toolkit.series}" if toolkit is not None else None


def gpus_without_code(decision: Decision) -> tuple[str, ...]:
    """The names of the further NVIDIA GPUs for which the chosen build has no code."""
    if decision.candidate.build.cuda is None:
        return ()
    return tuple(
        card.label
        for card in decision.cards[1:]
        if card.capability is not None
        and code_kind(decision.target.catalog, decision.candidate.build.record, card.capability) is None
    )
