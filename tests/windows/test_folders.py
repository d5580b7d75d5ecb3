"""Folders as people have them: spaces, Chinese letters, a second drive, OneDrive, very long ones."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpu_assistant.core import paths
from gpu_assistant.core.errors import UsageError
from gpu_assistant.install.environment.location import (
    CACHE_PREFIX_LENGTH,
    ENVIRONMENT_PREFIX_LENGTH,
    LONGEST_WHEEL_PATH,
)
from gpu_assistant.install.files import inventory
from gpu_assistant.system.paths import MAX_PATH_LENGTH, max_path_length
from gpu_assistant.texts.localized import Texts

from ..fakes.fault_server import fault_server
from ..install.sandbox import Sandbox, end
from .conftest import IN_WINE, Call

if sys.platform != "win32":
    pytest.skip("Windows' folders", allow_module_level=True)

pytestmark = pytest.mark.windows


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    with fault_server() as server:
        made = Sandbox(tmp_path, server)
        monkeypatch.setenv("UV_DEFAULT_INDEX", made.general)
        monkeypatch.setenv("UV_HTTP_RETRIES", "0")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield made


def installed(sandbox: Sandbox, data: Path, environment: Path) -> None:
    """A whole small install with the real uv."""
    sandbox.data = paths.DataDir(data)
    assert end(sandbox.install(sandbox.plan(environment=environment))).state == "done"
    record = inventory.read_manifest(environment)
    assert record is not None
    assert record.path == str(environment)
    assert (data / "journal").is_dir()


def test_spaces_and_chinese_letters(sandbox: Sandbox, tmp_path: Path) -> None:
    installed(sandbox, tmp_path / "我的 数据", tmp_path / "深度 学习" / "环境 1")


def test_everything_on_another_drive(sandbox: Sandbox, drive_d: Path) -> None:
    root = drive_d / "gpu assistant 测试"
    try:
        installed(sandbox, root / "data", root / "envs" / "pytorch")
    finally:
        shutil.rmtree(root, ignore_errors=True)


def test_the_other_drive_is_seen(call: Call, drive_d: Path) -> None:
    result = json.loads(call("detect", "--json").stdout)
    assert str(drive_d) in [disk["path"] for disk in result["disks"]]


def test_data_and_environment_on_different_drives(sandbox: Sandbox, tmp_path: Path, drive_d: Path) -> None:
    root = drive_d / "envs of a test"
    try:
        installed(sandbox, tmp_path / "data", root / "pytorch")
    finally:
        shutil.rmtree(root, ignore_errors=True)


def deep(folder: Path, length: int) -> Path:
    """A folder below with so many letters in its whole path."""
    while len(str(folder)) < length - 60:
        folder = folder / ("x" * 50)
    return folder / ("y" * (length - len(str(folder)) - 1))


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_too_long_environment_path_is_refused(
    call: Call, tmp_path: Path, long_paths: Callable[[bool], None], language: str
) -> None:
    long_paths(False)
    assert max_path_length() == MAX_PATH_LENGTH
    folder = deep(tmp_path / "e", 300)
    done = call("install", "--yes", "--lang", language, "--env", folder, pages="utf-8")
    assert (done.returncode, done.stdout) == (2, b"")
    assert len(done.stderr.decode().splitlines()) == 1
    assert str(MAX_PATH_LENGTH - ENVIRONMENT_PREFIX_LENGTH - LONGEST_WHEEL_PATH) in done.stderr.decode()
    assert not (tmp_path / "e").exists()


def test_too_long_data_path_is_refused(
    sandbox: Sandbox, tmp_path: Path, long_paths: Callable[[bool], None], drive_d: Path
) -> None:
    long_paths(False)
    sandbox.data = paths.DataDir(deep(tmp_path / "d", 280))
    with pytest.raises(UsageError) as refused:
        sandbox.install(sandbox.plan(environment=drive_d / "short"))
    assert refused.value.code == "folder-too-long"
    assert str(MAX_PATH_LENGTH - CACHE_PREFIX_LENGTH - LONGEST_WHEEL_PATH) in Texts("en").error_text(refused.value)
    assert not (tmp_path / "d").exists()
    assert not (drive_d / "short").exists()


def test_longest_allowed_path_is_accepted(call: Call, long_paths: Callable[[bool], None], drive_d: Path) -> None:
    long_paths(False)
    folder = deep(drive_d, MAX_PATH_LENGTH - ENVIRONMENT_PREFIX_LENGTH - LONGEST_WHEEL_PATH)
    assert call("plan", "--env", folder).returncode == 0
    assert call("plan", "--env", f"{folder}z").returncode == 2


@pytest.mark.skipif(IN_WINE, reason="Wine 8 dies in lstat of a path this long: free(): invalid size")
def test_long_paths_work_when_enabled(sandbox: Sandbox, tmp_path: Path) -> None:
    if max_path_length() is not None:
        pytest.skip("this Windows does not allow long paths (LongPathsEnabled)")
    installed(sandbox, deep(tmp_path / "d", 265), deep(tmp_path / "e", 265))


@pytest.mark.parametrize("variable", ["OneDrive", "OneDriveCommercial", "OneDriveConsumer"])
def test_environment_in_onedrive_is_refused(call: Call, tmp_path: Path, variable: str) -> None:
    cloud = tmp_path / "我的 云盘"
    documents = cloud / "文档"
    documents.mkdir(parents=True)
    environ = {variable: str(cloud)}
    done = call("install", "--yes", "--env", documents / "pytorch", environ=environ, pages="utf-8")
    assert (done.returncode, done.stdout) == (2, b"")
    assert "OneDrive" in done.stderr.decode()
    assert len(done.stderr.decode().splitlines()) == 1
    assert list(documents.iterdir()) == []
    beside = call("plan", "--env", tmp_path / "我的 云盘2" / "pytorch", environ=environ)
    assert beside.returncode == 0, beside.stderr


def test_data_in_onedrive_puts_environments_outside(call: Call, tmp_path: Path) -> None:
    data = tmp_path / "OneDrive - Contoso" / "data"
    done = call("plan", "--json", "--data-dir", data)
    assert done.returncode == 0, done.stderr
    assert "OneDrive" not in json.loads(done.stdout)["env"]
