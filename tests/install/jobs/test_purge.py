"""Leaving the computer: everything of ours goes; environments stay where that is wanted, and go on working."""

from __future__ import annotations

import subprocess

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Event, PlanEvent
from gpu_assistant.core.settings import Settings, save_settings
from gpu_assistant.install.environment import location
from gpu_assistant.install.jobs.purge import PurgeJob
from gpu_assistant.install.journal.log import Journal, ProgramInstalled
from gpu_assistant.system.locks import data_folder_lock

from ..world import World, end, states


def leave(world: World, *, keep: bool) -> list[Event]:
    events: list[Event] = []
    PurgeJob(world.data, world.system, keep_environments=keep).run(JobContext(report=events.append))
    return events


def fill(world: World) -> None:
    """What a used data folder holds."""
    save_settings(world.data.settings, Settings())
    for path in (
        world.data.logs / "gpu-assistant.log.1",
        world.data.benchmarks / "20261121T220742.453123Z.json",
        world.data.history / "10s-000179529945.history",
        world.data.catalog / "current" / "gpus.json",
        world.data.files / "aa" / "wheel.part",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1", encoding="utf-8")


def test_kept_environments_still_work(world: World) -> None:
    world.install()
    fill(world)
    stranger = world.data.root / "thesis.txt"
    stranger.write_text("all of it", encoding="utf-8")
    leave(world, keep=True)
    assert sorted(path.name for path in world.data.root.iterdir()) == ["journal", "thesis.txt"]
    python = world.system.environment_python(world.environment)
    assert subprocess.run([python, "-c", "import torch"], check=False).returncode == 0
    # A program that is installed later still knows them.
    assert [result.path for result in location.list_environments(world.data)] == [str(world.environment)]


def test_purge_removes_everything(world: World) -> None:
    world.install()
    fill(world)
    events = leave(world, keep=False)
    assert end(events).state == "done"
    assert not world.environment.exists()
    assert not world.data.root.exists()


def test_remaining_driver_does_not_keep_app_data(world: World) -> None:
    driver = ProgramInstalled(name="nvidia-driver", previous_version="560.1", version="617.99")
    with Journal(world.data, world.plan()) as journal:
        with journal.effect("nvidia-driver", driver):
            pass
        journal.end_run("done")
    leave(world, keep=False)
    assert not world.data.root.exists()


def test_purge_without_any_install(world: World) -> None:
    assert states(leave(world, keep=False)) == {}
    world.data.root.mkdir()
    fill(world)
    assert set(states(leave(world, keep=True)).values()) == {"done"}
    assert not world.data.root.exists()


def test_preview_lists_groups_with_sizes(world: World) -> None:
    world.install()
    fill(world)
    (world.data.root / "thesis.txt").write_text("all of it", encoding="utf-8")
    (world.data.logs / "train.log").write_text("epoch 1", encoding="utf-8")
    (world.data.uv_cache / "big").write_bytes(bytes(123_000))
    before = sorted(world.root.rglob("*"))
    events: list[Event] = []
    PurgeJob(world.data, world.system, keep_environments=False, dry_run=True).run(JobContext(report=events.append))
    assert sorted(world.root.rglob("*")) == before
    plan, text = events[0], states(events)
    assert isinstance(plan, PlanEvent)
    steps = {step.id: step for step in plan.steps}
    caches = [path for path in (world.data.root / "cache").rglob("*") if path.is_file()]
    assert steps["own-downloads"].data["bytes"] == sum(path.lstat().st_size for path in caches)
    assert {"own-settings", "own-history", "own-benchmarks", "own-catalog", "own-journal", "own-logs"} <= steps.keys()
    assert steps["data"].code == "leave-filled"
    assert steps["data"].data["files"] == "logs/, thesis.txt"
    assert set(text.values()) == {"skipped"}
    assert end(events).state == "done"
    # What was told is what comes.
    done = leave(world, keep=False)
    assert isinstance(done[0], PlanEvent)
    assert [step.id for step in done[0].steps] == [*steps]
    assert sorted(path.name for path in world.data.root.rglob("*")) == ["logs", "thesis.txt", "train.log"]


def test_kept_environments_are_named_and_keep_journal(world: World) -> None:
    world.install()
    fill(world)
    steps = {step.id: step for step in PurgeJob(world.data, world.system, keep_environments=True).steps()}
    assert steps["environments"].data["files"] == str(world.environment)
    assert not {"own-journal", "data"} & steps.keys()


def test_user_folder_is_kept_without_error(world: World) -> None:
    world.install()
    fill(world)
    moved = world.environment.with_name("moved")
    world.environment.rename(moved)
    world.environment.mkdir()
    (world.environment / "thesis.txt").write_text("all of it", encoding="utf-8")
    leave(world, keep=False)
    assert (world.environment / "thesis.txt").is_file()
    assert not world.data.settings.exists()


STRANGERS = ("logs/train.log", "settings.json", "history/1.csv", "state/best.pt", "catalog/a.json", "cache/files/x")


def test_foreign_data_folder_is_untouched(world: World) -> None:
    for name in (*STRANGERS, "benchmarks/run.json", "journal/day.txt"):
        path = world.data.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"lr": 0.1}', encoding="utf-8")
    before = sorted(world.data.root.rglob("*"))
    (world.data.logs / "gpu-assistant.log").write_text("this run's", encoding="utf-8")
    leave(world, keep=False)
    assert sorted(world.data.root.rglob("*")) == before


def test_foreign_files_in_app_folders_are_kept(world: World) -> None:
    world.install()
    fill(world)
    foreign = world.data.logs / "train.log"
    foreign.write_text("epoch 1", encoding="utf-8")
    leave(world, keep=False)
    assert [path for path in world.data.root.rglob("*") if path.is_file()] == [foreign]


def test_purge_is_refused_during_install(world: World) -> None:
    world.install()
    with data_folder_lock(world.data), pytest.raises(AppError) as caught:
        leave(world, keep=False)
    assert caught.value.code == "already-running"
    assert world.environment.is_dir()
