"""The door: a machine, the catalog and a wish become versions with reasons."""

from __future__ import annotations

from ..catalog.load import Catalog
from ..catalog.versions import numbers
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
from .alternatives import alternatives
from .cards import Card, nvidia_cards
from .cautions import cautions
from .choices import chosen, python_refused, sensible
from .decision import Decision
from .distributions import with_packages
from .driver_advice import driver_advice
from .driver_choices import with_driver
from .drivers import Floor
from .others import other_pick
from .part_choices import chosen_parts, chosen_tensorflow
from .pick import Pick, Site, best_pick, cpu_pick, site
from .pythons import PythonPick, python_for
from .reasons import reasons
from .systems import refuse_unfit
from .team import Team, team
from .tensorflow import TensorFlowPick
from .tensorflow_goal import on_its_card, tensorflow_alone
from .tensorflow_ways import picked_wsl, wsl_floor


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
    wish = sensible(choice)
    arch, arch_known = _arch(machine)
    refuse_unfit(machine, catalog, arch)
    cards = nvidia_cards(machine, catalog) if machine.os.system != "darwin" else ()
    together = team(machine, catalog, arch, cards, channel)
    where = with_driver(together.where, wish.driver)
    if goal == "tensorflow" and wish.pytorch is None and wish.variant is None:
        if len(cards) > 1:
            where = on_its_card(where, with_driver(site(machine, catalog, arch, cards[0], channel), wish.driver))
        return tensorflow_alone(where, cards, wish, arch_known=arch_known)
    decision = _decided(where, together, cards=cards, goal=goal, wish=wish, wheels=wheels, arch_known=arch_known)
    build = decision.pick.build
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
            cuda=_cuda_inside(decision.pick),
            cudnn=build.record.cudnn,
        ),
        driver=decision.driver,
        cuda_toolkit=decision.parts.toolkit,
        cudnn=decision.parts.cudnn,
        tensorflow=picked_wsl(where, decision.tensorflow, wish.wsl) if decision.tensorflow is not None else None,
        reasons=reasons(decision),
        warnings=cautions(decision),
        alternatives=alternatives(decision, wheels),
        catalog_date=catalog.date,
    )


def _decided(
    where: Site,
    together: Team,
    *,
    cards: tuple[Card, ...],
    goal: Goal,
    wish: Choice,
    wheels: tuple[LocalWheel, ...],
    arch_known: bool,
) -> Decision:
    pick, other = _picked(where, wish, wheels)
    flow = None
    if goal in ("all", "tensorflow") or wish.tensorflow is not None:
        flow = chosen_tensorflow(where, wish.tensorflow)
    parts = chosen_parts(where, pick, wish, wanted=goal in ("cuda-dev", "all"))
    flow_floor = flow.floor if flow is not None else None
    lowest = _highest(pick.floor, parts.lowest, flow_floor, wsl_floor(where, flow, wish.wsl))
    return Decision(
        where=where,
        goal=goal,
        cards=cards,
        team=together,
        pick=pick,
        other=other,
        accelerator=_accelerator(pick),
        driver=with_packages(where, driver_advice(where.state, lowest)),
        python=_python(where, pick, flow, wish),
        parts=parts,
        tensorflow=flow,
        wish=wish,
        torchaudio=_torchaudio(pick),
        arch_known=arch_known,
    )


def _picked(where: Site, wish: Choice, wheels: tuple[LocalWheel, ...]) -> tuple[Pick, Gpu | None]:
    """The build, and the card of another maker where that one computes."""
    if (wish.pytorch, wish.variant, wish.python) != (None, None, None):
        return chosen(where, wish, wheels), None
    best = best_pick(where)
    if best is not None:
        return best, None
    other = other_pick(where)
    if other is not None:
        return other
    plain = cpu_pick(where)
    if plain is None and where.builds and where.card is not None:
        raise AppError(
            "no-build-for-card", gpu=where.card.name, system=f"@system.{where.machine.os.system}", arch=where.arch
        )
    if plain is None:
        raise AppError("no-build", system=f"@system.{where.machine.os.system}", arch=where.arch)
    return plain, None


def _highest(*floors: Floor | None) -> Floor | None:
    """The strictest of several demands on the driver."""
    return max((floor for floor in floors if floor is not None), key=lambda floor: floor.version, default=None)


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


def _python(where: Site, pick: Pick, flow: TensorFlowPick | None, wish: Choice) -> PythonPick | None:
    """The newest Python that all chosen packages support."""
    series = pick.build.release.python
    if flow is not None:
        series = tuple(s for s in series if s in flow.build.python)
    if wish.python is not None:
        if wish.python not in series and flow is not None:
            raise python_refused(where, wish.python, series)
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
