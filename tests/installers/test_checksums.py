"""SHA256SUMS: what the usual tool reads, and what verifying notices."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "installers"))

import checksums


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "b.exe").write_bytes(b"setup")
    (tmp_path / "a 1.zip").write_bytes(b"portable")
    (tmp_path / "below").mkdir()
    checksums.write_sums(tmp_path)
    return tmp_path


def test_sorted_lines_as_the_usual_tool_writes_them(folder: Path) -> None:
    zipped, setup = (hashlib.sha256(content).hexdigest() for content in (b"portable", b"setup"))
    assert (folder / "SHA256SUMS").read_bytes() == f"{zipped}  a 1.zip\n{setup}  b.exe\n".encode()
    assert checksums.main([str(folder)]) == 0, "the sums themselves are not counted the second time"
    assert checksums.main(["--verify", str(folder)]) == 0


def test_every_difference_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "b.exe").write_bytes(b"Setup")
    (folder / "a 1.zip").rename(folder / "c.zip")
    assert checksums.main(["--verify", str(folder)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "a 1.zip: missing",
        "c.zip: not in SHA256SUMS",
        "b.exe: not what was written down",
    ]


@pytest.mark.linux
@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="coreutils is not here")
def test_sha256sum_agrees(folder: Path) -> None:
    done = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=False)
    assert done.returncode == 0
