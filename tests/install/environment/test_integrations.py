"""After the install: menu, editor, Jupyter and the lock; all of it is taken back, and nothing of the user's is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.install.environment.integrations import (
    INTERPRETER_SETTING,
    LOCK_COMMENT,
    EditorJob,
    JupyterKernelJob,
    MenuEntryJob,
    environment_actions,
    export_lockfile,
)
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.journal.log import interrupted_install
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.system import current_system
from gpu_assistant.texts.localized import Texts

from ...fakes.system import FakeDesktop
from ..world import World


@pytest.fixture
def desktop(world: World) -> FakeDesktop:
    world.environment = world.root / "一个 place" / "环境 env"
    world.install()
    return FakeDesktop(world.root / "desk", editor=world.root / "code")


def remove(world: World) -> None:
    UninstallJob(world.environment, world.data, world.system).run(JobContext())


def kernel_of(world: World) -> Path:
    site = next(path for path in world.environment.rglob("site-packages") if path.is_dir())
    package = site / "ipykernel" / "__init__.py"
    package.parent.mkdir()
    package.write_text("")
    return package


def test_menu_entry_is_created_once_and_removed(world: World, desktop: FakeDesktop) -> None:
    job = MenuEntryJob(world.environment, world.data, world.system, desktop, STEP_KINDS)
    entry = job.run(JobContext())
    assert entry.read_bytes() == b"entry"
    assert "环境 env" in entry.name
    lines = sum(len(path.read_bytes().splitlines()) for path in world.data.journal.iterdir())
    job.run(JobContext())
    again = sum(len(path.read_bytes().splitlines()) for path in world.data.journal.iterdir())
    assert again - lines == 1, "a second time nothing is written but that it began"
    remove(world)
    assert not (world.root / "desk").exists()
    assert not world.environment.exists()


def test_menu_entry_changed_by_user_is_kept(world: World, desktop: FakeDesktop) -> None:
    entry = MenuEntryJob(world.environment, world.data, world.system, desktop, STEP_KINDS).run(JobContext())
    entry.write_bytes(b"my own")
    remove(world)
    assert entry.read_bytes() == b"my own"


def test_stopped_install_is_still_reported_as_interrupted(world: World, desktop: FakeDesktop) -> None:
    house = world.root / "no wheels"
    house.mkdir()
    plan = world.plan(environment=world.root / "other" / "env", version="9.2.0", wheelhouse=house)
    with pytest.raises(AppError):
        world.install(plan)
    MenuEntryJob(world.environment, world.data, world.system, desktop, STEP_KINDS).run(JobContext())
    result = interrupted_install(world.data)
    assert result is not None
    assert result.plan.env == plan.env


def test_editor_job_sets_interpreter_and_keeps_settings(world: World, desktop: FakeDesktop) -> None:
    folder = world.root / "my project 项目"
    settings = folder / ".vscode" / "settings.json"
    settings.parent.mkdir(parents=True)
    before = '{"editor.fontSize": 14, "颜色": ["a"]}'.encode()
    settings.write_bytes(before)
    EditorJob(world.environment, world.data, world.system, desktop, STEP_KINDS, folder=folder).run(JobContext())
    python = str(current_system().environment_python(world.environment))
    now = json.loads(settings.read_text(encoding="utf-8"))
    assert now == {"editor.fontSize": 14, "颜色": ["a"], INTERPRETER_SETTING: python}
    assert desktop.started == [((str(world.root / "code"), str(folder)), folder)]
    remove(world)
    assert settings.read_bytes() == before


@pytest.mark.parametrize("text", ['{"a": 1, // mine\n}', "[1]", "{\n", "\udcff"])
def test_editor_settings_that_are_not_json_are_kept(world: World, desktop: FakeDesktop, text: str) -> None:
    folder = world.root / "project"
    settings = folder / ".vscode" / "settings.json"
    settings.parent.mkdir(parents=True)
    before = text.encode("utf-8", "surrogateescape")
    settings.write_bytes(before)
    with pytest.raises(AppError) as caught:
        EditorJob(world.environment, world.data, world.system, desktop, STEP_KINDS, folder=folder).run(JobContext())
    assert (caught.value.code, settings.read_bytes(), desktop.started) == ("editor-settings", before, [])
    assert "Select Interpreter" in Texts("zh_CN").error_text(caught.value)


def test_missing_editor_error_names_interpreter(world: World, desktop: FakeDesktop) -> None:
    bare = FakeDesktop(world.root / "desk")
    with pytest.raises(AppError) as caught:
        EditorJob(world.environment, world.data, world.system, bare, STEP_KINDS, folder=world.root).run(JobContext())
    assert str(current_system().environment_python(world.environment)) in Texts("en").error_text(caught.value)
    assert not (world.root / ".vscode").exists()


def test_kernel_is_registered_if_ipykernel_is_installed(world: World, desktop: FakeDesktop) -> None:
    job = JupyterKernelJob(world.environment, world.data, world.system, desktop, STEP_KINDS)
    with pytest.raises(AppError) as caught:
        job.run(JobContext())
    assert caught.value.code == "kernel-missing"
    assert "pip install ipykernel" in Texts("en").error_text(caught.value)
    kernel_of(world)
    path = job.run(JobContext())
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["argv"][0] == str(current_system().environment_python(world.environment))
    assert (data["display_name"], path.parent.name.isascii()) == ("环境 env (GPU Assistant)", True)
    remove(world)
    assert not desktop.kernels_folder().exists()


def test_environment_actions_of_installed_environment(world: World, desktop: FakeDesktop) -> None:
    result = environment_actions(world.environment, world.system, desktop)
    assert result.python.is_file()
    assert (result.editor, result.has_kernel) == (world.root / "code", False)
    assert str(world.environment) in result.activation
    target = world.root / "shared lock.toml"
    export_lockfile(world.environment, target)
    assert target.read_bytes() == LOCK_COMMENT + result.lock.read_bytes()


def test_foreign_environment_is_refused(world: World, desktop: FakeDesktop) -> None:
    strange = world.root / "strange"
    strange.mkdir()
    with pytest.raises(AppError) as caught:
        MenuEntryJob(strange, world.data, world.system, desktop, STEP_KINDS).run(JobContext())
    assert (caught.value.code, list(strange.iterdir())) == ("environment-not-ours", [])
    with pytest.raises(AppError):
        export_lockfile(strange, world.root / "lock")
