"""TensorFlow alone and beside PyTorch: what is asked for, where it comes from, and what a forged plan may not ask."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec
import pytest

from gpu_assistant.core.errors import AppError, NetworkError, UsageError
from gpu_assistant.core.plan import Plan
from gpu_assistant.core.recommendation import TensorFlowChoice
from gpu_assistant.install.files import installed_packages, inventory
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.install.plan.validation import check_same_steps
from gpu_assistant.texts.localized import Texts

from .. import tiny_wheels
from ..sandbox import RELEASE, Sandbox, end, machine, recommendation

CHOICE = TensorFlowChoice(version="2.21.0", requirement="tensorflow==2.21.*", gpu=False)
REPLACE = msgspec.structs.replace


def flow(version: str = "2.21.0") -> tiny_wheels.Wheel:
    return tiny_wheels.wheel("tensorflow", version, requires=["tinydep", "heavy; extra == 'and-cuda'"])


def serve(sandbox: Sandbox, *wheels: tiny_wheels.Wheel) -> None:
    tiny_wheels.index(sandbox.server, "simple", [*sandbox.others, *wheels])


def planned(sandbox: Sandbox, *, torch: bool, house: Path | None = None, choice: TensorFlowChoice = CHOICE) -> Plan:
    wanted = recommendation(RELEASE, sandbox.torch_index)
    goal = REPLACE(wanted, goal="all" if torch else "tensorflow", tensorflow=choice)
    return make_plan(
        machine(),
        goal if torch else REPLACE(goal, pytorch=None),
        sandbox.catalog,
        data=sandbox.data,
        environment=sandbox.environment,
        wheelhouse=house,
        simulated=False,
    )


def installed(sandbox: Sandbox) -> dict[str, str]:
    rows = tomllib.loads((sandbox.environment / "pylock.toml").read_text(encoding="utf-8"))["packages"]
    return {row["name"]: row["version"] for row in rows}


class Anything:
    """Proves nothing: the tiny wheels are no TensorFlow."""

    def __init__(self, environment: Path, system: object, _toolkit: object = None) -> None:
        self._environment = environment

    def run(self, _context: object) -> object:
        from gpu_assistant.core.results import Checks

        return Checks(schema="gpu-assistant/checks/1", verdict="pass", checks=())


@pytest.mark.parametrize("torch", [False, True])
def test_tensorflow_is_installed_and_pinned(sandbox: Sandbox, torch: bool) -> None:
    serve(sandbox, flow(), flow("2.22.0"))
    plan = planned(sandbox, torch=torch)
    assert end(sandbox.install(plan, verifier=Anything)).state == "done"
    result = installed(sandbox)
    assert (result["tensorflow"], "torch" in result, "heavy" in result) == ("2.21.0", torch, False)
    record = inventory.read_manifest(sandbox.environment)
    assert record is not None
    assert (record.torch, record.variant) == ((RELEASE, "cpu") if torch else (None, None))
    assert "tensorflow==2.21.0" in (sandbox.environment / installed_packages.CONSTRAINTS_FILE).read_text(
        encoding="utf-8"
    )
    command = " ".join(str(step.what) for step in Texts("en").localize_plan(plan).steps)
    assert "TensorFlow 2.21.0" in command
    assert ("PyTorch" in command) == torch


def test_extra_adds_packages_within_constraints(sandbox: Sandbox) -> None:
    cudnn = sandbox.catalog.cudnn
    package = cudnn.wheel_packages["12"].replace("-", "_")
    last = cudnn.last_for_old_chips.version
    wheels = [tiny_wheels.wheel(package, version) for version in (last, "99.0")]
    with_gpu = tiny_wheels.wheel("tensorflow", "2.21.0", requires=[f"{package}; extra == 'and-cuda'"])
    serve(sandbox, with_gpu, *wheels)
    held = f"{cudnn.wheel_packages['12']}=={last}"
    choice = REPLACE(CHOICE, requirement="tensorflow[and-cuda]==2.21.*", gpu=True, constraints=(held,))
    plan = planned(sandbox, torch=False, choice=choice)
    assert any(f"tensorflow, {held}" in str(step.data.get("packages")) for step in plan.steps)
    sandbox.install(plan, verifier=Anything)
    assert installed(sandbox)[cudnn.wheel_packages["12"]] == last.text


def test_wheelhouse_serves_tensorflow_without_index(sandbox: Sandbox) -> None:
    house = tiny_wheels.folder(sandbox.root / "wheels", [flow(), *sandbox.others])
    sandbox.asks()
    sandbox.install(planned(sandbox, torch=False, house=house), verifier=Anything)
    assert (installed(sandbox)["tensorflow"], sandbox.asks()) == ("2.21.0", [])


@pytest.mark.parametrize("torch", [False, True])
def test_tensorflow_without_any_source_is_an_error(sandbox: Sandbox, torch: bool) -> None:
    with pytest.raises(AppError) as caught:
        sandbox.install(planned(sandbox, torch=torch))
    assert caught.value.code == f"tensorflow-nowhere-{'together' if torch else 'alone'}"
    for language in ("en", "zh_CN"):
        text = Texts(language).error_text(caught.value)
        assert "tensorflow==2.21.*" in text
        assert "{" not in text


def test_tensorflow_without_network_is_an_error(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    with pytest.raises(NetworkError) as caught:
        sandbox.install(planned(sandbox, torch=False))
    assert caught.value.code == "tensorflow-no-source-alone"
    assert "{" not in Texts("zh_CN").error_text(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"requirement": "tensorflow @ https://example.invalid/t.whl"},
        {"requirement": "evil==1"},
        {"requirement": "tensorflow[evil]==2.21.*"},
        {"version": "2.21.0; rm"},
        {"constraints": ("torch @ https://example.invalid/t.whl",)},
    ],
)
def test_a_forged_requirement_differs(sandbox: Sandbox, change: dict[str, object]) -> None:
    plan = planned(sandbox, torch=False, choice=REPLACE(CHOICE, **change))
    with pytest.raises(UsageError) as caught:
        check_same_steps(plan, planned(sandbox, torch=False))
    assert (caught.value.code, caught.value.data["parts"]) == ("plan-differs", "@plan.part.resolve")


def test_torchaudio_is_added_if_available(sandbox: Sandbox) -> None:
    audio, vision = (
        tiny_wheels.wheel(name, f"{version}+cpu")
        for name, version in (("torchaudio", RELEASE), ("torchvision", "0.9.0"))
    )
    tiny_wheels.index(sandbox.server, "torch", [sandbox.torch, audio, vision])
    plan = sandbox.plan()
    torch = plan.recommendation.pytorch
    assert torch is not None
    torch = REPLACE(torch, torchvision="0.9.0", torchaudio=RELEASE)
    sandbox.install(REPLACE(plan, recommendation=REPLACE(plan.recommendation, pytorch=torch)))
    assert {"torch", "torchvision", "torchaudio"} <= installed(sandbox).keys()
    assert f"torchaudio=={RELEASE}+cpu" in (sandbox.environment / installed_packages.CONSTRAINTS_FILE).read_text(
        encoding="utf-8"
    )
