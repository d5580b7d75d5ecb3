"""What the user should know before going on, with what fixes it.

`collect_warnings` gives all of a decision, the most important first; `recommend` builds the list for TensorFlow alone
from the same functions. The texts are in `resources/texts/advise.json`, `warning.<code>.text` and `.fix`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath, PureWindowsPath

from ..catalog.distributions import enroll_command, secure_boot_page_source, signing_key_path
from ..catalog.records.libraries import VcRuntimeRequirement
from ..core.machine import Tools, home_disk, larger_disk_data
from ..core.recommendation import Accelerator, DriverAdvice, LocalWheel, RecommendationWarning
from ..core.types import Value
from ..core.versions import Version, version_text
from .alternatives import all_gpus_alternative
from .availability import find_general_answer
from .builds import Build, cudnn_support
from .candidates import (
    Candidate,
    TargetSystem,
    amd_chip,
    find_better_labelled_build,
    find_host_obstacle,
    find_unlisted_intel_gpu,
    find_vendor_index,
    intel_family,
    make_target,
    unmet_glibc_of_newest,
    unsupported_reason,
)
from .decision import Decision, advise_driver
from .distributions import find_driver_commands, select_packages
from .drivers import DriverState, find_minimum_windows
from .gpus import NvidiaGpu, display_name, lacks_cuda
from .installed_torch import torch_warnings
from .multi_gpu import SecondaryGpu, secondary_gpus
from .python import fits_platform
from .support import support_warnings, system_end_warnings
from .tensorflow import (
    TensorFlowCandidate,
    cpu_name,
    find_missing_cpu_feature,
    find_wsl_candidate,
    pytorch_support_text,
    tensorflow_source_warnings,
    unsupported_gpu_warnings,
)
from .toolkit import ToolkitAdvice, compiler_warnings, impossible_toolkit_code

Warnings = Iterator[RecommendationWarning]


def make_warning(code: str, **data: Value) -> RecommendationWarning:
    """One warning."""
    return RecommendationWarning(code=code, data=data)


def secondary_gpu_warnings(decision: Decision) -> Warnings:
    """Further NVIDIA GPUs that the planned build or driver does not serve."""
    has_all_gpus_build = all_gpus_alternative(decision) is not None
    for secondary in secondary_gpus(decision.target, decision.cards, decision.candidate.build, decision.driver):
        yield from _secondary_gpu_warning(decision, secondary, has_all_gpus_build=has_all_gpus_build)
    for card in dict.fromkeys(decision.cards[1:]):
        if decision.accelerator == "cuda" and card.capability is None and decision.cards[0].capability is not None:
            yield make_warning("other-gpu-unknown", gpu=card.label, build=decision.candidate.build.label)


def _secondary_gpu_warning(decision: Decision, secondary: SecondaryGpu, *, has_all_gpus_build: bool) -> Warnings:
    card, build, state = secondary.card, decision.candidate.build.label, decision.target.driver_state
    match secondary.state:
        case "modules":
            yield _kernel_module_warning(decision, secondary)
        case "leaves":
            code = "driver-drops-other" if has_all_gpus_build else "driver-drops-other-alone"
            if (
                decision.is_build_chosen or decision.choice.driver is not None
            ) and decision.multi_gpu.all_gpus_candidate is not None:
                # The user's choice drops it: the text refers to the recommendation instead of an alternative.
                code = "driver-drops-other-picked"
            yield make_warning(code, gpu=card.label, recommended=decision.driver.recommended)
        case "dark":
            code = "other-gpu-dark-way-back" if has_all_gpus_build else "other-gpu-dark"
            installed = state.installed if state is not None else None
            dropped_from = version_text(secondary.dropped_from)
            yield make_warning(code, gpu=card.label, installed=(installed or "").lstrip("@"), without=dropped_from)
        case "own":
            yield make_warning("other-gpu-without-code", gpu=card.label, build=build)
        case "never":
            yield make_warning("other-gpu-never", gpu=card.label, build=build, capability=card.capability_text)


def _kernel_module_warning(decision: Decision, secondary: SecondaryGpu) -> RecommendationWarning:
    """Linux loads one kind of kernel modules only: the package for the strongest GPU and the one for this GPU."""
    target, primary = decision.target, decision.cards[0]
    secondary_target = make_target(target.machine, target.catalog, target.arch, secondary.card, "studio")
    data: dict[str, Value] = {"gpu": secondary.card.label, "strong": primary.label}
    # A driver that is kept comes from the installed packages.
    installed = decision.driver.installed if decision.driver.action == "keep" else None
    primary_packages = (
        select_packages(target, target.driver_state, primary, decision.driver.minimum, installed)
        if target.driver_state is not None
        else None
    )
    secondary_packages = (
        select_packages(
            secondary_target, secondary_target.driver_state, secondary.card, version_text(secondary.minimum_driver)
        )
        if secondary_target.driver_state is not None
        else None
    )
    if primary_packages is None or secondary_packages is None:
        return make_warning("other-gpu-modules", **data)
    return make_warning(
        "other-gpu-modules-named", package=primary_packages.names[0], other=secondary_packages.names[0], **data
    )


def driver_warnings(target: TargetSystem, advice: DriverAdvice) -> Warnings:
    """What Secure Boot demands of a new driver on Linux, and known issues of the planned driver."""
    state = target.driver_state
    if state is None or advice.action == "none" or state.host is not None:
        return
    if state.system == "linux" and target.machine.os.secure_boot and advice.needs_install:
        yield from _secure_boot_warnings(target, state, advice)
    planned = (advice.recommended if advice.needs_install else advice.installed) or ""
    version, newest = Version.parse(planned), state.newest_version
    for issue in target.catalog.drivers.troubles:
        if issue.system == state.system and version is not None and version in issue.versions:
            newer = newest.text if newest is not None and newest > version else None
            code = f"driver-{issue.what}" + ("" if newer is not None else "-only")
            url = target.catalog.source_url(target.catalog.drivers, issue.source)
            yield make_warning(code, version=planned.lstrip("@"), newest=newer, url=url)


def _secure_boot_warnings(target: TargetSystem, state: DriverState, advice: DriverAdvice) -> Warnings:
    """How the new driver's modules get to be trusted. Nobody sits before a rented computer when it starts."""
    packages = select_packages(target, state, target.gpu, advice.minimum, advice.recommended) if target.gpu else None
    package, row = packages.signed if packages is not None else None, find_driver_commands(target)
    needs_person = package is None and not (row is not None and row.signed)
    if target.machine.cloud is not None:
        if needs_person:
            yield make_warning("secure-boot-cloud")
        elif package is not None:
            yield make_warning("secure-boot-signed-cloud", package=package)
    elif advice.key:
        yield make_warning("secure-boot-commands")
    elif advice.way in ("commands", "page"):
        if advice.way == "page" or row is None or not row.signed:
            source = secure_boot_page_source(target.catalog.drivers, target.machine.os)
            page = target.catalog.source_url(target.catalog.drivers, source) if source is not None else advice.page
            yield make_warning("secure-boot-page", page=page)
    elif package is None and signing_key_path(target.catalog.drivers, target.machine.os) is not None:
        command = enroll_command(target.catalog.drivers, target.machine.os)
        yield make_warning("secure-boot-enrol", enrol=" ".join(command))
    else:
        yield make_warning("secure-boot-key" if package is None else "secure-boot-signed", package=package)


def group_warnings(target: TargetSystem, accelerator: Accelerator) -> Warnings:
    """The groups of users who may use AMD's or Intel's devices on Linux; NVIDIA's are open to everybody."""
    system, vendor = target.machine.os, {"rocm": "amd", "xpu": "intel"}.get(accelerator)
    if system.system != "linux" or system.wsl:
        return
    if vendor == "intel":
        yield _intel_runtime_warning(target)
    groups = next((each for each in target.catalog.accelerators.linux_groups if each.vendor == vendor), None)
    if groups is not None:
        url = target.catalog.source_url(target.catalog.accelerators, groups.source)
        data: dict[str, Value] = {"groups": ",".join(groups.groups), "named": ", ".join(groups.groups), "url": url}
        yield RecommendationWarning(code=f"groups-{vendor}", data=data)


def _intel_runtime_warning(target: TargetSystem) -> RecommendationWarning:
    """Level Zero, without which an Intel GPU does not compute: the command for it, where its packages are known."""
    catalog, system = target.catalog, target.machine.os
    families = {family for gpu in target.machine.gpus_of("intel") if (family := intel_family(catalog, gpu)) is not None}
    for row in catalog.accelerators.intel_runtimes:
        is_system = row.distribution == (system.distro or "").casefold()
        is_release = not row.releases or system.distro_version in row.releases
        if is_system and is_release and (not row.families or families <= set(row.families)):
            url = catalog.source_url(catalog.accelerators, row.source)
            return make_warning("xpu-runtime-command", command=" ".join(row.command), url=url)
    return make_warning("xpu-runtime", url=catalog.source_url(catalog.accelerators, "xpu"))


def fabric_warnings(target: TargetSystem, advice: DriverAdvice) -> Warnings:
    """NVSwitch needs Fabric Manager in exactly the driver's version: an update of the driver alone breaks it."""
    fabric_manager, system = target.catalog.drivers.fabric_manager, target.machine.os
    if fabric_manager is None or system.system != "linux" or system.wsl or advice.action == "none":
        return
    if target.driver_state is None or target.driver_state.host in ("container", "vgpu"):
        return  # it is the host's
    cards = [gpu for gpu in target.machine.gpus_of("nvidia") if gpu.pci_id in fabric_manager.pci_ids]
    if len(cards) < 2:
        return
    driver = Version.parse(advice.recommended)
    pattern = fabric_manager.packages.get((system.distro or "").casefold())
    url = target.catalog.source_url(target.catalog.drivers, fabric_manager.source)
    data: dict[str, Value] = {"service": fabric_manager.service, "url": url}
    # With Secure Boot the driver is not the server package that Fabric Manager's package belongs to.
    has_server_packages = advice.needs_install and advice.way == "packages" and system.secure_boot is not True
    if pattern is None or driver is None or not has_server_packages:
        yield RecommendationWarning(code="fabric-manager", data=data)
        return
    package = pattern.replace("{branch}", str(driver.major))
    yield RecommendationWarning(code="fabric-manager-packages", data={**data, "package": package})


def vc_runtime_warnings(
    target: TargetSystem, *, pytorch: Build | None, tensorflow: TensorFlowCandidate | None
) -> Warnings:
    """A missing or old Visual C++ runtime, without which neither framework starts on Windows. At most one warning: one
    installer fixes it for both.
    """
    tools, catalog = target.machine.tools, target.catalog
    if target.machine.os.system != "windows" or tools is None:
        return
    requirements: list[tuple[str, VcRuntimeRequirement | None]] = []
    if pytorch is not None:
        requirements.append((pytorch.label, catalog.vc_requirement(pytorch.version)))
    if tensorflow is not None:
        requirements.append((f"TensorFlow {tensorflow.version}", catalog.tensorflow_vc_requirement(tensorflow.version)))
    for check in (_missing_runtime_warning, _outdated_runtime_warning):
        for label, requirement in requirements:
            warning = check(target, tools, label, requirement) if requirement is not None else None
            if warning is not None:
                yield warning
                return


def needs_vc_runtime(decision: Decision) -> bool:
    """Whether the plan installs the Visual C++ runtime."""
    target, build, tensorflow = decision.target, decision.candidate.build, decision.tensorflow
    missing = ("vc-missing", "vc-files", "vc-old")
    return any(each.code in missing for each in vc_runtime_warnings(target, pytorch=build, tensorflow=tensorflow))


def _missing_runtime_warning(
    target: TargetSystem, tools: Tools, label: str, requirement: VcRuntimeRequirement
) -> RecommendationWarning | None:
    """What the framework does not start without; the plan installs it."""
    url = target.catalog.vc_redist.package.url
    installed_version, minimum_version = Version.parse(tools.vc_redist), requirement.lowest
    installed_files = tools.vc_libraries
    missing = [file for file in requirement.needs_files if installed_files is not None and file not in installed_files]
    if tools.vc_redist is None:
        return make_warning("vc-missing", build=label, url=url)
    if missing:
        return make_warning("vc-files", build=label, installed=tools.vc_redist, files=", ".join(missing), url=url)
    if installed_version is not None and minimum_version is not None and installed_version < minimum_version:
        return make_warning("vc-old", build=label, installed=tools.vc_redist, needed=minimum_version.text, url=url)
    return None


def _outdated_runtime_warning(
    target: TargetSystem, tools: Tools, label: str, requirement: VcRuntimeRequirement
) -> RecommendationWarning | None:
    """A runtime that is not the current one, where older ones are known to fail: it lacks files that the newest
    release needs.
    """
    package, installed_files = target.catalog.vc_redist.package, tools.vc_libraries
    if not requirement.advise_current or installed_files is None:
        return None
    missing = [file for file in target.catalog.vc_redist.needs[0].needs_files if file not in installed_files]
    if not missing:
        return None
    files = ", ".join(missing)
    return make_warning("vc-not-current", build=label, installed=tools.vc_redist, files=files, url=package.url)


def collect_warnings(decision: Decision, wheels: tuple[LocalWheel, ...] = ()) -> tuple[RecommendationWarning, ...]:
    """All warnings, the most important first; `wheels` are those of the user's wheelhouse."""
    return tuple(_decision_warnings(decision, wheels))


def _decision_warnings(decision: Decision, wheels: tuple[LocalWheel, ...]) -> Warnings:
    build = decision.candidate.build
    yield from source_warnings(decision)
    yield from torch_warnings(decision)
    yield from _glibc_warnings(decision)
    yield from _wheel_variant_warnings(decision, wheels)
    yield from _amd_index_warnings(decision)
    yield from gpu_identity_warnings(decision.target, decision.cards)
    yield from _idle_gpu_warnings(decision)
    card = decision.target.gpu
    if decision.accelerator == "cuda":
        yield from _newer_chip_warnings(decision)
        yield from gpu_warnings(decision.target, build.label, decision.driver.minimum)
        if card is not None and card.capability is not None and decision.candidate.code_kind == "unknown":
            yield make_warning("code-unknown", gpu=card.name, build=build.label)
        if card is not None and cudnn_support(decision.target.catalog, build, card.capability) == "too-new":
            yield make_warning(
                "cudnn-too-new", gpu=card.name, build=build.label, cudnn=version_text(build.record.cudnn)
            )
    yield from secondary_gpu_warnings(decision)
    yield from _requested_driver_warnings(decision)
    yield from toolkit_warnings(decision.target, decision.candidate, decision.parts)
    if decision.tensorflow is not None:
        yield from tensorflow_source_warnings(decision.target, decision.tensorflow, decision.sources)
        yield from tensorflow_warnings(
            decision.target, decision.tensorflow, beside_pytorch=decision.accelerator == "cuda"
        )
        yield from unsupported_gpu_warnings(decision.target, decision.tensorflow, decision.cards)
        yield from wsl_warnings(decision.target, decision.tensorflow, decision.driver)
    elif decision.goal == "all":
        yield _left_out_tensorflow_warning(decision.target)
    if decision.python is None:
        yield make_warning("no-python", build=build.label, series=", ".join(build.release.python))
    yield from vc_runtime_warnings(decision.target, pytorch=decision.candidate.build, tensorflow=decision.tensorflow)
    yield from _disk_space_warnings(decision)
    yield from machine_warnings(decision.target, driver_changes=decision.driver.needs_install)
    yield from system_end_warnings(decision.target)
    if decision.accelerator == "cuda":
        yield from support_warnings(decision.target, decision.driver)
    yield from driver_warnings(decision.target, decision.driver)
    yield from fabric_warnings(decision.target, decision.driver)
    yield from group_warnings(decision.target, decision.accelerator)
    unlisted_gpu = find_unlisted_intel_gpu(decision.target) if decision.accelerator == "xpu" else None
    if unlisted_gpu is not None:
        yield make_warning("xpu-unlisted", gpu=display_name(unlisted_gpu, decision.target.catalog), build=build.label)
    elif decision.accelerator in ("rocm", "xpu"):
        yield make_warning("not-proven", build=build.label)
    if not decision.is_arch_known:
        yield make_warning("arch-unknown", arch=decision.target.arch)


def source_warnings(decision: Decision) -> Warnings:
    """What stands in for a build that its own index does not give, or that no index gives it; what goes with it and is
    not there.
    """
    yield from _build_source_warnings(decision)
    supply = decision.supply
    if supply is None or supply.source is None:
        return
    rest = find_general_answer(decision.sources, "numpy")
    if rest is not None and rest.state == "unreachable" and supply.source.source != "general":
        yield make_warning("source-none-rest", build=decision.candidate.build.label, general=f"@answer.{rest.state}")
    if decision.left_out:
        site = decision.target.catalog.index_site(decision.candidate.build.record.index_url)
        place = "@site.general" if supply.source.source == "general" else site
        if supply.source.mirror is not None:
            place = supply.source.mirror.name
        yield make_warning("source-without", packages=", ".join(decision.left_out), site=place)


def _build_source_warnings(decision: Decision) -> Warnings:
    supply = decision.supply
    if supply is None or (supply.local and not supply.is_replacement):
        return
    wanted, build = supply.wanted, decision.candidate.build
    answers: dict[str, Value] = dict.fromkeys(("index", "general", "mirrors"), "@answer.not-asked")
    for each in supply.sources_of_wanted:
        name = "mirrors" if each.source == "mirror" else each.source
        if each.answer is not None and answers[name] == "@answer.not-asked":
            answers[name] = f"@answer.{each.answer.state}"
    site = decision.target.catalog.index_site(wanted.record.index_url)
    data: dict[str, Value] = {"build": wanted.label, "version": wanted.version, "site": site, **answers}
    if supply.local:
        yield make_warning("source-wheelhouse", recommended=build.label, **data)
    elif supply.is_undecided and not supply.is_replacement:
        yield make_warning("source-unknown", **data)
    elif supply.source is None:
        gpu = decision.target.gpu.name if decision.target.gpu is not None and wanted.cuda is not None else None
        yield make_warning("source-none" if gpu is None else "source-none-card", gpu=gpu, **data)
    elif supply.is_replacement:
        data["recommended"] = build.label
        system = decision.target.machine.os.system
        data["download_bytes"] = decision.target.catalog.sizes(build.variant, system).download_bytes
        same_release = build.version == wanted.version
        code = "source-on-cpu" if decision.candidate.on_cpu else "source-other" if same_release else "source-older"
        if code == "source-on-cpu" and not same_release:
            code = "source-on-cpu-older"
        yield make_warning(code, **data)
    elif supply.source.source == "mirror" and supply.source.mirror is not None:
        yield make_warning("source-mirror", mirror=supply.source.mirror.name, **data)
    elif supply.source.source == "general" and wanted.record.index_url is not None:
        yield make_warning("source-general", **data)


def _left_out_tensorflow_warning(target: TargetSystem) -> RecommendationWarning:
    """Why there is no TensorFlow: the processor lacks what it needs, or none is published for this platform."""
    missing_feature = find_missing_cpu_feature(target)
    if missing_feature is not None:
        return make_warning("tensorflow-cpu", feature=missing_feature.feature.upper(), cpu=cpu_name(target))
    return make_warning("tensorflow-none", system=f"@system.{target.machine.os.system}", arch=target.arch)


def _idle_gpu_warnings(decision: Decision) -> Warnings:
    """Why the NVIDIA GPU computes nothing, unless the user chose that."""
    chose_otherwise = decision.is_build_chosen or decision.choice.driver is not None
    if not decision.cards or decision.accelerator == "cuda" or chose_otherwise:
        return
    idle_gpu, target = decision.cards[0], decision.target
    vendor_index, obstacle = find_vendor_index(target), find_host_obstacle(target)
    if obstacle is not None:
        yield _host_driver_warning(decision, idle_gpu, obstacle)
    elif vendor_index is not None:
        yield make_warning("gpu-makers-own", gpu=idle_gpu.name, url=vendor_index.url)
    else:
        code = {"old": "gpu-too-old", "new": "gpu-too-new", "none": "gpu-without-code"}
        reason = unsupported_reason(target, idle_gpu)
        yield make_warning(code[reason], gpu=idle_gpu.name, capability=idle_gpu.capability_text)


def _host_driver_warning(decision: Decision, card: NvidiaGpu, obstacle: str) -> RecommendationWarning:
    """The driver that the host gives is missing or too old: only there it can be mended."""
    target, state = decision.target, decision.target.driver_state
    host, installed = (state.host, state.installed) if state is not None else (None, None)
    code, data = f"host-driver-{obstacle}-{host}", {"gpu": card.name, "installed": (installed or "").lstrip("@")}
    lowest = find_minimum_windows(target.catalog, target.machine) if host == "windows" else None
    if lowest is None:
        return make_warning(code, **data)
    name = target.machine.os.name or ""
    last_line = next((line for prefix, line in lowest.last_lines.items() if name.startswith(prefix)), None)
    data["needed"] = lowest.name
    return make_warning(code, **data) if last_line is None else make_warning(f"{code}-server", last=last_line, **data)


def gpu_identity_warnings(target: TargetSystem, cards: tuple[NvidiaGpu, ...]) -> Warnings:
    """A GPU whose name and PCI id contradict each other, and a driver without any NVIDIA GPU."""
    for card in cards:
        if card.name_by_id is not None:
            yield make_warning(
                "gpu-name-and-id", gpu=card.label, named=card.name_by_id, capability=card.capability_text
            )
        elif card.capability_by_id is not None:
            claimed = {"capability": card.capability_text, "listed": card.capability_by_id.text}
            yield make_warning("gpu-capability-and-id", gpu=card.label, **claimed)
    yield from _virtual_gpu_warnings(target)
    driver = target.machine.driver
    if driver is not None and not target.machine.gpus_of("nvidia"):
        yield make_warning("driver-without-card", installed=(driver.version or "").lstrip("@") or None)


def gpu_warnings(target: TargetSystem, label: str, minimum: str | None) -> Warnings:
    """What is unknown about the GPU or its driver."""
    card, state = target.gpu, target.driver_state
    if card is not None and card.capability is None:
        # The fix for an unknown GPU is a driver that reports its capability; this one does not.
        code = "gpu-unknown" if target.machine.driver is None else "gpu-unknown-to-driver"
        yield make_warning(code, gpu=card.name, build=label)
    if state is not None and not state.is_readable:
        yield make_warning("driver-unreadable", installed=(state.installed or "").lstrip("@"), minimum=minimum)


def _newer_chip_warnings(decision: Decision) -> Warnings:
    """A chip that only a newer CUDA than that of the build knows by its own number."""
    card, cuda = decision.target.gpu, decision.candidate.build.cuda
    chip = card.capability if card is not None else None
    toolkits = decision.target.catalog.cuda.toolkits
    first = min((t.version.series for t in toolkits if chip in t.also_capabilities), default=None)
    if card is not None and cuda is not None and first is not None and cuda < first:
        data: dict[str, Value] = {"gpu": card.name, "capability": card.capability_text, "cuda": first.text}
        yield make_warning("chip-newer-than-cuda", **data, build=decision.candidate.build.label)


def _virtual_gpu_warnings(target: TargetSystem) -> Warnings:
    """Virtual GPUs of the series for desktops and applications, on which CUDA does not run."""
    virtual_gpus = target.catalog.drivers.virtual_gpus
    for gpu in target.machine.gpus_of("nvidia"):
        if virtual_gpus is not None and lacks_cuda(gpu, target.catalog):
            url = target.catalog.source_url(target.catalog.drivers, virtual_gpus.cuda_source)
            name = display_name(gpu, target.catalog)
            yield make_warning("vgpu-without-cuda", gpu=name, series=", ".join(virtual_gpus.cuda_series), url=url)


def _requested_driver_warnings(decision: Decision) -> Warnings:
    """A driver that the user chose, and that is older than the installed one or not in the catalog."""
    state = decision.target.driver_state
    if state is None or decision.driver.action == "none":
        return
    if state.requested is not None and decision.driver.action != "keep":
        installed_version = state.installed_version
        listed_versions = {package.version.text for package in decision.target.catalog.drivers.packages}
        if installed_version is not None and state.version is not None and state.version < installed_version:
            yield make_warning("driver-older", picked=state.requested, installed=(state.installed or "").lstrip("@"))
        if state.requested not in listed_versions:
            yield make_warning("driver-unlisted", picked=state.requested)


def toolkit_warnings(target: TargetSystem, candidate: Candidate | None, parts: ToolkitAdvice) -> Warnings:
    """A toolkit that does not match PyTorch, is incomplete, or does not fit the GPU."""
    build_cuda = candidate.build.cuda if candidate is not None else None
    if parts.is_impossible and target.gpu is not None:
        code = impossible_toolkit_code(target, parts)
        blocked: dict[str, Value] = {"glibc": target.machine.os.glibc} if parts.is_blocked_by_glibc else {}
        yield make_warning(code, gpu=target.gpu.name, arch=target.arch, **blocked)
    if parts.is_other_minor and build_cuda is not None:
        toolkit = Version.parse(parts.toolkit.version)
        code = "toolkit-near" if toolkit is not None and toolkit.major == build_cuda.major else "toolkit-far"
        yield make_warning(code, toolkit=parts.toolkit.version, cuda=build_cuda.text)
    if parts.is_chip_unknown and target.gpu is not None:
        yield make_warning("toolkit-chip-unknown", toolkit=parts.toolkit.version, gpu=target.gpu.name)
    yield from compiler_warnings(target, parts)
    if parts.broken_toolkits is not None and parts.toolkit.action != "none":
        yield make_warning("toolkit-broken", toolkit=parts.broken_toolkits.lstrip("@"))
    if parts.cudnn.action == "install" and parts.toolkit.action == "none":
        yield make_warning("cudnn-alone", cudnn=parts.cudnn.version)


def tensorflow_warnings(target: TargetSystem, tensorflow: TensorFlowCandidate, *, beside_pytorch: bool) -> Warnings:
    """What TensorFlow cannot do here, and what two frameworks in one environment mean."""
    gpu = target.gpu.name if target.gpu is not None else None
    cuda, cudnn = version_text(tensorflow.build.cuda), version_text(tensorflow.build.cudnn)
    if tensorflow.status not in ("card", "no-card"):
        data: dict[str, Value] = {"gpu": gpu, "version": tensorflow.version, "cuda": cuda}
        yield make_warning(f"tensorflow-{tensorflow.status}", **data, pytorch=pytorch_support_text(target))
    if tensorflow.cudnn_constraint is not None:
        yield make_warning(
            "tensorflow-cudnn",
            gpu=tensorflow.constrained_for,
            version=tensorflow.version,
            needs=tensorflow.cudnn_constraint,
        )
    if tensorflow.uses_gpu and not tensorflow.build.bundled_cuda:
        yield make_warning("tensorflow-separate", version=tensorflow.version, cuda=cuda, cudnn=cudnn)
    if tensorflow.uses_gpu and beside_pytorch:
        yield make_warning("two-frameworks", version=tensorflow.version)


def wsl_warnings(target: TargetSystem, tensorflow: TensorFlowCandidate, advice: DriverAdvice) -> Warnings:
    """Where WSL2 is offered, but the GPU needs a newer Windows driver for it than the one that is kept."""
    wsl_candidate = find_wsl_candidate(target, tensorflow)
    if wsl_candidate is None or wsl_candidate.minimum_driver is None or advice.needs_install or target.gpu is None:
        return
    if advise_driver(target.driver_state, wsl_candidate.minimum_driver).needs_install:
        yield make_warning("tensorflow-wsl2-driver", gpu=target.gpu.name, minimum=wsl_candidate.minimum_driver.text)


def machine_warnings(target: TargetSystem, *, driver_changes: bool) -> Warnings:
    """What is true of the machine whatever is installed."""
    machine = target.machine
    if machine.os.wsl and driver_changes:
        yield make_warning("wsl-driver")
    if machine.pending_reboot:
        yield make_warning("pending-reboot")
    user = machine.user
    if user is not None and user.ascii is False:
        yield make_warning("home-not-ascii")
    if user is not None and user.home_too_long:
        yield make_warning("home-too-long")
    if user is not None and user.home is not None and _is_inside_any(user.home, user.onedrive or ()):
        yield make_warning("home-onedrive")


def _is_inside_any(home: str, folders: tuple[str, ...]) -> bool:
    """Whether a Windows path is one of the folders or below one."""
    path = PureWindowsPath(home)
    return any(path.is_relative_to(PureWindowsPath(folder)) for folder in folders if folder)


def _glibc_warnings(decision: Decision) -> Warnings:
    glibc = unmet_glibc_of_newest(decision.target)
    if glibc is not None and not decision.candidate.build.local:
        yield make_warning(
            "glibc-too-old",
            build=decision.candidate.build.label,
            needed=glibc.lowest.text,
            installed=decision.target.machine.os.glibc,
            since=glibc.from_release.text,
        )


def _wheel_variant_warnings(decision: Decision, wheels: tuple[LocalWheel, ...]) -> Warnings:
    """Wheel variants that would be of use, and cannot be locked yet: of the index, and in the wheelhouse."""
    build = decision.candidate.build
    better = None if decision.is_build_chosen else find_better_labelled_build(decision.target, build)
    if better is not None:
        yield make_warning("wheel-variants", newer=better.version, label=better.record.label, build=build.label)
    machine, arch = decision.target.machine, decision.target.arch
    labelled = [wheel for wheel in wheels if wheel.label is not None and fits_platform(wheel, machine, arch)]
    if labelled:
        name = PurePath(labelled[0].path.replace("\\", "/")).name
        yield make_warning("wheelhouse-variants", count=len(labelled), name=name)


def _amd_index_warnings(decision: Decision) -> Warnings:
    """AMD's own build for Windows: we never ran it, and it needs AMD's driver."""
    build, catalog = decision.candidate.build, decision.target.catalog
    if build.record.chip_extra is None:
        return
    yield make_warning("amd-windows", build=build.label, url=catalog.accelerators.amd_windows.url)
    chips = [amd_chip(catalog, gpu) for gpu in decision.target.machine.gpus_of("amd")]
    if chips and not any(chip in catalog.accelerators.amd_windows.chips for chip in chips):
        yield make_warning("amd-windows-unlisted", build=build.label, chip=chips[0])


def _disk_space_warnings(decision: Decision) -> Warnings:
    build, system = decision.candidate.build, decision.target.machine.os.system
    sizes = decision.target.catalog.sizes(build.variant, system, build.version)
    disk_bytes, is_exact = sizes.disk_bytes, not sizes.approximate
    if disk_bytes is None:
        disk_bytes, is_exact = decision.target.catalog.estimate_disk_bytes(build.variant), False
    machine = decision.target.machine
    disk = home_disk(machine)
    if disk is None or (disk_bytes is None and sizes.download_bytes is None):
        return
    # The cache of downloads is on the disk too. A lower bound where the environment was never measured.
    needed = (disk_bytes or 0) + (sizes.download_bytes or 0)
    if (disk.free_bytes or 0) < needed:
        other_disk = larger_disk_data(machine.disks or (), disk.path, needed, machine.os.system, "gpu-assistant")
        code = f"disk-space{'' if is_exact else '-about'}{'-other' if other_disk else ''}"
        yield make_warning(
            code, needed_bytes=needed, free_bytes=disk.free_bytes, disk=disk.path.lstrip("@"), **other_disk
        )
