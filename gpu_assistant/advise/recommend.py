"""The door: a machine, the catalog and a wish become versions with reasons."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog.load import Catalog
from ..catalog.versions import numbers
from ..core.errors import AppError, CallError
from ..core.machine import Machine
from ..core.message import Value
from ..core.recommendation import (
    Accelerator,
    Alternative,
    Channel,
    Choice,
    Goal,
    LocalWheel,
    PartAdvice,
    PyTorchChoice,
    Recommendation,
)
from .cards import nvidia_cards
from .cautions import cautions
from .choices import chosen, sensible
from .decision import Decision
from .driver_advice import driver_advice
from .pick import Pick, Site, best_pick, cpu_pick, cuda_pick, site
from .pythons import PythonPick, python_for
from .reasons import reasons
from .wheelhouse import alternative


def recommend(
    machine: Machine,
    catalog: Catalog,
    *,
    goal: Goal = "pytorch",
    channel: Channel = "studio",
    choice: Choice | None = None,
    wheels: tuple[LocalWheel, ...] = (),
) -> Recommendation:
    """Versions for a machine, each with its reason and source.

    `wheels` is what a local source holds: it is offered as an alternative, never silently taken. A `choice`
    is carried out; one that cannot work raises CallError("choice-impossible"). Raises
    CallError("goal-not-yet") for goals other than "pytorch", AppError("no-build") where PyTorch publishes
    nothing for this kind of computer, AppError("catalog-broken").
    """
    if goal != "pytorch":
        raise CallError("goal-not-yet", goal=goal)
    wish = sensible(choice)
    arch, arch_known = _arch(machine)
    cards = nvidia_cards(machine, catalog) if machine.os.system != "darwin" else ()
    where = site(machine, catalog, arch, cards[0] if cards else None, channel)
    if wish is not None:
        pick: Pick | None = chosen(where, wish, wheels)
    else:
        pick = best_pick(where) or cpu_pick(where)
    if pick is None:
        raise AppError("no-build", system=f"@system.{machine.os.system}", arch=arch)
    build = pick.build
    decision = Decision(
        where=where,
        cards=cards,
        pick=pick,
        accelerator=_accelerator(pick),
        driver=driver_advice(where.state, pick.floor),
        python=_python(where, pick, wish),
        by_hand=wish is not None and (wish.pytorch is not None or wish.variant is not None),
        picked_python=wish.python if wish is not None else None,
        torchaudio=_torchaudio(pick),
        arch_known=arch_known,
    )
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
            cuda=_cuda_inside(pick),
            cudnn=build.record.cudnn,
        ),
        driver=decision.driver,
        cuda_toolkit=PartAdvice(action="none"),
        cudnn=PartAdvice(action="none"),
        reasons=reasons(decision),
        warnings=cautions(decision),
        alternatives=tuple(_alternatives(decision, wheels)),
        catalog_date=catalog.date,
    )


def _arch(machine: Machine) -> tuple[str, bool]:
    """The processor type, and whether the machine said so itself."""
    if machine.os.arch is not None:
        return machine.os.arch, True
    if machine.os.system == "darwin":
        apple = any(gpu.vendor == "apple" for gpu in machine.gpus)
        return ("arm64", apple) if apple or not machine.gpus else ("x86_64", False)
    return "x86_64", False


def _accelerator(pick: Pick) -> Accelerator:
    if pick.build.cuda is not None:
        return "cuda"
    if pick.build.record.mps:
        return "mps"
    if pick.build.variant.startswith("rocm"):
        return "rocm"
    return "xpu" if pick.build.variant == "xpu" else "cpu"


def _python(where: Site, pick: Pick, wish: Choice | None) -> PythonPick | None:
    series = pick.build.release.python
    if wish is not None and wish.python is not None:
        series = (wish.python,)
    return python_for(where.machine, where.catalog, where.arch, series)


def _torchaudio(pick: Pick) -> str | None:
    """torchaudio where it was made for this very release series; an older one may not fit."""
    audio, torch = numbers(pick.build.release.torchaudio), numbers(pick.build.version)
    if audio is None or torch is None or audio[:2] != torch[:2]:
        return None
    return pick.build.release.torchaudio


def _cuda_inside(pick: Pick) -> str | None:
    cuda = pick.build.cuda
    return pick.build.record.cuda or (f"{cuda[0]}.{cuda[1]}" if cuda is not None else None)


def _alternatives(d: Decision, wheels: tuple[LocalWheel, ...]) -> Iterator[Alternative]:
    """Other sound choices: what lies ready, what the present driver runs, what is known for sure."""
    if d.by_hand:
        return
    local = alternative(d.where, d.pick, d.python.series if d.python is not None else None, wheels)
    if local is not None:
        yield local
    if d.driver.action == "update":
        there = cuda_pick(d.where, with_driver_there=True)
        if there is not None:
            yield _other("keep-driver", there, d, installed=(d.driver.installed or "").lstrip("@"))
    if d.driver.action in ("install", "update"):
        cpu = cpu_pick(d.where)
        if cpu is not None:
            yield _other("cpu-for-now", cpu, d)
    if d.pick.build.record.confidence != "high" and d.pick.build.cuda is not None:
        sure = best_pick(d.where, lambda b: b.record.confidence == "high")
        if sure is not None:
            yield _other("sure-build", sure, d)


def _other(code: str, pick: Pick, d: Decision, **data: Value) -> Alternative:
    build = pick.build
    return Alternative(
        code=code,
        change={"pytorch": build.version, "variant": build.variant},
        data={"build": build.label, "recommended": d.pick.build.label, **data},
    )
