"""What a plan costs: asked of the publishers by the last bytes of each file, kept, and said."""

from __future__ import annotations

import gzip
import io
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.core.errors import Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import Disk
from gpu_assistant.core.plan import Plan
from gpu_assistant.fetch.extent import Extent
from gpu_assistant.fetch.measure import extent
from gpu_assistant.fetch.session import Session
from gpu_assistant.install.host import ValidationContext
from gpu_assistant.install.jobs.size_probe import SizeProbeJob
from gpu_assistant.install.packages import sizes
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.system import current_system
from gpu_assistant.texts.localized import Texts

from ...fakes.fault_server import Fault, FaultServer, fault_server
from .. import tiny_wheels
from ..world import RELEASE, World, machine, recommendation


def zipped(entries: int = 3, each: int = 40_000) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for number in range(entries):
            archive.writestr(f"torch/{'lib' * 30}{number}.txt", bytes(each))
    return file.getvalue()


def asked(server: FaultServer, name: str, body: bytes, **more: Any) -> Extent:
    with Session() as session:
        return extent(server.add(f"/files/{name}", body, **more), name, session)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as made:
        yield made


def test_wheel_directory_gives_unpacked_size(server: FaultServer) -> None:
    small, long = zipped(), zipped(entries=1500, each=400)
    assert asked(server, "a.whl", small) == Extent(bytes=len(small), unpacked=3 * 40_000)
    assert len(server.gets("/files/a.whl")) == 1
    # Its table is longer than the tail that is asked for first: one part more, and never the file itself.
    sent = server.sent
    assert asked(server, "b.whl", long) == Extent(bytes=len(long), unpacked=1500 * 400)
    assert len(server.gets("/files/b.whl")) == 2
    assert server.sent - sent < len(long) / 2


def test_gzip_trailer_gives_unpacked_size(server: FaultServer) -> None:
    body = gzip.compress(bytes(300_000))
    assert asked(server, "python.tar.gz", body) == Extent(bytes=len(body), unpacked=300_000)


def test_installer_has_download_size_only(server: FaultServer) -> None:
    assert asked(server, "driver.exe", bytes(200_000)) == Extent(bytes=200_000)


@pytest.mark.parametrize(
    ("fault", "known"),
    [
        (Fault("status", status=404), None),
        (Fault("page"), None),
        (Fault("reset"), None),
        (Fault("ignore-range"), 200_000),
        (Fault("wrong-range"), 201_000),
        (Fault("drop", after=10), 200_000),
        (Fault("packed"), 200_000),
    ],
    ids=lambda each: each.kind if isinstance(each, Fault) else None,
)
def test_missing_content_length_is_unknown(server: FaultServer, fault: Fault, known: int | None) -> None:
    assert asked(server, "a.whl", bytes(200_000), faults=[fault]) == Extent(bytes=known)


def test_local_wheel_is_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "a.whl"
    path.write_bytes(zipped())
    with Session() as session:
        assert extent(path.as_uri(), path.name, session) == Extent(bytes=path.stat().st_size, unpacked=3 * 40_000)
        assert extent((tmp_path / "b.whl").as_uri(), "b.whl", session) == Extent()


def priced(world: World, plan: Plan, **more: Any) -> sizes.SizeCache:
    ground = ValidationContext(world.system, world.data, world.catalog)
    return SizeProbeJob(plan, machine().os, ground).run(JobContext(**more))


def test_plan_has_sizes_after_probe(world: World) -> None:
    before = world.plan()
    # The minutes are rough from the beginning: by what was measured on such a release.
    assert (before.bytes, before.disk_bytes, before.minutes is None) == (None, None, False)
    found = priced(world, before)
    after = world.plan()
    wheels = [world.torch, *world.others]
    needed = {file.name for row in found.packages.values() for file in row}
    assert after.bytes == sum(len(wheel.data) for wheel in wheels if wheel.name in needed)
    assert after.disk_bytes == sum(_unpacked(wheel.data) for wheel in wheels if wheel.name in needed)
    assert after.minutes is not None
    download = next(step for step in after.steps if step.id == "download")
    assert (download.code, download.bytes) == ("download-all", after.bytes)
    for language in ("en", "zh_CN"):
        what = Texts(language).localize_plan(after).steps
        assert all(step.what and "{" not in step.what for step in what)
        assert "50 Mbit/s" in str(next(step.what for step in what if step.id == "download"))
    space = next(step for step in after.steps if step.id == "space")
    assert (space.code, space.data["disk_bytes"]) == ("check-space", after.bytes + after.disk_bytes)


def test_probe_is_cached_and_downloads_nothing(world: World) -> None:
    priced(world, world.plan())
    wheels = [path for path in world.asks() if path.endswith(".whl")]
    assert wheels
    assert not world.data.files.exists()
    assert not world.data.locks.exists()
    priced(world, world.plan())
    assert not [path for path in world.asks() if path.endswith(".whl")]


def test_installed_plan_has_no_download(world: World) -> None:
    priced(world, world.plan())
    world.install()
    plan = world.plan()
    assert plan.bytes == 0
    assert plan.disk_bytes


def test_local_wheels_count_as_no_download(world: World, tmp_path: Path) -> None:
    house = tiny_wheels.folder(tmp_path / "wheels", [world.torch])
    priced(world, world.plan(wheelhouse=house))
    plan = world.plan(wheelhouse=house)
    assert plan.bytes is not None
    assert plan.bytes < len(world.torch.data)
    assert plan.disk_bytes is not None
    assert plan.disk_bytes > len(world.torch.data)


def test_other_release_is_probed_and_broken_cache_ignored(world: World) -> None:
    priced(world, world.plan())
    (world.data.size_cache / sizes.SIZES_FILE).write_text("{not JSON", encoding="utf-8")
    assert world.plan().bytes is None


def test_size_without_answer_stays_unknown(world: World) -> None:
    path = tiny_wheels.file_path("torch", world.torch)
    world.server.files[path].faults = [Fault("status", status=403)]
    found = priced(world, world.plan())
    assert [file.bytes for row in found.packages.values() for file in row if file.name == world.torch.name] == [None]
    assert world.plan().bytes is None
    # It is asked for again the next time.
    priced(world, world.plan())
    assert world.plan().bytes


def test_probe_can_be_cancelled(world: World) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        priced(world, world.plan(), cancel=cancel)
    assert world.plan().bytes is None


def test_lack_of_disk_space_is_reported_first(world: World) -> None:
    priced(world, world.plan())
    small = Disk(path="/", free_bytes=1000, total_bytes=10**9)
    seen = msgspec.structs.replace(machine(), disks=(small,))
    plan = make_plan(
        seen,
        recommendation(RELEASE, world.torch_index),
        world.catalog,
        data=world.data,
        environment=world.environment,
        wheelhouse=None,
        simulated=False,
    )
    space = next(step for step in plan.steps if step.id == "space")
    if current_system().name == "windows":  # where no folder lies below "/"
        assert space.code == "check-space"
        return
    assert space.code == "check-space-short"
    for language in ("en", "zh_CN"):
        assert "1 kB" in Texts(language).translate("step.check-space-short.what", space.data)


def _unpacked(data: bytes) -> int:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return sum(entry.file_size for entry in archive.infolist())
