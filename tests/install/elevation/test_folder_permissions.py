"""Who may change a folder on Windows: read from its permissions, and refused where others could."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError

if sys.platform != "win32":
    pytest.skip("Windows' lists of permissions; test_attacks has Unix'", allow_module_level=True)

from gpu_assistant.system.windows.elevation import (
    ADMINISTRATOR_SIDS,
    WindowsElevatedSystem,
    read_owner_and_aces,
    writer_sids,
)

pytestmark = pytest.mark.windows


def contents(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


ADMIN, USERS, EVERYBODY, SOMEBODY = "S-1-5-32-544", "S-1-5-32-545", "S-1-1-0", "S-1-5-21-1-2-3-1001"
FULL, READ = 0x1F01FF, 0x1200A9


@pytest.mark.parametrize(
    ("owner", "entries", "others"),
    [
        (ADMIN, ((0, 3, FULL, ADMIN), (0, 3, FULL, "S-1-5-18"), (0, 3, READ, USERS)), set()),
        (SOMEBODY, ((0, 3, FULL, ADMIN),), {SOMEBODY}),
        (ADMIN, ((0, 3, READ | 0x2, USERS),), {USERS}),  # new files
        (ADMIN, ((0, 3, READ | 0x40, USERS),), {USERS}),  # delete what is in it
        (ADMIN, ((0, 3, 0x10000000, EVERYBODY),), {EVERYBODY}),
        (ADMIN, ((0, 0xB, FULL, USERS),), set()),  # for what will lie in it only
        (ADMIN, ((1, 3, FULL, USERS),), set()),  # a denial
        (ADMIN, ((5, 3, FULL, "?"),), {"?"}),  # of a kind that we cannot read
        (ADMIN, (), set()),
        (ADMIN, None, {EVERYBODY}),
    ],
)
def test_writers_of_folder_are_read_from_acl(
    owner: str, entries: tuple[tuple[int, int, int, str], ...] | None, others: set[str]
) -> None:
    assert writer_sids(owner, entries) - ADMINISTRATOR_SIDS == others


def test_user_writable_folder_is_refused(tmp_path: Path) -> None:
    owner, entries = read_owner_and_aces(tmp_path)
    assert owner.startswith("S-1-5-")
    assert entries
    others = writer_sids(owner, entries) - ADMINISTRATOR_SIDS
    if not others:
        pytest.skip("everything here belongs to administrators")
    with pytest.raises(AppError) as caught:
        WindowsElevatedSystem().check_private_folder(tmp_path)
    assert caught.value.code == "door-folder"
    WindowsElevatedSystem(ADMINISTRATOR_SIDS | others).check_private_folder(tmp_path)


def test_path_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for path in (file, tmp_path / "away"):
        with pytest.raises(AppError):
            WindowsElevatedSystem(ADMINISTRATOR_SIDS).check_private_folder(path)


def test_private_folder_is_created_once() -> None:
    rights = WindowsElevatedSystem(ADMINISTRATOR_SIDS | {read_owner_and_aces(Path.home())[0]})
    name = "gpu-assistant-test-of-the-door"
    folder = rights.create_private_folder(name)
    try:
        assert folder == rights.private_folder_path(name)
        with pytest.raises(AppError) as caught:
            rights.create_private_folder(name)
        assert caught.value.code == "door-folder"
    finally:
        folder.rmdir()


class TestUnpackFolder:
    """The folder of the drive to which NVIDIA's package unpacks itself, and which everybody may make beforehand."""

    @pytest.fixture
    def rights(self, tmp_path: Path) -> WindowsElevatedSystem:
        return WindowsElevatedSystem(ADMINISTRATOR_SIDS | {read_owner_and_aces(tmp_path)[0]}, drive=tmp_path)

    def test_earlier_folder_gives_way_and_returns(self, rights: WindowsElevatedSystem, tmp_path: Path) -> None:
        folder = tmp_path / "NVIDIA"
        folder.mkdir()
        (folder / "setup.exe").write_text("a thief's")
        with rights.private_unpack_folder("NVIDIA"):
            rights.check_private_folder(folder)
            assert not (folder / "setup.exe").exists()
            (folder / "setup.exe").write_text("the package's")
        assert (folder / "setup.exe").read_text() == "a thief's"
        assert list(tmp_path.iterdir()) == [folder]

    def test_new_folder_is_removed(self, rights: WindowsElevatedSystem, tmp_path: Path) -> None:
        with rights.private_unpack_folder("NVIDIA"):
            (tmp_path / "NVIDIA" / "setup.exe").touch()
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("earlier", [True, False])
    def test_folder_of_killed_run_is_deleted_and_the_earlier_one_returns(
        self, rights: WindowsElevatedSystem, tmp_path: Path, earlier: bool
    ) -> None:
        if earlier:
            (tmp_path / "NVIDIA").mkdir()
            (tmp_path / "NVIDIA" / "earlier").touch()
        killed = ExitStack()  # never left, as a run that is killed leaves nothing
        killed.enter_context(rights.private_unpack_folder("NVIDIA"))
        (tmp_path / "NVIDIA" / "half").touch()
        with rights.private_unpack_folder("NVIDIA"):
            assert not (tmp_path / "NVIDIA" / "half").exists()
        assert contents(tmp_path) == ({"NVIDIA", "NVIDIA/earlier"} if earlier else set())

    def test_new_folder_of_somebody_after_a_killed_run_gives_way_and_returns(
        self, rights: WindowsElevatedSystem, tmp_path: Path
    ) -> None:
        for folder, file in (("NVIDIA.before-gpu-assistant", "earlier"), ("NVIDIA", "somebody's")):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / file).touch()
        before = contents(tmp_path)
        with rights.private_unpack_folder("NVIDIA"):
            rights.check_private_folder(tmp_path / "NVIDIA")
            assert not (tmp_path / "NVIDIA" / "somebody's").exists()
            assert (tmp_path / "NVIDIA.before-gpu-assistant-2" / "somebody's").is_file()
        assert contents(tmp_path) == before

    def test_folder_of_administrators_without_our_mark_is_not_deleted(
        self, rights: WindowsElevatedSystem, tmp_path: Path
    ) -> None:
        (tmp_path / "NVIDIA.before-gpu-assistant").mkdir()
        (tmp_path / "NVIDIA").mkdir()
        (tmp_path / "NVIDIA" / "kept").touch()
        rights.check_private_folder(tmp_path / "NVIDIA")
        with rights.private_unpack_folder("NVIDIA"):
            pass
        assert (tmp_path / "NVIDIA" / "kept").is_file()

    def test_earlier_folder_returns_where_no_private_one_can_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "NVIDIA").mkdir()
        (tmp_path / "NVIDIA" / "earlier").touch()
        nobody_is_trusted = WindowsElevatedSystem(frozenset(), drive=tmp_path)
        with pytest.raises(AppError) as caught, nobody_is_trusted.private_unpack_folder("NVIDIA"):
            pytest.fail("a folder that others may change was used")
        assert caught.value.code == "door-folder"
        assert contents(tmp_path) == {"NVIDIA", "NVIDIA/earlier"}

    def test_no_folder_is_nothing_to_protect(self, rights: WindowsElevatedSystem, tmp_path: Path) -> None:
        with rights.private_unpack_folder(None):
            assert not list(tmp_path.iterdir())
