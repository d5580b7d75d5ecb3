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
from gpu_assistant.texts.localized import Texts

from ..world import World, end, states


def uninstall(world: World, environment: Path | None = None) -> list[Event]:
    events: list[Event] = []
    job = UninstallJob(environment or world.environment, world.data, world.system)
    try:
        job.run(JobContext(report=events.append))
    finally:
        end(events)
    return events


def test_environment_is_removed_and_can_be_reinstalled(world: World) -> None:
    world.install()
    neighbour = world.environment.with_name("other")
    neighbour.mkdir()
    events = uninstall(world)
    assert (end(events).state, states(events)) == ("done", {"environment": "done", "back-2": "skipped"})
    assert list(world.environment.parent.iterdir()) == [neighbour]
    assert location.list_environments(world.data) == ()
    # Nothing of the removal is mistaken for an interrupted install.
    assert log.interrupted_install(world.data) is None
    world.asks()
    assert end(world.install()).state == "done"
    assert not [path for path in world.asks() if path.endswith(".whl")]


def test_foreign_folder_is_refused(world: World) -> None:
    world.environment.mkdir(parents=True)
    (world.environment / "thesis.txt").write_text("all of it", encoding="utf-8")
    with pytest.raises(AppError) as caught:
        uninstall(world)
    assert (caught.value.code, caught.value.exit_code) == ("environment-not-ours", 1)
    assert (world.environment / "thesis.txt").is_file()


def test_copied_environment_is_refused(world: World) -> None:
    world.install()
    copy = world.root / "copy"
    shutil.copytree(world.environment, copy, symlinks=True)
    with pytest.raises(AppError) as caught:
        uninstall(world, copy)
    assert caught.value.code == "environment-not-ours"
    assert copy.is_dir()


def test_killed_removal_is_finished(world: World) -> None:
    world.install()
    world.environment.rename(trash_path(world.environment))
    assert location.list_environments(world.data) == ()
    assert end(uninstall(world)).state == "done"
    assert not world.environment.parent.exists()


def test_install_finishes_killed_removal(world: World) -> None:
    world.install()
    world.environment.rename(trash_path(world.environment))
    assert end(world.install()).state == "done"
    assert [entry.name for entry in world.environment.parent.iterdir()] == ["env"]


def test_uninstall_is_refused_during_install(world: World) -> None:
    from gpu_assistant.system.locks import data_folder_lock

    world.install()
    with data_folder_lock(world.data), pytest.raises(AppError) as caught:
        uninstall(world)
    assert caught.value.code == "already-running"
    assert world.environment.is_dir()


def test_shared_folder_is_refused_before_any_event(world: World) -> None:
    events: list[Event] = []
    for shared in (Path(world.root.anchor), Path.home()):
        with pytest.raises(UsageError) as caught:
            UninstallJob(shared, world.data, world.system).run(JobContext(report=events.append))
        assert (caught.value.code, caught.value.exit_code) == ("folder-shared", 2)
        with pytest.raises(UsageError) as caught:
            world.plan(environment=shared)
        assert caught.value.code == "folder-shared"
    assert events == []


def cancelled(world: World, step: str) -> EndEvent:
    cancel = threading.Event()

    def watch(event: object) -> None:
        if isinstance(event, StepEvent) and (event.id, event.state) == (step, "running"):
            cancel.set()

    with pytest.raises(Cancelled) as caught:
        world.install(cancel=cancel, watch=watch)
    return end(caught.value.events)  # type: ignore[attr-defined]


@pytest.mark.parametrize("stood", [False, True])
def test_leftovers_of_stopped_install_are_removed(world: World, stood: bool) -> None:
    if stood:
        world.environment.mkdir(parents=True)
    last = cancelled(world, "verify")
    assert last.code == "error.cancelled-half-made"
    assert "uninstall" in str(Texts("en").localize_event(last).message)  # type: ignore[union-attr]
    assert world.environment.with_name(".env.partial").is_dir()
    assert end(uninstall(world)).state == "done"
    assert list(world.root.glob("place/*")) == ([world.environment] if stood else [])


def test_foreign_partial_environment_is_refused(world: World) -> None:
    partial = world.environment.with_name(".env.partial")
    partial.mkdir(parents=True)
    with pytest.raises(AppError) as caught:
        uninstall(world)
    assert caught.value.code == "environment-missing"
    assert partial.is_dir()


def test_previously_empty_folder_is_restored(world: World) -> None:
    world.environment.mkdir(parents=True)
    world.install()
    uninstall(world)
    assert list(world.environment.iterdir()) == []
    world.environment.rmdir()
    world.install()
    uninstall(world)
    assert not world.environment.exists()


def refused_at(world: World, step: str) -> str:
    """What a removal says while an install is at a step, and that the install is not disturbed."""
    result: list[str] = []

    def watch(event: Event) -> None:
        if isinstance(event, StepEvent) and (event.id, event.state) == (step, "running") and not result:
            with pytest.raises(AppError) as caught:
                UninstallJob(world.environment, world.data, world.system).run(JobContext())
            result.append(caught.value.code)

    assert end(world.install(watch=watch)).state == "done"
    return result[0]


@pytest.mark.parametrize("step", ["space", "download", "verify"])
def test_running_install_is_named(world: World, step: str) -> None:
    assert refused_at(world, step) == "already-running"


def stopped_at(world: World, step: str) -> None:
    cancel = threading.Event()

    def watch(event: Event) -> None:
        if isinstance(event, StepEvent) and (event.id, event.state) == (step, "running"):
            cancel.set()

    with pytest.raises(Cancelled):
        world.install(cancel=cancel, watch=watch)


def test_install_stopped_before_any_effect_is_named(world: World) -> None:
    stopped_at(world, "download")
    with pytest.raises(AppError) as caught:
        uninstall(world)
    assert caught.value.code == "environment-not-yet"
    for language in ("en", "zh_CN"):
        assert "--resume" in Texts(language).error_text(caught.value)
    assert end(world.install()).state == "done"


def test_partial_environment_is_removed(world: World) -> None:
    stopped_at(world, "verify")
    assert [path.name for path in world.environment.parent.iterdir()] == [".env.partial"]
    uninstall(world)
    assert not world.environment.parent.exists()
    with pytest.raises(AppError) as caught:
        uninstall(world)
    assert caught.value.code == "environment-missing"
