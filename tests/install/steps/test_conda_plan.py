"""The plan of an environment of conda's: what it says, and that no other program can be put in conda's place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.machine import Tools
from gpu_assistant.core.plan import Plan, Step
from gpu_assistant.install.plan.validation import check_same_steps, validate_plan
from gpu_assistant.texts.localized import Texts

from ...fakes.fault_server import fault_server
from ..conda_sandbox import CondaSandbox
from ..sandbox import machine


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[CondaSandbox]:
    with fault_server() as server:
        yield CondaSandbox(tmp_path, server)


def conda_step(plan: Plan) -> Step:
    return next(step for step in plan.steps if step.kind == "conda-environment")


def changed(plan: Plan, **fields: Any) -> Plan:
    """The plan with another step of conda's."""
    step = msgspec.structs.replace(conda_step(plan), **fields)
    return msgspec.structs.replace(plan, steps=tuple(step if one.id == step.id else one for one in plan.steps))


def test_plan_of_conda_environment(sandbox: CondaSandbox) -> None:
    plan = sandbox.plan()
    assert [step.kind for step in plan.steps] == [
        "check-space",
        "conda-environment",
        "resolve",
        "download",
        "python-packages",
        "verify",
    ]
    step = conda_step(plan)
    assert (step.bytes, step.disk_bytes, plan.bytes, plan.disk_bytes) == (None, None, None, None)
    assert step.commands[0][:4] == (str(sandbox.conda.program), "create", "--prefix", str(sandbox.environment))
    assert [command[:3] for command in plan.steps[4].commands] == [("uv", "pip", "sync")]
    for language in ("en", "zh_CN"):
        spoken = Texts(language).localize_plan(plan)
        text = str(conda_step(spoken).what)
        assert str(sandbox.environment) in text
        assert "conda-forge" in text
    validate_plan(plan, sandbox.data)


def test_simulated_plan_has_no_conda_path(sandbox: CondaSandbox) -> None:
    there = msgspec.structs.replace(machine(), tools=Tools(conda="24.9.2"))
    plan = sandbox.plan(machine=there, conda=None, simulated=True)
    assert conda_step(plan).commands[0][:2] == ("conda", "create")
    assert conda_step(plan).spec == {}
    validate_plan(plan, sandbox.data)
    with pytest.raises(AppError) as caught:
        sandbox.plan(machine=machine(), conda=None, simulated=True)
    assert caught.value.code == "conda-missing"


@pytest.mark.parametrize(
    "given",
    [sys.executable, "/bin/sh", "conda", "../conda", "/nowhere/bin/conda", "", None, 7, ["/bin/sh"]],
)
def test_only_local_conda_is_accepted(sandbox: CondaSandbox, given: object) -> None:
    with pytest.raises(UsageError) as caught:
        check_same_steps(changed(sandbox.plan(), spec={"conda": given}), sandbox.plan())
    assert (caught.value.code, caught.value.data["parts"]) == ("plan-differs", "@plan.part.conda-environment")


def test_a_second_python_differs(sandbox: CondaSandbox) -> None:
    plan = sandbox.plan()
    plain = next(step for step in sandbox.plain_plan().steps if step.kind == "python-runtime")
    both = (*plan.steps[:2], msgspec.structs.replace(plain, id="other"), *plan.steps[2:])
    with pytest.raises(UsageError) as caught:
        check_same_steps(msgspec.structs.replace(plan, steps=both), plan)
    assert caught.value.data["parts"] == "@plan.part.python-runtime"


def test_conda_with_bundle_is_refused(sandbox: CondaSandbox) -> None:
    with pytest.raises(UsageError) as caught:
        sandbox.plan(bundle=sandbox.root)
    assert caught.value.code == "conda-needs-network"
