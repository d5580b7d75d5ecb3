"""What the user should know about the driver: other cards beside it, Secure Boot, and known troubles."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.distributions import enroll_command, signing_key_path, secure_boot_page_source
from ..catalog.versions import parse_version
from ..core.message import Value
from ..core.recommendation import DriverAdvice
from ..core.recommendation import RecommendationWarning as Caution
from .alternatives import all_gpus_alternative
from .beside import SecondaryGpu, secondary_gpus
from .decision import Decision
from .distributions import find_driver_commands, select_packages
from .pick import TargetSystem, make_target


def make_warning(code: str, **data: Value) -> Caution:
    """One warning."""
    return Caution(code=code, data=data)


def secondary_gpu_warnings(decision: Decision) -> Iterator[Caution]:
    """What becomes of the further NVIDIA cards."""
    has_all_gpus_build = all_gpus_alternative(decision) is not None
    for secondary in secondary_gpus(decision.target, decision.cards, decision.candidate.build, decision.driver):
        yield from _secondary_gpu_warning(decision, secondary, has_all_gpus_build=has_all_gpus_build)
    for card in dict.fromkeys(decision.cards[1:]):
        if decision.accelerator == "cuda" and card.capability is None and decision.cards[0].capability is not None:
            yield make_warning("other-gpu-unknown", gpu=card.label, build=decision.candidate.build.label)


def _secondary_gpu_warning(decision: Decision, secondary: SecondaryGpu, *, has_all_gpus_build: bool) -> Iterator[Caution]:
    card, build, state = secondary.card, decision.candidate.build.label, decision.target.driver_state
    match secondary.state:
        case "modules":
            yield _kernel_module_warning(decision, secondary)
        case "leaves":
            code = "driver-drops-other" if has_all_gpus_build else "driver-drops-other-alone"
            if (decision.is_build_chosen or decision.choice.driver is not None) and decision.multi_gpu.all_gpus_candidate is not None:
                # What was picked leaves it behind; the alternatives are those of the recommendation.
                code = "driver-drops-other-picked"
            yield make_warning(code, gpu=card.label, recommended=decision.driver.recommended)
        case "dark":
            code = "other-gpu-dark-way-back" if has_all_gpus_build else "other-gpu-dark"
            installed = state.installed if state is not None else None
            yield make_warning(code, gpu=card.label, installed=(installed or "").lstrip("@"), without=secondary.dropped_from)
        case "own":
            yield make_warning("other-gpu-without-code", gpu=card.label, build=build)
        case "never":
            yield make_warning("other-gpu-never", gpu=card.label, build=build, capability=card.capability_text)


def _kernel_module_warning(decision: Decision, secondary: SecondaryGpu) -> Caution:
    """On Linux one kind of kernel modules is loaded: which package serves which of the two cards."""
    target, primary = decision.target, decision.cards[0]
    secondary_target = make_target(target.machine, target.catalog, target.arch, secondary.card, "studio")
    data: dict[str, Value] = {"gpu": secondary.card.label, "strong": primary.label}
    # A driver that stays is of the packages that are here.
    installed = decision.driver.installed if decision.driver.action == "keep" else None
    primary_packages = select_packages(target, target.driver_state, primary, decision.driver.minimum, installed) if target.driver_state is not None else None
    secondary_packages = select_packages(secondary_target, secondary_target.driver_state, secondary.card, secondary.minimum_driver) if secondary_target.driver_state is not None else None
    if primary_packages is None or secondary_packages is None:
        return make_warning("other-gpu-modules", **data)
    return make_warning("other-gpu-modules-named", package=primary_packages.names[0], other=secondary_packages.names[0], **data)


def driver_warnings(target: TargetSystem, advice: DriverAdvice) -> Iterator[Caution]:
    """Secure Boot before a new driver on Linux, and troubles of the very driver that will be there."""
    state = target.driver_state
    if state is None or advice.action == "none":
        return
    if state.system == "linux" and target.machine.os.secure_boot and advice.needs_install:
        packages = select_packages(target, state, target.gpu, advice.minimum, advice.recommended) if target.gpu else None
        package, row = packages.signed if packages is not None else None, find_driver_commands(target)
        if advice.key:
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
    version = parse_version(advice.recommended if advice.needs_install else advice.installed)
    for issue in target.catalog.drivers.troubles:
        if issue.system == state.system and version in [parse_version(affected) for affected in issue.versions]:
            has_newer = state.newest_version is not None and version is not None and state.newest_version > version
            newest = state.package.version if has_newer and state.package is not None else None
            code = f"driver-{issue.what}" + ("" if newest is not None else "-only")
            version_text = (advice.recommended if advice.needs_install else advice.installed) or ""
            url = target.catalog.source_url(target.catalog.drivers, issue.source)
            yield make_warning(code, version=version_text.lstrip("@"), newest=newest, url=url)
