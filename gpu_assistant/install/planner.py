"""From a recommendation to the ordered steps that carry it out.

Nothing is looked at but the arguments and the names of the user's own wheels. Each kind in `steps/` plans its own
steps; here they come together.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import structs

from ..core.errors import SetupNotSupported
from ..core.machine import Machine
from ..core.names import EnvironmentKind
from ..core.paths import DataDir
from ..core.plan import Plan
from ..core.recommendation import Recommendation
from .draft import PlanBuilder
from .occupied import check_location

if TYPE_CHECKING:
    from ..catalog.load import Catalog

NumberT = TypeVar("NumberT", int, float)


def make_plan(
    machine: Machine,
    recommendation: Recommendation,
    catalog: Catalog,
    *,
    data: DataDir,
    environment: Path,
    wheelhouse: Path | None,
    simulated: bool,
    bundle: Path | None = None,
    environment_kind: EnvironmentKind = "venv",
    conda: Path | None = None,
) -> Plan:
    """The plan for one environment. Raises CannotSetUp, AppError("no-python"), AppError("conda-missing"),
    CallError: those of `refuse_unfit`, "conda-needs-network".
    """
    from .steps import STEP_KINDS

    check_location(environment)
    _check_frameworks(recommendation)
    builder = PlanBuilder(
        machine,
        recommendation,
        catalog,
        data=data,
        environment=environment,
        wheelhouse=wheelhouse,
        bundle=bundle,
        simulated=simulated,
        environment_kind=environment_kind,
        conda=conda,
    )
    # The first looks whether there is room for all the others.
    preflight, *others = STEP_KINDS.values()
    for kind in others:
        builder.steps += kind.plan(builder)
    steps = (*preflight.plan(builder), *builder.steps)
    plan = Plan(
        schema="gpu-assistant/plan/1",
        goal=recommendation.goal,
        env=str(environment),
        recommendation=recommendation,
        steps=steps,
        wheelhouse=str(wheelhouse) if wheelhouse is not None else None,
        bundle=str(bundle) if bundle is not None else None,
        simulated=simulated,
        os=machine.os if simulated else None,
    )
    return with_totals(plan)


def with_totals(plan: Plan) -> Plan:
    """The plan with what its steps come to; of one from a bundle, nothing is downloaded."""
    from .steps import STEP_KINDS

    steps = plan.steps
    if plan.bundle is not None:
        steps = tuple(structs.replace(step, bytes=0) for step in steps)
    return structs.replace(
        plan,
        steps=steps,
        bytes=sum_known(step.bytes for step in steps if step.files or not STEP_KINDS[step.kind].external_installer),
        disk_bytes=sum_known(step.disk_bytes for step in steps if not STEP_KINDS[step.kind].external_installer),
        minutes=sum_known(step.minutes for step in steps if not STEP_KINDS[step.kind].external_installer),
    )


def _check_frameworks(recommendation: Recommendation) -> None:
    """What no step installs is refused, never left out in silence."""
    if not (recommendation.pytorch or recommendation.tensorflow):
        raise SetupNotSupported("setup-nothing", goal=recommendation.goal)


def sum_known(parts: Iterable[NumberT | None]) -> NumberT | None:
    """All parts together; unknown as soon as one of them is."""
    known: list[NumberT] = []
    for part in parts:
        if part is None:
            return None
        known.append(part)
    return sum(known[1:], known[0]) if known else None
