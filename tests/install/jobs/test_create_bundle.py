"""A bundle: made, held, stopped, resumed, made again in the same folder."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError, Cancelled, UsageError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import Event, StepEvent
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.fetch.rate import RateLimiter
from gpu_assistant.install.bundle.format import LIST_FILE, UNFINISHED_FILE, list_hash, read_contents
from gpu_assistant.install.bundle.source import BundleSource
from gpu_assistant.install.host import PreviewContext
from gpu_assistant.install.jobs.check_bundle import CheckBundleJob
from gpu_assistant.install.jobs.create_bundle import CreateBundleJob
from gpu_assistant.install.packages.requirements import Platform

from ...fakes.fault_server import Fault
from .. import tiny_wheels
from ..bundle_sandbox import HERE, create
from ..sandbox import QUICK, RELEASE, SERIES, Sandbox


def test_bundle_holds_and_lists_all_files_of_plan(sandbox: Sandbox, bundle: Path) -> None:
    result = read_contents(bundle)
    wheels = {sandbox.torch.name, *(wheel.name for wheel in sandbox.others)}
    assert {file.path for file in result.files} == {"pylock.toml", *(f"wheels/{name}" for name in wheels)}
    assert {file.sha256 for file in result.files} >= {sandbox.torch.sha256}
    assert sorted(path.name for path in bundle.iterdir()) == sorted([LIST_FILE, "pylock.toml", "wheels"])
    assert result.bytes == sum(
        path.stat().st_size for path in bundle.rglob("*") if path.is_file() and path.name != LIST_FILE
    )
    assert str(sandbox.root) not in (bundle / LIST_FILE).read_text(encoding="utf-8")
    assert CheckBundleJob(bundle).run(JobContext()) == result


def test_stopped_bundle_resumes_without_refetching(sandbox: Sandbox) -> None:
    folder, stop = sandbox.root / "stick", threading.Event()
    served = next(path for path in sandbox.server.files if path.endswith(".whl") and "torch" in path)
    sandbox.server.files[served].rate = 100_000

    def watch(event: Event) -> None:
        if isinstance(event, StepEvent) and event.id == "download" and (event.done or 0) > 50_000:
            stop.set()

    job = CreateBundleJob(
        sandbox.plan(),
        HERE,
        folder,
        PreviewContext(sandbox.system, sandbox.data, sandbox.catalog),
        channel="studio",
        limits=QUICK,
    )
    with pytest.raises(Cancelled):
        job.run(JobContext(report=watch, cancel=stop))
    assert not (folder / LIST_FILE).exists()
    assert (folder / UNFINISHED_FILE).is_file()
    with pytest.raises(UsageError) as caught:
        BundleSource(folder)
    assert caught.value.code == "bundle-unfinished"
    sandbox.server.files[served].rate = None
    complete = {path.name for path in (folder / "wheels").glob("*.whl")}
    sandbox.asks()
    create(sandbox, folder)
    assert not complete.intersection(path.rpartition("/")[2] for path in sandbox.asks())
    assert not (folder / UNFINISHED_FILE).exists()
    CheckBundleJob(folder).run(JobContext())


def test_same_files_give_same_list(sandbox: Sandbox, bundle: Path) -> None:
    mark = list_hash(bundle)
    wheel = next((bundle / "wheels").glob("*.whl"))
    wheel.write_bytes(b"damaged")
    create(sandbox, bundle)
    assert list_hash(bundle) == mark
    # One that an earlier version made holds when that was.
    text = json.loads((bundle / LIST_FILE).read_text(encoding="utf-8"))
    (bundle / LIST_FILE).write_text(json.dumps({**text, "created": 1795000000.0}), encoding="utf-8")
    CheckBundleJob(bundle).run(JobContext())


def test_failed_download_leaves_no_bundle(sandbox: Sandbox) -> None:
    served = next(path for path in sandbox.server.files if path.endswith(".whl") and "torch" in path)
    sandbox.server.files[served].faults[:] = [Fault("status", status=404)] * 20
    with pytest.raises(AppError):
        create(sandbox, sandbox.root / "stick")
    assert not (sandbox.root / "stick" / LIST_FILE).exists()


def test_new_plan_in_same_folder_removes_old_files(sandbox: Sandbox, bundle: Path) -> None:
    contents = read_contents(bundle)
    stray = bundle / "files" / ("a" * 16) / "old.zip"
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b"old")
    text = json.loads((bundle / LIST_FILE).read_text(encoding="utf-8"))
    text["files"].append({"path": f"files/{'a' * 16}/old.zip", "sha256": "0" * 64, "bytes": 3, "url": None})
    (bundle / LIST_FILE).write_text(json.dumps(text), encoding="utf-8")
    (bundle / "mine.txt").write_text("of the user's")
    create(sandbox, bundle)
    assert not stray.exists()
    assert not stray.parent.exists()
    assert (bundle / "mine.txt").exists()
    assert {file.path for file in read_contents(bundle).files} == {file.path for file in contents.files}


def test_folder_with_foreign_files_is_refused(sandbox: Sandbox) -> None:
    folder = sandbox.root / "photos"
    folder.mkdir()
    (folder / "cat.jpg").write_bytes(b"cat")
    with pytest.raises(UsageError) as caught:
        create(sandbox, folder)
    assert caught.value.code == "bundle-folder-occupied"
    assert [path.name for path in folder.iterdir()] == ["cat.jpg"]


def test_manual_choice_is_restored_from_bundle(sandbox: Sandbox) -> None:
    create(sandbox, sandbox.root / "stick", choice=Choice(driver="keep", cudnn="none", toolkit_way="installer"))
    picks = read_contents(sandbox.root / "stick").pinned_choice
    assert picks.toolkit_way == "installer"
    assert (picks.driver, picks.cudnn, picks.pytorch, picks.python) == ("keep", "none", RELEASE, SERIES)


def test_paused_bundle_sends_no_request_and_resumes(sandbox: Sandbox) -> None:
    folder, pace, fetching = sandbox.root / "stick", RateLimiter(), threading.Event()
    pace.pause()

    def watch(event: Event) -> None:
        if isinstance(event, StepEvent) and (event.id, event.state) == ("download", "running"):
            fetching.set()

    ground = PreviewContext(sandbox.system, sandbox.data, sandbox.catalog)
    job = CreateBundleJob(sandbox.plan(), HERE, folder, ground, channel="studio", limits=QUICK, rate_limiter=pace)
    worker = threading.Thread(target=job.run, args=[JobContext(report=watch)])
    worker.start()
    assert fetching.wait(60)
    assert not (folder / LIST_FILE).exists()
    pace.resume()
    worker.join(60)
    assert CheckBundleJob(folder).run(JobContext()).platform == HERE


def test_bundle_for_another_system_holds_its_wheels(sandbox: Sandbox) -> None:
    wheel = sandbox.torch
    other = (
        Platform(system="windows", arch="x86_64") if HERE.system == "linux" else Platform(system="linux", arch="x86_64")
    )
    create(sandbox, sandbox.root / "stick", other)
    result = read_contents(sandbox.root / "stick")
    assert result.platform == other
    assert f"wheels/{wheel.name}" in {file.path for file in result.files}


def test_file_that_is_gone_since_the_packages_were_resolved_is_replaced(sandbox: Sandbox) -> None:
    """As weeks after another bundle: the lock file of that time is still there."""
    create(sandbox, sandbox.root / "first")
    numpy = next(wheel for wheel in sandbox.others if wheel.project == "numpy")
    newer = tiny_wheels.wheel("numpy", "99.0")
    del sandbox.server.files[tiny_wheels.file_path("simple", numpy)]
    tiny_wheels.index(sandbox.server, "simple", [*(w for w in sandbox.others if w is not numpy), newer])
    create(sandbox, sandbox.root / "second")
    names = {file.path for file in read_contents(sandbox.root / "second").files}
    assert f"wheels/{newer.name}" in names
    assert f"wheels/{numpy.name}" not in names


def test_lock_file_that_names_a_gone_file_is_not_kept(sandbox: Sandbox) -> None:
    wheel = next(path for path in sandbox.server.files if path.endswith(".whl") and "numpy" in path)
    served = sandbox.server.files.pop(wheel)
    with pytest.raises(AppError):
        create(sandbox, sandbox.root / "stick")
    assert not list(sandbox.data.locks.glob("*.toml"))
    sandbox.server.files[wheel] = served
    create(sandbox, sandbox.root / "stick")


def test_absent_file_ends_before_any_download(sandbox: Sandbox) -> None:
    folder = sandbox.root / "stick"
    sandbox.plan()
    wheel = next(path for path in sandbox.server.files if path.endswith(".whl") and sandbox.others[0].name in path)
    sandbox.server.files[wheel].faults.extend([Fault("status", status=404)] * 20)
    with pytest.raises(AppError) as caught:
        create(sandbox, folder)
    assert caught.value.code == "file-gone"
    assert caught.value.data["name"] == sandbox.others[0].name
    assert not list(folder.rglob("*.whl*"))
