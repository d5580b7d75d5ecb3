"""After a restart that a step wanted, the environment that was built before it is proven, not built again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.core.errors import AppError, Cancelled, RebootRequired
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Event, Plan, StepEvent
from gpu_assistant.core.results import Check, Checks
from gpu_assistant.install.files import inventory
from gpu_assistant.install.files.staging import partial_path
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.system.base import System

from ..sandbox import Sandbox, end, states
from ..step_kinds import register, step


def with_a_restart(sandbox: Sandbox) -> Plan:
    """The plan with a step before the proof that wants one restart."""
    register()
    plan = sandbox.plan()
    driver = step("driver", "test-restart", restarted=str(sandbox.root / "restarted"))
    *before, proof = plan.steps
    assert proof.kind == "verify"
    return msgspec.structs.replace(plan, steps=(*before, driver, proof))


def restart(sandbox: Sandbox, plan: Plan) -> None:
    with pytest.raises(RebootRequired):
        sandbox.install(plan)
    assert partial_path(sandbox.environment).is_dir()
    (sandbox.root / "restarted").touch()
    sandbox.asks()


def created(folder: Path) -> float:
    result = inventory.read_manifest(folder)
    assert result is not None
    return result.created


def test_environment_built_before_restart_is_only_verified(sandbox: Sandbox) -> None:
    plan = with_a_restart(sandbox)
    restart(sandbox, plan)
    built = created(partial_path(sandbox.environment))
    events = sandbox.install(plan)
    result = states(events)
    assert {name: result[name] for name in ("download", "pytorch", "driver", "verify")} == {
        "download": "skipped",
        "pytorch": "skipped",
        "driver": "skipped",
        "verify": "done",
    }
    assert end(events).state == "done"
    assert created(sandbox.environment) == built
    assert not [path for path in sandbox.asks() if path.endswith(".whl")]
    # Ours like any other: the next run finds it standing, and it can be taken back.
    assert states(sandbox.install(plan))["pytorch"] == "skipped"
    UninstallJob(sandbox.environment, sandbox.data, sandbox.system).run(JobContext())
    assert not sandbox.environment.exists()
    assert not partial_path(sandbox.environment).exists()


def _lose_a_file(folder: Path) -> None:
    next(folder.rglob("torch/__init__.py")).unlink()


def _hollow_a_file(folder: Path) -> None:
    next(folder.rglob("torch/__init__.py")).write_bytes(b"")


def _lose_the_list(folder: Path) -> None:
    (folder / "gpu-assistant-files.txt").unlink()


def _another_lock(folder: Path) -> None:
    result = inventory.read_manifest(folder)
    assert result is not None
    inventory.write_manifest(folder, msgspec.structs.replace(result, lock="0" * 64))


@pytest.mark.parametrize("spoil", [_lose_a_file, _hollow_a_file, _lose_the_list, _another_lock])
def test_different_pending_environment_is_rebuilt(sandbox: Sandbox, spoil: Callable[[Path], None]) -> None:
    plan = with_a_restart(sandbox)
    restart(sandbox, plan)
    spoil(partial_path(sandbox.environment))
    events = sandbox.install(plan)
    assert states(events)["pytorch"] == "done"
    assert end(events).state == "done"


def test_environment_left_by_kill_is_rebuilt(sandbox: Sandbox) -> None:
    plan = with_a_restart(sandbox)
    restart(sandbox, plan)
    (last,) = sandbox.data.journal.glob("*.jsonl")
    lines = last.read_bytes().splitlines(keepends=True)
    assert b'"run-ended"' in lines[-1]
    last.write_bytes(b"".join(lines[:-1]))  # as a power loss leaves it: nobody knows what reached the disk
    assert states(sandbox.install(plan))["pytorch"] == "done"


def test_stopped_verification_is_repeated_by_next_run(sandbox: Sandbox) -> None:
    stop = threading.Event()

    def watch(event: Event) -> None:
        if isinstance(event, StepEvent) and event.id == "verify":
            stop.set()

    with pytest.raises(Cancelled):
        sandbox.install(cancel=stop, watch=watch)
    events = sandbox.install()
    assert states(events)["pytorch"] == "skipped"
    assert end(events).state == "done"


class Fails:
    """A proof that is not passed."""

    def __init__(self, environment: Path, system: System, _toolkit: object = None) -> None:
        del environment, system

    def run(self, context: JobContext[Any]) -> Checks:
        check = Check(id="torch-import", state="fail", value=None, data={"reason": "broken"})
        context.report(check)
        return Checks(schema="gpu-assistant/checks/1", verdict="fail", checks=(check,))


def test_environment_that_failed_verification_is_rebuilt(sandbox: Sandbox) -> None:
    with pytest.raises(AppError) as caught:
        sandbox.install(verifier=Fails)
    assert caught.value.code == "check-failed"
    assert states(sandbox.install())["pytorch"] == "done"
