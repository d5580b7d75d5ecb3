"""What is installed from a bundle, where no network answers."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest

from gpu_assistant.app import App
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.files import RemoteFile
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir
from gpu_assistant.fetch.request import DownloadRequest
from gpu_assistant.install.bundle.format import BundleContents
from gpu_assistant.install.bundle.source import BundleSource
from gpu_assistant.install.files import inventory
from gpu_assistant.install.host import Host, PreviewContext
from gpu_assistant.install.jobs.create_bundle import CreateBundleJob
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.install.progress import ProgressReporter
from gpu_assistant.install.steps.context import DownloadContext, download_files
from gpu_assistant.install.steps.cuda_redist import RedistIndex
from gpu_assistant.install.steps.kinds import STEP_KINDS
from gpu_assistant.texts.localized import Texts

from ...fakes.fault_server import fault_server
from .. import tiny_wheels
from ..bundle_sandbox import HERE, create, offline
from ..sandbox import QUICK, SERIES, Sandbox, end, machine, recommendation, states
from ..toolkit_sandbox import ToolkitSandbox


def request_for(url: str) -> DownloadRequest:
    return DownloadRequest(file=RemoteFile(urls=(url,), name="x"), path=Path("x"))


def test_bundle_installs_without_network(sandbox: Sandbox, bundle: Path, refusing: list[str]) -> None:
    plan = offline(sandbox, bundle)
    assert plan.bytes == 0
    sandbox.asks()
    # Nothing listens at the index that the user named, either.
    events = sandbox.install(plan)
    assert end(events).state == "done"
    assert states(events)["pytorch"] == "done"
    assert sandbox.asks() == []
    created = inventory.read_manifest(sandbox.environment)
    assert created is not None
    assert created.packages["torch"] == sandbox.torch.name.split("-")[1]
    assert states(sandbox.install(plan))["pytorch"] == "skipped"
    assert sandbox.asks() == []


def test_wheels_of_bundle_serve_as_wheelhouse(sandbox: Sandbox, bundle: Path, refusing: list[str]) -> None:
    sandbox.data = DataDir(sandbox.root / "other")
    sandbox.asks()
    house = App(data_dir=str(sandbox.data.root), wheelhouse=str(bundle), environ={}).wheelhouse
    assert house == bundle / "wheels"
    assert end(sandbox.install(sandbox.plan(wheelhouse=house))).state == "done"
    assert sandbox.asks() == []


def test_local_wheels_are_bundled_without_their_paths(sandbox: Sandbox) -> None:
    house = sandbox.root / "wheels of mine"
    house.mkdir()
    for wheel in (sandbox.torch, *sandbox.others):
        (house / wheel.name).write_bytes(wheel.data)
    folder = sandbox.root / "stick"
    create(sandbox, folder, wheelhouse=house)
    assert house.as_uri() not in (folder / "pylock.toml").read_text(encoding="utf-8")
    for path in house.iterdir():
        path.unlink()
    sandbox.asks()
    assert end(sandbox.install(offline(sandbox, folder))).state == "done"
    assert sandbox.asks() == []
    lock = (sandbox.environment / "pylock.toml").read_text(encoding="utf-8")
    assert f"{folder.as_uri()}/wheels/{sandbox.torch.name}" in lock


def test_plan_with_bundle_shows_its_commands(sandbox: Sandbox, bundle: Path) -> None:
    plan = offline(sandbox, bundle)
    assert [command[:3] for step in plan.steps for command in step.commands if command[0] == "uv"] == [
        ("uv", "venv", "--relocatable"),
        ("uv", "pip", "sync"),
    ]
    for language in ("en", "zh_CN"):
        texts = {step.id: step for step in Texts(language).localize_plan(plan).steps}
        assert str(bundle) in str(texts["resolve"].what)


@pytest.mark.parametrize("pinned", [True, False])
def test_cuda_toolkit_is_installed_from_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pinned: bool) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with fault_server() as server:
        there = ToolkitSandbox(tmp_path / "maker", server.url, pinned=pinned)
        there.serve(server)
        _stocked(there, tmp_path / "stick")
    here = ToolkitSandbox(tmp_path / "user", server.url, pinned=pinned)  # whose server is gone
    plan = here.plan()
    shelf = BundleSource(tmp_path / "stick")
    getting = DownloadContext(
        Host(here.system, here.data),
        here.catalog,
        reporter=ProgressReporter(JobContext()),
        cancel=threading.Event(),
        limits=QUICK,
        bundle=shelf,
    )
    for step in plan.steps:
        wanted = STEP_KINDS[step.kind].downloads(step, getting)
        assert all(path.is_relative_to(tmp_path / "stick") for path in download_files(getting, wanted))
    index = RedistIndex(plan.steps[0].files[0], getting)
    assert index.source.pinned is pinned


def _stocked(sandbox: ToolkitSandbox, folder: Path) -> BundleContents:
    """A bundle of the toolkit's steps, whose lock is one package of the sandbox's own."""
    wheel = tiny_wheels.wheel("torch", "9.1.0+cpu")
    house = sandbox.outside / "house"
    house.mkdir()
    for each in (wheel, *tiny_wheels.others()):
        (house / each.name).write_bytes(each.data)
    complete = make_plan(
        machine(),
        recommendation("9.1.0", None),
        sandbox.catalog,
        data=sandbox.data,
        environment=sandbox.environment,
        wheelhouse=house,
        simulated=True,
    )
    plan = msgspec.structs.replace(complete, steps=(*complete.steps, *sandbox.plan().steps))
    ground = PreviewContext(sandbox.system, sandbox.data, sandbox.catalog)
    created = CreateBundleJob(plan, HERE, folder, ground, channel="studio", limits=QUICK).run(JobContext())
    assert created.request.python == SERIES
    return created


def test_file_without_hash_is_found_by_url(sandbox: Sandbox, bundle: Path) -> None:
    shelf = BundleSource(bundle)
    url = next(file.url for file in shelf.contents.files if file.url is not None)
    assert shelf.local_request(request_for(url)).file.sha256 is not None
    with pytest.raises(AppError) as caught:
        shelf.local_request(request_for("https://elsewhere.example/x.exe"))
    assert caught.value.code == "bundle-lacks"
