"""The door: a machine, the catalog and a wish become versions with reasons."""

from __future__ import annotations

from ..catalog.load import Catalog
from ..catalog.versions import parse_version
from ..core.errors import AppError
from ..core.machine import Gpu, Machine
from ..core.recommendation import (
    Accelerator,
    Channel,
    Choice,
    Goal,
    LocalWheel,
    PyTorchChoice,
    Recommendation,
)
from .alternatives import list_alternatives
from .cards import NvidiaGpu, nvidia_gpus
from .cautions import collect_warnings
from .choices import resolve_build_choice, python_choice_error, validate_choice
from .decision import Decision
from .distributions import add_package_source
from .driver_advice import advise_driver
from .driver_choices import apply_driver_choice
from .drivers import MinimumDriver
from .others import best_non_nvidia_candidate
from .part_choices import apply_toolkit_choice, resolve_tensorflow_choice
from .pick import Candidate, TargetSystem, best_candidate, best_cpu_build, make_target
from .pythons import PythonCandidate, select_python
from .reasons import collect_reasons
from .systems import check_system_supported
from .team import MultiGpuPlan, plan_multi_gpu
from .tensorflow import TensorFlowCandidate
from .tensorflow_goal import select_tensorflow_target, recommend_tensorflow
from .tensorflow_ways import with_wsl_choice, wsl_minimum_driver


def recommend(
    machine: Machine,
    catalog: Catalog,
    *,
    goal: Goal = "pytorch",
    channel: Channel = "studio",
    choice: Choice | None = None,
    wheels: tuple[LocalWheel, ...] = (),
) -> Recommendation:
    """Versions for a machine and a goal, each with its reason and source.

    `wheels` is what a local source holds: it is offered as an alternative, never silently taken. A `choice`
    is carried out; one that cannot work raises CallError("choice-impossible"), one that is doubtful gives a warning.
    Raises AppError("windows-too-old"), ("no-glibc") or ("glibc-too-old") for a system that nothing runs on,
    AppError("no-build") or AppError("no-tensorflow") where nothing is published for this kind of computer,
    AppError("catalog-broken").
    """
    valid_choice = validate_choice(choice)
    arch, is_arch_known = _select_arch(machine)
    check_system_supported(machine, catalog, arch)
    cards = nvidia_gpus(machine, catalog) if machine.os.system != "darwin" else ()
    multi_gpu = plan_multi_gpu(machine, catalog, arch, cards, channel)
    target = apply_driver_choice(multi_gpu.target, valid_choice.driver)
    if goal == "tensorflow" and valid_choice.pytorch is None and valid_choice.variant is None:
        if len(cards) > 1:
            target = select_tensorflow_target(target, apply_driver_choice(make_target(machine, catalog, arch, cards[0], channel), valid_choice.driver))
        return recommend_tensorflow(target, cards, valid_choice, is_arch_known=is_arch_known)
    decision = _decide(target, multi_gpu, cards=cards, goal=goal, choice=valid_choice, wheels=wheels, is_arch_known=is_arch_known)
    build = decision.candidate.build
    return Recommendation(
        schema="gpu-assistant/recommendation/1",
        goal=goal,
        accelerator=decision.accelerator,
        python=decision.python.series if decision.python is not None else None,
        pytorch=PyTorchChoice(
            version=build.version,
            variant=build.variant,
            index_url=build.record.index_url,
            torchvision=build.release.torchvision,
            torchaudio=decision.torchaudio,
            cuda=_bundled_cuda_version(decision.candidate),
            cudnn=build.record.cudnn,
        ),
        driver=decision.driver,
        cuda_toolkit=decision.parts.toolkit,
        cudnn=decision.parts.cudnn,
        tensorflow=with_wsl_choice(target, decision.tensorflow, valid_choice.wsl) if decision.tensorflow is not None else None,
        reasons=collect_reasons(decision),
        warnings=collect_warnings(decision),
        alternatives=list_alternatives(decision, wheels),
        catalog_date=catalog.date,
    )


def _decide(
    target: TargetSystem,
    multi_gpu: MultiGpuPlan,
    *,
    cards: tuple[NvidiaGpu, ...],
    goal: Goal,
    choice: Choice,
    wheels: tuple[LocalWheel, ...],
    is_arch_known: bool,
) -> Decision:
    candidate, other_gpu = _select_candidate(target, choice, wheels)
    tensorflow = None
    if goal in ("all", "tensorflow") or choice.tensorflow is not None:
        tensorflow = resolve_tensorflow_choice(target, choice.tensorflow)
    parts = apply_toolkit_choice(target, candidate, choice, required=goal in ("cuda-dev", "all"))
    tensorflow_minimum = tensorflow.minimum_driver if tensorflow is not None else None
    minimum = _strictest_minimum(candidate.minimum_driver, parts.minimum_driver, tensorflow_minimum, wsl_minimum_driver(target, tensorflow, choice.wsl))
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
        torchaudio=_matching_torchaudio(candidate),
        is_arch_known=is_arch_known,
    )


def _select_candidate(target: TargetSystem, choice: Choice, wheels: tuple[LocalWheel, ...]) -> tuple[Candidate, Gpu | None]:
    """The build, and the card of another maker where that one computes."""
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


def _strictest_minimum(*minimums: MinimumDriver | None) -> MinimumDriver | None:
    """The strictest of several demands on the driver."""
    return max((minimum for minimum in minimums if minimum is not None), key=lambda floor: floor.version, default=None)


def _select_arch(machine: Machine) -> tuple[str, bool]:
    """The processor type, and whether the machine said so itself."""
    if machine.os.arch is not None:
        return machine.os.arch, True
    if machine.os.system == "darwin":
        apple = any(gpu.vendor == "apple" for gpu in machine.gpus)
        return ("arm64", apple) if apple or not machine.gpus else ("x86_64", False)
    return "x86_64", False


def _accelerator_of(candidate: Candidate) -> Accelerator:
    if candidate.build.cuda is not None:
        return "cuda"
    if candidate.build.record.mps:
        return "mps"
    if candidate.build.variant.startswith("rocm"):
        return "rocm"
    return "xpu" if candidate.build.variant == "xpu" else "cpu"


def _select_environment_python(target: TargetSystem, candidate: Candidate, tensorflow: TensorFlowCandidate | None, choice: Choice) -> PythonCandidate | None:
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
    """torchaudio where it was made for this very release series; an older one may not fit."""
    audio, torch = parse_version(candidate.build.release.torchaudio), parse_version(candidate.build.version)
    if audio is None or torch is None or audio[:2] != torch[:2]:
        return None
    return candidate.build.release.torchaudio


def _bundled_cuda_version(candidate: Candidate) -> str | None:
    cuda = candidate.build.cuda
    return candidate.build.record.cuda or (f"{cuda[0]}.{cuda[1]}" if cuda is not None else None)
