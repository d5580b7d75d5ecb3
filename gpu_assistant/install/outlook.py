"""What the steps of a plan find on this computer beforehand: what stands already, what will be replaced."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from ..core.errors import AppError
from ..core.plan import CurrentState, Plan, Step
from . import journal, lock, occupied, removal, replacing
from .conda import CONDA_META
from .manifest import EnvironmentManifest
from .place import ValidationContext
from .prices import request_for_plan
from .soundness import find_damage
from .strangers import format_names
from .wish import lock_path

# Nothing is fetched or written for a step of which this is told.
SATISFIED_CODES = frozenset({"now.stands", "now.nothing", "now.here", "now.set"})


def preview(plan: Plan, validation_context: ValidationContext) -> Plan:
    """The plan with `now` for each step; of a simulated machine nothing is known. Changes nothing. Raises AppError."""
    from .planner import with_totals
    from .steps import STEP_KINDS
    from .steps.check_space import Preflight, update_preflight

    if plan.simulated:
        return plan
    steps = [structs.replace(step, now=STEP_KINDS[step.kind].inspect(step, plan, validation_context)) for step in plan.steps]
    if not any(map(_is_satisfied, steps)):
        return structs.replace(plan, steps=tuple(steps))
    remaining = [STEP_KINDS[step.kind].without_cost(step) if _is_satisfied(step) else step for step in steps]
    remaining = [update_preflight(step, steps, remaining) if step.kind == Preflight.name else step for step in remaining]
    return with_totals(structs.replace(plan, steps=tuple(remaining)))


def _is_satisfied(step: Step) -> bool:
    return step.now is not None and step.now.code in SATISFIED_CODES


def location_state(plan: Plan, validation_context: ValidationContext) -> CurrentState | None:
    """What happens to the place of the environment before anything is put there."""
    environment, data = Path(plan.env), validation_context.data
    if occupied.has_leftovers(environment, data) and any(environment.iterdir()):
        return CurrentState(code="now.moves-aside", data={"path": plan.env, "to": str(replacing.aside_path(environment))})
    if environment in journal.environment_paths(data) and removal.staging_path(environment).is_dir():
        return CurrentState(code="now.half-made", data={"path": plan.env})
    return None


def environment_state(plan: Plan, validation_context: ValidationContext) -> CurrentState | None:
    """How the environment itself stands: whole, damaged, or another one."""
    environment = Path(plan.env)
    environment_manifest = occupied.managed_manifest(environment, validation_context.data)
    if environment_manifest is None:
        return _damaged_state(environment, occupied.damaged_metadata(environment, validation_context.data))
    if not _is_same_environment(environment_manifest, plan, validation_context):
        versions = {"PyTorch": environment_manifest.torch, "TensorFlow": environment_manifest.packages.get("tensorflow"), "Python": environment_manifest.python}
        label = ", ".join(f"{name} {version}" for name, version in versions.items() if version is not None)
        return CurrentState(code="now.differs", data={"path": plan.env, "versions": label})
    return _damaged_state(environment, find_damage(environment, environment_manifest, validation_context.system)) or CurrentState(code="now.stands", data={"path": plan.env})


def _damaged_state(environment: Path, damaged_files: tuple[str, ...]) -> CurrentState | None:
    code = "now.damaged-conda" if (environment / CONDA_META).is_dir() else "now.damaged"
    return CurrentState(code=code, data={"path": str(environment), "files": format_names(damaged_files)}) if damaged_files else None


def _is_same_environment(environment_manifest: EnvironmentManifest, plan: Plan, validation_context: ValidationContext) -> bool:
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
        return lock.parse_lockfile(text, request.python, request.target).fingerprint == environment_manifest.lock
    except (OSError, UnicodeDecodeError, AppError):
        torch, tensorflow = recommendation.pytorch, recommendation.tensorflow
        requested = (torch and torch.version, torch and torch.variant, tensorflow and tensorflow.version)
        return (environment_manifest.torch, environment_manifest.variant, environment_manifest.packages.get("tensorflow")) == requested
