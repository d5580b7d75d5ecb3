"""Archives that are honest, and archives that want out, grow without end, or are cut."""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
import threading
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError, Cancelled
from gpu_assistant.install.files import archives
from gpu_assistant.install.files.archives import ArchiveLimits, reserved_on_windows, unpack

linux_only = pytest.mark.skipif(sys.platform == "win32", reason="an account on Windows may make no links")


def info(name: str, **more: object) -> tarfile.TarInfo:
    created = tarfile.TarInfo(name)
    created.mode = 0o644
    for key, value in more.items():
        setattr(created, key, value)
    return created


def symlink(name: str, target: str) -> tarfile.TarInfo:
    return info(name, type=tarfile.SYMTYPE, linkname=target)


def tar(path: Path, *members: tuple[tarfile.TarInfo, bytes], mode: str = "w:xz") -> Path:
    with tarfile.open(path, mode) as packed:  # type: ignore[call-overload]
        for member, data in members:
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
    return path


def zipped(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members:
            packed.writestr(name, data)
    return path


def named(name: str, attributes: int) -> zipfile.ZipInfo:
    created = zipfile.ZipInfo(name)
    created.create_system, created.external_attr = 3, attributes << 16
    return created


def run(archive: Path, into: Path, **more: object) -> dict[str, str]:
    return unpack(archive, into, cancel=threading.Event(), **more)  # type: ignore[arg-type]


def peak_bytes(archive: Path, into: Path) -> int:
    """The memory at most while an archive is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(AppError) as refused:
            run(archive, into)
        assert refused.value.code == "archive-broken"
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["one", "many", "global", "name"])
def test_large_headers_cost_no_memory(tmp_path: Path, kind: str) -> None:
    archive = tmp_path / "a.tar.gz"
    size = 32 * 2**20
    shared = {"comment": "x" * size} if kind == "global" else {}
    layout = tarfile.GNU_FORMAT if kind == "name" else tarfile.PAX_FORMAT
    with tarfile.open(archive, "w:gz", format=layout, pax_headers=shared) as created:
        if kind == "many":
            for number in range(1200):
                created.addfile(info(f"{number}", pax_headers={"comment": "x" * 60_000}))
        elif kind == "name":
            created.addfile(info("x" * size))
        else:
            created.addfile(info("a", pax_headers={"comment": "x" * size}))
    assert archive.stat().st_size < 400_000
    assert peak_bytes(archive, tmp_path / "out") < 40 * 2**20


@pytest.mark.parametrize("name", ["a/" * 5000 + "b", "a/" * 100 + "b", "a" * 300, "é" * 200, "/".join(["a" * 200] * 6)])
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_path_that_is_too_deep_or_too_long_is_refused(tmp_path: Path, kind: str, name: str) -> None:
    if kind == "zip":
        archive = zipped(tmp_path / "a.zip", (name, b""))
    else:
        archive = tar(tmp_path / "a.tar.xz", (info(name), b""))
    with pytest.raises(AppError) as refused:
        run(archive, tmp_path / "out")
    assert refused.value.code == "archive-broken"
    assert not any((tmp_path / "out").iterdir())


def test_zip_with_a_large_directory_is_refused_unread(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", *((f"{number}", b"") for number in range(200)))
    with pytest.raises(AppError) as refused:
        run(archive, tmp_path / "out", limits=ArchiveLimits(max_directory_bytes=5_000))
    assert refused.value.code == "archive-broken"
    assert len(run(archive, tmp_path / "out")) == 200


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def refused(archive: Path, into: Path, **more: object) -> None:
    with pytest.raises(AppError) as caught:
        run(archive, into, **more)
    assert (caught.value.code, caught.value.data) == ("archive-broken", {"name": archive.name})


@pytest.mark.parametrize("kind", ["tar.xz", "tar.gz", "zip"])
def test_unpack_returns_each_file_with_hash(tmp_path: Path, kind: str) -> None:
    members = {"./top/bin/nvcc": b"a program", "top/include/deep/er/x.h": b"", "top/LICENSE": b"words"}
    path = tmp_path / f"a.{kind}"
    if kind == "zip":
        zipped(path, *((named(name.removeprefix("./"), 0o100755), data) for name, data in members.items()))
    else:
        tar(path, *((info(name, mode=0o755), data) for name, data in members.items()), mode=f"w:{kind[4:]}")
    into = tmp_path / "tree"
    result = run(path, into, path_for=lambda name: None if name == "top/LICENSE" else name.partition("/")[2])
    assert result == {"bin/nvcc": sha256(b"a program"), "include/deep/er/x.h": sha256(b"")}
    assert (into / "bin" / "nvcc").read_bytes() == b"a program"
    assert sorted(entry.name for entry in into.iterdir()) == ["bin", "include"]
    if sys.platform != "win32":
        assert (into / "bin" / "nvcc").stat().st_mode & 0o777 == 0o755


@linux_only
def test_links_inside_the_folder_are_created(tmp_path: Path) -> None:
    path = tar(
        tmp_path / "a.tar.xz",
        (info("lib/x.so.1"), b"library"),
        (symlink("lib/x.so", "x.so.1"), b""),
        (symlink("a/b/up", "../../lib"), b""),
        (info("lib/second", type=tarfile.LNKTYPE, linkname="lib/x.so.1"), b""),
    )
    result = run(path, tmp_path / "tree")
    assert (result["lib/x.so"], result["a/b/up"], result["lib/second"]) == (
        "-> x.so.1",
        "-> ../../lib",
        sha256(b"library"),
    )
    assert (tmp_path / "tree" / "a" / "b" / "up" / "x.so").read_bytes() == b"library"
    assert (tmp_path / "tree" / "lib" / "second").stat().st_nlink == 1


BAD_NAMES = [
    "../evil",
    "/evil",
    "a/../../evil",
    "C:evil",
    "a\\..\\evil",
    "a\nb",
    "a//evil",
    "x/NUL",
    "aux.h",
    "x./y",
    "x ",
]


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize("kind", ["tar.xz", "zip"])
def test_member_names_outside_the_folder_are_refused(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    if kind == "zip":
        zipped(path, ("fine", b"1"), (name, b"evil"))
    else:
        tar(path, (info("fine"), b"1"), (info(name), b"evil"))
    refused(path, tmp_path / "deep" / "tree")
    assert [entry.name for entry in tmp_path.rglob("*") if entry.is_file()] == [path.name, "fine"]


@pytest.mark.parametrize(
    "name", ["nul", "CON", "aux.h", "prn.tar.gz", "COM1", "lpt9.txt", "com²", "NUL .x", "CONIN$", "a.", "a "]
)
def test_reserved_on_windows(name: str) -> None:
    assert reserved_on_windows(name)


@pytest.mark.parametrize(
    "name", ["null", "console.h", "com10", "lpt", "aux_.h", "x.aux", "a.b", ".hidden", "a b", "nvcc", ""]
)
def test_not_reserved_on_windows(name: str) -> None:
    assert not reserved_on_windows(name)


BAD_MEMBERS: list[Callable[[], list[tuple[tarfile.TarInfo, bytes]]]] = [
    lambda: [(symlink("out", "/etc"), b"")],
    lambda: [(symlink("out", "../x"), b"")],
    lambda: [(symlink("a/out", "../../x"), b"")],
    lambda: [(symlink("out", ""), b"")],
    # Each link stays inside by its words, and both together lead out.
    lambda: [(symlink("d", "."), b""), (symlink("e", "d/d/d/../.."), b"")],
    lambda: [(symlink("d", "."), b""), (info("d/x"), b"through a link")],
    lambda: [(info("x", type=tarfile.LNKTYPE, linkname="/etc/passwd"), b"")],
    lambda: [(info("x", type=tarfile.LNKTYPE, linkname="../archive"), b"")],
    lambda: [(info("x", type=tarfile.LNKTYPE, linkname="later"), b"")],
    lambda: [(info("x", type=tarfile.FIFOTYPE), b"")],
    lambda: [(info("x", type=tarfile.CHRTYPE, devmajor=1, devminor=5), b"")],
    lambda: [(info("x"), b"1"), (info("x"), b"2")],
    lambda: [(info("x"), b"1"), (info("x/y"), b"2")],
]


@linux_only
@pytest.mark.parametrize("members", BAD_MEMBERS)
def test_outside_links_devices_and_duplicates_are_refused(
    tmp_path: Path, members: Callable[[], list[tuple[tarfile.TarInfo, bytes]]]
) -> None:
    refused(tar(tmp_path / "a.tar.xz", *members()), tmp_path / "tree")
    assert {entry.name for entry in tmp_path.iterdir()} == {"a.tar.xz", "tree"}


@pytest.mark.parametrize("attributes", [0o120777, 0o020666, 0o010644])
def test_links_and_devices_in_zip_are_refused(tmp_path: Path, attributes: int) -> None:
    refused(zipped(tmp_path / "a.zip", (named("x", attributes), b"/etc")), tmp_path / "tree")


def test_existing_link_in_place_of_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "elsewhere").mkdir()
    try:
        (tmp_path / "tree" / "bin").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    except OSError:
        pytest.skip("this account may make no links")
    if not (tmp_path / "tree" / "bin").is_symlink():
        pytest.skip("Wine does not show links")
    refused(zipped(tmp_path / "a.zip", ("bin/x", b"1")), tmp_path / "tree")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("kind", ["tar.xz", "zip"])
def test_archive_bombs_are_refused(tmp_path: Path, kind: str) -> None:
    path, data = tmp_path / f"a.{kind}", bytes(400_000)
    if kind == "zip":
        zipped(path, ("bomb", data))
    else:
        tar(path, (info("bomb"), data))
    small = ArchiveLimits(max_ratio=2, ratio_floor_bytes=100_000, reserve_bytes=0)
    refused(path, tmp_path / "tree", limits=small)
    assert run(
        path, tmp_path / "tree", limits=ArchiveLimits(max_ratio=2, ratio_floor_bytes=400_000, reserve_bytes=0)
    ) == {"bomb": sha256(data)}
    refused(path, tmp_path / "other", limits=ArchiveLimits(max_members=0))


def test_full_disk_is_refused_before_unpacking(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", ("x", b"1"))
    with pytest.raises(AppError) as caught:
        run(path, tmp_path / "tree", limits=ArchiveLimits(reserve_bytes=1 << 60))
    assert (caught.value.code, caught.value.data["needed_bytes"]) == ("disk-too-small", 1)
    assert list((tmp_path / "tree").iterdir()) == []


@pytest.fixture(params=["tar.xz", "tar.gz", "zip"])
def cut(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"a.{request.param}"
    data = b"".join(hashlib.sha256(bytes([i % 256, i // 256])).digest() for i in range(5000))
    if request.param == "zip":
        zipped(path, ("x", data))
    else:
        tar(path, (info("x"), data), mode=f"w:{request.param[4:]}")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return path


def test_truncated_archive_is_refused(cut: Path, tmp_path: Path) -> None:
    refused(cut, tmp_path / "tree")


def test_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"<html>Not Found</html>")
    refused(tmp_path / "a.zip", tmp_path / "tree")


def test_cancel_stops_between_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "BLOCK_BYTES", 1000)
    cancel, seen = threading.Event(), []

    def progress(done: int) -> None:
        seen.append(done)
        cancel.set()

    with pytest.raises(Cancelled):
        unpack(zipped(tmp_path / "a.zip", ("x", bytes(5000))), tmp_path / "tree", cancel=cancel, progress=progress)
    assert seen == [1000]


def test_file_of_another_archive_must_be_identical(tmp_path: Path) -> None:
    into = tmp_path / "tree"
    first = run(zipped(tmp_path / "a.zip", ("x.h", b"same")), into)
    again = run(zipped(tmp_path / "b.zip", ("x.h", b"same"), ("y.h", b"new")), into, existing=first)
    assert again == {"x.h": sha256(b"same"), "y.h": sha256(b"new")}
    refused(zipped(tmp_path / "c.zip", ("x.h", b"other")), into, existing=first)
    assert (into / "x.h").read_bytes() == b"same"
    # What is taken by nobody is left from an earlier try.
    assert run(zipped(tmp_path / "d.zip", ("x.h", b"other")), into) == {"x.h": sha256(b"other")}
    assert (into / "x.h").read_bytes() == b"other"


def test_path_too_long_for_windows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "max_path_length", lambda: len(str(tmp_path)) + 30)
    run(zipped(tmp_path / "a.zip", ("short.h", b"1")), tmp_path / "tree")
    with pytest.raises(AppError) as caught:
        run(zipped(tmp_path / "b.zip", ("a" * 30 + ".h", b"1")), tmp_path / "tree")
    assert (caught.value.code, caught.value.data["most"]) == ("archive-path-long", len(str(tmp_path)) + 30)
