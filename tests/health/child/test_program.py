"""The test programs with the real PyTorch on the processor: what is sound passes, what is made faulty is found."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import Cpu
from gpu_assistant.core.results import Checks, Sample
from gpu_assistant.health.child_protocol import HealthProgress
from gpu_assistant.health.job import HealthJob
from gpu_assistant.system import current_system
from gpu_assistant.texts.localized import Texts

from ...fakes.system import FakeSystem
from ..samples import RULES

FAULTY = Path(__file__).with_name("faulty_device.py")
QUICK = replace(RULES, tests=replace(RULES.tests, product_seconds=0.3, cpu_memory_bytes=150_000_000))

pytestmark = pytest.mark.real_install


class NoCard:
    """A computer without one."""

    def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
        return Sample(t=0.0, gpus=(), nvml="absent")


def examined(environment: Path, level: int, events: list[Any]) -> Checks:
    system = FakeSystem(cpu=Cpu(name="AMD Ryzen 5 7500F", cores=2))
    job = HealthJob(environment, system, QUICK, NoCard(), level=level, load_seconds=12.0, time_limit=250.0)
    return Texts("en").localize_checks(job.run(JobContext(events.append)))


def test_all_levels_on_cpu(torch_environment: Path) -> None:
    events: list[Any] = []
    checks = examined(torch_environment, 3, events)
    results = [(check.id, check.state) for check in checks.checks]
    assert results[:2] == [("driver", "skip"), ("mains", "skip")]
    assert results[2:4] == [("torch-import", "pass"), ("cpu-compute", "pass")]
    products = [check for check in checks.checks if check.id == "matmul-bits"]
    assert {check.data["dtype"] for check in products} == {"float64", "float32", "bfloat16"}
    assert all(check.state == "pass" and int(check.data["runs"] or 0) >= 2 for check in products)
    (memory,) = [check for check in checks.checks if check.id == "memory-test"]
    assert memory.state == "pass"
    assert int(memory.data["tested_memory_bytes"] or 0) > 30_000_000
    (load,) = [check for check in checks.checks if check.id == "load"]
    assert load.state == "pass"
    assert float(load.data["seconds"] or 0) >= 12
    assert checks.verdict == "pass"
    assert "a small calculation on the card" in checks.leaves_out
    assert [one.done for one in events if isinstance(one, HealthProgress) and one.check == "load"][-1] == 1.0


def test_level_1_is_quick(torch_environment: Path) -> None:
    checks = examined(torch_environment, 1, [])
    assert [check.id for check in checks.checks] == ["driver", "torch-import", "cpu-compute"]


def faulty(environment: Path, fault: str) -> dict[str, Any]:
    done = subprocess.run(
        [current_system().environment_python(environment), "-I", FAULTY, fault],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    (check,) = [line["check"] for line in lines if "check" in line]
    result: dict[str, Any] = check
    return result


def test_intact_memory_passes(torch_environment: Path) -> None:
    assert faulty(torch_environment, "none")["state"] == "pass"


def test_stuck_bit_is_located(torch_environment: Path) -> None:
    check = faulty(torch_environment, "stuck")
    assert check["state"] == "fail"
    assert check["data"]["at_memory_bytes"] == 5_000_003 * 8
    assert int(check["data"]["bits"], 16) == 1 << 37


def test_address_aliasing_is_found(torch_environment: Path) -> None:
    """Patterns that are the same everywhere would not see it."""
    check = faulty(torch_environment, "shared")
    assert check["state"] == "fail"
    assert check["data"]["at_memory_bytes"] == 5_000_003 * 8
    assert check["value"] == 4


def test_intermittent_bit_error_is_found(torch_environment: Path) -> None:
    check = faulty(torch_environment, "slip")
    assert check["state"] == "fail"
    assert check["data"]["reason"] == "@health.reason.bits"
    assert check["value"] >= 1


def test_constant_wrong_result_is_found(torch_environment: Path) -> None:
    check = faulty(torch_environment, "wrong")
    assert check["state"] == "fail"
    assert check["data"]["reason"] == "@verify.reason.wrong-result"
