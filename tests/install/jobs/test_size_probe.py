"""What a plan costs: asked of the publishers by the last bytes of each file, kept, and said."""

from __future__ import annotations

import io
import threading
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpu_assistant.core.errors import Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import Disk
from gpu_assistant.core.plan import Plan
from gpu_assistant.install.host import PreviewContext
from gpu_assistant.install.jobs.size_probe import SizeProbeJob
from gpu_assistant.install.packages import sizes
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.system import current_system
from gpu_assistant.texts.localized import Texts

from ...fakes.fault_server import Fault
from .. import tiny_wheels
from ..sandbox import RELEASE, Sandbox, machine, recommendation


def priced(sandbox: Sandbox, plan: Plan, **more: Any) -> sizes.SizeCache:
    ground = PreviewContext(sandbox.system, sandbox.data, sandbox.catalog)
    return SizeProbeJob(plan, machine().os, ground).run(JobContext(**more))


def test_plan_has_sizes_after_probe(sandbox: Sandbox) -> None:
    before = sandbox.plan()
    # The minutes are rough from the beginning: by what was measured on such a release.
    assert (before.bytes, before.disk_bytes, before.minutes is None) == (None, None, False)
    result = priced(sandbox, before)
    after = sandbox.plan()
    wheels = [sandbox.torch, *sandbox.others]
    needed = {file.name for row in result.packages.values() for file in row}
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


def test_probe_is_cached_and_downloads_nothing(sandbox: Sandbox) -> None:
    priced(sandbox, sandbox.plan())
    wheels = [path for path in sandbox.asks() if path.endswith(".whl")]
    assert wheels
    assert not sandbox.data.files.exists()
    assert not sandbox.data.locks.exists()
    priced(sandbox, sandbox.plan())
    assert not [path for path in sandbox.asks() if path.endswith(".whl")]


def test_installed_plan_has_no_download(sandbox: Sandbox) -> None:
    priced(sandbox, sandbox.plan())
    sandbox.install()
    plan = sandbox.plan()
    assert plan.bytes == 0
    assert plan.disk_bytes


def test_local_wheels_count_as_no_download(sandbox: Sandbox, tmp_path: Path) -> None:
    house = tiny_wheels.folder(tmp_path / "wheels", [sandbox.torch])
    priced(sandbox, sandbox.plan(wheelhouse=house))
    plan = sandbox.plan(wheelhouse=house)
    assert plan.bytes is not None
    assert plan.bytes < len(sandbox.torch.data)
    assert plan.disk_bytes is not None
    assert plan.disk_bytes > len(sandbox.torch.data)


def test_other_release_is_probed_and_broken_cache_ignored(sandbox: Sandbox) -> None:
    priced(sandbox, sandbox.plan())
    (sandbox.data.size_cache / sizes.SIZES_FILE).write_text("{not JSON", encoding="utf-8")
    assert sandbox.plan().bytes is None


def test_size_without_answer_stays_unknown(sandbox: Sandbox) -> None:
    path = tiny_wheels.file_path("torch", sandbox.torch)
    sandbox.server.files[path].faults = [Fault("status", status=403)]
    result = priced(sandbox, sandbox.plan())
    assert [file.bytes for row in result.packages.values() for file in row if file.name == sandbox.torch.name] == [None]
    assert sandbox.plan().bytes is None
    # It is asked for again the next time.
    priced(sandbox, sandbox.plan())
    assert sandbox.plan().bytes


def test_probe_can_be_cancelled(sandbox: Sandbox) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        priced(sandbox, sandbox.plan(), cancel=cancel)
    assert sandbox.plan().bytes is None


def test_lack_of_disk_space_is_reported_first(sandbox: Sandbox) -> None:
    priced(sandbox, sandbox.plan())
    small = Disk(path="/", free_bytes=1000, total_bytes=10**9)
    seen = msgspec.structs.replace(machine(), disks=(small,))
    plan = make_plan(
        seen,
        recommendation(RELEASE, sandbox.torch_index),
        sandbox.catalog,
        data=sandbox.data,
        environment=sandbox.environment,
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
