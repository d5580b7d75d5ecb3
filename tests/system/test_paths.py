"""Interpreters and folders, each listed once."""

from __future__ import annotations

import sys
from pathlib import Path

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
