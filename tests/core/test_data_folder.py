"""A data folder that somebody else uses, too."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gpu_assistant.cli.main import run
from gpu_assistant.core.errors import UsageError
from gpu_assistant.core.ownership import claim_folder, is_owned
from gpu_assistant.core.paths import SUBFOLDER, DataDir, data_dir


def test_folder_in_use_gets_a_folder_of_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`uninstall --all` of such a folder leaves what was there before."""
    strange = tmp_path / "cache" / "files" / "photo.jpg"
    strange.parent.mkdir(parents=True)
    strange.write_text("mine", encoding="utf-8")
    (tmp_path / "thesis.txt").write_text("all of it", encoding="utf-8")
    assert run(["catalog", "show", "--data-dir", str(tmp_path)]) == 0
    assert (tmp_path / SUBFOLDER / "logs").is_dir()
    assert run(["uninstall", "--all", "--yes", "--data-dir", str(tmp_path)]) == 0
    assert strange.is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "thesis.txt"]


def test_marked_folder_stays_the_data_folder(tmp_path: Path) -> None:
    data = DataDir(tmp_path / "data")
    data.claim(data.state)
    (data.root / "thesis.txt").write_text("all of it", encoding="utf-8")
    assert data_dir(str(data.root)).root == data.root


def test_second_foreign_folder_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / SUBFOLDER):
        folder.mkdir(exist_ok=True)
        (folder / "thesis.txt").write_text("all of it", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        data_dir(str(tmp_path))
    assert caught.value.code == "data-dir-foreign"


def test_folder_is_claimed_by_many_threads_at_once(tmp_path: Path) -> None:
    start = threading.Barrier(8)

    def claim(_: int) -> bool:
        start.wait()
        return claim_folder(tmp_path / "cache")

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(claim, range(8))) == [True] * 8
    assert is_owned(tmp_path / "cache")


def test_folder_of_the_windows_launcher_is_ours(tmp_path: Path) -> None:
    data = tmp_path / "gpu-assistant"
    (data / "logs").mkdir(parents=True)
    (data / "logs" / "start.txt").write_text("started", encoding="utf-8")
    assert claim_folder(data)
    assert claim_folder(data / "logs")
    assert is_owned(data)
    assert is_owned(data / "logs")
