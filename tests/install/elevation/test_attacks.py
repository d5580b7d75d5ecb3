"""What a program of the user's may try against the helper: each is refused before anything is done."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.versions import Version
from gpu_assistant.install.elevation import helper
from gpu_assistant.install.elevation.helper import ElevationHelper, InstallerCall
from gpu_assistant.install.elevation.protocol import (
    MAX_REQUEST_BYTES,
    REQUEST_REFUSED,
    CudaToolkitRequest,
    VcRedistRequest,
    WindowsDriverRequest,
    request_folder_name,
)
from gpu_assistant.system.base import ProcessResult
from tests.fakes.system import FakeSystem
from tests.install.elevation.helper import tried_rights
from tests.install.elevation.in_process import InsideRights
from tests.install.small_disk import tmpfs

NONCE = "0" * 32
links = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of Unix; Wine makes no symbolic links")


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(helper, "ANSWER_TIMEOUT_S", 0.0)  # no client waits for the answers
    folder = tmp_path / "run"
    folder.mkdir()
    return folder


def serve(base: Path, request: bytes | Path, *, sha256: str | None = None, admin: bool = True) -> int:
    if isinstance(request, bytes):
        path = base.parent / "request.json"
        path.write_bytes(request)
    else:
        path = request
    digest = sha256 or hashlib.sha256(path.read_bytes()).hexdigest()
    system = FakeSystem(name="windows", is_admin=admin, run=lambda *_, **__: pytest.fail("something was run"))
    return ElevationHelper(system, tried_rights(base), load_catalog(resources_dir() / "catalog")).handle_request(
        [str(path), digest]
    )


def request(**changes: Any) -> bytes:
    fields = {"verb": "windows-driver", "nonce": NONCE, "file": "C:\\a.exe", "sha256": "0" * 64} | changes
    return json.dumps({name: value for name, value in fields.items() if value is not None}).encode()


@pytest.mark.parametrize(
    "raw",
    [
        request(verb="run"),
        request(verb=None),
        request(more="field"),
        request(arguments=["-clean"]),
        request(nonce=None),
        request(nonce="short"),
        request(sha256="0" * 63),
        request(sha256="0" * 64 + "\n"),
        request(file=""),
        request(file=["a"]),
        request(file="a" * 5000),
        request(file="a" * MAX_REQUEST_BYTES),
        b"[" * 50_000,
        b"",
        b"\xff\xfe",
        json.dumps({"verb": "linux-packages", "nonce": NONCE, "packages": ["-o=a"]}).encode(),
        json.dumps({"verb": "linux-packages", "nonce": NONCE, "packages": ["a b"]}).encode(),
        json.dumps({"verb": "linux-packages", "nonce": NONCE, "packages": ["a/b"]}).encode(),
        json.dumps({"verb": "linux-packages", "nonce": NONCE, "packages": []}).encode(),
        json.dumps({"verb": "linux-packages", "nonce": NONCE, "packages": ["aa"] * 17}).encode(),
    ],
    ids=range(20),
)
def test_malformed_request_is_not_answered(base: Path, raw: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    assert serve(base, raw) == REQUEST_REFUSED
    assert capsys.readouterr().err.startswith("door-request")
    assert not list(base.iterdir())


def test_swapped_request_is_refused(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert serve(base, request(), sha256="0" * 64) == REQUEST_REFUSED
    assert "sha256" in capsys.readouterr().err
    assert not list(base.iterdir())


def test_nothing_is_read_without_rights(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert serve(base, request(), admin=False) == REQUEST_REFUSED
    assert capsys.readouterr().err.startswith("door-no-rights")


@pytest.mark.parametrize("arguments", [(), ("one",), ("one", "two", "three")])
def test_other_arguments_are_refused(base: Path, arguments: tuple[str, ...]) -> None:
    system = FakeSystem(is_admin=True)
    assert (
        ElevationHelper(system, tried_rights(base), load_catalog(resources_dir() / "catalog")).handle_request(arguments)
        == REQUEST_REFUSED
    )


@links
def test_request_behind_link_is_refused(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    real = base.parent / "real.json"
    real.write_bytes(request())
    link = base.parent / "link.json"
    link.symlink_to(real)
    assert serve(base, link) == REQUEST_REFUSED
    assert capsys.readouterr().err.startswith("door-file")


@links
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir] if sys.platform != "win32" else [])
def test_request_that_is_no_file_does_not_block(base: Path, make: Callable[[Path], None]) -> None:
    path = base.parent / "odd"
    make(path)
    assert serve(base, path, sha256="0" * 64) == REQUEST_REFUSED


def test_path_with_parent_folder_is_refused(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (base.parent / "request.json").write_bytes(request())
    assert serve(base, base / ".." / "request.json") == REQUEST_REFUSED
    assert capsys.readouterr().err.startswith("door-file")


@links
def test_answer_is_not_written_through_link(base: Path, tmp_path: Path) -> None:
    raw = request()
    loot = tmp_path / "loot"
    loot.mkdir()
    (base / request_folder_name(raw)).symlink_to(loot)
    assert serve(base, raw) == REQUEST_REFUSED
    assert not list(loot.iterdir())


@links
def test_existing_folder_is_refused(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = request()
    (base / request_folder_name(raw)).mkdir()
    assert serve(base, raw) == REQUEST_REFUSED
    assert capsys.readouterr().err.startswith("door-folder")


@links
@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_folder_writable_by_others_is_refused(base: Path, mode: int) -> None:
    rights = tried_rights(base)
    rights.check_private_folder(base)
    base.chmod(mode)
    with pytest.raises(AppError) as caught:
        rights.check_private_folder(base)
    assert caught.value.code == "door-folder"
    with pytest.raises(AppError):
        rights.check_private_folder(rights.private_folder_path("x").parent)
    assert serve(base, request()) == REQUEST_REFUSED


@links
def test_folder_below_writable_one_is_refused(base: Path) -> None:
    inner = base / "inner"
    inner.mkdir()
    base.chmod(0o777)
    with pytest.raises(AppError):
        tried_rights(base).check_private_folder(inner)


class Watched:
    """Rights whose private folder is the test's, and whose signer is told."""

    def __init__(
        self, base: Path, publisher: str, meanwhile: Callable[[], None] = lambda: None, version: str | None = None
    ) -> None:
        self._real, self._publisher, self._meanwhile = tried_rights(base), publisher, meanwhile
        self._version = version

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    @property
    def windows(self) -> Any:
        return self

    def file_version(self, file: Path) -> str | None:
        return self._version

    def publisher(self, file: Path, signed_since: datetime | None = None) -> str:
        self._meanwhile()
        self.signed_since = signed_since
        self.judged = file.read_bytes()
        return self._publisher

    def private_unpack_folder(self, name: str | None) -> AbstractContextManager[None]:
        assert name is None
        return nullcontext()


GOOD, BAD = b"what was checked", b"what was put in its place"
CALL = InstallerCall("setup.exe", ("-s",), "Maker")


def tried(base: Path, publisher: str, *, swap_after: bool = False, sha256: str | None = None) -> list[bytes]:
    """Run a program file that a thief swaps after the check; gives what was run."""
    source = base.parent / "setup.exe"
    source.write_bytes(GOOD)
    ran: list[bytes] = []

    def run(argv: Any, *, environ: dict[str, str], **_: Any) -> Any:
        # What it unpacks lies in the private folder, too.
        assert environ == dict.fromkeys(("TEMP", "TMP"), str(Path(argv[0]).parent))
        ran.append(Path(argv[0]).read_bytes())
        assert list(argv[1:]) == ["-s"]
        return ProcessResult(returncode=3858759936, stdout="", stderr="")

    rights = Watched(base, publisher, (lambda: source.write_bytes(BAD) and None) if swap_after else lambda: None)
    folder = rights.create_private_folder("private") if sys.platform != "win32" else base
    wanted = WindowsDriverRequest(nonce=NONCE, file=str(source), sha256=sha256 or hashlib.sha256(GOOD).hexdigest())
    answer = helper.run_installer(CALL, wanted, folder, FakeSystem(run=run), rights, before_run=lambda: None)
    assert answer.exit_code == -436207360
    assert rights.judged == GOOD
    assert not list(folder.iterdir())
    return ran


def test_file_swapped_after_check_is_not_run(base: Path) -> None:
    assert tried(base, "Maker", swap_after=True) == [GOOD]


def test_file_swapped_before_check_is_refused(base: Path) -> None:
    with pytest.raises(AppError) as caught:
        tried(base, "Maker", sha256=hashlib.sha256(BAD).hexdigest())
    assert caught.value.code == "door-changed"


@pytest.mark.parametrize("publisher", ["Taker", "Maker Inc", "maker", ""])
def test_file_of_other_publisher_is_refused(base: Path, publisher: str) -> None:
    with pytest.raises(AppError) as caught:
        tried(base, publisher)
    assert caught.value.code == "signature-other"


def run_call(base: Path, call: InstallerCall, rights: Watched) -> None:
    source = base.parent / "setup.exe"
    source.write_bytes(GOOD)
    folder = rights.create_private_folder("private") if sys.platform != "win32" else base
    wanted = WindowsDriverRequest(nonce=NONCE, file=str(source), sha256=hashlib.sha256(GOOD).hexdigest())
    system = FakeSystem(run=lambda *_, **__: ProcessResult(returncode=0, stdout="", stderr=""))
    helper.run_installer(call, wanted, folder, system, rights, before_run=lambda: None)


@pytest.mark.linux
def test_full_system_disk_is_called_full(base: Path) -> None:
    """The copy that is checked and run lies there."""
    content = bytes(2**21)
    source = base.parent / "large.exe"
    source.write_bytes(content)
    wanted = WindowsDriverRequest(nonce=NONCE, file=str(source), sha256=hashlib.sha256(content).hexdigest())
    with tmpfs(base.parent / "small", "size=1m,mode=700") as disk:
        rights = Watched(disk, "Maker")
        folder = rights.create_private_folder("private")
        with pytest.raises(AppError) as caught:
            helper.run_installer(CALL, wanted, folder, FakeSystem(), rights, before_run=lambda: None)
        assert caught.value.code == "disk-full"
        assert not list(folder.iterdir())


FLOOR = InstallerCall("setup.exe", (), "Maker", lowest=Version("14.50.35719.0"))


@pytest.mark.parametrize("version", ["14.50.35718.9", "14.38.33130.0", None])
def test_older_version_of_the_publisher_is_refused(base: Path, version: str | None) -> None:
    with pytest.raises(AppError) as caught:
        run_call(base, FLOOR, Watched(base, "Maker", version=version))
    assert caught.value.code == "door-older"


def test_lowest_version_is_run(base: Path) -> None:
    run_call(base, FLOOR, Watched(base, "Maker", version="14.50.35719.0"))


@pytest.mark.parametrize("is_known", [True, False])
def test_only_what_the_catalog_knows_may_be_signed_long_ago(base: Path, is_known: bool) -> None:
    since = datetime(2025, 10, 14, tzinfo=UTC)
    known = frozenset([hashlib.sha256(GOOD).hexdigest()]) if is_known else frozenset[str]()
    rights = Watched(base, "Maker")
    run_call(base, InstallerCall("setup.exe", (), "Maker", signed_since=since, known=known), rights)
    assert rights.signed_since == (None if is_known else since)


def test_every_installer_has_a_floor() -> None:
    """By version, by the time of its signature, or because the catalog has its checksum."""
    catalog = load_catalog(resources_dir() / "catalog")
    request = {"nonce": NONCE, "file": "C:\\a.exe", "sha256": "0" * 64}
    assert helper.installer_call(VcRedistRequest(**request), catalog).lowest is not None
    driver = helper.installer_call(WindowsDriverRequest(**request), catalog)
    assert driver.signed_since is not None
    assert driver.known
    versions = [toolkit.version.text for toolkit in catalog.cuda.toolkits]
    calls = []
    for version in versions:
        with suppress(AppError):  # no installer is offered
            calls.append(helper.installer_call(CudaToolkitRequest(**request, version=version), catalog))
    assert len(calls) > 10
    assert all(call.digest is not None for call in calls)


@links
def test_program_behind_link_is_refused(base: Path) -> None:
    real = base.parent / "real.exe"
    real.write_bytes(GOOD)
    link = base.parent / "link.exe"
    link.symlink_to(real)
    wanted = WindowsDriverRequest(nonce=NONCE, file=str(link), sha256=hashlib.sha256(GOOD).hexdigest())
    rights = Watched(base, "Maker")
    with pytest.raises(AppError) as caught:
        helper.run_installer(
            CALL, wanted, rights.create_private_folder("private"), FakeSystem(), rights, before_run=lambda: None
        )
    assert caught.value.code == "door-file"


@links
def test_answer_of_a_client_that_died_is_removed(base: Path) -> None:
    assert serve(base, request()) == 0
    assert not list(base.iterdir())


def test_nothing_begins_for_a_client_that_was_cancelled_meanwhile(base: Path) -> None:
    path = base.parent / "request.json"
    path.write_bytes(request(verb="wsl-platform", file=None, sha256=None))

    class Slow(InsideRights):
        def create_private_folder(self, name: str) -> Path:
            path.unlink()
            return super().create_private_folder(name)

    system = FakeSystem(name="windows", is_admin=True, run=lambda *_, **__: pytest.fail("something was run"))
    tool = base.parent / "wsl.exe"
    tool.touch()
    rights, catalog = Slow(base, base.parent), load_catalog(resources_dir() / "catalog")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert ElevationHelper(system, rights, catalog).handle_request([str(path), digest]) == REQUEST_REFUSED
    assert not list(base.iterdir())


def test_paths_below_the_private_folder_stay_short() -> None:
    r"""C:\Windows\Temp\NAME\work and 200 characters of a CUDA Toolkit are less than 260."""
    assert len(rf"C:\Windows\Temp\{request_folder_name(request())}\work") + 200 < 260
