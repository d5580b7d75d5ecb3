"""A driver that the user installs: it comes first, the rest is downloaded meanwhile; only the proof waits for it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gpu_assistant.app import App
from gpu_assistant.core.errors import RebootRequired
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import VERIFY_AFTER_DRIVER, Event, Plan, Step
from gpu_assistant.core.plan_cost import plan_cost
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.install.files.staging import partial_path
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.install.steps.nvidia_driver import MANUAL_CODE, NvidiaDriverInstall

from ..sandbox import Sandbox, end, states

MACHINES = Path(__file__).resolve().parents[2] / "machines"


def planned(folder: Path, name: str, way: Choice) -> Plan:
    app = App(data_dir=str(folder / "data"), machine_file=str(MACHINES / name))
    machine = app.setup.detect().run(JobContext())
    return app.setup.plan(machine, app.setup.recommend(machine, choice=way), folder / "env")


def test_manual_driver_comes_before_the_downloads(tmp_path: Path) -> None:
    plan = planned(tmp_path, "advice/rocky9-other-stream-enabled.json", Choice(way="newest"))
    kinds = [step.kind for step in plan.steps]
    assert kinds[:2] == ["check-space", "nvidia-driver"]
    assert kinds.index("download") < kinds.index("verify") == len(kinds) - 1
    cost = plan_cost(plan)
    assert (cost.restarts, cost.admin_prompts) == (1, 0)


def test_own_driver_comes_after_the_downloads_and_is_priced(tmp_path: Path) -> None:
    newest, works_now = (
        planned(tmp_path, "windows11-rtx4060-566.json", msgspec.convert({"way": way}, Choice))
        for way in ("newest", "works-now")
    )
    assert [step.kind for step in newest.steps][-2:] == ["nvidia-driver", "verify"]
    costs = plan_cost(newest), plan_cost(works_now)
    assert [(cost.restarts, cost.admin_prompts) for cost in costs] == [(1, 1), (0, 0)]
    assert costs[0].estimated_bytes > 5e8
    assert "nvidia-driver" not in costs[0].unknown_parts
    assert costs[1].estimated_bytes == 0


def with_manual_driver(plan: Plan) -> Plan:
    first, *others, proof = plan.steps
    driver = Step(
        id="driver", kind="nvidia-driver", code=MANUAL_CODE, data={"commands": "x"}, spec={"version": "580"}, bytes=0
    )
    waiting = msgspec.structs.replace(proof, code=VERIFY_AFTER_DRIVER)
    return msgspec.structs.replace(plan, steps=(first, driver, *others, waiting))


def test_proof_waits_for_the_driver_and_nothing_is_built_again(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = ["570.86"]
    monkeypatch.setitem(STEP_KINDS, "nvidia-driver", NvidiaDriverInstall(find_installed=lambda _: present[-1]))
    plan = with_manual_driver(sandbox.plan())
    with pytest.raises(RebootRequired) as stopped:
        sandbox.install(plan)
    events: list[Event] = stopped.value.events  # type: ignore[attr-defined]
    assert states(events)["pytorch"] == "done"
    assert "verify" not in states(events)
    assert end(events).state == "reboot-needed"
    assert partial_path(sandbox.environment).is_dir()
    sandbox.asks()
    present.append("595.84")
    result = states(sandbox.install(plan))
    assert (result["pytorch"], result["driver"], result["verify"]) == ("skipped", "skipped", "done")
    assert not [path for path in sandbox.asks() if path.endswith(".whl")]
