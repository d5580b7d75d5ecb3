"""The goal "tensorflow": an environment with TensorFlow alone."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.errors import AppError
from ..core.message import Value
from ..core.recommendation import Choice, DriverAdvice, Reason, Recommendation
from ..core.recommendation import Warning as Caution
from .cards import Card, said_name
from .cautions import (
    card_cautions,
    machine_cautions,
    part_cautions,
    tensorflow_cautions,
    who_is_there,
    wsl_cautions,
)
from .choices import python_refused
from .distributions import with_packages
from .driver_advice import driver_advice
from .driver_cautions import driver_cautions, warn
from .linux_cautions import fabric_cautions
from .part_choices import chosen_parts, chosen_tensorflow
from .pick import Site
from .pythons import PythonPick, passed_kind, python_for
from .reasons_driver import driver_reasons, say
from .reasons_parts import part_reasons, tensorflow_reasons
from .runtime_cautions import runtime_cautions
from .tensorflow import TensorFlowPick, tensorflow_for
from .tensorflow_beside import driverless_cards, idle_cards
from .tensorflow_ways import inside_wsl, picked_wsl, tensorflow_ways
from .toolkit import Parts


def on_its_card(shared: Site, alone: Site) -> Site:
    """The place with a driver that TensorFlow's card works on: an older card beside it, which shares PyTorch's, does
    not hold that driver back.
    """
    found, own = tensorflow_for(shared), tensorflow_for(alone)
    return alone if found is not None and found.why == "driver" and own is not None and own.gpu else shared


def tensorflow_alone(where: Site, cards: tuple[Card, ...], wish: Choice, *, arch_known: bool) -> Recommendation:
    """TensorFlow for a machine. Raises AppError("no-tensorflow") or ("no-tensorflow-nor-pytorch") where none is known
    for this kind of computer.
    """
    found = chosen_tensorflow(where, wish.tensorflow)
    if found is None:
        # Nobody is sent to a goal that would refuse too.
        code = "no-tensorflow" if where.builds else "no-tensorflow-nor-pytorch"
        raise AppError(code, system=f"@system.{where.machine.os.system}", arch=where.arch)
    if wish.python is not None and wish.python not in found.build.python:
        raise python_refused(where, wish.python, found.build.python)
    python = python_for(where.machine, where.catalog, where.arch, (wish.python,) if wish.python else found.build.python)
    parts = chosen_parts(where, None, wish, wanted=False)
    inside = inside_wsl(where, found) if wish.wsl is not None else None
    # Under WSL2 the card is served by Windows' driver, which has to be new enough before that is set up.
    lowest = found.floor or (inside.floor if inside is not None else None) or parts.lowest
    driver = with_packages(where, driver_advice(where.state, lowest))
    cuda = found.build.cuda if found.gpu else inside.build.cuda if inside is not None else parts.toolkit.version
    reasons = [
        _accelerator(where, found),
        *tensorflow_reasons(where, found, beside_pytorch=False),
        _python(where, found, python, wish),
        *driver_reasons(where, driver, cuda),
        *_beside(where, found, parts),
    ]
    return Recommendation(
        schema="gpu-assistant/recommendation/1",
        goal="tensorflow",
        accelerator="cuda" if found.gpu else "cpu",
        python=python.series if python is not None else None,
        pytorch=None,
        driver=driver,
        cuda_toolkit=parts.toolkit,
        cudnn=parts.cudnn,
        tensorflow=picked_wsl(where, found, wish.wsl),
        reasons=tuple(reasons),
        warnings=tuple(
            _cautions(
                where,
                found,
                python,
                parts,
                cards=cards,
                driver=driver,
                arch_known=arch_known,
            )
        ),
        alternatives=tuple(tensorflow_ways(where, found, beside_pytorch=False, wsl=wish.wsl)),
        catalog_date=where.catalog.date,
    )


def _accelerator(where: Site, found: TensorFlowPick) -> Reason:
    flow, about = where.catalog.tensorflow, "accelerator"
    if where.card is not None:
        known = "" if where.card.capability is not None else "-unknown"
        code = f"tensorflow-on-card{known}" if found.gpu else "tensorflow-beside-card"
        return say(where, about, code, flow, "pip", gpu=where.card.name, capability=where.card.capability_text)
    gpu = next(iter(where.machine.gpus), None)
    plugin = flow.apple_plugin
    if gpu is not None and where.machine.os.system == "darwin" and plugin is not None:
        said: dict[str, Value] = {"gpu": said_name(gpu, where.catalog), "plugin": plugin.name}
        said |= {"broken": plugin.broken_from, "version": found.version}
        return say(where, about, "tensorflow-apple", flow, plugin.source, **said)
    code = "tensorflow-no-gpu" if gpu is None else "tensorflow-other-gpu"
    if gpu is None and where.machine.os.wsl and where.machine.driver is None:
        code = "tensorflow-no-gpu-wsl"
    return say(where, about, code, flow, "pip", gpu=said_name(gpu, where.catalog) if gpu is not None else None)


def _python(where: Site, found: TensorFlowPick, python: PythonPick | None, wish: Choice) -> Reason:
    flow, source = where.catalog.tensorflow, "pip"
    if python is None:
        return say(where, "python", "tensorflow-python-unknown", flow, source, version=found.version)
    code = "by-hand" if wish.python is not None else python.origin
    data: dict[str, Value] = {"python": python.version, "version": found.version}
    if wish.python is None and python.passed is not None:
        data["passed"] = python.passed.version.lstrip("@")
        return say(where, "python", f"tensorflow-python-{passed_kind(python.passed)}", flow, source, **data)
    return say(where, "python", f"tensorflow-python-{code}", flow, source, **data)


def _beside(where: Site, found: TensorFlowPick, parts: Parts) -> Iterator[Reason]:
    """Toolkit and cuDNN, which the requirement brings itself."""
    flow = where.catalog.tensorflow
    if parts.toolkit.action == "none" and parts.cudnn.action == "none":
        code = "tensorflow-brings" if found.gpu and found.build.bundled_cuda else "tensorflow-needs-no"
        data: dict[str, Value] = {"cuda": found.build.cuda, "cudnn": found.build.cudnn}
        if found.gpu and not found.build.bundled_cuda:
            for about in ("cuda_toolkit", "cudnn"):
                yield say(where, about, "tensorflow-not-bundled", flow, "pip", **data)
            return
        yield say(where, "cuda_toolkit", f"{code}-toolkit", flow, "pip", **data)
        yield say(where, "cudnn", f"{code}-cudnn", flow, "pip", **data)
        return
    yield from part_reasons(where, None, parts, wanted=True)


def _cautions(
    where: Site,
    found: TensorFlowPick,
    python: PythonPick | None,
    parts: Parts,
    *,
    cards: tuple[Card, ...],
    driver: DriverAdvice,
    arch_known: bool,
) -> Iterator[Caution]:
    label = f"TensorFlow {found.version}"
    yield from who_is_there(where, cards)
    if found.gpu:
        yield from card_cautions(where, label, found.floor.text if found.floor is not None else None)
    yield from tensorflow_cautions(where, found, beside_pytorch=False)
    dark = tuple(driverless_cards(where, found, cards, driver))
    # A card without a driver needs no telling that there is no code for it either.
    told = {caution.data["gpu"] for caution in dark}
    yield from dark
    yield from idle_cards(where, found, tuple(card for card in cards if card.listed not in told))
    yield from wsl_cautions(where, found, driver)
    yield from part_cautions(where, None, parts)
    if python is None:
        yield warn("no-python", build=label, series=", ".join(found.build.python))
    yield from runtime_cautions(where, pytorch=None, tensorflow=found)
    yield from machine_cautions(where, driver_changes=driver.changes)
    yield from driver_cautions(where, driver)
    yield from fabric_cautions(where, driver)
    if not arch_known:
        yield warn("arch-unknown", arch=where.arch)
