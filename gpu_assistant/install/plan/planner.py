"""From a recommendation to the ordered steps that carry it out.

Nothing is looked at but the arguments and the names of the user's own wheels. Each kind in `steps/` plans its own
steps; here they come together.

What the steps of a plan find on this computer beforehand: what stands already, what will be replaced.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, structs

from ...core.errors import SetupNotSupported
from ...core.machine import Machine
from ...core.paths import DataDir
from ...core.plan import Plan, Step
from ...core.price import total
from ...core.recommendation import Recommendation
from ...core.types import EnvironmentKind
from ..environment.location import check_location
from ..host import ValidationContext
from ..steps.download import PackageDownload, unneeded
from ..steps.plan_builder import PlanBuilder
from ..steps.preflight import Preflight, update_preflight
from ..steps.registry import STEP_KINDS

if TYPE_CHECKING:
    from ...catalog.store import Catalog


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
        made_by=environment_kind,
        conda=conda,
    )
    # The first looks whether there is room for all the others.
    preflight, *others = STEP_KINDS.values()
    for kind in others:
        builder.add(kind.plan(builder), provides=kind.provides or kind.name, external=kind.external_installer)
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
        machine=machine if simulated else UNSET,
    )
    return with_totals(plan)


def with_totals(plan: Plan) -> Plan:
    """The plan with what its steps come to; of one from a bundle, nothing is downloaded."""
    steps = plan.steps
    if plan.bundle is not None:
        steps = tuple(structs.replace(step, bytes=0) for step in steps)
    return structs.replace(
        plan,
        steps=steps,
        bytes=total(step.bytes for step in steps if step.files or not STEP_KINDS[step.kind].external_installer),
        disk_bytes=total(step.disk_bytes for step in steps if not STEP_KINDS[step.kind].external_installer),
        minutes=total(step.minutes for step in steps if not STEP_KINDS[step.kind].external_installer),
    )


def _check_frameworks(recommendation: Recommendation) -> None:
    """What no step installs is refused, never left out in silence."""
    if not (recommendation.pytorch or recommendation.tensorflow):
        raise SetupNotSupported("setup-nothing", goal=recommendation.goal)


# Nothing is fetched or written for a step of which this is told.
SATISFIED_CODES = frozenset({"now.stands", "now.nothing", "now.here", "now.set"})


def preview(plan: Plan, context: ValidationContext) -> Plan:
    """The plan with `now` for each step; of a simulated machine nothing is known. Changes nothing. Raises AppError."""
    if plan.simulated:
        return plan
    steps = [structs.replace(step, now=STEP_KINDS[step.kind].inspect(step, plan, context)) for step in plan.steps]
    if not any(map(_is_satisfied, steps)):
        return structs.replace(plan, steps=tuple(steps))
    remaining = [_spared(step) if _is_satisfied(step) else step for step in steps]
    external = {step.id for step in steps if STEP_KINDS[step.kind].external_installer}
    remaining = [
        update_preflight(step, steps, remaining, external) if step.kind == Preflight.name else step
        for step in remaining
    ]
    return with_totals(structs.replace(plan, steps=tuple(remaining)))


def _is_satisfied(step: Step) -> bool:
    return step.now is not None and step.now.code in SATISFIED_CODES


def _spared(step: Step) -> Step:
    """The step where what it would bring stands already."""
    step = structs.replace(step, bytes=0, disk_bytes=0, minutes=0.0, minutes_least=False)
    return unneeded(step) if step.kind == PackageDownload.name else step
