"""A folder that nothing counts as whole goes, also while what a killed run had started still writes into it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.ownership import MARKER_NAME
from gpu_assistant.install.files import inventory
from gpu_assistant.install.files.staging import (
    begin_in_place,
    begin_partial,
    delete_folder,
    discard_unfinished,
    remove_folder,
    write_mark,
)


def test_delete_tolerates_files_that_vanish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = begin_partial(tmp_path / "made")
    for name in ("a", "b", "c"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").write_bytes(b"1")
    real, missing = os.unlink, []

    def unlink(path: str, **more: int) -> None:
        if not missing:
            missing.append(path)
            real(path, **more)  # somebody else's, a moment before ours
        real(path, **more)

    monkeypatch.setattr(os, "unlink", unlink)
    delete_folder(folder)
    assert missing
    assert not folder.exists()


@pytest.fixture
def thesis(tmp_path: Path) -> Path:
    """Somebody's folder under a name that we use."""
    folder = tmp_path / ".env.partial"
    folder.mkdir()
    (folder / "thesis.txt").write_text("all of it", encoding="utf-8")
    return folder


def test_folder_without_marker_is_not_deleted(thesis: Path) -> None:
    with pytest.raises(AppError, match="environment-occupied"):
        delete_folder(thesis)
    assert (thesis / "thesis.txt").is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="making symbolic links needs rights on Windows")
def test_link_to_folder_is_not_deleted(tmp_path: Path, thesis: Path) -> None:
    link = tmp_path / ".other.partial"
    link.symlink_to(thesis)
    with pytest.raises(AppError, match="environment-occupied"):
        delete_folder(link)
    assert (thesis / "thesis.txt").is_file()
    assert link.is_symlink()


def test_copied_marker_does_not_make_a_folder_ours(tmp_path: Path, thesis: Path) -> None:
    marker = begin_partial(tmp_path / "other") / MARKER_NAME
    (thesis / MARKER_NAME).write_bytes(marker.read_bytes())
    with pytest.raises(AppError, match="environment-occupied"):
        delete_folder(thesis)
    assert (thesis / "thesis.txt").is_file()


@pytest.mark.parametrize("name", [".env.partial", ".env.trash", ".env.old"])
def test_removal_leaves_folders_of_such_names(tmp_path: Path, thesis: Path, name: str) -> None:
    folder, named = tmp_path / "env", tmp_path / name
    thesis.rename(named)
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "code.py").write_text("code", encoding="utf-8")
    inventory.write_file_manifest(folder)
    if name == ".env.trash":
        with pytest.raises(AppError):
            remove_folder(folder)
    else:
        assert not remove_folder(folder)
        assert not folder.exists()
    assert (named / "thesis.txt").is_file()


def test_mark_of_unfinished_folder_alone_deletes_nothing(tmp_path: Path, thesis: Path) -> None:
    folder = thesis.rename(tmp_path / "env")
    write_mark(folder, "")
    for remove in (discard_unfinished, begin_in_place, remove_folder):
        with pytest.raises(AppError, match="environment-occupied"):
            remove(folder)
    assert (folder / "thesis.txt").is_file()


def test_partly_deleted_folder_is_deleted_by_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = begin_partial(tmp_path / "env")
    for name in ("a", "b", "c"):
        (folder / name).write_bytes(b"1")
    real, killed = os.unlink, []

    def unlink(path: str, **more: int) -> None:
        if killed:
            raise KeyboardInterrupt
        killed.append(path)
        real(path, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", unlink)
        with pytest.raises(KeyboardInterrupt):
            delete_folder(folder)
    assert len(list(folder.iterdir())) == 3  # the marker is one of them
    delete_folder(folder)
    assert not folder.exists()
