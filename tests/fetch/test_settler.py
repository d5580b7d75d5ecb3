"""What has come is written to the disk while the rest comes."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from gpu_assistant.fetch.board import Board
from gpu_assistant.fetch.settler import STRIDE, Settler


def test_it_flushes_as_bytes_come_and_ends_with_the_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = tmp_path / "file.part"
    part.write_bytes(b"")
    flushed: list[int] = []
    seen, board = threading.Event(), Board((), 4 * STRIDE, 1)
    real = os.fsync

    def fsync(number: int) -> None:
        real(number)
        flushed.append(board.have)
        seen.set()

    monkeypatch.setattr("gpu_assistant.fetch.settler.os.fsync", fsync)
    settler = Settler(part, board, calm=0.0)
    settler.start()
    with board.changed:
        span = board.claim(4 * STRIDE, 1)
        assert span is not None
        board.came(span, STRIDE - 1)
    board.tell()
    assert not seen.wait(0.1)
    with board.changed:
        board.came(span, 1)
    board.tell()
    assert seen.wait(10)
    assert flushed == [STRIDE]
    board.close()
    settler.end(10)
    assert not settler.running


def test_what_comes_fast_is_not_held_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = tmp_path / "file.part"
    part.write_bytes(b"")
    board = Board((), 4 * STRIDE, 1)
    flushed: list[int] = []
    monkeypatch.setattr("gpu_assistant.fetch.settler.os.fsync", flushed.append)
    settler = Settler(part, board, calm=60.0)
    settler.start()
    with board.changed:
        span = board.claim(4 * STRIDE, 1)
        assert span is not None
        board.came(span, STRIDE)
    board.tell()
    board.close()
    settler.end(10)
    assert not settler.running
    assert not flushed


def test_a_part_that_cannot_be_opened_is_nobodys_error_yet(tmp_path: Path) -> None:
    settler = Settler(tmp_path / "nowhere" / "file.part", Board((), 1, 1))
    settler.start()
    settler.end(10)
    assert not settler.running
