"""A bundle: made, resumed, checked, refused, and installed from where no network answers."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.app import App
from gpu_assistant.core.errors import AppError, CallError, Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.plan import Event, Plan, StepEvent
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.fetch.pace import Pace
from gpu_assistant.fetch.wanted import Wanted
from gpu_assistant.install import manifest
from gpu_assistant.install.bundle.check import CheckJob
from gpu_assistant.install.bundle.contents import BEGUN, LIST, Contents, fingerprint, read
from gpu_assistant.install.bundle.create import CreateJob
from gpu_assistant.install.bundle.shelf import Shelf
from gpu_assistant.install.fetching import Getting, fetch
from gpu_assistant.install.place import Ground
from gpu_assistant.install.planner import make_plan
from gpu_assistant.install.redist import Index
from gpu_assistant.install.reporter import Reporter
from gpu_assistant.install.steps import KINDS
from gpu_assistant.install.target import Target
from gpu_assistant.system import current
from gpu_assistant.texts import Texts
from tests.fakes.fault_server import Fault, fault_server

from . import tiny
from .toolkit_world import ToolkitWorld
from .world import QUICK, RELEASE, SERIES, World, end, machine, recommendation, states

HERE = Target(system="windows" if current().name == "windows" else "linux", arch="x86_64", glibc="2.28")


def create(world: World, folder: Path, target: Target = HERE, choice: Choice | None = None, **more: Any) -> list[Event]:
    events: list[Event] = []
    ground = Ground(world.system, world.data, world.catalog)
    job = CreateJob(world.plan(**more), target, folder, ground, channel="studio", choice=choice, limits=QUICK)
    job.run(JobContext(report=events.append))
    return events


def offline(world: World, folder: Path, version: str | None = None) -> Plan:
    """The plan of another computer, which has nothing but the folder."""
    world.data = DataDir(world.root / "other")
    world.environment = world.root / "there" / "env"
    wanted = recommendation(version or world.torch.name.split("-")[1].partition("+")[0], world.torch_index)
    return make_plan(
        machine(),
        wanted,
        world.catalog,
        data=world.data,
        environment=world.environment,
        wheelhouse=None,
        simulated=False,
        bundle=folder,
    )


@pytest.fixture
def bundle(world: World) -> Path:
    folder = world.root / "stick" / "我的 bundle"
    create(world, folder)
    return folder


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Everything that asks the network asks here, and is counted."""
    with fault_server() as proxy:
        asked: list[str] = []
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
            monkeypatch.setenv(name.upper(), proxy.url)
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.setenv("no_proxy", "")
        yield asked
        asked += [seen.path for seen in proxy.seen]
        assert asked == []


def test_what_a_plan_needs_is_gathered_and_listed(world: World, bundle: Path) -> None:
    found = read(bundle)
    wheels = {world.torch.name, *(wheel.name for wheel in world.others)}
    assert {file.path for file in found.files} == {"pylock.toml", *(f"wheels/{name}" for name in wheels)}
    assert {file.sha256 for file in found.files} >= {world.torch.sha256}
    assert sorted(path.name for path in bundle.iterdir()) == sorted([LIST, "pylock.toml", "wheels"])
    assert found.bytes == sum(path.stat().st_size for path in bundle.rglob("*") if path.is_file() and path.name != LIST)
    assert str(world.root) not in (bundle / LIST).read_text(encoding="utf-8")
    assert CheckJob(bundle).run(JobContext()) == found


def test_it_installs_where_no_network_answers(world: World, bundle: Path, refusing: list[str]) -> None:
    plan = offline(world, bundle)
    assert plan.bytes == 0
    world.asks()
    # Nothing listens at the index that the user named, either.
    events = world.install(plan)
    assert end(events).state == "done"
    assert states(events)["pytorch"] == "done"
    assert world.asks() == []
    made = manifest.read(world.environment)
    assert made is not None
    assert made.packages["torch"] == world.torch.name.split("-")[1]
    assert states(world.install(plan))["pytorch"] == "skipped"
    assert world.asks() == []


def test_a_wheelhouse_of_a_bundles_wheels_serves_too(world: World, bundle: Path, refusing: list[str]) -> None:
    world.data = DataDir(world.root / "other")
    world.asks()
    house = App(data_dir=str(world.data.root), wheelhouse=str(bundle), environ={}).wheelhouse
    assert house == bundle / "wheels"
    assert end(world.install(world.plan(wheelhouse=house))).state == "done"
    assert world.asks() == []


def test_files_of_the_users_own_travel_without_their_folders(world: World) -> None:
    house = world.root / "wheels of mine"
    house.mkdir()
    for wheel in (world.torch, *world.others):
        (house / wheel.name).write_bytes(wheel.data)
    folder = world.root / "stick"
    create(world, folder, wheelhouse=house)
    assert house.as_uri() not in (folder / "pylock.toml").read_text(encoding="utf-8")
    for path in house.iterdir():
        path.unlink()
    world.asks()
    assert end(world.install(offline(world, folder))).state == "done"
    assert world.asks() == []
    lock = (world.environment / "pylock.toml").read_text(encoding="utf-8")
    assert f"{folder.as_uri()}/wheels/{world.torch.name}" in lock


def test_a_stopped_one_goes_on_and_fetches_nothing_twice(world: World) -> None:
    folder, stop = world.root / "stick", threading.Event()
    served = next(path for path in world.server.files if path.endswith(".whl") and "torch" in path)
    world.server.files[served].rate = 100_000

    def watch(event: Event) -> None:
        if isinstance(event, StepEvent) and event.id == "download" and (event.done or 0) > 50_000:
            stop.set()

    job = CreateJob(
        world.plan(), HERE, folder, Ground(world.system, world.data, world.catalog), channel="studio", limits=QUICK
    )
    with pytest.raises(Cancelled):
        job.run(JobContext(report=watch, cancel=stop))
    assert not (folder / LIST).exists()
    assert (folder / BEGUN).is_file()
    with pytest.raises(CallError) as caught:
        Shelf(folder)
    assert caught.value.code == "bundle-unfinished"
    world.server.files[served].rate = None
    whole = {path.name for path in (folder / "wheels").glob("*.whl")}
    world.asks()
    create(world, folder)
    assert not whole.intersection(path.rpartition("/")[2] for path in world.asks())
    assert not (folder / BEGUN).exists()
    CheckJob(folder).run(JobContext())


def test_the_same_files_have_the_same_list(world: World, bundle: Path) -> None:
    mark = fingerprint(bundle)
    wheel = next((bundle / "wheels").glob("*.whl"))
    wheel.write_bytes(b"damaged")
    create(world, bundle)
    assert fingerprint(bundle) == mark
    # One that an earlier version made holds when that was.
    text = json.loads((bundle / LIST).read_text(encoding="utf-8"))
    (bundle / LIST).write_text(json.dumps({**text, "created": 1795000000.0}), encoding="utf-8")
    CheckJob(bundle).run(JobContext())


def test_a_broken_source_leaves_no_bundle(world: World) -> None:
    served = next(path for path in world.server.files if path.endswith(".whl") and "torch" in path)
    world.server.files[served].faults[:] = [Fault("status", status=404)] * 20
    with pytest.raises(AppError):
        create(world, world.root / "stick")
    assert not (world.root / "stick" / LIST).exists()


def test_the_plan_shows_what_is_run_with_a_bundle(world: World, bundle: Path) -> None:
    plan = offline(world, bundle)
    assert [words[:3] for step in plan.steps for words in step.commands if words[0] == "uv"] == [
        ("uv", "venv", "--relocatable"),
        ("uv", "pip", "sync"),
    ]
    for language in ("en", "zh_CN"):
        told = {step.id: step for step in Texts(language).plan(plan).steps}
        assert str(bundle) in str(told["resolve"].what)


def test_another_plan_in_the_same_folder_leaves_nothing_of_the_first(world: World, bundle: Path) -> None:
    contents = read(bundle)
    stray = bundle / "files" / ("a" * 16) / "old.zip"
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b"old")
    text = json.loads((bundle / LIST).read_text(encoding="utf-8"))
    text["files"].append({"path": f"files/{'a' * 16}/old.zip", "sha256": "0" * 64, "bytes": 3, "url": None})
    (bundle / LIST).write_text(json.dumps(text), encoding="utf-8")
    (bundle / "mine.txt").write_text("of the user's")
    create(world, bundle)
    assert not stray.exists()
    assert not stray.parent.exists()
    assert (bundle / "mine.txt").exists()
    assert {file.path for file in read(bundle).files} == {file.path for file in contents.files}


def test_a_check_names_what_is_not_on_the_list(world: World, bundle: Path) -> None:
    def checked() -> StepEvent:
        events: list[Event] = []
        CheckJob(bundle).run(JobContext(report=events.append))
        assert end(events).state == "done"
        return next(event for event in events if isinstance(event, StepEvent) and event.state == "done")

    assert checked().code == "progress.bundle-whole"
    (bundle / "mine.txt").write_text("of the user's")
    (bundle / "wheels" / "evil-1.0-py3-none-any.whl").write_bytes(b"evil")
    done = checked()
    assert done.data["files"] == "mine.txt, wheels/evil-1.0-py3-none-any.whl"
    assert "evil-1.0" in str(Texts("zh_CN").event(done).message)  # type: ignore[union-attr]


def test_a_folder_with_other_things_is_left_alone(world: World) -> None:
    folder = world.root / "photos"
    folder.mkdir()
    (folder / "cat.jpg").write_bytes(b"cat")
    with pytest.raises(CallError) as caught:
        create(world, folder)
    assert caught.value.code == "bundle-folder-occupied"
    assert [path.name for path in folder.iterdir()] == ["cat.jpg"]


def test_changed_bytes_are_found_before_they_are_used(world: World, bundle: Path) -> None:
    wheel = bundle / "wheels" / world.torch.name
    data = bytearray(wheel.read_bytes())
    data[100] ^= 1
    wheel.unlink()  # it may be the same file as the one in the cache
    wheel.write_bytes(data)
    with pytest.raises(AppError) as caught:
        CheckJob(bundle).run(JobContext())
    assert caught.value.code == "bundle-damaged"
    assert caught.value.data["files"] == f"wheels/{world.torch.name}"
    with pytest.raises(AppError) as installing:
        world.install(offline(world, bundle))
    assert installing.value.code == "local-file-broken"
    assert not world.environment.exists()


def test_a_missing_file_is_not_fetched(world: World, bundle: Path) -> None:
    (bundle / "wheels" / world.torch.name).unlink()
    world.asks()
    with pytest.raises(AppError) as caught:
        world.install(offline(world, bundle))
    assert caught.value.code == "local-file-missing"
    assert world.asks() == []


@pytest.mark.parametrize(
    "path",
    ["../out.whl", "wheels/../../out.whl", "/etc/passwd", "wheels/a/b.whl", "wheels\\b.whl", "files/x/y", "", "C:/x"],
)
def test_a_list_with_a_path_that_leads_elsewhere_is_refused(bundle: Path, path: str) -> None:
    text = json.loads((bundle / LIST).read_text(encoding="utf-8"))
    text["files"][1]["path"] = path
    (bundle / LIST).write_text(json.dumps(text), encoding="utf-8")
    for use in (Shelf, lambda folder: CheckJob(folder).run(JobContext())):
        with pytest.raises(CallError) as caught:
            use(bundle)
        assert caught.value.code == "bundle-list"


def test_a_list_with_one_name_twice_or_without_a_lock_is_refused(bundle: Path) -> None:
    whole = json.loads((bundle / LIST).read_text(encoding="utf-8"))
    twice = {**whole["files"][1], "path": whole["files"][1]["path"].upper().replace("WHEELS", "wheels")}
    for files in ([*whole["files"], twice], whole["files"][1:]):
        (bundle / LIST).write_text(json.dumps({**whole, "files": files}), encoding="utf-8")
        with pytest.raises(CallError) as caught:
            read(bundle)
        assert caught.value.code == "bundle-list"
    (bundle / LIST).write_text("{", encoding="utf-8")
    with pytest.raises(CallError):
        read(bundle)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there that tests do not have")
def test_no_link_leads_out_of_a_bundle(world: World, bundle: Path) -> None:
    (bundle / "wheels").rename(world.root / "elsewhere")
    (bundle / "wheels").symlink_to(world.root / "elsewhere", target_is_directory=True)
    with pytest.raises(CallError) as caught:
        CheckJob(bundle).run(JobContext())
    assert caught.value.code == "bundle-link"
    with pytest.raises(CallError):
        create(world, bundle)


def test_a_changed_lock_is_refused(world: World, bundle: Path) -> None:
    lock = bundle / "pylock.toml"
    lock.write_text(lock.read_text(encoding="utf-8") + "\n# more\n", encoding="utf-8")
    with pytest.raises(AppError) as caught:
        world.install(offline(world, bundle))
    assert caught.value.code == "local-file-broken"


def test_what_it_was_not_made_for_is_refused(world: World, bundle: Path) -> None:
    other = "linux" if HERE.system == "windows" else "windows"
    shelf = Shelf(bundle)
    with pytest.raises(CallError) as caught:
        shelf.refuse_strange(offline(world, bundle), Target(system=other, arch="x86_64"))  # type: ignore[arg-type]
    assert caught.value.code == "bundle-other-machine"
    with pytest.raises(CallError) as caught:
        world.install(offline(world, bundle, version="2.9.1"))
    assert caught.value.code == "bundle-other-wish"


def test_the_check_here_says_that_it_is_for_another_kind_of_computer(world: World, bundle: Path) -> None:
    here = world.system.operating_system()
    assert CheckJob(bundle, here).run(JobContext()).target == HERE
    other = "windows" if HERE.system == "linux" else "linux"
    stranger = msgspec.structs.replace(here, system=other, glibc=None)
    with pytest.raises(CallError) as caught:
        CheckJob(bundle, stranger).run(JobContext())
    assert caught.value.code == "bundle-other-machine"
    assert CheckJob(bundle).run(JobContext()).target == HERE  # who made it may check it anywhere


def test_what_was_picked_by_hand_is_picked_where_it_is_used(world: World) -> None:
    create(world, world.root / "stick", choice=Choice(driver="keep", cudnn="none", toolkit_way="installer"))
    picks = read(world.root / "stick").picks
    assert picks.toolkit_way == "installer"
    assert (picks.driver, picks.cudnn, picks.pytorch, picks.python) == ("keep", "none", RELEASE, SERIES)


def test_a_held_one_asks_for_nothing_and_goes_on(world: World) -> None:
    folder, pace, fetching = world.root / "stick", Pace(), threading.Event()
    pace.pause()

    def watch(event: Event) -> None:
        if isinstance(event, StepEvent) and (event.id, event.state) == ("download", "running"):
            fetching.set()

    ground = Ground(world.system, world.data, world.catalog)
    job = CreateJob(world.plan(), HERE, folder, ground, channel="studio", limits=QUICK, pace=pace)
    worker = threading.Thread(target=job.run, args=[JobContext(report=watch)])
    worker.start()
    assert fetching.wait(60)
    assert not (folder / LIST).exists()
    pace.resume()
    worker.join(60)
    assert CheckJob(folder).run(JobContext()).target == HERE


def test_wheels_for_another_system_are_gathered(world: World) -> None:
    wheel = world.torch
    other = Target(system="windows", arch="x86_64") if HERE.system == "linux" else Target(system="linux", arch="x86_64")
    create(world, world.root / "stick", other)
    found = read(world.root / "stick")
    assert found.target == other
    assert f"wheels/{wheel.name}" in {file.path for file in found.files}


@pytest.mark.parametrize(
    ("target", "uv", "best"),
    [
        (Target(system="windows", arch="x86_64"), "x86_64-pc-windows-msvc", "win_amd64"),
        (Target(system="windows", arch="arm64"), "aarch64-pc-windows-msvc", "win_arm64"),
        (Target(system="linux", arch="x86_64"), "x86_64-manylinux_2_28", "manylinux_2_28_x86_64"),
        (Target(system="linux", arch="x86_64", glibc="2.39"), "x86_64-manylinux_2_39", "manylinux_2_39_x86_64"),
        (Target(system="linux", arch="arm64", glibc="2.30"), "aarch64-manylinux_2_28", "manylinux_2_30_aarch64"),
        (Target(system="linux", arch="x86_64", glibc="2.99"), "x86_64-manylinux_2_40", "manylinux_2_99_x86_64"),
    ],
)
def test_names_of_computers(target: Target, uv: str, best: str) -> None:
    assert target.uv == uv
    assert target.platforms[0] == best
    if target.system == "linux":
        assert f"manylinux2014_{uv.partition('-')[0]}" in target.platforms


def test_an_older_c_library_is_not_served(world: World) -> None:
    made = Target(system="linux", arch="x86_64", glibc="2.36")
    assert made.serves(Target(system="linux", arch="x86_64", glibc="2.41"))
    assert made.serves(Target(system="linux", arch="x86_64"))
    assert not made.serves(Target(system="linux", arch="x86_64", glibc="2.31"))


@pytest.mark.parametrize("pinned", [True, False])
def test_a_toolkit_comes_from_a_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pinned: bool) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with fault_server() as server:
        there = ToolkitWorld(tmp_path / "maker", server.url, pinned=pinned)
        there.serve(server)
        _stocked(there, tmp_path / "stick")
    here = ToolkitWorld(tmp_path / "user", server.url, pinned=pinned)  # whose server is gone
    plan = here.plan()
    shelf = Shelf(tmp_path / "stick")
    getting = Getting(
        here.system,
        here.data,
        here.catalog,
        reporter=Reporter(JobContext()),
        cancel=threading.Event(),
        limits=QUICK,
        shelf=shelf,
    )
    for step in plan.steps:
        wanted = KINDS[step.kind].gather(step, getting)
        assert all(path.is_relative_to(tmp_path / "stick") for path in fetch(getting, wanted))
    index = Index(plan.steps[0].files[0], getting)
    assert index.source.pinned is pinned


def _stocked(world: ToolkitWorld, folder: Path) -> Contents:
    """A bundle of the toolkit's steps, whose lock is one package of the world's own."""
    wheel = tiny.wheel("torch", "9.1.0+cpu")
    house = world.outside / "house"
    house.mkdir()
    for each in (wheel, *tiny.others()):
        (house / each.name).write_bytes(each.data)
    whole = make_plan(
        machine(),
        recommendation("9.1.0", None),
        world.catalog,
        data=world.data,
        environment=world.environment,
        wheelhouse=house,
        simulated=True,
    )
    plan = msgspec.structs.replace(whole, steps=(*whole.steps, *world.plan().steps))
    ground = Ground(world.system, world.data, world.catalog)
    made = CreateJob(plan, HERE, folder, ground, channel="studio", limits=QUICK).run(JobContext())
    assert made.wish.python == SERIES
    return made


def test_a_file_that_nobody_hashed_is_known_by_its_address(world: World, bundle: Path) -> None:
    shelf = Shelf(bundle)
    url = next(file.url for file in shelf.contents.files if file.url is not None)
    assert shelf.wanted(Wanted(url=url, path=world.root / "x")).sha256 is not None
    with pytest.raises(AppError) as caught:
        shelf.wanted(Wanted(url="https://elsewhere.example/x.exe", path=world.root / "x.exe"))
    assert caught.value.code == "bundle-lacks"
