"""The goal "tensorflow": an environment with TensorFlow alone, which decides by itself about driver and Python.

best_tensorflow_alone ─► TensorFlowDecision ─► find_ways: the same with the driver that is there ─► Recommendation
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core.errors import AppError
from ..core.recommendation import Choice, Reason, Recommendation, RecommendationWarning, SourceAnswer, TensorFlowChoice
from ..core.types import Value
from ..core.versions import version_text
from .candidates import TargetSystem
from .choices import apply_toolkit_choice, python_choice_error, resolve_tensorflow_choice
from .decision import SetupDecision, advise_driver
from .distributions import add_package_source
from .driver_update import describe_way, find_ways
from .gpus import NvidiaGpu, display_name, lacks_cuda
from .python import PythonCandidate, select_python, skipped_reason_code
from .reasons_driver import driver_reasons, make_reason
from .reasons_parts import tensorflow_reasons, toolkit_reasons
from .tensorflow import (
    TensorFlowCandidate,
    best_tensorflow,
    best_tensorflow_alone,
    cpu_name,
    driverless_gpu_warnings,
    find_minimum_macos,
    find_missing_cpu_feature,
    find_wsl_candidate,
    tensorflow_alternatives,
    tensorflow_source_warnings,
    unsupported_gpu_warnings,
    with_wsl_choice,
)
from .toolkit import ToolkitAdvice
from .warnings import (
    driver_warnings,
    fabric_warnings,
    gpu_identity_warnings,
    gpu_warnings,
    machine_warnings,
    make_warning,
    tensorflow_warnings,
    toolkit_warnings,
    vc_runtime_warnings,
    wsl_warnings,
)


class TensorFlowDecision(SetupDecision, frozen=True, kw_only=True):
    """The parts of a recommendation of TensorFlow alone. `cuda_user` is the TensorFlow that uses the GPU, here or under
    WSL2; None where none does.
    """

    tensorflow: TensorFlowCandidate
    cuda_user: TensorFlowCandidate | None

    @property
    def is_build_chosen(self) -> bool:
        """Whether the user chose the TensorFlow."""
        return self.choice.tensorflow is not None


def select_tensorflow_target(shared_target: TargetSystem, single_target: TargetSystem) -> TargetSystem:
    """The target whose driver lets TensorFlow use its GPU: an older GPU that shares PyTorch's driver must not limit
    TensorFlow's.
    """
    shared_candidate, single_candidate = best_tensorflow(shared_target), best_tensorflow(single_target)
    return (
        single_target
        if shared_candidate is not None
        and shared_candidate.status == "driver"
        and single_candidate is not None
        and single_candidate.uses_gpu
        else shared_target
    )


def recommend_tensorflow(
    target: TargetSystem,
    cards: tuple[NvidiaGpu, ...],
    choice: Choice,
    *,
    is_arch_known: bool,
    sources: tuple[SourceAnswer, ...],
) -> Recommendation:
    """An environment with TensorFlow alone. Raises AppError("no-tensorflow") or ("no-tensorflow-nor-pytorch") where
    none is published for this platform, ("no-tensorflow-mac") for an older macOS than it needs, and
    ("no-tensorflow-cpu") where the processor cannot run it.
    """

    def decide(target: TargetSystem) -> TensorFlowDecision:
        return _decide(target, cards, choice, is_arch_known=is_arch_known, sources=sources)

    decision = decide(target)
    ways = find_ways(decision, decide)
    decision = ways.chosen(choice.way) if ways is not None else decision
    return Recommendation(
        schema="gpu-assistant/recommendation/1",
        goal="tensorflow",
        accelerator=decision.accelerator,
        python=decision.python.series if decision.python is not None else None,
        pytorch=None,
        driver=decision.driver,
        cuda_toolkit=decision.parts.toolkit,
        cudnn=decision.parts.cudnn,
        tensorflow=_tensorflow_choice(decision),
        reasons=tuple(_reasons(decision)),
        warnings=tuple(_warnings(decision)),
        alternatives=tuple(
            tensorflow_alternatives(decision.target, decision.tensorflow, beside_pytorch=False, wsl=choice.wsl)
        ),
        ways=tuple(
            describe_way(each, None, _tensorflow_choice(each)) for each in (ways.decisions if ways is not None else ())
        ),
        catalog_date=target.catalog.date,
    )


def _decide(
    target: TargetSystem,
    cards: tuple[NvidiaGpu, ...],
    choice: Choice,
    *,
    is_arch_known: bool,
    sources: tuple[SourceAnswer, ...],
) -> TensorFlowDecision:
    tensorflow = (
        best_tensorflow_alone(target)
        if choice.tensorflow is None
        else resolve_tensorflow_choice(target, choice.tensorflow)
    )
    missing_feature = find_missing_cpu_feature(target)
    if tensorflow is None and missing_feature is not None:
        raise AppError("no-tensorflow-cpu", feature=missing_feature.feature.upper(), cpu=cpu_name(target))
    needed = find_minimum_macos(target) if tensorflow is None else None
    if needed is not None:
        raise AppError("no-tensorflow-mac", installed=target.machine.os.version, needed=needed.text)
    if tensorflow is None:
        # The text suggests PyTorch only where there is one.
        code = "no-tensorflow" if target.builds else "no-tensorflow-nor-pytorch"
        raise AppError(code, system=f"@system.{target.machine.os.system}", arch=target.arch)
    if choice.python is not None and choice.python not in tensorflow.build.python:
        raise python_choice_error(target, choice.python, tensorflow.build.python)
    series = (choice.python,) if choice.python else tensorflow.build.python
    parts = apply_toolkit_choice(target, None, choice, required=False)
    wsl_candidate = find_wsl_candidate(target, tensorflow) if choice.wsl is not None else None
    # WSL2 uses the driver of Windows, which has to be new enough before WSL2 is set up.
    minimum = (
        tensorflow.minimum_driver
        or (wsl_candidate.minimum_driver if wsl_candidate is not None else None)
        or parts.minimum_driver
    )
    return TensorFlowDecision(
        target=target,
        cards=cards,
        accelerator="cuda" if tensorflow.uses_gpu else "cpu",
        driver=add_package_source(target, advise_driver(target.driver_state, minimum)),
        python=select_python(target.machine, target.catalog, target.arch, series),
        parts=parts,
        tensorflow=tensorflow,
        choice=choice,
        is_arch_known=is_arch_known,
        sources=sources,
        cuda_user=tensorflow if tensorflow.uses_gpu else wsl_candidate,
    )


def _tensorflow_choice(decision: TensorFlowDecision) -> TensorFlowChoice:
    return with_wsl_choice(decision.target, decision.tensorflow, decision.choice.wsl)


def _reasons(decision: TensorFlowDecision) -> Iterator[Reason]:
    target, tensorflow, user = decision.target, decision.tensorflow, decision.cuda_user
    yield _accelerator_reason(target, tensorflow)
    yield from tensorflow_reasons(target, tensorflow, beside_pytorch=False)
    yield _python_reason(target, tensorflow, decision.python, decision.choice)
    if decision.way == "works-now" and decision.choice.way is None:
        yield make_reason(target, "driver.action", "driver-stays-for-now", target.catalog.drivers, "nvidia")
    cuda = version_text(user.build.cuda) if user is not None else decision.parts.toolkit.version
    # With only portable code for the GPU, the driver translates.
    translated = f"TensorFlow {user.version}" if user is not None and user.is_translated else None
    yield from driver_reasons(target, decision.driver, cuda, translated=translated)
    yield from _bundled_libraries_reasons(target, tensorflow, decision.parts)


def _accelerator_reason(target: TargetSystem, tensorflow: TensorFlowCandidate) -> Reason:
    tensorflow_catalog, about = target.catalog.tensorflow, "accelerator"
    if target.gpu is not None:
        suffix = "" if target.gpu.capability is not None else "-unknown"
        code = f"tensorflow-on-card{suffix}" if tensorflow.uses_gpu else "tensorflow-beside-card"
        return make_reason(
            target, about, code, tensorflow_catalog, "pip", gpu=target.gpu.name, capability=target.gpu.capability_text
        )
    gpu = next(iter(target.machine.gpus), None)
    name = display_name(gpu, target.catalog) if gpu is not None else None
    plugin = tensorflow_catalog.apple_plugin
    if gpu is not None and target.machine.os.system == "darwin" and plugin is not None:
        data: dict[str, Value] = {"gpu": name, "plugin": plugin.name}
        data |= {"broken": plugin.broken_from.text, "version": tensorflow.version}
        return make_reason(target, about, "tensorflow-apple", tensorflow_catalog, plugin.source, **data)
    is_virtual = gpu is not None and gpu.vendor == "nvidia" and lacks_cuda(gpu, target.catalog)
    code = "tensorflow-no-gpu" if gpu is None else "tensorflow-virtual-gpu" if is_virtual else "tensorflow-other-gpu"
    if gpu is None and target.machine.os.wsl and target.machine.driver is None:
        code = "tensorflow-no-gpu-wsl"
    return make_reason(target, about, code, tensorflow_catalog, "pip", gpu=name)


def _python_reason(
    target: TargetSystem, tensorflow: TensorFlowCandidate, python: PythonCandidate | None, choice: Choice
) -> Reason:
    if python is None:
        code, data = "unknown", dict[str, Value](version=tensorflow.version)
    else:
        code = "by-hand" if choice.python is not None else python.origin
        data = {"python": python.version, "version": tensorflow.version}
        if choice.python is None and python.skipped is not None:
            code = skipped_reason_code(python.skipped)
            data["passed"] = python.skipped.version.lstrip("@")
    return make_reason(target, "python", f"tensorflow-python-{code}", target.catalog.tensorflow, "pip", **data)


def _bundled_libraries_reasons(
    target: TargetSystem, tensorflow: TensorFlowCandidate, parts: ToolkitAdvice
) -> Iterator[Reason]:
    """Whether the requirement brings CUDA and cuDNN."""
    if parts.toolkit.action != "none" or parts.cudnn.action != "none":
        yield from toolkit_reasons(target, None, parts, required=True)
        return
    build, tensorflow_catalog = tensorflow.build, target.catalog.tensorflow
    data: dict[str, Value] = {"cuda": version_text(build.cuda), "cudnn": version_text(build.cudnn)}
    if tensorflow.uses_gpu and not build.bundled_cuda:
        for about in ("cuda_toolkit", "cudnn"):
            yield make_reason(target, about, "tensorflow-not-bundled", tensorflow_catalog, "pip", **data)
        return
    code = "tensorflow-brings" if tensorflow.uses_gpu else "tensorflow-needs-no"
    yield make_reason(target, "cuda_toolkit", f"{code}-toolkit", tensorflow_catalog, "pip", **data)
    yield make_reason(target, "cudnn", f"{code}-cudnn", tensorflow_catalog, "pip", **data)


def _warnings(decision: TensorFlowDecision) -> Iterator[RecommendationWarning]:
    target, tensorflow, cards, driver = decision.target, decision.tensorflow, decision.cards, decision.driver
    label = f"TensorFlow {tensorflow.version}"
    yield from tensorflow_source_warnings(target, tensorflow, decision.sources)
    yield from gpu_identity_warnings(target, cards)
    if tensorflow.uses_gpu:
        yield from gpu_warnings(target, label, version_text(tensorflow.minimum_driver))
    yield from tensorflow_warnings(target, tensorflow, beside_pytorch=False)
    driverless = tuple(driverless_gpu_warnings(target, tensorflow, cards, driver))
    # Of a GPU without a driver it need not be said that there is no code for it either.
    reported_gpus = {warning.data["gpu"] for warning in driverless}
    yield from driverless
    yield from unsupported_gpu_warnings(
        target, tensorflow, tuple(card for card in cards if card.label not in reported_gpus)
    )
    yield from wsl_warnings(target, tensorflow, driver)
    yield from toolkit_warnings(target, None, decision.parts)
    if decision.python is None:
        yield make_warning("no-python", build=label, series=", ".join(tensorflow.build.python))
    yield from vc_runtime_warnings(target, pytorch=None, tensorflow=tensorflow)
    yield from machine_warnings(target, driver_changes=driver.needs_install)
    yield from driver_warnings(target, driver)
    yield from fabric_warnings(target, driver)
    if not decision.is_arch_known:
        yield make_warning("arch-unknown", arch=target.arch)
