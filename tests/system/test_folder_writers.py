"""Who may change what is in a folder, on Linux."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gpu_assistant.system import current_system
from gpu_assistant.system.base import FolderWriters

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="owners and permissions of Linux")
root = pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="gives files to other users")


def writers(folder: Path) -> FolderWriters:
    return current_system().folder_writers(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "above" / "wheels"
    made.mkdir(parents=True)
    return made


def test_folder_of_the_user_has_one_writer(folder: Path) -> None:
    import pwd

    folder.chmod(0o755)
    assert writers(folder) == FolderWriters((pwd.getpwuid(os.geteuid()).pw_name,))


def test_folder_that_all_may_write_has_everybody(folder: Path) -> None:
    folder.chmod(0o777)
    assert writers(folder).everybody
    folder.chmod(0o755)
    folder.parent.chmod(0o777)  # whoever renames the folder puts another one in its place
    assert writers(folder).everybody
    folder.parent.chmod(0o1777)
    assert not writers(folder).everybody


@root
def test_owners_and_members_of_groups_are_named(folder: Path) -> None:
    os.chown(folder, 1, 0)  # daemon's
    assert writers(folder).accounts == ("daemon",)
    os.chown(folder.parent, 2, 0)  # bin's, which may rename it
    assert writers(folder).accounts == ("bin", "daemon")
    os.chown(folder.parent, 0, 0)
    os.chown(folder, 1, 3)  # and of the group sys
    folder.chmod(0o775)
    assert writers(folder).accounts == ("daemon", "sys")


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        writers(tmp_path / "nowhere")
