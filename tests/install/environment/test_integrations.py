"""After the install: menu, editor, Jupyter and the lock; all of it is taken back, and nothing of the user's is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.install.environment.integrations import (
    LOCK_COMMENT,
    EditorJob,
    JupyterKernelJob,
    MenuEntryJob,
    environment_actions,
    export_lockfile,
)
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.journal.log import interrupted_install
from gpu_assistant.install.journal.validation import INTERPRETER_SETTING
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.system import current_system
from gpu_assistant.texts.localized import Texts

from ...fakes.system import FakeDesktop
from ..sandbox import Sandbox


@pytest.fixture
def desktop(sandbox: Sandbox) -> FakeDesktop:
    sandbox.environment = sandbox.root / "一个 place" / "环境 env"
    sandbox.install()
    return FakeDesktop(sandbox.root / "desk", editor=sandbox.root / "code")


def remove(sandbox: Sandbox) -> None:
    UninstallJob(sandbox.environment, sandbox.data, sandbox.system).run(JobContext())


def kernel_of(sandbox: Sandbox) -> Path:
    site = next(path for path in sandbox.environment.rglob("site-packages") if path.is_dir())
    package = site / "ipykernel" / "__init__.py"
    package.parent.mkdir()
    package.write_text("")
    return package


def test_menu_entry_is_created_once_and_removed(sandbox: Sandbox, desktop: FakeDesktop) -> None:
    job = MenuEntryJob(sandbox.environment, sandbox.data, sandbox.system, desktop, STEP_KINDS)
    entry = job.run(JobContext())
    assert entry.read_bytes() == b"entry"
    assert "环境 env" in entry.name
    lines = sum(len(path.read_bytes().splitlines()) for path in sandbox.data.journal.iterdir())
    job.run(JobContext())
    again = sum(len(path.read_bytes().splitlines()) for path in sandbox.data.journal.iterdir())
    assert again - lines == 1, "a second time nothing is written but that it began"
    remove(sandbox)
    assert not (sandbox.root / "desk").exists()
    assert not sandbox.environment.exists()


def test_menu_entry_changed_by_user_is_kept(sandbox: Sandbox, desktop: FakeDesktop) -> None:
    entry = MenuEntryJob(sandbox.environment, sandbox.data, sandbox.system, desktop, STEP_KINDS).run(JobContext())
    entry.write_bytes(b"my own")
    remove(sandbox)
    assert entry.read_bytes() == b"my own"


def test_stopped_install_is_still_reported_as_interrupted(sandbox: Sandbox, desktop: FakeDesktop) -> None:
    house = sandbox.root / "no wheels"
    house.mkdir()
    plan = sandbox.plan(environment=sandbox.root / "other" / "env", version="9.2.0", wheelhouse=house)
    with pytest.raises(AppError):
        sandbox.install(plan)
    MenuEntryJob(sandbox.environment, sandbox.data, sandbox.system, desktop, STEP_KINDS).run(JobContext())
    result = interrupted_install(sandbox.data)
    assert result is not None
    assert result.plan.env == plan.env


def test_editor_job_sets_interpreter_and_keeps_settings(sandbox: Sandbox, desktop: FakeDesktop) -> None:
    folder = sandbox.root / "my project 项目"
    settings = folder / ".vscode" / "settings.json"
    settings.parent.mkdir(parents=True)
    before = '{"editor.fontSize": 14, "颜色": ["a"]}'.encode()
    settings.write_bytes(before)
    EditorJob(sandbox.environment, sandbox.data, sandbox.system, desktop, STEP_KINDS, folder=folder).run(JobContext())
    python = str(current_system().environment_python(sandbox.environment))
    now = json.loads(settings.read_text(encoding="utf-8"))
    assert now == {"editor.fontSize": 14, "颜色": ["a"], INTERPRETER_SETTING: python}
    assert desktop.started == [((str(sandbox.root / "code"), str(folder)), folder)]
    remove(sandbox)
    assert settings.read_bytes() == before


@pytest.mark.parametrize("text", ['{"a": 1, // mine\n}', "[1]", "{\n", "\udcff"])
def test_editor_settings_that_are_not_json_are_kept(sandbox: Sandbox, desktop: FakeDesktop, text: str) -> None:
    folder = sandbox.root / "project"
    settings = folder / ".vscode" / "settings.json"
    settings.parent.mkdir(parents=True)
    before = text.encode("utf-8", "surrogateescape")
    settings.write_bytes(before)
    with pytest.raises(AppError) as caught:
        EditorJob(sandbox.environment, sandbox.data, sandbox.system, desktop, STEP_KINDS, folder=folder).run(
            JobContext()
        )
    assert (caught.value.code, settings.read_bytes(), desktop.started) == ("editor-settings", before, [])
    assert "Select Interpreter" in Texts("zh_CN").error_text(caught.value)


def test_missing_editor_error_names_interpreter(sandbox: Sandbox, desktop: FakeDesktop) -> None:
    bare = FakeDesktop(sandbox.root / "desk")
    with pytest.raises(AppError) as caught:
        EditorJob(sandbox.environment, sandbox.data, sandbox.system, bare, STEP_KINDS, folder=sandbox.root).run(
            JobContext()
        )
    assert str(current_system().environment_python(sandbox.environment)) in Texts("en").error_text(caught.value)
    assert not (sandbox.root / ".vscode").exists()


def test_kernel_is_registered_if_ipykernel_is_installed(sandbox: Sandbox, desktop: FakeDesktop) -> None:
    job = JupyterKernelJob(sandbox.environment, sandbox.data, sandbox.system, desktop, STEP_KINDS)
    with pytest.raises(AppError) as caught:
        job.run(JobContext())
    assert caught.value.code == "kernel-missing"
    assert "pip install ipykernel" in Texts("en").error_text(caught.value)
    kernel_of(sandbox)
    path = job.run(JobContext())
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["argv"][0] == str(current_system().environment_python(sandbox.environment))
    assert (data["display_name"], path.parent.name.isascii()) == ("环境 env (GPU Assistant)", True)
    remove(sandbox)
    assert not desktop.kernels_folder().exists()


def test_environment_actions_of_installed_environment(sandbox: Sandbox, desktop: FakeDesktop) -> None:
    result = environment_actions(sandbox.environment, sandbox.system, desktop)
    assert result.python.is_file()
    assert (result.editor, result.has_kernel) == (sandbox.root / "code", False)
    assert str(sandbox.environment) in result.activation
    target = sandbox.root / "shared lock.toml"
    export_lockfile(sandbox.environment, target)
    assert target.read_bytes() == LOCK_COMMENT + result.lock.read_bytes()


def test_foreign_environment_is_refused(sandbox: Sandbox, desktop: FakeDesktop) -> None:
    strange = sandbox.root / "strange"
    strange.mkdir()
    with pytest.raises(AppError) as caught:
        MenuEntryJob(strange, sandbox.data, sandbox.system, desktop, STEP_KINDS).run(JobContext())
    assert (caught.value.code, list(strange.iterdir())) == ("environment-not-ours", [])
    with pytest.raises(AppError):
        export_lockfile(strange, sandbox.root / "lock")
