"""What the driver is asked while a benchmark or a health test times something."""

from __future__ import annotations

import functools
import threading
import uuid
from pathlib import Path

import pytest

from gpu_assistant.bench import job
from gpu_assistant.catalog.records.health import HealthRules
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.results import GpuSample, Sample
from gpu_assistant.health.monitor import HealthMonitor
from gpu_assistant.health.safety import SafetyMonitor
from gpu_assistant.monitor.sampler import Sampler
from gpu_assistant.system.nvml.monitor import NvmlMonitor

from ..bench.run import Run
from ..fakes.environments import environment_with, torch_with_card
from .scenario import Scenario

DISTURBING = ("nvmlDeviceGetPcieThroughput", "nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunning")


def disturbing_calls(scenario: Scenario) -> set[str]:
    """Those of the calls since the last time that take milliseconds; the test fails where nothing was asked at all."""
    calls = scenario.calls()
    assert "nvmlDeviceGetUtilizationRates" in calls
    return {name for name in calls if name.startswith(DISTURBING)}


def test_benchmark_asks_for_no_traffic_and_no_processes(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario.card()
    monkeypatch.setattr(job, "NvmlMonitor", functools.partial(NvmlMonitor, library=scenario.library))
    environment = environment_with(tmp_path / "env", torch_with_card())
    result = Run(environment, tmp_path, device="cuda:0", workloads=["copy-within"], read_gpus=None).go()
    assert [(log.name, log.temp_start) for log in result.watched] == [("NVIDIA GeForce RTX 4060", 51)]
    assert disturbing_calls(scenario) == set()


def test_instance_of_a_divided_gpu_is_found_through_its_gpu(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CUDA_VISIBLE_DEVICES names an instance of the second card; torch tells the instance's own UUID."""
    scenario.card(0, mig="0")
    instance = "41b35014-745c-5e3d-8b3a-1c0f3a2b4c5d"
    slices = {"slice1.uuid": "MIG-99999999-745c-5e3d-8b3a-1c0f3a2b4c5d", "slice3.uuid": f"MIG-{instance}"}
    scenario.card(1, mig="1", temp="66", **slices)
    monkeypatch.setattr(job, "NvmlMonitor", functools.partial(NvmlMonitor, library=scenario.library))
    torch = torch_with_card().replace("major=8, minor=9", f'major=8, minor=9, uuid="{instance}"')
    environment = environment_with(tmp_path / "env", torch)
    result = Run(environment, tmp_path, device="cuda:0", workloads=["copy-within"], read_gpus=None).go()
    assert [(log.index, log.device, log.temp_max) for log in result.watched] == [(0, None, 51), (1, "cuda:0", 66)]


@pytest.mark.usefixtures("cuda_driver")
def test_card_is_found_where_torch_tells_no_uuid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch before 2.4: the driver is asked, which numbers the cards of CUDA_VISIBLE_DEVICES as torch does."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,1")
    cards = tuple(
        GpuSample(index=index, uuid=f"GPU-{uuid.UUID(bytes=bytes([index] * 16))}", temp=50 + index, clock_sm=2000)
        for index in range(4)
    )
    environment = environment_with(tmp_path / "env", torch_with_card())
    result = Run(environment, tmp_path, device="cuda:0", workloads=["copy-within"], read_gpus=lambda: cards).go()
    assert [(log.index, log.device) for log in result.watched] == [(0, None), (1, None), (2, "cuda:0"), (3, None)]


def test_health_test_asks_for_no_traffic_and_no_processes(scenario: Scenario, nvml: NvmlMonitor) -> None:
    scenario.card()
    rules = load_catalog(resources_dir() / "catalog").read("health.json", HealthRules)
    sampler = Sampler(nvml)
    safety = SafetyMonitor(sampler, threading.Event(), lambda _: 90.0, HealthMonitor(rules), interval=3600)
    with safety:
        assert isinstance(safety.latest, Sample)
    sampler.close()
    assert disturbing_calls(scenario) == set()
