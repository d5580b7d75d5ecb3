"""What the steps of a plan find on this computer beforehand: what stands already, what will be replaced."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from ..core.errors import AppError
from ..core.plan import Now, Plan, Step
from . import journal, lock, occupied, removal, replacing
from .conda import META
from .manifest import Manifest
from .place import Ground
from .prices import wanted_of
from .soundness import damage
from .strangers import named
from .wish import lock_path

# Nothing is fetched or written for a step of which this is told.
STANDS = frozenset({"now.stands", "now.nothing", "now.here", "now.set"})


def with_outlook(plan: Plan, ground: Ground) -> Plan:
    """The plan with `now` for each step; of a simulated machine nothing is known. Changes nothing. Raises AppError."""
    from .planner import added_up
    from .steps import KINDS
    from .steps.check_space import CheckSpace, relieved

    if plan.simulated:
        return plan
    steps = [structs.replace(step, now=KINDS[step.kind].find(step, plan, ground)) for step in plan.steps]
    if not any(map(_stands, steps)):
        return structs.replace(plan, steps=tuple(steps))
    left = [KINDS[step.kind].spared(step) if _stands(step) else step for step in steps]
    left = [relieved(step, steps, left) if step.kind == CheckSpace.name else step for step in left]
    return added_up(structs.replace(plan, steps=tuple(left)))


def _stands(step: Step) -> bool:
    return step.now is not None and step.now.code in STANDS


def place_now(plan: Plan, ground: Ground) -> Now | None:
    """What happens to the place of the environment before anything is put there."""
    env, data = Path(plan.env), ground.data
    if occupied.left_over(env, data) and any(env.iterdir()):
        return Now(code="now.moves-aside", data={"path": plan.env, "to": str(replacing.kept_path(env))})
    if env in journal.environments(data) and removal.making(env).is_dir():
        return Now(code="now.half-made", data={"path": plan.env})
    return None


def environment_now(plan: Plan, ground: Ground) -> Now | None:
    """How the environment itself stands: whole, damaged, or another one."""
    env = Path(plan.env)
    made = occupied.ours(env, ground.data)
    if made is None:
        return _damaged(env, occupied.wrecked(env, ground.data))
    if not _same(made, plan, ground):
        versions = {"PyTorch": made.torch, "TensorFlow": made.packages.get("tensorflow"), "Python": made.python}
        told = ", ".join(f"{name} {version}" for name, version in versions.items() if version is not None)
        return Now(code="now.differs", data={"path": plan.env, "versions": told})
    return _damaged(env, damage(env, made, ground.system)) or Now(code="now.stands", data={"path": plan.env})


def _damaged(env: Path, broken: tuple[str, ...]) -> Now | None:
    code = "now.damaged-conda" if (env / META).is_dir() else "now.damaged"
    return Now(code=code, data={"path": str(env), "files": named(broken)}) if broken else None


def _same(made: Manifest, plan: Plan, ground: Ground) -> bool:
    """Whether it was made from the lock that this plan will use, as far as that is known before it is asked for."""
    advice = plan.recommendation
    wanted = wanted_of(
        advice,
        ground.system.operating_system(),
        ground.catalog,
        python=str(advice.python),
        folder=plan.wheelhouse,
        simulated=False,
    )
    try:
        text = lock_path(ground.data, wanted).read_text(encoding="utf-8")
        return lock.parse(text, wanted.python, wanted.target).identity == made.lock
    except (OSError, UnicodeDecodeError, AppError):
        torch, flow = advice.pytorch, advice.tensorflow
        asked = (torch and torch.version, torch and torch.variant, flow and flow.version)
        return (made.torch, made.variant, made.packages.get("tensorflow")) == asked
