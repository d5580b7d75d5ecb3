"""From a recommendation to the plan that carries it out.

    make_plan   each kind of STEP_KINDS plans its own steps, in the registry's order; "check-space" first, since it runs
                first, though it is planned last: it knows what the others need. Reads nothing of the computer but
                caches and the names of the user's wheels, so it also plans for another computer (`simulated`).
    preview     adds to each step what is there already (`Step.now`), and leaves out what need not be downloaded.
                Reads the computer, changes nothing.

`jobs/install.py` runs a plan, `validation.py` checks one that comes from a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from ...core.errors import SetupNotSupported
from ...core.machine import Machine
from ...core.paths import DataDir
from ...core.plan import Plan, Step
from ...core.plan_cost import total
from ...core.recommendation import Recommendation
from ...core.types import EnvironmentKind
from ..environment.location import check_location
from ..host import PreviewContext
from ..steps.download import PackageDownload, as_satisfied
from ..steps.kinds import STEP_KINDS
from ..steps.nvidia_driver import MANUAL_CODES
from ..steps.plan_builder import PlanBuilder
from ..steps.preflight import Preflight, update_preflight

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
    """The plan for one environment. Raises SetupNotSupported; AppError: no-python, conda-missing; UsageError:
    conda-needs-network, those of `check_location`.
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
        environment_kind=environment_kind,
        conda=conda,
    )
    preflight, *others = STEP_KINDS.values()
    for kind in others:
        builder.add(kind.plan(builder), provides=kind.provides or kind.name, external=kind.external_installer)
    # What the user does by hand comes first, so that it can be done while the rest is downloaded.
    steps = (*preflight.plan(builder), *sorted(builder.steps, key=lambda step: step.code not in MANUAL_CODES))
    if bundle is not None:
        steps = tuple(_from_bundle(step) for step in steps)
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
        machine=machine,
    )
    return with_totals(plan)


def _from_bundle(step: Step) -> Step:
    return structs.replace(step, files=tuple(structs.replace(file, source="bundle") for file in step.files))


def with_totals(plan: Plan) -> Plan:
    """The plan with the sums of its steps; from a bundle nothing is downloaded."""
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
    """Raise SetupNotSupported if there is neither PyTorch nor TensorFlow to install."""
    if not (recommendation.pytorch or recommendation.tensorflow):
        raise SetupNotSupported("setup-nothing", goal=recommendation.goal)


# `Step.now` of steps that have nothing to do.
SATISFIED_CODES = frozenset({"now.stands", "now.nothing", "now.here", "now.set"})


def preview(plan: Plan, context: PreviewContext) -> Plan:
    """The plan with `now` for each step, unless it is for another computer. Changes nothing; raises AppError."""
    if plan.simulated:
        return plan
    steps = [structs.replace(step, now=STEP_KINDS[step.kind].inspect(step, plan, context)) for step in plan.steps]
    if not any(map(_is_satisfied, steps)):
        return structs.replace(plan, steps=tuple(steps))
    remaining = [_without_cost(step) if _is_satisfied(step) else step for step in steps]
    external = {step.id for step in steps if STEP_KINDS[step.kind].external_installer}
    remaining = [
        update_preflight(step, steps, remaining, external) if step.kind == Preflight.name else step
        for step in remaining
    ]
    return with_totals(structs.replace(plan, steps=tuple(remaining)))


def _is_satisfied(step: Step) -> bool:
    return step.now is not None and step.now.code in SATISFIED_CODES


def _without_cost(step: Step) -> Step:
    """The step if its result is there already."""
    step = structs.replace(step, bytes=0, disk_bytes=0, minutes=0.0, minutes_least=False)
    return as_satisfied(step) if step.kind == PackageDownload.name else step
