"""Hashes of files."""

from __future__ import annotations

import hashlib
import io
import threading
from pathlib import Path

import pytest

from gpu_assistant.core.errors import Cancelled
from gpu_assistant.core.files import HASH_CHUNK_BYTES, hash_file

DATA = b"abc" * HASH_CHUNK_BYTES


def test_hash_of_path_and_of_open_file(tmp_path: Path) -> None:
    path, chunks = tmp_path / "file", list[int]()
    path.write_bytes(DATA)
    assert hash_file(path, progress=chunks.append) == hashlib.sha256(DATA).hexdigest()
    assert (sum(chunks), len(chunks)) == (len(DATA), 3)
    with path.open("rb") as file:
        file.seek(5)
        assert hash_file(file, algorithm="md5") == hashlib.md5(DATA[5:], usedforsecurity=False).hexdigest()


def test_hash_is_cancelled_within_one_chunk() -> None:
    cancel = threading.Event()
    file = io.BytesIO(DATA)
    with pytest.raises(Cancelled):
        hash_file(file, cancel, progress=lambda _count: cancel.set())
    assert file.tell() == 2 * HASH_CHUNK_BYTES
