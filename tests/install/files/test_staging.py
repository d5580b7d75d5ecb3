"""A folder that nothing counts as whole goes, also while what a killed run had started still writes into it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpu_assistant.install.files.staging import delete_folder


def test_delete_tolerates_files_that_vanish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "made"
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
