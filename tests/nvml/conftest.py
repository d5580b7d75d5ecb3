"""The library in NVML's place, built once, and an empty computer for each test."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_assistant.core.machine import Gpu
from gpu_assistant.monitor.sampler import NVML_THREAD
from gpu_assistant.system.nvml.monitor import NvmlMonitor

from ..fakes.system import FakeSystem
from .scenario import BUILT, Scenario, built


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = built(tmp_path_factory.mktemp("nvml"))
    if path is None:
        pytest.skip(f"no C compiler (cc) to build the library that answers in NVML's place, and no {BUILT}")
    return path


@pytest.fixture
def cuda_driver(tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library in the CUDA driver's place for the programs that the test starts, as `fake_cuda.c` says."""
    if sys.platform == "win32":
        pytest.skip("the library is built for Linux")
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None  # it has just built `library`
    source = Path(__file__).with_name("fake_cuda.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", source], check=True, timeout=60)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))


@pytest.fixture
def scenario(tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scenario]:
    made = Scenario(tmp_path / "scenario", library)
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    yield made
    # A call that hangs comes back once the file says so; without the file never, and the library would stay loaded.
    made.set(hang=None, delay=None)
    waiting = [thread for thread in threading.enumerate() if thread.name == NVML_THREAD]
    for thread in waiting:
        thread.join(timeout=30)
    assert not any(thread.is_alive() for thread in waiting)


class Clock:
    """A steady clock that stands still until the test moves it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def nvml(scenario: Scenario, clock: Clock, tmp_path: Path) -> Iterator[NvmlMonitor]:
    adapters = (Gpu(vendor="intel"), Gpu(vendor="nvidia", name="GeForce RTX 4060 Laptop"))
    system = FakeSystem(display_adapters=adapters, pci_root=tmp_path / "pci")
    with NvmlMonitor(system, library=scenario.library, clock=clock) as nvml:
        yield nvml
