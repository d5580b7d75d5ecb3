"""The log file, which several processes write."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_assistant.core.log_file import SharedFileHandler

LIMIT, COUNT = 200, 3


@pytest.fixture
def handler(tmp_path: Path) -> Iterator[SharedFileHandler]:
    made = SharedFileHandler(
        tmp_path / "program.log", maxBytes=LIMIT, backupCount=COUNT - 1, encoding="utf-8", delay=True
    )
    yield made
    made.close()


def write(handler: SharedFileHandler, lines: range) -> None:
    for number in lines:
        handler.emit(logging.makeLogRecord({"msg": f"line {number} {'x' * 60}"}))


def numbers(path: Path) -> list[int]:
    return [int(line.split()[1]) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def kept(folder: Path) -> list[list[int]]:
    """The numbers of the lines in the log and in the earlier files, the newest file first."""
    return [numbers(folder / f"program.log{ending}") for ending in ("", ".1", ".2")]


def test_full_log_gives_way_to_a_new_one(handler: SharedFileHandler, tmp_path: Path) -> None:
    write(handler, range(7))
    assert kept(tmp_path) == [[6], [4, 5], [2, 3]]


@pytest.mark.windows
@pytest.mark.skipif(sys.platform != "win32", reason="Windows renames no file that is open")
def test_log_that_another_process_has_open_grows_and_loses_nothing(handler: SharedFileHandler, tmp_path: Path) -> None:
    write(handler, range(5))
    assert kept(tmp_path) == [[4], [2, 3], [0, 1]]
    with (tmp_path / "program.log").open("a"):
        write(handler, range(5, 10))
        assert kept(tmp_path) == [[4, 5, 6, 7, 8, 9], [2, 3], [0, 1]]
    write(handler, range(10, 11))
    assert kept(tmp_path) == [[10], [4, 5, 6, 7, 8, 9], [2, 3]]
