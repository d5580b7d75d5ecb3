"""The programs that uv makes of a wheel are the wheel's, also the one with the name of Python's series."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from gpu_assistant.install.files.wheel_files import read_wheel, wheel_contents


@pytest.mark.parametrize(("name", "is_known"), [("pip", True), ("other", False)])
def test_versioned_program_belongs_to_pip_alone(tmp_path: Path, name: str, is_known: bool) -> None:
    wheel = tmp_path / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr(f"{name}-1.0.dist-info/entry_points.txt", f"[console_scripts]\n{name} = {name}:main\n")
        file.writestr(f"{name}-1.0.dist-info/RECORD", f"{name}-1.0.dist-info/RECORD,,\n")
    programs = tmp_path / "env" / "bin"
    programs.mkdir(parents=True)
    for program in (name, "pip3.11", "pip3.11x", "pip3"):
        (programs / program).touch()
    contents = wheel_contents(tmp_path / "env", (), [read_wheel(wheel)])
    assert f"bin/{name}" in contents
    assert ("bin/pip3.11" in contents) is is_known
    assert not {"bin/pip3.11x", "bin/pip3"} & contents.keys()
