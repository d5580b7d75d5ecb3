"""The sickest computer: every program, the driver's library, a network disk and a Python hang. What is left is told."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import CudaToolkit, Disk, Driver, Gpu, OperatingSystem
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.detect.job import DetectJob
from gpu_assistant.system.linux import hardware
from gpu_assistant.system.linux.parsing import Mount
from tests.fakes.system import FakeSystem

CATALOG = load_catalog(resources_dir() / "catalog")
SICKEST_S = 10.0
MOUNTS = (Mount("/dev/x", "/", "ext4", True), Mount("server:/files", "/net", "nfs4", True))


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Whoever waits at it hangs until the test is over."""
    event = threading.Event()
    yield event
    event.set()


def ask(gate: threading.Event, path: str, _: bool) -> Disk | None:
    if path == "/net":
        gate.wait()
    return Disk(path=path, free_bytes=1, total_bytes=2)


class SickDisks(FakeSystem):
    gate: threading.Event

    def disks(self) -> tuple[Disk, ...]:
        return hardware.list_disks(MOUNTS, Path("/"), partial(ask, self.gate))


@pytest.mark.linux
@pytest.mark.skipif(sys.platform == "win32", reason="its hanging programs are shell scripts; Windows' are ended alike")
def test_everything_hanging_still_answers_in_time(tmp_path: Path, gate: threading.Event) -> None:
    toolkit = tmp_path / "cuda"
    (toolkit / "bin").mkdir(parents=True)
    names = {name: tmp_path / name for name in ("nvidia-smi", "git", "conda", "python3", "cuda/bin/nvcc")}
    for program in names.values():
        program.write_text("#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n", encoding="ascii")
        program.chmod(0o755)
    system = SickDisks(
        operating_system=OperatingSystem(system="linux", name="A Linux"),
        display_adapters=(Gpu(vendor="nvidia", pci_id="10de:2882"),),
        nvidia_smi=names["nvidia-smi"],
        loaded_driver="NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\n",
        programs={"git": names["git"], "conda": names["conda"]},
        python_candidates=(names["python3"],),
        cuda_folders=(toolkit,),
    )
    system.gate = gate

    def hanging_library() -> None:
        gate.wait()

    started = time.monotonic()
    machine = DetectJob(system, CATALOG, snapshot=hanging_library).run(JobContext())
    assert time.monotonic() - started < SICKEST_S
    assert machine.os.name == "A Linux"
    assert [gpu.name for gpu in machine.gpus] == ["NVIDIA GeForce RTX 4060"]
    assert machine.driver == Driver(version="550.54.14")
    assert machine.cuda_toolkits == (CudaToolkit(path=str(toolkit), nvcc=True),)
    assert machine.disks == (Disk(path="/", free_bytes=1, total_bytes=2), Disk(path="/net"))
    assert machine.pythons == ()
    assert {note.code: note.detail for note in machine.notes} == {
        "detect.driver.partly": "NVML, nvidia-smi",
        "detect.disks.partly": "/net",
        "detect.pythons.partly": str(names["python3"]),
        "detect.tools.partly": "git, conda",
        "detect.cuda_toolkits.partly": str(toolkit),
    }
