"""What a plan file says, told again: a step says what it does, and never what somebody wrote over it.

`untrusted.check` looks at what has an effect; this looks at the words and figures around it. Each kind plans its step
once more from the same recommendation: words and commands must be the same, and figures are our own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from ..core.errors import AppError, CallError
from ..core.machine import MACHINE_SCHEMA, CudaToolkit, Machine, OperatingSystem, Python, Tools
from ..core.message import Value
from ..core.plan import Plan, Step
from .advised import sound
from .draft import UNKNOWN_SIZE, Draft
from .place import Ground
from .planner import added_up
from .toolkit import tree
from .untrusted import refused


def retold(plan: Plan, ground: Ground) -> Plan:
    """A checked plan in our own words; raises CallError("plan-refused") where its own say something else, and
    ("wheelhouse-missing") or what reading a bundle raises where the folder that it names is not there.
    """
    from .steps import KINDS
    from .steps.check_space import CheckSpace

    _refuse_missing(plan)
    here = plan.os if plan.simulated else ground.system.operating_system()
    if here is None:
        raise refused("os", part="computer")
    advice = sound(plan.recommendation, here, ground.catalog)
    draft = _draft(structs.replace(plan, recommendation=advice), here, ground)
    told: dict[str, Step] = {}
    # The look at the room on the disk knows what all the others take: it is planned last.
    for step in sorted(plan.steps, key=lambda each: each.kind == CheckSpace.name):
        kind = KINDS[step.kind]
        try:
            again = kind.told(step, draft)
        except AppError as error:
            raise refused(f"{step.id}: {error.code}", part=step.kind) from error
        _refuse_other_words(step, again, loose=kind.by_figures)
        told[step.id] = again
        draft.steps.append(again)
    return added_up(structs.replace(plan, recommendation=advice, steps=tuple(told[step.id] for step in plan.steps)))


def _refuse_missing(plan: Plan) -> None:
    if plan.wheelhouse is not None and not Path(plan.wheelhouse).is_dir():
        raise CallError("wheelhouse-missing", path=plan.wheelhouse)
    if plan.bundle is not None:
        from .bundle.contents import read

        read(Path(plan.bundle))


def _draft(plan: Plan, here: OperatingSystem, ground: Ground) -> Draft:
    """The draft that such a plan comes from, on a computer of which no more is known than the plan tells."""
    by_kind = {step.kind: step for step in plan.steps}
    conda, runtime = by_kind.get("conda-environment"), by_kind.get("python-runtime")
    found = runtime.spec.get("path") if runtime is not None else None
    version = runtime.data.get("python") if runtime is not None else None
    pythons = (Python(path=found, version=str(version), kind="system"),) if isinstance(found, str) else ()
    cudnn = by_kind.get("cudnn")
    beside = cudnn.spec.get("toolkit") if cudnn is not None and "cuda-toolkit" not in by_kind else None
    toolkits = (CudaToolkit(path=str(tree(ground.data.toolkits, beside))),) if isinstance(beside, str) else ()
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
    return Draft(
        machine,
        plan.recommendation,
        ground.catalog,
        data=ground.data,
        environment=Path(plan.env),
        wheelhouse=Path(plan.wheelhouse) if plan.wheelhouse is not None else None,
        bundle=Path(plan.bundle) if plan.bundle is not None else None,
        simulated=plan.simulated,
        made_by="venv" if conda is None else "conda",
        conda=Path(program) if isinstance(program, str) else None,
    )


def _refuse_other_words(given: Step, ours: Step, *, loose: bool) -> None:
    """Raise CallError for the first field that says something else; figures may be another computer's."""
    same = ("id", "needs", "spec", "commands", "needs_admin", "needs_reboot", *(() if loose else ("code",)))
    for field in same:
        if _plain(getattr(given, field)) != _plain(getattr(ours, field)):
            raise refused(f"{given.id}: {field}", part=given.kind)
    if [(file.url, file.name, file.sha256) for file in given.files] != [
        (file.url, file.name, file.sha256) for file in ours.files
    ]:
        raise refused(f"{given.id}: files", part=given.kind)
    for name, value in given.data.items():
        if name not in ours.data:
            # Another size is told in other words, which may want fewer of them.
            if loose:
                continue
            raise refused(f"{given.id}: data.{name}", part=given.kind)
        other = ours.data[name]
        if not (_figure(value) and _figure(other)) and value != other:
            raise refused(f"{given.id}: data.{name}", part=given.kind)


def _figure(value: Value) -> bool:
    """Whether it is a size or a time, known or not."""
    return value in (None, UNKNOWN_SIZE) or (isinstance(value, int | float) and not isinstance(value, bool))


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field of a step
    return msgspec.to_builtins(value)
