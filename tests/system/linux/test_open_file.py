"""Files that this program saved open with the user's own program; nothing that could run does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("Linux's own", allow_module_level=True)

from gpu_assistant.core.errors import AppError
from gpu_assistant.system.linux import desktop

ENVIRON = {"DISPLAY": ":0"}


@pytest.mark.parametrize("name", ["script.sh", "app.desktop", "program"])
def test_a_file_of_a_kind_that_could_run_is_refused(tmp_path: Path, name: str) -> None:
    opener = tmp_path / "xdg-open"
    opener.write_text("#!/bin/sh\n", encoding="utf-8")
    opener.chmod(0o755)
    (tmp_path / name).write_text("", encoding="utf-8")
    with pytest.raises(AppError) as refused:
        desktop.open_file(tmp_path / name, {**ENVIRON, "PATH": str(tmp_path)})
    assert refused.value.code == "no-file-viewer"


def test_without_a_program_the_error_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "plots.png").write_bytes(b"")
    with pytest.raises(AppError) as refused:
        desktop.open_file(tmp_path / "plots.png", {**ENVIRON, "PATH": ""})
    assert refused.value.data["path"] == str(tmp_path / "plots.png")


def test_startup_entry_is_not_the_one_after_a_restart(tmp_path: Path) -> None:
    once, always = desktop.LinuxLoginCommand(tmp_path), desktop.LinuxLoginCommand(tmp_path, desktop.STARTUP_FILE)
    always.set(("/opt/gpu-assistant", "--minimized"))
    assert once.get() is None
    assert always.get() == ("/opt/gpu-assistant", "--minimized")
    always.clear()
    assert always.get() is None
