"""A plan says of each step what stands already and what will become of it; the run then does just that."""

from __future__ import annotations

import shutil
import threading

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import PlanEvent, StepEvent
from gpu_assistant.core.plan_cost import plan_cost
from gpu_assistant.install.host import PreviewContext
from gpu_assistant.install.plan.planner import preview
from gpu_assistant.texts.localized import Texts

from .. import tiny_wheels
from ..jobs.test_repair import damage
from ..sandbox import Sandbox, states
from ..steps.test_leftovers import left


def preview_texts(sandbox: Sandbox, **more: str) -> dict[str, str]:
    """The codes of what the steps find; each has a sentence in both languages."""
    plan = preview(sandbox.plan(**more), PreviewContext(sandbox.system, sandbox.data, sandbox.catalog))  # type: ignore[arg-type]
    for language in ("en", "zh_CN"):
        for step in Texts(language).localize_plan(plan).steps:
            assert step.now is None or (step.now.text and "{" not in step.now.text)
    return {step.id: step.now.code for step in plan.steps if step.now is not None}


def test_preview_of_empty_computer_is_empty(sandbox: Sandbox) -> None:
    assert preview_texts(sandbox) == {}
    assert preview_texts(sandbox, simulated=True) == {}  # type: ignore[arg-type]


def test_intact_environment_is_reported_and_kept(sandbox: Sandbox) -> None:
    sandbox.install()
    assert preview_texts(sandbox) == {"download": "now.nothing", "pytorch": "now.stands"}
    assert states(sandbox.install())["pytorch"] == "skipped"
    # Without the lock of its run the versions tell.
    for path in sandbox.data.locks.iterdir():
        path.unlink()
    assert preview_texts(sandbox)["pytorch"] == "now.stands"
    # Another machine's folders are unknown here.
    assert preview_texts(sandbox, simulated=True) == {}  # type: ignore[arg-type]


def test_satisfied_steps_cost_nothing(sandbox: Sandbox) -> None:
    ground = PreviewContext(sandbox.system, sandbox.data, sandbox.catalog)
    sandbox.install()
    shutil.rmtree(sandbox.data.files)
    alone = sandbox.plan()
    plan = preview(alone, ground)
    assert not plan_cost(alone).is_exact
    assert (plan.bytes, plan_cost(plan).is_exact, plan_cost(plan).disk_bytes) == (0, True, 0)
    steps = {step.id: step for step in plan.steps}
    assert [(steps[name].bytes, steps[name].disk_bytes, steps[name].minutes) for name in ("download", "pytorch")] == [
        (0, 0, 0.0),
        (0, 0, 0.0),
    ]
    space = steps["space"]
    assert (space.code, space.data["disk_bytes"]) == ("check-space", 0)
    assert (plan.minutes or 0) < sum(step.minutes or 0 for step in alone.steps)
    spoken = {step.id: step for step in Texts("en").localize_plan(plan).steps}
    assert " MB" not in str(spoken["download"].what)
    damage(sandbox)
    assert preview(sandbox.plan(), ground).bytes == alone.bytes


def test_damaged_environment_is_reported_and_rebuilt(sandbox: Sandbox) -> None:
    sandbox.install()
    damage(sandbox)
    assert preview_texts(sandbox) == {"pytorch": "now.damaged"}
    assert states(sandbox.install())["pytorch"] == "done"
    assert preview_texts(sandbox)["pytorch"] == "now.stands"


def test_different_versions_are_reported_and_refused(sandbox: Sandbox) -> None:
    sandbox.install()
    tiny_wheels.index(sandbox.server, "torch", [sandbox.torch, tiny_wheels.torch("9.0.0+cpu")])
    assert preview_texts(sandbox, version="9.0.0") == {"pytorch": "now.differs"}
    with pytest.raises(AppError) as caught:
        sandbox.install(sandbox.plan(version="9.0.0"))
    assert caught.value.code == "environment-differs"


def test_leftovers_are_reported_to_move_aside(sandbox: Sandbox) -> None:
    left(sandbox)
    assert preview_texts(sandbox) == {"space": "now.moves-aside"}


def test_partial_environment_is_reported(sandbox: Sandbox) -> None:
    cancel = threading.Event()

    def stop(event: object) -> None:
        if isinstance(event, StepEvent) and (event.id, event.state) == ("verify", "running"):
            cancel.set()

    with pytest.raises(AppError):
        sandbox.install(cancel=cancel, watch=stop)
    assert preview_texts(sandbox)["space"] == "now.half-made"


def test_dry_run_reports_the_same_preview(sandbox: Sandbox) -> None:
    sandbox.install()
    plan = preview(sandbox.plan(), PreviewContext(sandbox.system, sandbox.data, sandbox.catalog))
    events: list[object] = []
    sandbox.job(plan, dry_run=True).run(JobContext(report=events.append))
    first = events[0]
    assert isinstance(first, PlanEvent)
    spoken = Texts("en").localize_event(first)
    assert isinstance(spoken, PlanEvent)
    assert {step.id: step.now.text for step in spoken.steps if step.now is not None}["pytorch"]
