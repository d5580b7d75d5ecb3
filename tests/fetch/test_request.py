"""Which checksum a request has."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from gpu_assistant.core.files import RemoteFile
from gpu_assistant.fetch.request import Digest, DownloadRequest

MD5 = Digest(kind="md5", hex=hashlib.md5(b"data").hexdigest())


@pytest.mark.parametrize(
    ("sha256", "digest", "expected"),
    [("a" * 64, MD5, Digest(hex="a" * 64)), (None, MD5, MD5), (None, None, None)],
    ids=["both", "other-kind", "none"],
)
def test_sha256_counts_before_another_kind(sha256: str | None, digest: Digest | None, expected: Digest | None) -> None:
    file = RemoteFile(urls=("https://a.example/x",), name="x", sha256=sha256)
    assert DownloadRequest(file=file, path=Path("x"), digest=digest).expected == expected


@pytest.mark.parametrize("kind", ["md5", "sha1", "sha256", "sha512"])
def test_a_digest_hashes_by_its_kind(kind: str) -> None:
    empty = Digest(kind=kind, hex="").new()  # type: ignore[arg-type]
    assert empty.hexdigest() == hashlib.new(kind).hexdigest()
