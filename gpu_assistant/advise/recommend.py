"""The entry point of the room: versions for a machine and a goal, with reasons, warnings and alternatives.

`recommend` decides for PyTorch, with TensorFlow beside it where the goal is "all"; the goal "tensorflow" takes the
shorter way of `tensorflow_alone.py`.
"""

from __future__ import annotations

from msgspec import UNSET, structs

from ..catalog.store import Catalog
from ..core.errors import AppError
from ..core.machine import Gpu, Machine
from ..core.recommendation import (
    Accelerator,
    Choice,
    LocalWheel,
    PyTorchChoice,
    Recommendation,
    SourceAnswer,
    TensorFlowChoice,
)
from ..core.types import Channel, Goal, MirrorUse
from ..core.versions import version_text
from .alternatives import list_alternatives
from .availability import Supply, choose_available, lacks_companion
from .builds import Build
from .candidates import (
    Candidate,
    TargetSystem,
    amd_chip,
    best_candidate,
    best_cpu_build,
    best_non_nvidia_candidate,
    check_system_supported,
    make_target,
)
from .choices import (
    apply_driver_choice,
    apply_toolkit_choice,
    python_choice_error,
    resolve_build_choice,
    resolve_tensorflow_choice,
    validate_choice,
)
from .decision import Decision, advise_driver
from .distributions import add_package_source
from .driver_update import describe_way, find_ways
from .gpus import NvidiaGpu, nvidia_gpus
from .multi_gpu import MultiGpuPlan, plan_multi_gpu
from .python import (
    PythonCandidate,
    list_local_builds,
    select_python,
    wheelhouse_alternative,
)
from .reasons import collect_reasons
from .tensorflow import (
    TensorFlowCandidate,
    with_available_tensorflow,
    with_wsl_choice,
    wsl_minimum_driver,
)
from .tensorflow_alone import recommend_tensorflow, select_tensorflow_target
from .warnings import (
    collect_warnings,
)


def recommend(
    machine: Machine,
    catalog: Catalog,
    *,
    goal: Goal = "pytorch",
    channel: Channel = "studio",
    choice: Choice | None = None,
    wheels: tuple[LocalWheel, ...] = (),
    sources: tuple[SourceAnswer, ...] = (),
    mirror_use: MirrorUse = "when-slow",
) -> Recommendation:
    """Versions for a machine and a goal, each with its reason and source.

    A `choice` is carried out, with a warning where it is doubtful. `wheels` are those of the user's wheelhouse: their
    builds are offered as an alternative, never taken unasked. `sources` are answers of indexes: a build that none of
    them gives is replaced by the next true choice (`availability`).

    Raises UnsatisfiableChoice for a choice that cannot work; AppError as `check_system_supported` has it, "no-build",
    "no-build-for-card" or "no-tensorflow" where nothing is published for this platform, "no-tensorflow-cpu", and
    "catalog-broken".
    """
    recommendation = _recommend(
        machine,
        catalog,
        goal=goal,
        channel=channel,
        valid_choice=validate_choice(choice),
        wheels=wheels,
        sources=sources,
        mirror_use=mirror_use,
    )
    # A plan file is planned again from these (install/plan/validation.py).
    return structs.replace(
        recommendation,
        channel=channel if channel != "studio" else UNSET,
        choice=choice if choice not in (None, Choice()) else UNSET,
        sources=sources or UNSET,
    )


def _recommend(
    machine: Machine,
    catalog: Catalog,
    *,
    goal: Goal,
    channel: Channel,
    valid_choice: Choice,
    wheels: tuple[LocalWheel, ...],
    sources: tuple[SourceAnswer, ...],
    mirror_use: MirrorUse,
) -> Recommendation:
    arch, is_arch_known = _select_arch(machine)
    check_system_supported(machine, catalog, arch)
    cards = nvidia_gpus(machine, catalog) if machine.os.system != "darwin" else ()
    multi_gpu = plan_multi_gpu(machine, catalog, arch, cards, channel)
    target = apply_driver_choice(multi_gpu.target, valid_choice.driver)
    if valid_choice.tensorflow is None:
        target = with_available_tensorflow(target, sources)
    if goal == "tensorflow" and valid_choice.pytorch is None and valid_choice.variant is None:
        if len(cards) > 1:
            single_target = make_target(machine, catalog, arch, cards[0], channel)
            single_target = structs.replace(single_target, newest_tensorflow=target.newest_tensorflow)
            target = select_tensorflow_target(target, apply_driver_choice(single_target, valid_choice.driver))
        return recommend_tensorflow(target, cards, valid_choice, is_arch_known=is_arch_known, sources=sources)

    def decide(target: TargetSystem) -> Decision:
        return _decide(
            target,
            multi_gpu,
            cards=cards,
            goal=goal,
            choice=valid_choice,
            wheels=wheels,
            is_arch_known=is_arch_known,
            sources=sources,
            mirror_use=mirror_use,
        )

    decision = decide(target)
    ways = find_ways(decision, decide)
    decision = ways.chosen(valid_choice.way) if ways is not None else decision
    return Recommendation(
        schema="gpu-assistant/recommendation/1",
        goal=goal,
        accelerator=decision.accelerator,
        python=decision.python.series if decision.python is not None else None,
        pytorch=_pytorch_choice(decision),
        driver=decision.driver,
        cuda_toolkit=decision.parts.toolkit,
        cudnn=decision.parts.cudnn,
        tensorflow=_tensorflow_choice(decision),
        reasons=collect_reasons(decision),
        warnings=collect_warnings(decision, wheels),
        alternatives=list_alternatives(decision, wheels),
        ways=tuple(
            describe_way(each, _pytorch_choice(each), _tensorflow_choice(each))
            for each in (ways.decisions if ways is not None else ())
        ),
        catalog_date=catalog.date,
    )


def _pytorch_choice(decision: Decision) -> PyTorchChoice:
    build, supply = decision.candidate.build, decision.supply
    return PyTorchChoice(
        version=build.version,
        variant=build.variant,
        index_url=supply.index_url if supply is not None else build.record.index_url,
        torchvision=decision.torchvision,
        torchaudio=decision.torchaudio,
        cuda=version_text(build.bundled_cuda),
        cudnn=version_text(build.record.cudnn),
        extras=_chip_extras(decision.target, build) or UNSET,
        source=supply.source_name if supply is not None else UNSET,
    )


def _tensorflow_choice(decision: Decision) -> TensorFlowChoice | None:
    if decision.tensorflow is None:
        return None
    return with_wsl_choice(decision.target, decision.tensorflow, decision.choice.wsl)


def _select_arch(machine: Machine) -> tuple[str, bool]:
    """The processor type, and whether it is known: where the machine did not report it, it is guessed."""
    if machine.os.arch is not None:
        return machine.os.arch, True
    if machine.os.system == "darwin":
        apple = any(gpu.vendor == "apple" for gpu in machine.gpus)
        return ("arm64", apple) if apple or not machine.gpus else ("x86_64", False)
    return "x86_64", False


def _decide(
    target: TargetSystem,
    multi_gpu: MultiGpuPlan,
    *,
    cards: tuple[NvidiaGpu, ...],
    goal: Goal,
    choice: Choice,
    wheels: tuple[LocalWheel, ...],
    is_arch_known: bool,
    sources: tuple[SourceAnswer, ...],
    mirror_use: MirrorUse,
) -> Decision:
    candidate, other_gpu = _select_candidate(target, choice, wheels)
    supply = None
    if sources:
        supply = _find_supply(target, candidate, choice, wheels, sources=sources, mirror_use=mirror_use)
        candidate = supply.candidate
    tensorflow = None
    if goal in ("all", "tensorflow") or choice.tensorflow is not None:
        tensorflow = resolve_tensorflow_choice(target, choice.tensorflow)
    parts = apply_toolkit_choice(target, candidate, choice, required=goal in ("cuda-dev", "all"))
    minimums = (
        candidate.minimum_driver,
        parts.minimum_driver,
        tensorflow.minimum_driver if tensorflow is not None else None,
        wsl_minimum_driver(target, tensorflow, choice.wsl),
    )
    minimum = max((each for each in minimums if each is not None), default=None)
    companions = {
        "torchvision": version_text(candidate.build.release.torchvision),
        "torchaudio": _matching_torchaudio(candidate),
    }
    left_out = tuple(
        name
        for name, version in companions.items()
        if version is not None and supply is not None and lacks_companion(supply, sources, name, version)
    )
    return Decision(
        target=target,
        goal=goal,
        cards=cards,
        multi_gpu=multi_gpu,
        candidate=candidate,
        other_gpu=other_gpu,
        accelerator=_accelerator_of(candidate),
        driver=add_package_source(target, advise_driver(target.driver_state, minimum)),
        python=_select_environment_python(target, candidate, tensorflow, choice),
        parts=parts,
        tensorflow=tensorflow,
        choice=choice,
        torchvision=companions["torchvision"] if "torchvision" not in left_out else None,
        torchaudio=companions["torchaudio"] if "torchaudio" not in left_out else None,
        is_arch_known=is_arch_known,
        supply=supply,
        sources=sources,
        left_out=tuple(f"{name} {companions[name]}" for name in left_out),
    )


def _find_supply(
    target: TargetSystem,
    candidate: Candidate,
    choice: Choice,
    wheels: tuple[LocalWheel, ...],
    *,
    sources: tuple[SourceAnswer, ...],
    mirror_use: MirrorUse,
) -> Supply:
    python = _select_environment_python(target, candidate, None, choice)
    label, series = candidate.build.label, python.series if python is not None else None
    has_wheel = any(b.label == label and series in b.release.python for b in list_local_builds(target, wheels))
    is_fixed = (choice.pytorch, choice.variant) != (None, None)
    supply = choose_available(
        target,
        candidate,
        sources,
        mirror_use=mirror_use,
        is_fixed=is_fixed,
        is_local=candidate.build.local or has_wheel,
    )
    if supply.source is not None or supply.local or is_fixed:
        return supply
    # Where no index gives anything, the user's own wheels do.
    offer = wheelhouse_alternative(target, candidate, series, wheels)
    if offer is None:
        return supply
    own_choice = Choice(pytorch=str(offer.change["pytorch"]), variant=str(offer.change["variant"]))
    own_build = resolve_build_choice(target, structs.replace(own_choice, python=choice.python), wheels)
    return structs.replace(supply, candidate=own_build, local=True)


def _select_candidate(
    target: TargetSystem, choice: Choice, wheels: tuple[LocalWheel, ...]
) -> tuple[Candidate, Gpu | None]:
    """The build, and the AMD or Intel GPU if that one computes."""
    if (choice.pytorch, choice.variant, choice.python) != (None, None, None):
        return resolve_build_choice(target, choice, wheels), None
    best = best_candidate(target)
    if best is not None:
        return best, None
    non_nvidia = best_non_nvidia_candidate(target)
    if non_nvidia is not None:
        return non_nvidia
    cpu_build = best_cpu_build(target)
    if cpu_build is None and target.builds and target.gpu is not None:
        raise AppError(
            "no-build-for-card", gpu=target.gpu.name, system=f"@system.{target.machine.os.system}", arch=target.arch
        )
    if cpu_build is None:
        raise AppError("no-build", system=f"@system.{target.machine.os.system}", arch=target.arch)
    return cpu_build, None


def _accelerator_of(candidate: Candidate) -> Accelerator:
    if candidate.build.cuda is not None:
        return "cpu" if candidate.on_cpu else "cuda"
    if candidate.build.record.mps:
        return "mps"
    if candidate.build.variant.startswith("rocm"):
        return "rocm"
    return "xpu" if candidate.build.variant == "xpu" else "cpu"


def _chip_extras(target: TargetSystem, build: Build) -> tuple[str, ...]:
    """The extras with the code for every AMD card that the build serves; that for all where no chip is known."""
    extra, served = build.record.chip_extra, build.record.gfx or ()
    if extra is None:
        return ()
    chips = {amd_chip(target.catalog, gpu) for gpu in target.machine.gpus_of("amd")}
    names = sorted(chip for chip in chips if chip in served) or ["all"]
    return tuple(extra.format(gfx=name) for name in names)


def _select_environment_python(
    target: TargetSystem, candidate: Candidate, tensorflow: TensorFlowCandidate | None, choice: Choice
) -> PythonCandidate | None:
    """The newest Python that all chosen packages support."""
    series = candidate.build.release.python
    if tensorflow is not None:
        series = tuple(s for s in series if s in tensorflow.build.python)
    if choice.python is not None:
        if choice.python not in series and tensorflow is not None:
            raise python_choice_error(target, choice.python, series)
        series = (choice.python,)
    return select_python(target.machine, target.catalog, target.arch, series)


def _matching_torchaudio(candidate: Candidate) -> str | None:
    """torchaudio, if it is of the same minor as PyTorch; an older one may not be compatible."""
    release = candidate.build.release
    if release.torchaudio is None or release.torchaudio.series != release.version.series:
        return None
    return release.torchaudio.text
