"""The new version's file: fetched, gone on with, checked once more, handed over."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.core.errors import AppError, Cancelled, NetworkError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.ownership import MARKER_NAME, claim_folder
from gpu_assistant.texts.localized import Texts
from gpu_assistant.update.files import MARKER_PATH, UpdateDownloadProgress, installation_kind
from gpu_assistant.update.service import UpdateService
from tests.fakes.fault_server import Fault
from tests.fakes.system import FakeSystem
from tests.fakes.updates import Publisher

SETUP = bytes(range(256)) * 4096  # 1 MiB
NAME = "Setup-1.2.0.exe"


class Starting(FakeSystem):
    """A Windows that notes what it would start, after the same check."""

    def __init__(self) -> None:
        super().__init__(name="windows")
        self.started: list[Path] = []

    def start_checked(self, program: Path, check) -> None:
        with program.open("rb") as file:
            check(file)
        self.started.append(program)


@pytest.fixture
def system() -> Starting:
    return Starting()


@pytest.fixture
def service(publisher: Publisher, tmp_path: Path, system: Starting) -> UpdateService:
    return publisher.service(tmp_path, system)


def fetched(service: UpdateService, file: Any) -> Path:
    return service.download(file).run(JobContext())


def test_download_reports_progress(publisher, service, tmp_path) -> None:
    events: list[UpdateDownloadProgress] = []
    path = service.download(publisher.file(SETUP)).run(JobContext(report=events.append))
    assert path == tmp_path / "cache" / "updates" / NAME
    assert path.read_bytes() == SETUP
    assert (events[-1].done, events[-1].total) == (len(SETUP), len(SETUP))
    assert events[-1].id == NAME


def test_broken_download_resumes(publisher, service) -> None:
    file = publisher.file(SETUP)
    served = publisher.server.files[f"/files/{NAME}"]
    served.faults = [Fault("drop", after=300_000), *[Fault("status", status=503)] * 5]
    with pytest.raises(NetworkError):
        fetched(service, file)
    assert not (service.folder / NAME).exists()
    before = publisher.server.sent
    served.faults = []
    assert fetched(service, file).read_bytes() == SETUP
    assert publisher.server.sent - before == len(SETUP) - 300_000
    assert publisher.server.gets(f"/files/{NAME}")[-1].range == "bytes=300000-"


def test_cancelled_download_keeps_partial_file(publisher, service) -> None:
    file = publisher.file(SETUP)
    publisher.server.files[f"/files/{NAME}"].faults = [Fault("stall", after=400_000)]
    context: JobContext[Any] = JobContext()
    part = service.folder / f"{NAME}.part"

    def stop() -> None:
        publisher.server.stalled.wait(60)
        # The server has sent its bytes; ours stop only once they are on the disk.
        deadline = time.monotonic() + 10
        while not (part.exists() and part.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.01)
        context.cancel.set()

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(Cancelled):
        service.download(file).run(context)
    stopper.join()
    assert part.stat().st_size > 0
    publisher.server.let_go.set()
    assert fetched(service, file).read_bytes() == SETUP


def test_wrong_hash_is_not_renamed(publisher, service) -> None:
    file = publisher.file(SETUP)
    publisher.server.files[f"/files/{NAME}"].data = SETUP[:-1] + b"!"
    with pytest.raises(AppError) as error:
        fetched(service, file)
    assert error.value.code == "update-mismatch"
    assert "another source" not in Texts("en").error_text(error.value)
    assert names(service.folder) == []


def test_wrong_size_is_refused_before_reading(publisher, service) -> None:
    file = msgspec.structs.replace(publisher.file(SETUP), bytes=1000)
    with pytest.raises(AppError) as error:
        fetched(service, file)
    assert error.value.code == "update-mismatch"
    assert not (service.folder / NAME).exists()


def test_missing_file_error_offers_no_other_source(publisher, service) -> None:
    file = publisher.file(SETUP)
    publisher.server.files.clear()
    with pytest.raises(NetworkError) as error:
        fetched(service, file)
    assert (error.value.code, error.value.data["name"]) == ("update-refused", NAME)
    assert "another source" not in Texts("en").error_text(error.value)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name != MARKER_NAME]


def test_foreign_folder_is_left_alone(publisher, service) -> None:
    """Files of somebody else's in a data folder's cache/updates are not deleted as old downloads."""
    service.folder.mkdir(parents=True)
    (service.folder / "thesis.txt").write_bytes(b"all of it")
    with pytest.raises(AppError) as error:
        fetched(service, publisher.file(SETUP))
    assert error.value.code == "folder-not-ours"
    assert names(service.folder) == ["thesis.txt"]


def test_new_download_removes_old_files(publisher, service) -> None:
    claim_folder(service.folder)
    (service.folder / "version.dll").write_bytes(b"planted")
    fetched(service, publisher.file(SETUP))
    assert names(service.folder) == [NAME]


# Handing over


def test_installer_starts_in_clean_folder(publisher, service, system) -> None:
    file = publisher.file(SETUP)
    path = fetched(service, file)
    (service.folder / "version.dll").write_bytes(b"planted")
    assert service.has_installer
    assert service.install_or_show(file).run(JobContext()) is True
    assert system.started == [path]
    assert names(service.folder) == [NAME]


@pytest.mark.parametrize("content", [SETUP[:-1] + b"!", SETUP + b"!", SETUP[:-1], b""])
def test_changed_file_is_not_started(publisher, service, system, content) -> None:
    file = publisher.file(SETUP)
    fetched(service, file).write_bytes(content)
    with pytest.raises(AppError) as error:
        service.install_or_show(file).run(JobContext())
    assert error.value.code == "update-changed"
    assert system.started == []


def test_a_changed_file_is_fetched_again(publisher, service) -> None:
    file = publisher.file(SETUP)
    fetched(service, file).write_bytes(SETUP[:-1] + b"!")
    assert fetched(service, file).read_bytes() == SETUP


def test_missing_file_is_not_started(publisher, service, system) -> None:
    file = publisher.file(SETUP)
    fetched(service, file).unlink()
    with pytest.raises(AppError) as error:
        service.install_or_show(file).run(JobContext())
    assert error.value.code == "update-changed"
    assert system.started == []


def test_failed_start_is_reported(publisher, service, system, monkeypatch) -> None:
    def refused(program, check):
        raise OSError(13, "Access denied")

    file = publisher.file(SETUP)
    fetched(service, file)
    monkeypatch.setattr(system, "start_checked", refused)
    with pytest.raises(AppError) as error:
        service.install_or_show(file).run(JobContext())
    assert (error.value.code, error.value.data["detail"]) == ("update-start", "@os.denied")


@pytest.mark.parametrize(
    ("kind", "name", "start"),
    [
        ("windows-portable", "GPU-Assistant-1.2.0.zip", None),
        ("deb", "gpu-assistant_1.2.0_amd64.deb", "sudo apt install "),
        ("wheel", "gpu_assistant-1.2.0-py3-none-any.whl", None),
    ],
)
def test_other_files_are_shown_in_folder(publisher, tmp_path, kind, name, start) -> None:
    system = Starting() if kind == "windows-portable" else FakeSystem()
    service = publisher.service(tmp_path, system, kind=kind)
    file = publisher.file(SETUP, kind, name)
    assert service.file(publisher.statement("1.2.0", publisher.file(SETUP), file)) == file
    path = fetched(service, file)
    assert not service.has_installer
    assert service.install_or_show(file).run(JobContext()) is False
    assert system.opened == [path.parent]
    if kind == "wheel":
        assert f"{sys.executable}" in service.install_command(path)
    elif start is None:
        assert service.install_command(path) is None
    else:
        assert service.install_command(path).startswith(start)
    path.write_bytes(b"changed")
    with pytest.raises(AppError):
        service.install_or_show(file).run(JobContext())
    assert len(system.opened) == 1


def test_installer_only_on_windows(publisher, tmp_path) -> None:
    assert not publisher.service(tmp_path, FakeSystem(name="linux")).has_installer


# How it was installed


@pytest.mark.parametrize("kind", ["windows-installer", "windows-portable", "deb", "wheel"])
def test_installation_marker_is_read(tmp_path, kind) -> None:
    note = tmp_path / "installed.json"
    note.write_text(json.dumps({"kind": kind, "version": "1.0.0"}), encoding="utf-8")
    assert installation_kind(note) == kind


@pytest.mark.parametrize("content", [None, b"", b'{"kind": "msi"}', b'{"kind": "source"}', b"\xff\xfe"])
def test_without_marker_it_is_wheel_or_source(tmp_path, content) -> None:
    note, package = tmp_path / "installed.json", tmp_path / "gpu_assistant"
    if content is not None:
        note.write_bytes(content)
    (tmp_path / "resources").mkdir()
    assert installation_kind(note, package) == "source"
    (package / "resources").mkdir(parents=True)
    assert installation_kind(note, package) == "wheel"


def test_this_checkout_is_source() -> None:
    assert installation_kind() == "source"


def test_source_has_no_update_file(publisher, tmp_path) -> None:
    service = publisher.service(tmp_path, FakeSystem(), kind="source")
    wheel = publisher.file(SETUP, "wheel", "gpu_assistant-1.2.0-py3-none-any.whl")
    assert service.file(publisher.statement("1.2.0", wheel)) is None
    assert not service.has_installer
    assert service.install_command(tmp_path / wheel.name) is None


def test_marker_path() -> None:
    import gpu_assistant

    assert Path(gpu_assistant.__file__).resolve().parents[2] / "installed.json" == MARKER_PATH


# The release tool's command line


def test_release_tool_end_to_end(tmp_path, publisher) -> None:
    def tool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "installers.statement", *map(str, arguments)]
        root = Path(__file__).resolve().parents[2]
        return subprocess.run(argv, cwd=root, capture_output=True, encoding="utf-8", timeout=60, check=False)

    setup, text, answer = tmp_path / NAME, tmp_path / "statement.json", tmp_path / "newest.json"
    setup.write_bytes(SETUP)
    made = tool("key", "2026-a", "-o", tmp_path / "key")
    public = json.loads(made.stdout)
    assert tool("key", "2026-a", "-o", tmp_path / "key").returncode == 1  # a key is never overwritten
    base = ("--base", "https://example.invalid/1.2.0")
    assert tool("write", setup, "--version", "1.2.0", *base, "--days", "60", "-o", text).returncode == 0
    assert tool("sign", text, "--key", tmp_path / "key", "-o", answer).returncode == 0
    catalog = tmp_path / "catalog"
    catalog.mkdir()
    known = json.loads(msgspec.json.encode(publisher.source))
    known["root"] |= {"release_keys": [public], "expires": "2036-11-21"}
    (catalog / "updates.json").write_text(json.dumps(known), encoding="utf-8")
    checked = tool("check", answer, "--catalog", catalog)
    assert json.loads(checked.stdout)["files"][0]["bytes"] == len(SETUP)
    answer.write_bytes(answer.read_bytes().replace(b"1.2.0", b"6.6.6"))
    assert tool("check", answer, "--catalog", catalog).returncode == 1
    insecure = ("--base", "http://example.invalid")
    assert tool("write", setup, "--version", "1.2.0", *insecure, "--days", "60", "-o", text).returncode == 1
