"""Renaming and deleting while another program has a file open for a moment."""

from __future__ import annotations

import errno
import os
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpu_assistant.core import filesystem

HELD_S = 3.0


def move_file(folder: Path) -> None:
    filesystem.rename(folder / "held", folder / "moved")


def move_over(folder: Path) -> None:
    (folder / "new").touch()
    filesystem.replace(folder / "new", folder / "held")


def delete_file(folder: Path) -> None:
    filesystem.unlink(folder / "held")


def delete_tree(folder: Path) -> None:
    filesystem.rmtree(folder)


def move_folder(folder: Path) -> None:
    filesystem.rename(folder, folder.with_name("moved"))


OPERATIONS: tuple[Callable[[Path], None], ...] = (move_file, move_over, delete_file, delete_tree, move_folder)


@contextmanager
def held_open(file: Path) -> Iterator[None]:
    """Open for three seconds, as a scanner has it: nobody may rename or delete it meanwhile."""
    stream = file.open("rb")
    closing = threading.Timer(HELD_S, stream.close)
    closing.start()
    try:
        yield
    finally:
        closing.join()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_file_that_is_held_for_three_seconds_is_waited_for(tmp_path: Path, operation: Callable[[Path], None]) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "held").write_text("held")
    waits: list[Path] = []
    with held_open(folder / "held"), filesystem.report_busy(waits.append):
        operation(folder)
    assert not folder.exists() or not (folder / "held").exists() or not (folder / "held").read_bytes()
    # Wine, unlike NTFS, renames a folder below which a file is open; Linux renames and deletes whatever is open.
    if sys.platform == "win32" and operation is not move_folder:
        assert len(waits) == 1


class Refusing(type(Path())):  # type: ignore[misc]  # the system's own class of paths
    """A path that cannot be renamed, for these reasons one after the other."""

    reasons: tuple[int | None, ...] = ()

    def rename(self, target: object) -> Path:
        if not self.reasons:
            return Path(str(target))
        reason, *rest = self.reasons
        self.reasons = tuple(rest)
        error = PermissionError(errno.EACCES, "refused")
        error.winerror = reason  # type: ignore[attr-defined, unused-ignore]
        raise error


@pytest.mark.parametrize("reason", filesystem.BUSY_WINERRORS)
def test_busy_path_is_tried_again_and_said_once(tmp_path: Path, reason: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filesystem, "NOTICE_AFTER_S", 0.0)
    monkeypatch.setattr(filesystem, "PAUSE_S", 0.0)
    path, waits = Refusing(tmp_path), []
    path.reasons = (reason,) * 3
    with filesystem.report_busy(waits.append):
        filesystem.rename(path, tmp_path / "target")
    assert (path.reasons, waits) == ((), [path])


@pytest.mark.parametrize("reason", [None, 2, 112])
def test_other_refusals_are_raised_at_once(tmp_path: Path, reason: int | None) -> None:
    path = Refusing(tmp_path)
    path.reasons = (reason,) * 3
    with pytest.raises(PermissionError):
        filesystem.rename(path, tmp_path / "target")
    assert len(path.reasons) == 2


def test_patience_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filesystem, "PATIENCE_S", 0.0)
    path = Refusing(tmp_path)
    path.reasons = (32,) * 3
    with pytest.raises(PermissionError):
        filesystem.rename(path, tmp_path / "target")
    assert len(path.reasons) == 2


@pytest.mark.parametrize("delete", [delete_file, delete_tree])
def test_read_only_file_is_deleted(tmp_path: Path, delete: Callable[[Path], None]) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "held").touch()
    (folder / "held").chmod(0o444)
    delete(folder)
    assert not (folder / "held").exists()


def test_missing_tree_is_no_error(tmp_path: Path) -> None:
    filesystem.rmtree(tmp_path / "missing")


def test_small_file_is_read_without_a_buffer_as_large_as_the_limit(tmp_path: Path) -> None:
    """Under Wine such a buffer takes 0.1 s, and hundreds of small files are read."""
    (tmp_path / "small").write_bytes(b"small")
    tracemalloc.start()
    try:
        assert filesystem.read_bytes(tmp_path / "small") == b"small"
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("limit", [0, 1, 99_999, 100_000, 100_001, 200_000])
def test_no_more_than_the_limit_is_read_of_a_file_or_a_pipe(tmp_path: Path, limit: int) -> None:
    content = bytes(range(250)) * 400
    (tmp_path / "file").write_bytes(content)
    with (tmp_path / "file").open("rb") as file:
        assert filesystem.read_up_to(file, limit) == content[:limit]
    reader, writer = (os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
    with reader:
        writing = threading.Thread(target=lambda: writer.write(content) and writer.close())
        writing.start()
        assert filesystem.read_up_to(reader, limit) == content[:limit]
        reader.read()
        writing.join()


@pytest.mark.linux
def test_file_that_tells_no_size_is_read_whole() -> None:
    assert filesystem.read_bytes(Path("/proc/self/status")).startswith(b"Name:")


def test_file_above_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"12345")
    assert filesystem.read_bytes(tmp_path / "large", 5) == b"12345"
    with pytest.raises(OSError, match="large") as caught:
        filesystem.read_bytes(tmp_path / "large", 4)
    assert caught.value.errno == errno.EFBIG
