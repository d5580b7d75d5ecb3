"""Where there is too little room, and which disk has it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.core.errors import InsufficientDiskSpace
from gpu_assistant.core.machine import Disk, Machine, OperatingSystem
from gpu_assistant.core.paths import DataDir
from gpu_assistant.core.plan import Step
from gpu_assistant.fetch.request import Limits
from gpu_assistant.install.plan.planner import make_plan
from gpu_assistant.system import current_system
from gpu_assistant.texts.localized import Texts

from ..sandbox import Sandbox, machine, recommendation
from ..small_disk import tmpfs

pytestmark = [
    pytest.mark.linux,
    pytest.mark.skipif(sys.platform != "linux", reason="its disks and folders are Linux'"),
]

RELEASE, VARIANT = "2.13.0", "cpu"  # whose size the catalog knows
SMALL, LARGE = 10**8, 10**12


def space(sandbox: Sandbox, disks: tuple[Disk, ...], *, data: str, env: str, downloads: str | None = None) -> Step:
    """The look at the room of a plan for this computer's folders, which may be anywhere."""
    data_dir = DataDir(Path(data))
    data_dir.use_downloads(data_dir.cache if downloads is None else Path(downloads))
    box = Machine(
        schema="gpu-assistant/machine/1",
        os=OperatingSystem(system="linux", arch="x86_64"),
        gpus=(),
        disks=disks,
        pythons=machine().pythons,
    )
    plan = make_plan(
        box,
        replace(recommendation(RELEASE, None), python="3.12"),
        sandbox.catalog,
        data=data_dir,
        environment=Path(env),
        wheelhouse=None,
        simulated=False,
    )
    return plan.steps[0]


def test_full_disk_error_names_disk_with_space(sandbox: Sandbox) -> None:
    disks = (
        Disk(path="/", free_bytes=SMALL),
        Disk(path="/mnt/a", free_bytes=2 * SMALL),
        Disk(path="/mnt/b", free_bytes=LARGE),
    )
    step = space(sandbox, disks, data="/x/data", env="/x/data/environments/pytorch")
    assert step.code == "check-space-about-short-data"
    assert (step.data["disk"], step.data["other"], step.data["there"]) == ("/", "/mnt/b", "/mnt/b/gpu-assistant")
    for language in ("en", "zh_CN"):
        text = Texts(language).translate(f"step.{step.code}.what", step.data)
        assert "gpu-assistant --data-dir /mnt/b/gpu-assistant" in text
        assert "1000 GB" in text


def test_disk_with_too_little_space_is_not_offered(sandbox: Sandbox) -> None:
    disks = (Disk(path="/", free_bytes=SMALL), Disk(path="/mnt/a", free_bytes=2 * SMALL), Disk(path="/mnt/c"))
    step = space(sandbox, disks, data="/x/data", env="/x/env")
    assert step.code == "check-space-about-short"
    assert "other" not in step.data


def test_moving_environment_does_not_free_download_disk(sandbox: Sandbox) -> None:
    disks = (Disk(path="/", free_bytes=SMALL), Disk(path="/mnt/b", free_bytes=LARGE))
    step = space(sandbox, disks, data="/x/data", env="/mnt/b/pytorch")
    assert (step.code, step.data["disk"]) == ("check-space-about-short-data", "/")
    step = space(sandbox, disks, data="/mnt/b/data", env="/x/env")
    assert (step.code, step.data["disk"]) == ("check-space-about-short-env", "/")
    assert "--env /mnt/b/pytorch" in Texts("en").translate(f"step.{step.code}.what", step.data)
    assert space(sandbox, disks, data="/mnt/b/data", env="/mnt/b/env").code == "check-space-about"


def test_moved_downloads_need_their_room_on_their_own_disk(sandbox: Sandbox) -> None:
    disks = (Disk(path="/", free_bytes=SMALL), Disk(path="/mnt/b", free_bytes=LARGE))
    step = space(sandbox, disks, data="/x/data", env="/mnt/b/env", downloads="/mnt/b/downloads")
    assert step.code == "check-space-about"
    step = space(sandbox, disks, data="/mnt/b/data", env="/mnt/b/env", downloads="/x/downloads")
    assert (step.code, step.data["disk"]) == ("check-space-about-short-data", "/")
    step = space(sandbox, disks, data="/mnt/b/data", env="/x/env", downloads="/mnt/b/downloads")
    assert (step.code, step.data["disk"]) == ("check-space-about-short-env", "/")


@pytest.mark.parametrize(("goes", "option"), [("data", "--data-dir"), ("env", "--env")])
def test_install_without_space_names_other_disk(sandbox: Sandbox, goes: str, option: str) -> None:
    sandbox.system = type(sandbox.system)(
        name=current_system().name,
        python_candidates=sandbox.system.python_candidates(),
        disks=(Disk(path="/proc", free_bytes=LARGE), Disk(path=str(sandbox.root / "small"), free_bytes=2 * LARGE)),
    )
    with tmpfs(sandbox.root / "small", "size=2m") as folder:
        if goes == "data":
            sandbox.data = DataDir(folder / "data")
        plan = sandbox.plan(environment=folder / "env" if goes == "env" else None)
        with pytest.raises(InsufficientDiskSpace) as caught:
            sandbox.install(plan, limits=Limits(reserve_bytes=64 * 2**20))
        assert list(folder.iterdir()) in ([], [sandbox.data.root])
    error = caught.value
    assert (error.code, error.exit_code, error.data["other"]) == ("disk-too-small", 1, "/proc")
    for language in ("en", "zh_CN"):
        assert f"{option} /proc/" in Texts(language).error_text(error)
