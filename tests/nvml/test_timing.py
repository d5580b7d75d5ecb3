"""What the driver is asked while a benchmark or a health test times something."""

from __future__ import annotations

import functools
import threading
from pathlib import Path

import pytest

from gpu_assistant.bench import job
from gpu_assistant.catalog.records.health import HealthRules
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.results import Sample
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


def test_health_test_asks_for_no_traffic_and_no_processes(scenario: Scenario, nvml: NvmlMonitor) -> None:
    scenario.card()
    rules = load_catalog(resources_dir() / "catalog").read("health.json", HealthRules)
    sampler = Sampler(nvml)
    safety = SafetyMonitor(sampler, threading.Event(), lambda _: 90.0, HealthMonitor(rules), interval=3600)
    with safety:
        assert isinstance(safety.latest, Sample)
    sampler.close()
    assert disturbing_calls(scenario) == set()
