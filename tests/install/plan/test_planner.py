"""Plans: which Python, what figures, and the published shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from gpu_assistant.advise.python import select_python
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.json import encode
from gpu_assistant.core.machine import OperatingSystem, Python
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.plan import Plan, requirements_text
from gpu_assistant.core.recommendation import LocalWheel
from gpu_assistant.install.packages.requirements import build_request, compatible_wheels, scan_wheelhouse
from gpu_assistant.install.packages.resolver import resolve_attempts
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.install.steps.python_runtime import find_interpreter
from gpu_assistant.texts.localized import Texts

from .. import tiny_wheels
from ..sandbox import RELEASE, SERIES, Sandbox, machine, recommendation


def schema(name: str) -> Any:
    return json.loads((resources_dir() / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_plan_matches_schema_and_has_all_texts(sandbox: Sandbox, language: Any) -> None:
    for pythons in (None, ()):
        plan = Texts(language).localize_plan(sandbox.plan(pythons=pythons))
        jsonschema.validate(json.loads(encode(plan)), schema("plan"))
        assert all(step.title and step.what and step.undo for step in plan.steps)
        assert not any("{" in f"{step.title}{step.what}{step.undo}" for step in plan.steps)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_events_match_schema_and_have_all_texts(sandbox: Sandbox, language: Any) -> None:
    validator = jsonschema.Draft202012Validator(schema("event"))
    events = [*sandbox.install(), *sandbox.install(), *sandbox.install(dry_run=True)]
    for event in events:
        spoken = Texts(language).localize_event(event)
        validator.validate(json.loads(encode(spoken)))


def test_installed_python_costs_nothing(sandbox: Sandbox) -> None:
    step = sandbox.plan().steps[1]
    assert (step.code, step.bytes, step.files) == ("python-here", 0, ())


def test_only_sizes_of_this_release_are_shown(sandbox: Sandbox) -> None:
    def planned(version: str, wheelhouse: Path | None = None) -> Plan:
        linux = msgspec.structs.replace(machine(), os=OperatingSystem(system="linux", arch="x86_64"))
        choice = recommendation(version, None)
        return make_plan(
            linux,
            choice,
            sandbox.catalog,
            data=sandbox.data,
            environment=sandbox.environment,
            wheelhouse=wheelhouse,
            simulated=True,
        )

    measured = sandbox.catalog.sizes("cpu", "linux")
    assert measured.release is not None
    plan = planned(measured.release.text)
    assert (plan.bytes, plan.disk_bytes) == (measured.download_bytes, measured.disk_bytes)
    other = planned(RELEASE)
    assert (other.bytes, other.disk_bytes, other.steps[3].bytes, other.steps[3].code) == (
        None,
        None,
        None,
        "download-about",
    )
    near = Texts("en").localize_plan(other).steps[3].what or ""
    assert f"PyTorch {measured.release} was 192 MB" in near
    assert other.steps[0].code == "check-space-about"

    house = tiny_wheels.folder(sandbox.root / "wheels", [sandbox.torch])
    local = planned(RELEASE, house)
    step = local.steps[3]
    assert (local.bytes, step.bytes, step.code) == (None, None, "download-rest")
    assert step.data["bytes"] == len(sandbox.torch.data)
    spoken = Texts("en").localize_plan(local).steps[3]
    assert "from your wheel folder" in str(spoken.what)


def test_missing_python_is_downloaded_from_catalog(sandbox: Sandbox) -> None:
    build = sandbox.catalog.standalone_python(SERIES, sandbox.system.name, "x86_64")
    assert build is not None
    step = sandbox.plan(pythons=()).steps[1]
    (file,) = step.files
    assert (step.code, file.url, file.sha256) == ("python-runtime", build.url, build.sha256)
    assert "/" not in file.name
    assert "%" not in file.name


def test_series_without_build_is_refused(sandbox: Sandbox) -> None:
    odd = msgspec.structs.replace(recommendation(RELEASE, None), python="3.2")
    with pytest.raises(AppError) as caught:
        make_plan(
            machine(()),
            odd,
            sandbox.catalog,
            data=sandbox.data,
            environment=sandbox.environment,
            wheelhouse=None,
            simulated=False,
        )
    assert caught.value.code == "no-python"


def test_selection_of_base_interpreter() -> None:
    def python(path: str, version: str, **more: Any) -> Python:
        return Python(path=path, version=version, **more)

    pythons = (
        python("/conda", "3.11.1", kind="conda"),
        python("/store", "3.11.1", kind="store"),
        python("/venv", "3.11.1", kind="venv"),
        python("/other-series", "3.1.1", kind="system"),
        python("/arm", "3.11.1", kind="system", arch="arm64"),
        python("/unknown", "3.11.9"),
        python("/preview", "3.11.9rc1", kind="system", arch="x86_64"),
        python("/older", "3.11.1", kind="system", arch="x86_64"),
        python("/right", "3.11.2", kind="managed", arch="x86_64"),
    )
    here = msgspec.structs.replace(machine(pythons), os=OperatingSystem(system="linux", arch="x86_64"))
    result = find_interpreter(here, "3.11")
    assert result is not None
    assert result.path == "/right"
    assert find_interpreter(msgspec.structs.replace(here, pythons=pythons[:2]), "3.11") is None
    assert find_interpreter(msgspec.structs.replace(here, pythons=None), "3.11") is None
    # The words name the very one that the plan takes.
    selection = select_python(here, load_catalog(resources_dir() / "catalog"), "x86_64", ("3.11",))
    assert selection is not None
    assert (selection.origin, selection.version) == ("here", result.version)
    preview = msgspec.structs.replace(pythons[-1], version="3.11.0a1")
    assert find_interpreter(msgspec.structs.replace(here, pythons=(preview,)), "3.11") is None


def test_wheels_of_wheelhouse_are_listed(tmp_path: Path) -> None:
    names = (
        "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl",
        "torch-2.9.1+cpu-cp312-cp312-win_amd64.whl",
        "torch-2.14.0-cp39-abi3-any.whl",
        "numpy-1.0-py3-none-any.whl",
        "not a wheel.whl",
        "torch-2.13.0.tar.gz",
    )
    for name in names:
        (tmp_path / name).write_bytes(b"12345")
    result = scan_wheelhouse(tmp_path)
    assert [(w.project, w.version, w.variant, w.python) for w in result] == [
        ("numpy", "1.0", None, None),
        ("torch", "2.14.0", None, None),
        ("torch", "2.13.0", "cpu", "3.11"),
        ("torch", "2.9.1", "cpu", "3.12"),
    ]
    assert result[0] == LocalWheel(
        project="numpy", version="1.0", variant=None, python=None, path=str(tmp_path / names[3]), bytes=5
    )
    assert {w.project for w in compatible_wheels(tmp_path, "3.7")} == {"numpy", "torch"}
    assert scan_wheelhouse(tmp_path / "missing") == ()


def test_wheel_variants_of_wheelhouse_are_listed_but_not_installed(tmp_path: Path) -> None:
    for name in ("torch-2.13.0-cp311-cp311-win_amd64-cu129.whl", "torch-2.13.0-py3-none-any.whl"):
        (tmp_path / name).write_bytes(b"12345")
    assert {(w.version, w.python, w.label) for w in scan_wheelhouse(tmp_path)} == {
        ("2.13.0", "3.11", "cu129"),
        ("2.13.0", None, None),
    }
    assert [w.label for w in compatible_wheels(tmp_path, platforms=("win_amd64",))] == [None]


def test_torchvision_is_added_if_available(sandbox: Sandbox) -> None:
    vision = tiny_wheels.wheel("torchvision", "0.9.0+cpu", requires=[f"torch=={RELEASE}"])
    plan = sandbox.plan()
    torch = plan.recommendation.pytorch
    assert torch is not None
    wanted = msgspec.structs.replace(plan.recommendation, pytorch=msgspec.structs.replace(torch, torchvision="0.9.0"))
    plan = msgspec.structs.replace(plan, recommendation=wanted)
    sandbox.install(plan)
    assert "torchvision" not in (sandbox.environment / "pylock.toml").read_text(encoding="utf-8")
    house = tiny_wheels.folder(sandbox.root / "wheels", [sandbox.torch, vision, *sandbox.others])
    other = sandbox.root / "second" / "env"
    sandbox.install(msgspec.structs.replace(plan, env=str(other), wheelhouse=str(house)))
    assert "torchvision==0.9.0+cpu" in (other / "gpu-assistant-constraints.txt").read_text(encoding="utf-8")


def test_folders_with_dots_are_normalized(tmp_path: Path) -> None:
    from gpu_assistant.app import App

    (tmp_path / "wheels").mkdir()
    app = App(data_dir=str(tmp_path / "x" / ".." / "data"), wheelhouse=str(tmp_path / "data" / ".." / "wheels"))
    assert (app.data.root, app.wheelhouse) == (tmp_path / "data", tmp_path / "wheels")
    assert app.setup.environment_path(str(tmp_path / "a" / ".." / "env")) == tmp_path / "env"


def test_plan_lists_requested_requirements(sandbox: Sandbox) -> None:
    choice = recommendation(RELEASE, sandbox.torch_index)
    (step,) = (step for step in sandbox.plan().steps if step.kind == "resolve")
    first = next(resolve_attempts(build_request(choice, sandbox.catalog, machine().os, wheelhouse=None)))
    assert first.pinned == (f"torch=={RELEASE}+cpu",)
    assert requirements_text(step) == "\n".join([*first.pinned, *first.requirements])
