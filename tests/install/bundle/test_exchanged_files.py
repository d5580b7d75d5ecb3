"""A bundle, or a file that was downloaded, is exchanged between the moment it is checked and the moment it is used."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.files import RemoteFile
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Event, StepEvent
from gpu_assistant.fetch.request import DownloadRequest
from gpu_assistant.install.bundle.format import list_hash
from gpu_assistant.install.bundle.source import BundleSource
from gpu_assistant.install.files.archives import unpack
from gpu_assistant.install.host import Host
from gpu_assistant.install.progress import ProgressReporter
from gpu_assistant.install.steps import context as steps_context
from gpu_assistant.install.steps.context import DownloadContext, download_bytes, own_copy
from gpu_assistant.system import current_system

from ...fakes.fault_server import fault_server
from .. import tiny_wheels
from ..bundle_sandbox import offline
from ..files.test_foreign_files import site
from ..sandbox import QUICK, Sandbox, end
from ..toolkit_sandbox import ToolkitSandbox

EVIL = b"import os; os.environ['EVIL'] = '1'\n"
POSIX = pytest.mark.skipif(os.name == "nt", reason="Windows does not let it happen: test_windows_keeps_writers_out")


def write_over(path: Path, data: bytes) -> None:
    """Other bytes in the same file."""
    path.write_bytes(data)


def put_in_place(path: Path, data: bytes) -> None:
    """Another file of the name."""
    other = path.with_name("other")
    other.write_bytes(data)
    other.replace(path)


def lead_elsewhere(path: Path, data: bytes) -> None:
    """A link to another file."""
    other = path.with_name("elsewhere")
    other.write_bytes(data)
    path.unlink()
    path.symlink_to(other)


EXCHANGES = [write_over, put_in_place, pytest.param(lead_elsewhere, marks=POSIX)]
REFUSALS = ("local-file-broken", "bundle-link")
Exchange = Callable[[Path, bytes], None]


def evil_torch(sandbox: Sandbox) -> bytes:
    version = sandbox.torch.name.split("-")[1]
    return tiny_wheels.torch(version, source=EVIL.decode()).data


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("step", ["resolve", "download"])
def test_wheel_of_a_bundle_that_is_exchanged_is_not_installed(
    sandbox: Sandbox, bundle: Path, exchange: Exchange, step: str
) -> None:
    plan = replace(offline(sandbox, bundle), bundle_sha256=list_hash(bundle))

    def watch(event: Event) -> None:
        if isinstance(event, StepEvent) and event.id == step and event.state in ("done", "skipped"):
            exchange(bundle / "wheels" / sandbox.torch.name, evil_torch(sandbox))

    with pytest.raises(AppError) as refused:
        sandbox.install(plan, watch=watch)
    assert refused.value.code in ("local-file-broken", "packages-failed", "bundle-link")
    assert not sandbox.environment.exists()


def test_list_and_lock_that_are_exchanged_count_no_more(sandbox: Sandbox, bundle: Path) -> None:
    plan = replace(offline(sandbox, bundle), bundle_sha256=list_hash(bundle))

    def watch(event: Event) -> None:
        if not isinstance(event, StepEvent) or (event.id, event.state) != ("resolve", "running"):
            return
        # Wheel, lock file and list fit each other again.
        wheel, lock, contents = bundle / "wheels" / sandbox.torch.name, bundle / "pylock.toml", bundle / "bundle.json"
        hashes = {}
        for path, data in ((wheel, evil_torch(sandbox)), (lock, None)):
            old = path.read_bytes()
            new = data or old.replace(*(each.encode() for each in next(iter(hashes.items()))))
            hashes[hashlib.sha256(old).hexdigest()] = hashlib.sha256(new).hexdigest()
            put_in_place(path, new)
        text = contents.read_text(encoding="utf-8")
        for old_hash, new_hash in hashes.items():
            text = text.replace(old_hash, new_hash)
        json.loads(text)
        put_in_place(contents, text.encode())

    with pytest.raises(AppError) as refused:
        sandbox.install(plan, watch=watch)
    assert refused.value.code in ("local-file-broken", "packages-failed")
    assert not sandbox.environment.exists()


def test_bundle_that_is_the_same_again_installs(sandbox: Sandbox, bundle: Path) -> None:
    plan = replace(offline(sandbox, bundle), bundle_sha256=list_hash(bundle))
    wheel = bundle / "wheels" / sandbox.torch.name
    good = wheel.read_bytes()
    put_in_place(wheel, evil_torch(sandbox))
    with pytest.raises(AppError):
        sandbox.install(plan)
    put_in_place(wheel, good)
    assert end(sandbox.install(plan)).state == "done"
    assert EVIL not in (site(sandbox) / "torch" / "__init__.py").read_bytes()


# Archives


def tarred(compression: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=f"w:{compression}") as archive:
        member = tarfile.TarInfo("python/bin/python3")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("python/bin/python3", content)
    return packed.getvalue()


@pytest.mark.parametrize("pack", ["gz", "xz", "bz2", "", "zip"])
def test_archive_with_another_hash_gives_nothing(tmp_path: Path, pack: str) -> None:
    good, evil = (zipped(each) if pack == "zip" else tarred(pack, each) for each in (b"good" * 9000, EVIL * 900))
    path = tmp_path / "archive"
    path.write_bytes(good + b"\0" * 5000)  # what follows the end counts, too
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    files = unpack(path, tmp_path / "tree", sha256=digest, cancel=threading.Event())
    assert files == {"python/bin/python3": hashlib.sha256(b"good" * 9000).hexdigest()}
    for other in (evil, good, good + b"\0" * 4999 + b"1"):
        path.write_bytes(other)
        with pytest.raises(AppError) as refused:
            unpack(path, tmp_path / "other", sha256=digest, cancel=threading.Event())
        assert refused.value.code in REFUSALS


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_archive_that_is_exchanged_after_its_check_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: Exchange
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def spoiled(path: Path, destination: Path, **more: Any) -> dict[str, str]:
        packed = path.read_bytes()
        evil = zipped(EVIL) if packed.startswith(b"PK") else tarred("xz", EVIL)
        exchange(path, evil)
        return unpack(path, destination, **more)

    monkeypatch.setattr(steps_context, "unpack", spoiled)
    with fault_server() as server:
        sandbox = ToolkitSandbox(tmp_path, server.url)
        sandbox.serve(server)
        with pytest.raises(AppError) as refused:
            sandbox.install()
    assert refused.value.code in REFUSALS
    assert not sandbox.tree.exists()


@pytest.mark.skipif(os.name != "nt", reason="Linux has no such lock")
def test_windows_keeps_writers_out(tmp_path: Path) -> None:
    path = tmp_path / "archive.zip"
    path.write_bytes(zipped(b"good"))
    with current_system().open_unchanging(path) as file:
        for change in (lambda: path.write_bytes(EVIL), path.unlink, lambda: path.rename(tmp_path / "b")):
            with pytest.raises(OSError, match=r"."):
                change()
        assert file.read() == zipped(b"good")


# Files that are read or run as they lie


def context_for(sandbox: Sandbox, bundle: Path) -> DownloadContext:
    return DownloadContext(
        Host(sandbox.system, sandbox.data),
        sandbox.catalog,
        reporter=ProgressReporter(JobContext()),
        cancel=threading.Event(),
        limits=QUICK,
        bundle=BundleSource(bundle),
    )


def wheel_request(sandbox: Sandbox, bundle: Path) -> DownloadRequest:
    contents = BundleSource(bundle).contents
    (file,) = (each for each in contents.files if each.path.endswith(sandbox.torch.name))
    remote = RemoteFile(urls=(str(file.url),), name=sandbox.torch.name, sha256=file.sha256)
    return DownloadRequest(file=remote, path=sandbox.data.files / remote.name)


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_index_that_is_exchanged_after_its_check_is_not_read(
    sandbox: Sandbox, bundle: Path, monkeypatch: pytest.MonkeyPatch, exchange: Exchange
) -> None:
    download = steps_context.download_files

    def spoiled(context: DownloadContext, requests: list[DownloadRequest]) -> tuple[Path, ...]:
        paths = download(context, requests)
        exchange(paths[0], EVIL)
        return paths

    context, request = context_for(sandbox, bundle), wheel_request(sandbox, bundle)
    assert download_bytes(context, request) == sandbox.torch.data
    monkeypatch.setattr(steps_context, "download_files", spoiled)
    with pytest.raises(AppError) as refused:
        download_bytes(context, request)
    assert refused.value.code in REFUSALS


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_program_of_a_bundle_is_run_from_a_copy_that_was_checked(
    sandbox: Sandbox, bundle: Path, tmp_path: Path, exchange: Exchange
) -> None:
    context, request = context_for(sandbox, bundle), wheel_request(sandbox, bundle)
    (path,) = steps_context.download_files(context, [request])
    assert path.is_relative_to(bundle)
    (tmp_path / "ours").mkdir()
    copy = own_copy(context, request, path, tmp_path / "ours")
    exchange(path, EVIL)
    assert copy.read_bytes() == sandbox.torch.data
    (tmp_path / "again").mkdir()
    with pytest.raises(AppError) as refused:
        own_copy(context, request, path, tmp_path / "again")
    assert refused.value.code in REFUSALS
    assert list((tmp_path / "again").iterdir()) == []
