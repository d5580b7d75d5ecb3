"""What a plan file says, told again: a step says what it does, and never what somebody wrote over it.

`untrusted.check` looks at what has an effect; this looks at the words and figures around it. Each kind plans its step
once more from the same recommendation: words and commands must be the same, and figures are our own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from ..core.errors import AppError, UsageError
from ..core.machine import MACHINE_SCHEMA, CudaToolkit, Machine, OperatingSystem, Python, Tools
from ..core.message import Value
from ..core.plan import Plan, Step
from .advised import sound
from .draft import UNKNOWN_SIZE, PlanBuilder
from .place import ValidationContext
from .planner import with_totals
from .toolkit import toolkit_folder
from .untrusted import plan_refused_error


def retold(plan: Plan, ground: ValidationContext) -> Plan:
    """A checked plan in our own words; raises CallError("plan-refused") where its own say something else, and
    ("wheelhouse-missing") or what reading a bundle raises where the folder that it names is not there.
    """
    from .steps import STEP_KINDS
    from .steps.check_space import Preflight

    _refuse_missing(plan)
    here = plan.os if plan.simulated else ground.system.operating_system()
    if here is None:
        raise plan_refused_error("os", part="computer")
    advice = sound(plan.recommendation, here, ground.catalog)
    draft = _draft(structs.replace(plan, recommendation=advice), here, ground)
    told: dict[str, Step] = {}
    # The look at the room on the disk knows what all the others take: it is planned last.
    for step in sorted(plan.steps, key=lambda each: each.kind == Preflight.name):
        kind = STEP_KINDS[step.kind]
        try:
            again = kind.replan(step, draft)
        except AppError as error:
            raise plan_refused_error(f"{step.id}: {error.code}", part=step.kind) from error
        _refuse_other_words(step, again, loose=kind.has_variable_text)
        told[step.id] = again
        draft.steps.append(again)
    return with_totals(structs.replace(plan, recommendation=advice, steps=tuple(told[step.id] for step in plan.steps)))


def _refuse_missing(plan: Plan) -> None:
    if plan.wheelhouse is not None and not Path(plan.wheelhouse).is_dir():
        raise UsageError("wheelhouse-missing", path=plan.wheelhouse)
    if plan.bundle is not None:
        from .bundle.contents import read_contents

        read_contents(Path(plan.bundle))


def _draft(plan: Plan, here: OperatingSystem, ground: ValidationContext) -> PlanBuilder:
    """The draft that such a plan comes from, on a computer of which no more is known than the plan tells."""
    by_kind = {step.kind: step for step in plan.steps}
    conda, runtime = by_kind.get("conda-environment"), by_kind.get("python-runtime")
    found = runtime.spec.get("path") if runtime is not None else None
    version = runtime.data.get("python") if runtime is not None else None
    pythons = (Python(path=found, version=str(version), kind="system"),) if isinstance(found, str) else ()
    cudnn = by_kind.get("cudnn")
    beside = cudnn.spec.get("toolkit") if cudnn is not None and "cuda-toolkit" not in by_kind else None
    toolkits = (CudaToolkit(path=str(toolkit_folder(ground.data.toolkits, beside))),) if isinstance(beside, str) else ()
    # That it has no runtime yet is what such a step says.
    lacks = conda is not None or "vc-redist" in by_kind
    machine = Machine(
        schema=MACHINE_SCHEMA,
        os=here,
        gpus=(),
        pythons=pythons,
        cuda_toolkits=toolkits,
        tools=Tools(conda="1" if conda is not None else None) if lacks else None,
    )
    program = conda.spec.get("conda") if conda is not None else None
    return PlanBuilder(
        machine,
        plan.recommendation,
        ground.catalog,
        data=ground.data,
        environment=Path(plan.env),
        wheelhouse=Path(plan.wheelhouse) if plan.wheelhouse is not None else None,
        bundle=Path(plan.bundle) if plan.bundle is not None else None,
        simulated=plan.simulated,
        environment_kind="venv" if conda is None else "conda",
        conda=Path(program) if isinstance(program, str) else None,
    )


def _refuse_other_words(given: Step, ours: Step, *, loose: bool) -> None:
    """Raise CallError for the first field that says something else; figures may be another computer's."""
    same = ("id", "needs", "spec", "commands", "needs_admin", "needs_reboot", *(() if loose else ("code",)))
    for field in same:
        if _plain(getattr(given, field)) != _plain(getattr(ours, field)):
            raise plan_refused_error(f"{given.id}: {field}", part=given.kind)
    if [(file.url, file.name, file.sha256) for file in given.files] != [
        (file.url, file.name, file.sha256) for file in ours.files
    ]:
        raise plan_refused_error(f"{given.id}: files", part=given.kind)
    for name, value in given.data.items():
        if name not in ours.data:
            # Another size is told in other words, which may want fewer of them.
            if loose:
                continue
            raise plan_refused_error(f"{given.id}: data.{name}", part=given.kind)
        other = ours.data[name]
        if not (_figure(value) and _figure(other)) and value != other:
            raise plan_refused_error(f"{given.id}: data.{name}", part=given.kind)


def _figure(value: Value) -> bool:
    """Whether it is a size or a time, known or not."""
    return value in (None, UNKNOWN_SIZE) or (isinstance(value, int | float) and not isinstance(value, bool))


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field of a step
    return msgspec.to_builtins(value)
