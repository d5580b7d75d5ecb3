"""A plan says already that nothing can be written, and changes nothing to find out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_assistant.app import App
from gpu_assistant.cli.main import run
from gpu_assistant.core.errors import AppError

from ..small_disk import tmpfs


@pytest.mark.linux
@pytest.mark.parametrize("where", ["--data-dir", "--env"])
def test_plan_refuses_unwritable_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path, where: str) -> None:
    with tmpfs(tmp_path / "locked", "ro") as folder:
        path = folder / "kept" / "env"
        command = ["plan", "--lang", "en", "--data-dir", str(tmp_path / "data"), where, str(path), "--json"]
        assert run(command) == 1
        data = json.loads(capsys.readouterr().out)
    assert data["code"] == "disk-read-only"
    assert data["text"].startswith(f"{path if where == '--data-dir' else path.parent} cannot be written")
    assert not path.exists()


def test_probe_leaves_no_file(tmp_path: Path) -> None:
    app = App(data_dir=str(tmp_path / "data"))
    app.setup.check_folder(tmp_path / "new" / "env")
    assert list(tmp_path.iterdir()) == []


def test_missing_permission_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path, data: bytes) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "write_bytes", denied)
    with pytest.raises(AppError) as caught:
        App(data_dir=str(tmp_path / "data")).setup.check_folder(tmp_path / "env")
    assert (caught.value.code, caught.value.data["path"]) == ("folder-unwritable", str(tmp_path / "data"))
