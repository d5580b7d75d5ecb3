"""Other choices that work: a local wheel, the installed driver, another GPU, a proven build, the processor alone."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..catalog.records.drivers import DriverPackage
from ..core.recommendation import Alternative, LocalWheel
from ..core.types import Value
from ..core.versions import Version, version_text
from .builds import code_kind
from .candidates import (
    Candidate,
    amd_chip,
    best_candidate,
    best_cpu_build,
    best_rocm_build,
)
from .choices import driver_packages_for
from .decision import Decision
from .distributions import candidate_for_release, distribution_name, is_branch_too_old, release_branch
from .drivers import dropping_driver
from .gpus import display_name
from .installed_torch import keep_as_is_alternative
from .multi_gpu import planned_driver_version
from .python import wheelhouse_alternative
from .reasons import find_confident_candidate, gpus_without_code
from .tensorflow import tensorflow_alternatives
from .toolkit import find_toolkit_for_compiler


def list_alternatives(decision: Decision, wheels: tuple[LocalWheel, ...]) -> tuple[Alternative, ...]:
    """The alternatives, the closest first; none for a build that the user chose."""
    if decision.is_build_chosen:
        return ()
    local_alternative = wheelhouse_alternative(
        decision.target, decision.candidate, decision.python.series if decision.python is not None else None, wheels
    )
    result = [result for result in (keep_as_is_alternative(decision), local_alternative) if result is not None]
    result += _deduplicate(
        decision,
        [*_driver_alternatives(decision), *_multi_gpu_alternatives(decision), *_confident_alternatives(decision)],
    )
    result += [*_cpu_alternatives(decision), *_toolkit_alternatives(decision)]
    if decision.tensorflow is not None:
        result += tensorflow_alternatives(
            decision.target, decision.tensorflow, beside_pytorch=decision.accelerator == "cuda", wsl=decision.choice.wsl
        )
    return tuple(result)


def _deduplicate(decision: Decision, candidates: list[Alternative]) -> list[Alternative]:
    """Without those that lead to the same build and driver as one before them."""
    seen: set[tuple[Value, Value, Value]] = set()
    unique = []
    for alternative in candidates:
        change = alternative.change
        keeps_driver = change.get("driver") in (None, "keep", decision.driver.installed)
        outcome = (change.get("pytorch"), change.get("variant"), None if keeps_driver else change.get("driver"))
        if outcome not in seen:
            unique.append(alternative)
        seen.add(outcome)
    return unique


def _build_alternative(
    code: str, candidate: Candidate, decision: Decision, driver: str | None = None, **data: Value
) -> Alternative:
    build = candidate.build
    change: dict[str, Value] = {"pytorch": build.version, "variant": build.variant}
    if driver is not None:
        change["driver"] = driver
    return Alternative(
        code=code, change=change, data={"build": build.label, "recommended": decision.candidate.build.label, **data}
    )


def _driver_alternatives(decision: Decision) -> Iterator[Alternative]:
    if decision.choice.driver is not None:
        return
    state, installed = decision.target.driver_state, (decision.driver.installed or "").lstrip("@")
    branch = release_branch(decision.target)
    if (
        decision.driver.needs_install
        and branch is not None
        and is_branch_too_old(decision.target, decision.driver.minimum)
    ):
        packaged_candidate = candidate_for_release(decision.target)
        if packaged_candidate is not None:
            distro = distribution_name(decision.target.machine.os)
            yield _build_alternative(
                "distribution-driver", packaged_candidate, decision, branch=branch.major, distro=distro
            )
    if decision.driver.action == "keep" and decision.way is None:
        unlocked, recommended = _newer_driver_candidate(decision), decision.driver.recommended
        if (
            unlocked is not None
            and unlocked.minimum_driver is not None
            and recommended is not None
            and state is not None
        ):
            driver_suffices = state.usable_version is not None and state.usable_version >= unlocked.minimum_driver
            code = "newer-driver-own" if driver_suffices else "newer-driver"
            data: dict[str, Value] = {"installed": installed, "cuda": version_text(unlocked.build.cuda)}
            yield _build_alternative(code, unlocked, decision, driver=recommended, driver_version=recommended, **data)


def _newer_driver_candidate(decision: Decision) -> Candidate | None:
    """The build for the newest known driver, where it is another than the recommended one."""
    state = decision.target.driver_state
    if state is None or state.version is None or state.newest_version is None or state.newest_version <= state.version:
        return None
    # Without an installed driver, the best build is the one for the newest known driver.
    without_driver = replace(decision.target, driver_state=replace(state, version=None, cuda=None, is_kept=False))
    candidate = best_candidate(without_driver)
    return candidate if candidate is not None and candidate.build.label != decision.candidate.build.label else None


def _multi_gpu_alternatives(decision: Decision) -> Iterator[Alternative]:
    """With several GPUs: the build for all of them, or the newest for the strongest alone."""
    all_gpus, primary = all_gpus_alternative(decision), decision.multi_gpu.primary_candidate
    if all_gpus is not None:
        yield all_gpus
    if decision.target.other_chips and primary is not None and primary.build.rank < decision.candidate.build.rank:
        yield from _primary_gpu_alternatives(decision, primary)


def _primary_gpu_alternatives(decision: Decision, candidate: Candidate) -> Iterator[Alternative]:
    """The newest build for the strongest GPU, with its driver where that is another than the planned one."""
    card, state, minimum = decision.cards[0], decision.target.driver_state, candidate.minimum_driver
    planned_version = planned_driver_version(state, decision.driver)
    supported = [
        c
        for c in decision.cards
        if c.capability and code_kind(decision.target.catalog, candidate.build.record, c.capability)
    ]
    gpus = ", ".join(dict.fromkeys(c.label for c in supported))
    if planned_version is None or minimum is None or state is None or planned_version >= minimum:
        yield _build_alternative("strongest-only", candidate, decision, gpu=gpus)
        return
    packages = (
        p
        for p in driver_packages_for(decision.target.catalog, state.system, card)
        if not _drops_secondary_gpu(decision, p)
    )
    package = next((p for p in packages if p.version >= minimum), None)
    if package is not None:
        version = package.version.text
        yield _build_alternative(
            "strongest-only-driver", candidate, decision, driver=version, gpu=gpus, driver_version=version
        )


def _drops_secondary_gpu(decision: Decision, package: DriverPackage) -> bool:
    """Whether a driver drops a further GPU that the installed one supports."""
    state, catalog = decision.target.driver_state, decision.target.catalog
    current = state.installed_version if state is not None else None
    chips = {card.capability for card in decision.cards}
    return any(
        dropping_driver(catalog, package.version, chip, package.system)
        and not dropping_driver(catalog, current, chip, package.system)
        for chip in chips
    )


def all_gpus_alternative(decision: Decision) -> Alternative | None:
    """The build for every GPU, with its driver where the planned one drops a GPU; None where no build and driver serve
    all of them, or the driver's version is unknown.
    """
    candidate, target = decision.multi_gpu.all_gpus_candidate, decision.multi_gpu.all_gpus_target
    if (
        candidate is None
        or target is None
        or target.driver_state is None
        or not gpus_without_code(decision)
        or decision.is_build_chosen
    ):
        return None
    gpus = ", ".join(dict.fromkeys(card.label for card in decision.cards))
    planned_version, minimum = (
        planned_driver_version(decision.target.driver_state, decision.driver),
        candidate.minimum_driver,
    )
    chips = [card.capability for card in decision.cards]
    keeps_all = not any(
        dropping_driver(target.catalog, planned_version, chip, target.driver_state.system) for chip in chips
    )
    if keeps_all and (planned_version is None or minimum is None or planned_version >= minimum):
        return _build_alternative("all-cards", candidate, decision, gpus=gpus)
    usable_version = target.driver_state.usable_version
    if (
        decision.driver.needs_install
        and usable_version is not None
        and minimum is not None
        and usable_version >= minimum
    ):
        installed = (decision.driver.installed or "").lstrip("@")
        return _build_alternative("all-cards-keep", candidate, decision, driver="keep", gpus=gpus, installed=installed)
    package = target.driver_state.package
    if package is None or minimum is None or package.version < minimum:
        return None
    version = package.version.text
    return _build_alternative(
        "all-cards-driver", candidate, decision, driver=version, gpus=gpus, driver_version=version
    )


def _confident_alternatives(decision: Decision) -> Iterator[Alternative]:
    candidate = find_confident_candidate(decision)
    if candidate is not None:
        yield _build_alternative("sure-build", candidate, decision)


def _cpu_alternatives(decision: Decision) -> Iterator[Alternative]:
    """The processor alone, where the GPU needs a driver first, unless another way works with the one that is there; or
    where the GPU's build is not proven.
    """
    cpu = best_cpu_build(decision.target)
    if cpu is None or decision.way is not None:
        return
    if decision.driver.needs_install and decision.accelerator == "cuda":
        # The text for an installed driver says that it stays as it is.
        yield _build_alternative(
            "cpu-for-now" if decision.driver.installed is not None else "cpu-without-driver", cpu, decision
        )
    if decision.accelerator in ("rocm", "xpu"):
        yield _build_alternative("cpu-instead", cpu, decision)
    if decision.accelerator == "cpu" and cpu.build.variant == decision.candidate.build.variant and not decision.cards:
        yield from _amd_alternatives(decision)


def _amd_alternatives(decision: Decision) -> Iterator[Alternative]:
    """Ways to an AMD GPU that is not used: AMD's build for Windows where AMD does not list the card, AMD's wheels for
    WSL2, or the code of a like chip.
    """
    target = decision.target
    accelerators, system = target.catalog.accelerators, target.machine.os
    support = accelerators.amd_windows
    for gpu in target.machine.gpus_of("amd"):
        name, chip = display_name(gpu, target.catalog), amd_chip(target.catalog, gpu)
        is_unlisted = chip is not None and chip not in support.chips and system.system == "windows"
        unlisted = best_rocm_build(target, chip) if chip is not None and is_unlisted else None
        if unlisted is not None:
            url = support.url
            yield _build_alternative("amd-unlisted", Candidate(build=unlisted), decision, gpu=name, chip=chip, url=url)
        if chip in support.wsl_chips and (system.system == "windows" or system.wsl):
            data: dict[str, Value] = {"gpu": name, "url": support.wsl_url}
            yield Alternative(code="amd-wheels-wsl" if system.wsl else "amd-wsl", change={}, data=data)
            return
        override = next((each for each in accelerators.amd_overrides if chip in each.chips), None)
        build = best_rocm_build(target, override.runs_as) if override is not None else None
        if override is not None and build is not None and system.system == "linux" and not system.wsl:
            source_url = target.catalog.source_url(accelerators, override.source)
            data = {"gpu": name, "chip": chip, "build": build.label, "variable": override.variable, "url": source_url}
            yield Alternative(code="amd-override", change={}, data=data)
            return


def _toolkit_alternatives(decision: Decision) -> Iterator[Alternative]:
    """The toolkit of PyTorch's minor where another of its major is kept; one that accepts the compiler; none at all."""
    toolkit = decision.parts.toolkit
    if toolkit.action == "keep" and decision.parts.is_other_minor and decision.parts.installable_version is not None:
        recommended = decision.parts.installable_version
        if recommended != Version.parse(toolkit.version):
            data: dict[str, Value] = {"offered": recommended.text, "toolkit": toolkit.version}
            yield Alternative(code="toolkit-match", change={"cuda_toolkit": recommended.text}, data=data)
    compatible_version = (
        find_toolkit_for_compiler(decision.target, decision.parts) if decision.choice.cuda_toolkit is None else None
    )
    if compatible_version is not None and decision.target.machine.tools is not None:
        data = {"other": compatible_version.text, "toolkit": toolkit.version, "gcc": decision.target.machine.tools.gcc}
        yield Alternative(code="toolkit-for-compiler", change={"cuda_toolkit": compatible_version.text}, data=data)
    if toolkit.action == "install" and decision.choice.cuda_toolkit is None:
        data = {"toolkit": toolkit.version}
        yield Alternative(code="no-toolkit", change={"cuda_toolkit": "none", "cudnn": "none"}, data=data)
