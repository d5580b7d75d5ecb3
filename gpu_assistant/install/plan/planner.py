"""From a recommendation to the ordered steps that carry it out.

Nothing is looked at but the arguments and the names of the user's own wheels. Each kind in `steps/` plans its own
steps; here they come together.

What the steps of a plan find on this computer beforehand: what stands already, what will be replaced.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import structs

from ...core.errors import AppError, SetupNotSupported
from ...core.machine import Machine
from ...core.paths import DataDir
from ...core.plan import CurrentState, Plan, Step
from ...core.recommendation import Recommendation
from ...core.types import EnvironmentKind
from ..environment import location
from ..environment.location import check_location
from ..files import staging
from ..files.inventory import EnvironmentManifest, find_damage, format_names
from ..host import ValidationContext
from ..journal import log
from ..packages import lockfile
from ..packages.conda import CONDA_META
from ..packages.requirements import lock_path
from ..packages.sizes import request_for_plan
from ..steps.plan_builder import PlanBuilder

if TYPE_CHECKING:
    from ...catalog.store import Catalog


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
    from ..steps.registry import STEP_KINDS

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
    from ..steps.registry import STEP_KINDS

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


# Nothing is fetched or written for a step of which this is told.
SATISFIED_CODES = frozenset({"now.stands", "now.nothing", "now.here", "now.set"})


def preview(plan: Plan, validation_context: ValidationContext) -> Plan:
    """The plan with `now` for each step; of a simulated machine nothing is known. Changes nothing. Raises AppError."""
    from ..steps.preflight import Preflight, update_preflight
    from ..steps.registry import STEP_KINDS

    if plan.simulated:
        return plan
    steps = [
        structs.replace(step, now=STEP_KINDS[step.kind].inspect(step, plan, validation_context)) for step in plan.steps
    ]
    if not any(map(_is_satisfied, steps)):
        return structs.replace(plan, steps=tuple(steps))
    remaining = [STEP_KINDS[step.kind].without_cost(step) if _is_satisfied(step) else step for step in steps]
    remaining = [
        update_preflight(step, steps, remaining) if step.kind == Preflight.name else step for step in remaining
    ]
    return with_totals(structs.replace(plan, steps=tuple(remaining)))


def _is_satisfied(step: Step) -> bool:
    return step.now is not None and step.now.code in SATISFIED_CODES


def location_state(plan: Plan, validation_context: ValidationContext) -> CurrentState | None:
    """What happens to the place of the environment before anything is put there."""
    environment, data = Path(plan.env), validation_context.data
    if location.has_leftovers(environment, data) and any(environment.iterdir()):
        return CurrentState(code="now.moves-aside", data={"path": plan.env, "to": str(staging.aside_path(environment))})
    if environment in log.environment_paths(data) and staging.staging_path(environment).is_dir():
        return CurrentState(code="now.half-made", data={"path": plan.env})
    return None


def environment_state(plan: Plan, validation_context: ValidationContext) -> CurrentState | None:
    """How the environment itself stands: whole, damaged, or another one."""
    environment = Path(plan.env)
    environment_manifest = location.managed_manifest(environment, validation_context.data)
    if environment_manifest is None:
        return _damaged_state(environment, location.damaged_metadata(environment, validation_context.data))
    if not _is_same_environment(environment_manifest, plan, validation_context):
        versions = {
            "PyTorch": environment_manifest.torch,
            "TensorFlow": environment_manifest.packages.get("tensorflow"),
            "Python": environment_manifest.python,
        }
        label = ", ".join(f"{name} {version}" for name, version in versions.items() if version is not None)
        return CurrentState(code="now.differs", data={"path": plan.env, "versions": label})
    return _damaged_state(
        environment, find_damage(environment, environment_manifest, validation_context.system)
    ) or CurrentState(code="now.stands", data={"path": plan.env})


def _damaged_state(environment: Path, damaged_files: tuple[str, ...]) -> CurrentState | None:
    code = "now.damaged-conda" if (environment / CONDA_META).is_dir() else "now.damaged"
    return (
        CurrentState(code=code, data={"path": str(environment), "files": format_names(damaged_files)})
        if damaged_files
        else None
    )


def _is_same_environment(
    environment_manifest: EnvironmentManifest, plan: Plan, validation_context: ValidationContext
) -> bool:
    """Whether it was made from the lock that this plan will use, as far as that is known before it is asked for."""
    recommendation = plan.recommendation
    request = request_for_plan(
        recommendation,
        validation_context.system.operating_system(),
        validation_context.catalog,
        python=str(recommendation.python),
        wheelhouse=plan.wheelhouse,
        simulated=False,
    )
    try:
        text = lock_path(validation_context.data, request).read_text(encoding="utf-8")
        return lockfile.parse_lockfile(text, request.python, request.target).fingerprint == environment_manifest.lock
    except (OSError, UnicodeDecodeError, AppError):
        torch, tensorflow = recommendation.pytorch, recommendation.tensorflow
        requested = (torch and torch.version, torch and torch.variant, tensorflow and tensorflow.version)
        return (
            environment_manifest.torch,
            environment_manifest.variant,
            environment_manifest.packages.get("tensorflow"),
        ) == requested
