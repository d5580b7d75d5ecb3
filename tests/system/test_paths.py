"""Interpreters and folders, each listed once."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.system import paths

from .programs import program


def test_interpreters_are_unique_and_shims_excluded(tmp_path: Path) -> None:
    real = program(tmp_path / "usr", "python3.11")
    shim = program(tmp_path / "shims", "python3", b"#!/bin/sh\nexec true\n")
    environment = tmp_path / "env"
    in_environment = program(environment / "bin", "python")
    again = program(environment / "bin", "python3")
    (environment / "pyvenv.cfg").touch()
    result = paths.unique_interpreters([real, shim, in_environment, again, real, tmp_path / "none"])
    assert result == (real, in_environment)


@pytest.mark.parametrize(("winerror", "is_listed"), [(1920, True), (5, False)])
def test_program_of_the_store_is_listed_although_nobody_can_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, winerror: int, is_listed: bool
) -> None:
    """Only CreateProcess follows an app execution alias; CreateFile says ERROR_CANT_ACCESS_FILE."""
    alias, other = program(tmp_path / "store", "python"), program(tmp_path / "usr", "python")
    open_file = Path.open

    def open_as_windows_does(path: Path, *arguments: Any, **options: Any) -> Any:
        if path != alias:
            return open_file(path, *arguments, **options)
        refused = OSError(errno.EINVAL, "The file cannot be accessed by the system")
        refused.winerror = winerror  # type: ignore[attr-defined, unused-ignore]
        raise refused

    monkeypatch.setattr(Path, "open", open_as_windows_does)
    assert paths.unique_interpreters([alias, alias, other]) == ((alias, other) if is_listed else (other,))


@pytest.mark.linux
@pytest.mark.skipif(sys.platform == "win32", reason="making symbolic links needs rights on Windows")
def test_environment_with_linked_interpreter_is_listed(tmp_path: Path) -> None:
    real = program(tmp_path / "usr", "python3.11")
    link = tmp_path / "usr/python3"
    link.symlink_to(real)
    environment = tmp_path / "env"
    (environment / "bin").mkdir(parents=True)
    (environment / "pyvenv.cfg").touch()
    inside = environment / "bin/python"
    inside.symlink_to(real)
    assert paths.unique_interpreters([link, real, inside]) == (link, inside)


def test_folders_are_listed_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    result = paths.unique_folders([tmp_path / "a", tmp_path / "a/../a", tmp_path / "none"])
    assert result == (tmp_path / "a",)
