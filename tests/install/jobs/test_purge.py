"""Leaving the computer: everything of ours goes; environments stay where that is wanted, and go on working."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.ownership import MARKER_NAME
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.plan import Event, PlanEvent
from gpu_assistant.core.settings import Settings, save_settings
from gpu_assistant.install.environment import location
from gpu_assistant.install.jobs.install import startup_command
from gpu_assistant.install.jobs.purge import PurgeJob
from gpu_assistant.install.journal.log import Journal, ProgramInstalled
from gpu_assistant.system.locks import data_folder_lock, file_lock

from ..sandbox import Sandbox, end, states


def leave(sandbox: Sandbox, *, keep: bool) -> list[Event]:
    events: list[Event] = []
    PurgeJob(sandbox.data, sandbox.system, keep_environments=keep).run(JobContext(report=events.append))
    return events


def fill(sandbox: Sandbox) -> None:
    """What a used data folder holds."""
    data = sandbox.data
    for folder in (data.logs, data.benchmarks, data.history, data.catalog, data.files):
        data.claim(folder)
    save_settings(sandbox.data.settings, Settings())
    for path in (
        sandbox.data.logs / "gpu-assistant.log.1",
        sandbox.data.benchmarks / "20261121T220742.453123Z.json",
        sandbox.data.history / "10s-000179529945.history",
        sandbox.data.catalog / "current" / "gpus.json",
        sandbox.data.files / "aa" / "wheel.part",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1", encoding="utf-8")


def test_kept_environments_still_work(sandbox: Sandbox) -> None:
    sandbox.install()
    fill(sandbox)
    stranger = sandbox.data.root / "thesis.txt"
    stranger.write_text("all of it", encoding="utf-8")
    leave(sandbox, keep=True)
    assert sorted(path.name for path in sandbox.data.root.iterdir()) == [MARKER_NAME, "journal", "thesis.txt"]
    python = sandbox.system.environment_python(sandbox.environment)
    assert subprocess.run([python, "-c", "import torch"], check=False).returncode == 0
    # A program that is installed later still knows them.
    assert [result.path for result in location.list_environments(sandbox.data)] == [str(sandbox.environment)]


def test_purge_removes_everything(sandbox: Sandbox) -> None:
    sandbox.install()
    fill(sandbox)
    events = leave(sandbox, keep=False)
    assert end(events).state == "done"
    assert not sandbox.environment.exists()
    assert not sandbox.data.root.exists()


def test_purge_takes_away_the_start_with_the_computer(sandbox: Sandbox) -> None:
    fill(sandbox)
    command = sandbox.system.startup_command
    command.set(startup_command(sandbox.data, sandbox.system))
    job = PurgeJob(sandbox.data, sandbox.system, keep_environments=True)
    assert next(step.code for step in job.steps()) == "clear-startup"
    leave(sandbox, keep=True)
    assert command.get() is None


def test_the_start_of_another_data_folder_stays(sandbox: Sandbox) -> None:
    fill(sandbox)
    other = startup_command(DataDir(sandbox.data.root.parent / "another"), sandbox.system)
    sandbox.system.startup_command.set(other)
    leave(sandbox, keep=False)
    assert sandbox.system.startup_command.get() == other


def test_remaining_driver_does_not_keep_app_data(sandbox: Sandbox) -> None:
    driver = ProgramInstalled(name="nvidia-driver", previous_version="560.1", version="617.99")
    with Journal(sandbox.data, sandbox.plan()) as journal:
        with journal.effect("nvidia-driver", driver):
            pass
        journal.end_run("done")
    leave(sandbox, keep=False)
    assert not sandbox.data.root.exists()


def test_purge_without_any_install(sandbox: Sandbox) -> None:
    assert states(leave(sandbox, keep=False)) == {}
    fill(sandbox)
    assert set(states(leave(sandbox, keep=True)).values()) == {"done"}
    assert not sandbox.data.root.exists()


def test_preview_lists_groups_with_sizes(sandbox: Sandbox) -> None:
    sandbox.install()
    fill(sandbox)
    (sandbox.data.root / "thesis.txt").write_text("all of it", encoding="utf-8")
    (sandbox.data.logs / "train.log").write_text("epoch 1", encoding="utf-8")
    (sandbox.data.uv_cache / "big").write_bytes(bytes(123_000))
    before = sorted(sandbox.root.rglob("*"))
    events: list[Event] = []
    PurgeJob(sandbox.data, sandbox.system, keep_environments=False, dry_run=True).run(JobContext(report=events.append))
    assert sorted(sandbox.root.rglob("*")) == before
    plan, text = events[0], states(events)
    assert isinstance(plan, PlanEvent)
    steps = {step.id: step for step in plan.steps}
    caches = [path for path in sandbox.data.cache.rglob("*") if path.is_file()]
    caches.remove(sandbox.data.cache / MARKER_NAME)
    assert steps["own-downloads"].data["bytes"] == sum(path.lstat().st_size for path in caches)
    assert {"own-settings", "own-history", "own-benchmarks", "own-catalog", "own-journal", "own-logs"} <= steps.keys()
    assert steps["data"].code == "leave-filled"
    assert steps["data"].data["files"] == "logs/, thesis.txt"
    assert set(text.values()) == {"skipped"}
    assert end(events).state == "done"
    # What was told is what comes.
    done = leave(sandbox, keep=False)
    assert isinstance(done[0], PlanEvent)
    assert [step.id for step in done[0].steps] == [*steps]
    left = sorted(path.name for path in sandbox.data.root.rglob("*") if path.name != MARKER_NAME)
    assert left == ["logs", "thesis.txt", "train.log"]


def test_kept_environments_are_named_and_keep_journal(sandbox: Sandbox) -> None:
    sandbox.install()
    fill(sandbox)
    steps = {step.id: step for step in PurgeJob(sandbox.data, sandbox.system, keep_environments=True).steps()}
    assert steps["environments"].data["files"] == str(sandbox.environment)
    assert not {"own-journal", "data"} & steps.keys()


def test_user_folder_is_kept_without_error(sandbox: Sandbox) -> None:
    sandbox.install()
    fill(sandbox)
    moved = sandbox.environment.with_name("moved")
    sandbox.environment.rename(moved)
    sandbox.environment.mkdir()
    (sandbox.environment / "thesis.txt").write_text("all of it", encoding="utf-8")
    leave(sandbox, keep=False)
    assert (sandbox.environment / "thesis.txt").is_file()
    assert not sandbox.data.settings.exists()


STRANGERS = ("logs/train.log", "settings.json", "history/1.csv", "state/best.pt", "catalog/a.json", "cache/files/x")


def test_foreign_data_folder_is_untouched(sandbox: Sandbox) -> None:
    for name in (*STRANGERS, "benchmarks/run.json", "journal/day.txt"):
        path = sandbox.data.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"lr": 0.1}', encoding="utf-8")
    before = sorted(sandbox.data.root.rglob("*"))
    leave(sandbox, keep=False)
    assert sorted(sandbox.data.root.rglob("*")) == before


def test_foreign_files_in_app_folders_are_kept(sandbox: Sandbox) -> None:
    sandbox.install()
    fill(sandbox)
    foreign = sandbox.data.logs / "train.log"
    foreign.write_text("epoch 1", encoding="utf-8")
    leave(sandbox, keep=False)
    left = [path for path in sandbox.data.root.rglob("*") if path.is_file() and path.name != MARKER_NAME]
    assert left == [foreign]


def test_foreign_folders_with_our_names_are_kept(sandbox: Sandbox) -> None:
    """A folder that the user named held such folders before the program wrote its own files into it."""
    strange = ("cache/mine/x", "cache/files/photo.jpg", "cache/prices/a", "catalog/last/a.json", "state/install.txt")
    for name in (*strange, "history/10s-000179529945.history", "logs/gpu-assistant.log.1", "benchmarks/1T1Z.json"):
        path = sandbox.data.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine", encoding="utf-8")
    before = {path: path.read_bytes() for path in sandbox.data.root.rglob("*") if path.is_file()}
    with Journal(sandbox.data) as journal:
        journal.end_run("done")
    save_settings(sandbox.data.settings, Settings(language="en"))
    sandbox.data.claim(sandbox.data.uv_cache)
    leave(sandbox, keep=False)
    assert {path: path.read_bytes() for path in before} == before
    assert not sandbox.data.uv_cache.exists()
    with pytest.raises(AppError) as caught:
        sandbox.data.claim(sandbox.data.files)
    assert caught.value.code == "folder-not-ours"


def test_copied_and_linked_folders_are_kept(sandbox: Sandbox) -> None:
    """A marker names one folder: a copy of it, or a link to a folder with another marker, is not deleted."""
    other = DataDir(sandbox.root / "other")
    other.claim(other.files)
    (other.files / "thesis.whl").write_text("all of it", encoding="utf-8")
    sandbox.data.claim(sandbox.data.locks)
    shutil.copytree(other.files, sandbox.data.conda)
    make_link(sandbox.data.files, other.files)
    make_link(sandbox.data.locks / "elsewhere", other.files)
    leave(sandbox, keep=False)
    assert (other.files / "thesis.whl").is_file()
    assert (sandbox.data.conda / "thesis.whl").is_file()
    assert os.path.lexists(sandbox.data.files)
    assert not sandbox.data.locks.exists()


def make_link(path: Path, target: Path) -> None:
    """A link to a folder; a junction on Windows, which needs no rights."""
    if sys.platform == "win32":
        import _winapi

        _winapi.CreateJunction(str(target), str(path))
    else:
        path.symlink_to(target, target_is_directory=True)


def test_busy_uv_cache_is_kept(sandbox: Sandbox) -> None:
    cache = sandbox.data.claim(sandbox.data.uv_cache)
    (cache / "wheel").write_text("1", encoding="utf-8")
    with file_lock(cache / ".lock", AppError("uv-cache-busy")), pytest.raises(AppError) as caught:
        leave(sandbox, keep=False)
    assert caught.value.code == "uv-cache-busy"
    assert (cache / "wheel").is_file()
    leave(sandbox, keep=False)
    assert not sandbox.data.root.exists()


def test_purge_is_refused_during_install(sandbox: Sandbox) -> None:
    sandbox.install()
    with data_folder_lock(sandbox.data), pytest.raises(AppError) as caught:
        leave(sandbox, keep=False)
    assert caught.value.code == "already-running"
    assert sandbox.environment.is_dir()
