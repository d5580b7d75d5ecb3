"""The goal "tensorflow": an environment with TensorFlow alone."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.errors import AppError
from ..core.message import Value
from ..core.recommendation import Choice, DriverAdvice, Reason, Recommendation
from ..core.recommendation import RecommendationWarning as Caution
from .cards import NvidiaGpu, display_name
from .cautions import (
    gpu_warnings,
    machine_warnings,
    toolkit_warnings,
    tensorflow_warnings,
    gpu_identity_warnings,
    wsl_warnings,
)
from .choices import python_choice_error
from .distributions import add_package_source
from .driver_advice import advise_driver
from .driver_cautions import driver_warnings, make_warning
from .linux_cautions import fabric_warnings
from .part_choices import apply_toolkit_choice, resolve_tensorflow_choice
from .pick import TargetSystem
from .pythons import PythonCandidate, skipped_reason_code, select_python
from .reasons_driver import driver_reasons, make_reason
from .reasons_parts import toolkit_reasons, tensorflow_reasons
from .runtime_cautions import vc_runtime_warnings
from .tensorflow import TensorFlowCandidate, best_tensorflow
from .tensorflow_beside import driverless_gpu_warnings, unsupported_gpu_warnings
from .tensorflow_ways import find_wsl_candidate, with_wsl_choice, tensorflow_alternatives
from .toolkit import ToolkitAdvice


def select_tensorflow_target(shared_target: TargetSystem, single_target: TargetSystem) -> TargetSystem:
    """The place with a driver that TensorFlow's card works on: an older card beside it, which shares PyTorch's, does
    not hold that driver back.
    """
    shared_candidate, single_candidate = best_tensorflow(shared_target), best_tensorflow(single_target)
    return single_target if shared_candidate is not None and shared_candidate.status == "driver" and single_candidate is not None and single_candidate.uses_gpu else shared_target


def recommend_tensorflow(target: TargetSystem, cards: tuple[NvidiaGpu, ...], choice: Choice, *, is_arch_known: bool) -> Recommendation:
    """TensorFlow for a machine. Raises AppError("no-tensorflow") or ("no-tensorflow-nor-pytorch") where none is known
    for this kind of computer.
    """
    tensorflow = resolve_tensorflow_choice(target, choice.tensorflow)
    if tensorflow is None:
        # Nobody is sent to a goal that would refuse too.
        code = "no-tensorflow" if target.builds else "no-tensorflow-nor-pytorch"
        raise AppError(code, system=f"@system.{target.machine.os.system}", arch=target.arch)
    if choice.python is not None and choice.python not in tensorflow.build.python:
        raise python_choice_error(target, choice.python, tensorflow.build.python)
    python = select_python(target.machine, target.catalog, target.arch, (choice.python,) if choice.python else tensorflow.build.python)
    parts = apply_toolkit_choice(target, None, choice, required=False)
    wsl_candidate = find_wsl_candidate(target, tensorflow) if choice.wsl is not None else None
    # Under WSL2 the card is served by Windows' driver, which has to be new enough before that is set up.
    minimum = tensorflow.minimum_driver or (wsl_candidate.minimum_driver if wsl_candidate is not None else None) or parts.minimum_driver
    driver = add_package_source(target, advise_driver(target.driver_state, minimum))
    cuda = tensorflow.build.cuda if tensorflow.uses_gpu else wsl_candidate.build.cuda if wsl_candidate is not None else parts.toolkit.version
    reasons = [
        _tensorflow_accelerator_reason(target, tensorflow),
        *tensorflow_reasons(target, tensorflow, beside_pytorch=False),
        _tensorflow_python_reason(target, tensorflow, python, choice),
        *driver_reasons(target, driver, cuda),
        *_bundled_libraries_reasons(target, tensorflow, parts),
    ]
    return Recommendation(
        schema="gpu-assistant/recommendation/1",
        goal="tensorflow",
        accelerator="cuda" if tensorflow.uses_gpu else "cpu",
        python=python.series if python is not None else None,
        pytorch=None,
        driver=driver,
        cuda_toolkit=parts.toolkit,
        cudnn=parts.cudnn,
        tensorflow=with_wsl_choice(target, tensorflow, choice.wsl),
        reasons=tuple(reasons),
        warnings=tuple(
            _tensorflow_warnings(
                target,
                tensorflow,
                python,
                parts,
                cards=cards,
                driver=driver,
                is_arch_known=is_arch_known,
            )
        ),
        alternatives=tuple(tensorflow_alternatives(target, tensorflow, beside_pytorch=False, wsl=choice.wsl)),
        catalog_date=target.catalog.date,
    )


def _tensorflow_accelerator_reason(target: TargetSystem, tensorflow: TensorFlowCandidate) -> Reason:
    tensorflow_catalog, about = target.catalog.tensorflow, "accelerator"
    if target.gpu is not None:
        suffix = "" if target.gpu.capability is not None else "-unknown"
        code = f"tensorflow-on-card{suffix}" if tensorflow.uses_gpu else "tensorflow-beside-card"
        return make_reason(target, about, code, tensorflow_catalog, "pip", gpu=target.gpu.name, capability=target.gpu.capability_text)
    gpu = next(iter(target.machine.gpus), None)
    plugin = tensorflow_catalog.apple_plugin
    if gpu is not None and target.machine.os.system == "darwin" and plugin is not None:
        data: dict[str, Value] = {"gpu": display_name(gpu, target.catalog), "plugin": plugin.name}
        data |= {"broken": plugin.broken_from, "version": tensorflow.version}
        return make_reason(target, about, "tensorflow-apple", tensorflow_catalog, plugin.source, **data)
    code = "tensorflow-no-gpu" if gpu is None else "tensorflow-other-gpu"
    if gpu is None and target.machine.os.wsl and target.machine.driver is None:
        code = "tensorflow-no-gpu-wsl"
    return make_reason(target, about, code, tensorflow_catalog, "pip", gpu=display_name(gpu, target.catalog) if gpu is not None else None)


def _tensorflow_python_reason(target: TargetSystem, tensorflow: TensorFlowCandidate, python: PythonCandidate | None, choice: Choice) -> Reason:
    tensorflow_catalog, source = target.catalog.tensorflow, "pip"
    if python is None:
        return make_reason(target, "python", "tensorflow-python-unknown", tensorflow_catalog, source, version=tensorflow.version)
    code = "by-hand" if choice.python is not None else python.origin
    data: dict[str, Value] = {"python": python.version, "version": tensorflow.version}
    if choice.python is None and python.skipped is not None:
        data["passed"] = python.skipped.version.lstrip("@")
        return make_reason(target, "python", f"tensorflow-python-{skipped_reason_code(python.skipped)}", tensorflow_catalog, source, **data)
    return make_reason(target, "python", f"tensorflow-python-{code}", tensorflow_catalog, source, **data)


def _bundled_libraries_reasons(target: TargetSystem, tensorflow: TensorFlowCandidate, parts: ToolkitAdvice) -> Iterator[Reason]:
    """Toolkit and cuDNN, which the requirement brings itself."""
    tensorflow_catalog = target.catalog.tensorflow
    if parts.toolkit.action == "none" and parts.cudnn.action == "none":
        code = "tensorflow-brings" if tensorflow.uses_gpu and tensorflow.build.bundled_cuda else "tensorflow-needs-no"
        data: dict[str, Value] = {"cuda": tensorflow.build.cuda, "cudnn": tensorflow.build.cudnn}
        if tensorflow.uses_gpu and not tensorflow.build.bundled_cuda:
            for about in ("cuda_toolkit", "cudnn"):
                yield make_reason(target, about, "tensorflow-not-bundled", tensorflow_catalog, "pip", **data)
            return
        yield make_reason(target, "cuda_toolkit", f"{code}-toolkit", tensorflow_catalog, "pip", **data)
        yield make_reason(target, "cudnn", f"{code}-cudnn", tensorflow_catalog, "pip", **data)
        return
    yield from toolkit_reasons(target, None, parts, required=True)


def _tensorflow_warnings(
    target: TargetSystem,
    tensorflow: TensorFlowCandidate,
    python: PythonCandidate | None,
    parts: ToolkitAdvice,
    *,
    cards: tuple[NvidiaGpu, ...],
    driver: DriverAdvice,
    is_arch_known: bool,
) -> Iterator[Caution]:
    label = f"TensorFlow {tensorflow.version}"
    yield from gpu_identity_warnings(target, cards)
    if tensorflow.uses_gpu:
        yield from gpu_warnings(target, label, tensorflow.minimum_driver.text if tensorflow.minimum_driver is not None else None)
    yield from tensorflow_warnings(target, tensorflow, beside_pytorch=False)
    driverless = tuple(driverless_gpu_warnings(target, tensorflow, cards, driver))
    # A card without a driver needs no telling that there is no code for it either.
    reported_gpus = {caution.data["gpu"] for caution in driverless}
    yield from driverless
    yield from unsupported_gpu_warnings(target, tensorflow, tuple(card for card in cards if card.label not in reported_gpus))
    yield from wsl_warnings(target, tensorflow, driver)
    yield from toolkit_warnings(target, None, parts)
    if python is None:
        yield make_warning("no-python", build=label, series=", ".join(tensorflow.build.python))
    yield from vc_runtime_warnings(target, pytorch=None, tensorflow=tensorflow)
    yield from machine_warnings(target, driver_changes=driver.needs_install)
    yield from driver_warnings(target, driver)
    yield from fabric_warnings(target, driver)
    if not is_arch_known:
        yield make_warning("arch-unknown", arch=target.arch)
