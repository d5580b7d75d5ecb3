"""Uninstall takes back what install made, and nothing else."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError, Cancelled, UsageError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import EndEvent, Event, StepEvent
from gpu_assistant.install.environment import location
from gpu_assistant.install.files.staging import trash_path
from gpu_assistant.install.jobs.uninstall import UninstallJob
from gpu_assistant.install.journal import log
from gpu_assistant.system.locks import data_folder_lock
from gpu_assistant.texts.localized import Texts

from ..sandbox import Sandbox, end, states


def uninstall(sandbox: Sandbox, environment: Path | None = None) -> list[Event]:
    events: list[Event] = []
    job = UninstallJob(environment or sandbox.environment, sandbox.data, sandbox.system)
    try:
        job.run(JobContext(report=events.append))
    finally:
        end(events)
    return events


def test_environment_is_removed_and_can_be_reinstalled(sandbox: Sandbox) -> None:
    sandbox.install()
    neighbour = sandbox.environment.with_name("other")
    neighbour.mkdir()
    events = uninstall(sandbox)
    assert (end(events).state, states(events)) == ("done", {"environment": "done", "back-2": "skipped"})
    assert list(sandbox.environment.parent.iterdir()) == [neighbour]
    assert location.list_environments(sandbox.data) == ()
    # Nothing of the removal is mistaken for an interrupted install.
    assert log.interrupted_install(sandbox.data) is None
    sandbox.asks()
    assert end(sandbox.install()).state == "done"
    assert not [path for path in sandbox.asks() if path.endswith(".whl")]


def test_foreign_folder_is_refused(sandbox: Sandbox) -> None:
    sandbox.environment.mkdir(parents=True)
    (sandbox.environment / "thesis.txt").write_text("all of it", encoding="utf-8")
    with pytest.raises(AppError) as caught:
        uninstall(sandbox)
    assert (caught.value.code, caught.value.exit_code) == ("environment-not-ours", 1)
    assert (sandbox.environment / "thesis.txt").is_file()


def test_copied_environment_is_refused(sandbox: Sandbox) -> None:
    sandbox.install()
    copy = sandbox.root / "copy"
    shutil.copytree(sandbox.environment, copy, symlinks=True)
    with pytest.raises(AppError) as caught:
        uninstall(sandbox, copy)
    assert caught.value.code == "environment-not-ours"
    assert copy.is_dir()


def test_killed_removal_is_finished(sandbox: Sandbox) -> None:
    sandbox.install()
    sandbox.environment.rename(trash_path(sandbox.environment))
    assert location.list_environments(sandbox.data) == ()
    assert end(uninstall(sandbox)).state == "done"
    assert not sandbox.environment.parent.exists()


def test_install_finishes_killed_removal(sandbox: Sandbox) -> None:
    sandbox.install()
    sandbox.environment.rename(trash_path(sandbox.environment))
    assert end(sandbox.install()).state == "done"
    assert [entry.name for entry in sandbox.environment.parent.iterdir()] == ["env"]


def test_uninstall_is_refused_during_install(sandbox: Sandbox) -> None:
    sandbox.install()
    with data_folder_lock(sandbox.data), pytest.raises(AppError) as caught:
        uninstall(sandbox)
    assert caught.value.code == "already-running"
    assert sandbox.environment.is_dir()


def test_damaged_file_of_the_process_id_is_no_error_of_its_own(sandbox: Sandbox) -> None:
    with data_folder_lock(sandbox.data):
        (sandbox.data.state / "install.pid").write_bytes(b"9" * 5000)
        with pytest.raises(AppError) as caught, data_folder_lock(sandbox.data):
            pass
    assert (caught.value.code, caught.value.data["pid"]) == ("already-running", None)


def test_shared_folder_is_refused_before_any_event(sandbox: Sandbox) -> None:
    events: list[Event] = []
    for shared in (Path(sandbox.root.anchor), Path.home()):
        with pytest.raises(UsageError) as caught:
            UninstallJob(shared, sandbox.data, sandbox.system).run(JobContext(report=events.append))
        assert (caught.value.code, caught.value.exit_code) == ("folder-shared", 2)
        with pytest.raises(UsageError) as caught:
            sandbox.plan(environment=shared)
        assert caught.value.code == "folder-shared"
    assert events == []


def cancelled(sandbox: Sandbox, step: str) -> EndEvent:
    cancel = threading.Event()

    def watch(event: object) -> None:
        if isinstance(event, StepEvent) and (event.id, event.state) == (step, "running"):
            cancel.set()

    with pytest.raises(Cancelled) as caught:
        sandbox.install(cancel=cancel, watch=watch)
    return end(caught.value.events)  # type: ignore[attr-defined]


@pytest.mark.parametrize("stood", [False, True])
def test_leftovers_of_stopped_install_are_removed(sandbox: Sandbox, stood: bool) -> None:
    if stood:
        sandbox.environment.mkdir(parents=True)
    last = cancelled(sandbox, "verify")
    assert last.code == "error.cancelled-half-made"
    assert "uninstall" in str(Texts("en").localize_event(last).message)  # type: ignore[union-attr]
    assert sandbox.environment.with_name(".env.partial").is_dir()
    assert end(uninstall(sandbox)).state == "done"
    assert list(sandbox.root.glob("place/*")) == ([sandbox.environment] if stood else [])


def test_foreign_partial_environment_is_refused(sandbox: Sandbox) -> None:
    partial = sandbox.environment.with_name(".env.partial")
    partial.mkdir(parents=True)
    with pytest.raises(AppError) as caught:
        uninstall(sandbox)
    assert caught.value.code == "environment-missing"
    assert partial.is_dir()


def test_previously_empty_folder_is_restored(sandbox: Sandbox) -> None:
    sandbox.environment.mkdir(parents=True)
    sandbox.install()
    uninstall(sandbox)
    assert list(sandbox.environment.iterdir()) == []
    sandbox.environment.rmdir()
    sandbox.install()
    uninstall(sandbox)
    assert not sandbox.environment.exists()


def refused_at(sandbox: Sandbox, step: str) -> str:
    """What a removal says while an install is at a step, and that the install is not disturbed."""
    result: list[str] = []

    def watch(event: Event) -> None:
        if isinstance(event, StepEvent) and (event.id, event.state) == (step, "running") and not result:
            with pytest.raises(AppError) as caught:
                UninstallJob(sandbox.environment, sandbox.data, sandbox.system).run(JobContext())
            result.append(caught.value.code)

    assert end(sandbox.install(watch=watch)).state == "done"
    return result[0]


@pytest.mark.parametrize("step", ["space", "download", "verify"])
def test_running_install_is_named(sandbox: Sandbox, step: str) -> None:
    assert refused_at(sandbox, step) == "already-running"


def stopped_at(sandbox: Sandbox, step: str) -> None:
    cancel = threading.Event()

    def watch(event: Event) -> None:
        if isinstance(event, StepEvent) and (event.id, event.state) == (step, "running"):
            cancel.set()

    with pytest.raises(Cancelled):
        sandbox.install(cancel=cancel, watch=watch)


def test_install_stopped_before_any_effect_is_named(sandbox: Sandbox) -> None:
    stopped_at(sandbox, "download")
    with pytest.raises(AppError) as caught:
        uninstall(sandbox)
    assert caught.value.code == "environment-not-yet"
    for language in ("en", "zh_CN"):
        assert "--resume" in Texts(language).error_text(caught.value)
    assert end(sandbox.install()).state == "done"


def test_partial_environment_is_removed(sandbox: Sandbox) -> None:
    stopped_at(sandbox, "verify")
    assert [path.name for path in sandbox.environment.parent.iterdir()] == [".env.partial"]
    uninstall(sandbox)
    assert not sandbox.environment.parent.exists()
    with pytest.raises(AppError) as caught:
        uninstall(sandbox)
    assert caught.value.code == "environment-missing"
