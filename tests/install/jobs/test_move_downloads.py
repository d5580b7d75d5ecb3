"""The downloads in another folder: all of them or none, whatever happens meanwhile; only what is ours is removed."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.app import App
from gpu_assistant.core import json
from gpu_assistant.core.downloads_folder import RECORD_NAME, DownloadsRecord, place_downloads, read_record, write_record
from gpu_assistant.core.errors import AppError, Cancelled, InsufficientDiskSpace, UsageError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.ownership import MARKER_NAME, FolderMarker
from gpu_assistant.core.paths import DataDir
from gpu_assistant.install.jobs.move_downloads import (
    SUBFOLDER,
    FinishMoveJob,
    MoveDownloadsJob,
    MoveProgress,
    MoveResult,
    check_downloads_folder,
)
from gpu_assistant.install.jobs.purge import PurgeJob
from gpu_assistant.system.locks import data_folder_lock

from ...fakes.system import FakeSystem
from ..child_process import CAN_FORK, ChildProcess
from ..small_disk import tmpfs

FILES = {"0123456789abcdef/torch.whl": b"t" * 3000, "driver.exe.part": b"half", "fedcba9876543210/numpy.whl": b"n"}


def stored(data: DataDir) -> dict[str, bytes]:
    """All downloaded files of a data folder, by their names."""
    paths = (path for path in data.files.rglob("*") if path.is_file() and not path.name.startswith(".gpu-assistant"))
    return {path.relative_to(data.files).as_posix(): path.read_bytes() for path in paths}


def reopened(data: DataDir) -> DataDir:
    """The data folder as the next start finds it."""
    found = DataDir(data.root)
    place_downloads(found)
    return found


def fill(root: Path) -> DataDir:
    data = DataDir(root / "data")
    data.claim(data.root)
    for name, content in FILES.items():
        path = data.claim(data.files) / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    (data.claim(data.uv_cache) / "archive-v0").mkdir()
    return data


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a short name: Windows leaves little room for PyTorch's own."""
    return tmp_path_factory.mktemp("m")


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    return fill(tmp_path)


def move(data: DataDir, folder: Path | None, context: JobContext[object] | None = None) -> MoveResult:
    return MoveDownloadsJob(data, FakeSystem(), folder).run(context or JobContext())


def everything(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


class TestMove:
    def test_all_files_are_in_the_new_folder_and_none_in_the_old_one(self, data, tmp_path):
        reports: list[MoveProgress] = []
        result = move(data, tmp_path / "big", JobContext(reports.append))
        assert result == MoveResult(folder=str(tmp_path / "big"))
        assert data.files == tmp_path / "big" / "files"
        assert stored(data) == FILES
        assert stored(reopened(data)) == FILES
        assert not (data.cache / "files").exists()
        assert not (data.cache / "uv").exists()
        assert read_record(data) == DownloadsRecord(folder=str(tmp_path / "big"))
        copied = [each for each in reports if each.state == "copying"]
        assert copied[-1].done == copied[-1].total == 2 * sum(map(len, FILES.values()))

    def test_they_come_back_into_the_cache(self, data, tmp_path):
        move(data, tmp_path / "big")
        move(data, None)
        assert data.files == data.root / "cache" / "files"
        assert stored(reopened(data)) == FILES
        assert not (tmp_path / "big").exists()

    def test_a_folder_with_other_files_gets_a_folder_of_ours(self, data, tmp_path):
        (tmp_path / "disk").mkdir()
        (tmp_path / "disk" / "thesis.txt").write_text("all of it", encoding="utf-8")
        move(data, tmp_path / "disk")
        assert data.downloads == tmp_path / "disk" / SUBFOLDER
        assert stored(data) == FILES
        move(data, None)
        assert everything(tmp_path / "disk") == ["thesis.txt"]

    def test_files_go_to_another_disk_with_their_times(self, data, tmp_path):
        wheel = data.files / "0123456789abcdef" / "torch.whl"
        os.utime(wheel, ns=(10**18, 10**18))
        with tmpfs(tmp_path / "other", "size=128m") as disk:
            move(data, disk / "downloads")
            assert stored(data) == FILES
            assert (data.files / "0123456789abcdef" / "torch.whl").stat().st_mtime_ns == 10**18
            assert not wheel.exists()

    def test_too_small_a_disk_changes_nothing(self, data, tmp_path):
        with tmpfs(tmp_path / "other", "size=1m") as disk:
            with pytest.raises(InsufficientDiskSpace):
                move(data, disk / "downloads")
            assert everything(disk) == []
        assert stored(reopened(data)) == FILES
        assert read_record(data) == DownloadsRecord()


class TestStopped:
    def test_cancelled_move_leaves_them_where_they_were(self, data, tmp_path):
        context: JobContext[object] = JobContext(lambda _: context.cancel.set())
        with pytest.raises(Cancelled):
            move(data, tmp_path / "big", context)
        assert stored(reopened(data)) == FILES
        assert not (tmp_path / "big").exists()
        assert read_record(data) == DownloadsRecord()

    def test_cancel_is_heard_within_a_file(self, data, tmp_path):
        (data.files / "large.whl").write_bytes(b"x" * 20_000_000)
        with tmpfs(tmp_path / "other", "size=256m") as disk:
            context: JobContext[object] = JobContext(lambda _: context.cancel.set())
            with pytest.raises(Cancelled):
                move(data, disk / "downloads", context)
            assert everything(disk) == []
        assert (data.files / "large.whl").stat().st_size == 20_000_000

    @pytest.mark.parametrize("purpose", ["install", "benchmark"])
    def test_nothing_is_moved_while_something_is_installed_or_measured(self, data, tmp_path, purpose):
        with data_folder_lock(data, purpose), pytest.raises(AppError) as caught:
            move(data, tmp_path / "big")
        assert caught.value.code == "downloads-busy"
        assert not (tmp_path / "big").exists()

    def test_killed_at_any_change_nothing_is_lost_and_nothing_is_left(self, tmp_path):
        stop = 0
        with ChildProcess(__name__, "move_until") as child:
            while True:
                root = tmp_path / str(stop)
                data = fill(root)
                if child.run(root, stop).returncode == 0:
                    break
                after = reopened(data)
                assert stored(after) == FILES, stop
                FinishMoveJob(after).run(JobContext())
                other = root / "big" if after.downloads == data.cache else data.cache
                assert not (other / "files").exists(), stop
                move(after, root / "big")
                assert stored(reopened(data)) == FILES, stop
                stop += 1 if CAN_FORK else 7  # each is a new process
        assert stop > 20
        assert stored(reopened(data)) == FILES


def move_until(root: str, stop: str) -> str:
    """Move the downloads, and die before the change number `stop` to the disk."""
    changes = 0

    def count(event: str, _: object) -> None:
        nonlocal changes
        if event in ("os.link", "os.rename", "os.remove", "os.rmdir", "os.mkdir"):
            if changes == int(stop):
                os.kill(os.getpid(), signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
            changes += 1

    data = DataDir(Path(root) / "data")
    sys.addaudithook(count)
    move(data, Path(root) / "big")
    return ""


class TestRefused:
    def refusal(self, data: DataDir, folder: Path) -> str:
        with pytest.raises(AppError) as caught:
            check_downloads_folder(data, folder)
        with pytest.raises(AppError):
            move(data, folder)
        assert stored(reopened(data)) == FILES
        return caught.value.code

    def test_folder_whose_own_folder_is_used_too(self, data, tmp_path):
        for folder in (tmp_path / "disk", tmp_path / "disk" / SUBFOLDER):
            folder.mkdir()
            (folder / "thesis.txt").write_text("all of it", encoding="utf-8")
        assert self.refusal(data, tmp_path / "disk") == "downloads-folder-occupied"

    def test_downloads_of_another_data_folder(self, data, tmp_path):
        other = fill(tmp_path / "other")
        move(other, tmp_path / "big" / SUBFOLDER)
        assert self.refusal(data, tmp_path / "big") == "downloads-folder-occupied"
        assert stored(other) == FILES

    def test_folder_in_the_data_folder(self, data):
        assert self.refusal(data, data.environments / "mine") == "folder-of-ours"
        assert self.refusal(data, data.root / "more") == "folder-of-ours"
        assert self.refusal(data, data.logs / "more") == "folder-of-ours"

    def test_file(self, data, tmp_path):
        (tmp_path / "note").write_text("a note", encoding="utf-8")
        assert self.refusal(data, tmp_path / "note" / "big") == "not-a-folder"

    @pytest.mark.skipif(sys.platform == "win32", reason="a folder of Linux")
    def test_folder_of_the_system(self, data):
        assert self.refusal(data, Path("/usr/downloads")) == "folder-of-system"


class TestUse:
    def test_missing_disk_has_the_cache_serve_until_it_is_back(self, data, tmp_path):
        move(data, tmp_path / "big")
        (tmp_path / "big").rename(tmp_path / "away")
        app = App(data_dir=str(data.root), environ={"UV_OFFLINE": "1"})
        assert (app.data.downloads, app.missing_downloads) == (data.cache, tmp_path / "big")
        (tmp_path / "away").rename(tmp_path / "big")
        app = App(data_dir=str(data.root), environ={"UV_OFFLINE": "1"})
        assert (app.data.downloads, app.missing_downloads) == (tmp_path / "big", None)
        assert stored(app.data) == FILES

    def test_disk_that_numbers_its_folders_anew_keeps_them_ours(self, data, tmp_path):
        # FAT and exFAT do so whenever they are mounted.
        move(data, tmp_path / "big")
        for marker in (tmp_path / "big").rglob(MARKER_NAME):
            changed = json.decode(marker.read_bytes(), FolderMarker)
            marker.write_bytes(json.encode(replace(changed, inode="1")))
        data = reopened(data)
        assert stored(data) == FILES
        assert data.owns(data.files)
        move(data, None)
        assert stored(data) == FILES
        assert not (tmp_path / "big").exists()

    def test_folder_that_a_record_names_without_our_marker_is_left_alone(self, data, tmp_path):
        mine = tmp_path / "mine" / "files" / "thesis.txt"
        mine.parent.mkdir(parents=True)
        mine.write_text("all of it", encoding="utf-8")
        write_record(data, DownloadsRecord(folder=str(tmp_path / "mine")))
        assert place_downloads(data) == tmp_path / "mine"
        assert data.downloads == data.cache
        write_record(data, DownloadsRecord(leftover=str(tmp_path / "mine")))
        FinishMoveJob(data).run(JobContext())
        assert mine.read_text(encoding="utf-8") == "all of it"
        assert everything(tmp_path / "mine") == ["files", "files/thesis.txt"]

    def test_damaged_record_means_the_cache(self, data):
        (data.claim(data.state) / RECORD_NAME).write_text("{", encoding="utf-8")
        assert place_downloads(data) is None
        assert stored(data) == FILES

    def test_remove_everything_takes_moved_downloads_and_leaves_what_is_beside_them(self, data, tmp_path):
        move(data, tmp_path / "big")
        (tmp_path / "big" / "photo.jpg").write_bytes(b"mine")
        PurgeJob(data, FakeSystem(), keep_environments=False).run(JobContext())
        assert everything(tmp_path / "big") == [".gpu-assistant-folder.json", "photo.jpg"]
        assert not data.root.exists()

    def test_name_that_windows_reserves_is_refused_before_anything_is_made(self, data, tmp_path, monkeypatch):
        monkeypatch.setattr("gpu_assistant.install.environment.location.reserved_path_part", lambda _: "odd")
        with pytest.raises(UsageError) as caught:
            move(data, tmp_path / "odd")
        assert caught.value.code == "folder-name-odd"
        assert not (tmp_path / "odd").exists()
