"""One test of cards as tests run it: scripted programs, the library in NVML's place, and what was told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
from msgspec.structs import replace

from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.json import encode
from gpu_assistant.core.machine import Cpu, Gpu
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.results import Check, Checks, Sample
from gpu_assistant.health.job import HealthJob
from gpu_assistant.monitor.sampler import Sampler
from gpu_assistant.system.base import PowerStatus
from gpu_assistant.system.nvml.monitor import NvmlMonitor
from gpu_assistant.texts.localized import Texts

from ..fakes.system import FakeSystem
from ..nvml.scenario import Scenario
from .samples import RULES as SHIPPED

# The link is judged at once here: nothing really works for ten seconds.
LINK = replace(SHIPPED.tests.link, settled_seconds=0.0)
# What has to last, lasts for two looks.
INTERVAL_S = 0.1
SHORT = tuple(replace(rule, for_seconds=min(rule.for_seconds, INTERVAL_S / 2)) for rule in SHIPPED.rules)
RULES = replace(SHIPPED, rules=SHORT, tests=replace(SHIPPED.tests, link=LINK))

CARD = {"id": "cuda:0", "name": "NVIDIA GeForce RTX 4060", "uuid": "GPU-00000000-1111-2222-3333-444444444444"}
START = {"start": {"torch": "2.13.0+cu126", "devices": [CARD]}}
PASSED = {
    "check": {"id": "torch-import", "state": "pass", "value": "2.13.0", "data": {"value": "2.13.0", "seconds": 1}}
}
END = {"end": True}


def copies(gb_s: float) -> dict[str, Any]:
    data = {"device": "cuda:0", "up_gb_s": gb_s, "down_gb_s": gb_s, "value": gb_s}
    return {"check": {"id": "copy-bandwidth", "state": "pass", "value": gb_s, "data": data}}


class CountingSampler(Sampler):
    """The monitor's sampler on the library in NVML's place."""

    def __init__(self, system: FakeSystem, library: Path, before_sample: Callable[[int], None]) -> None:
        # A minute passes with every sample: what is asked rarely is asked each time.
        # No driver is called slow because the tests' computer is.
        nvml = NvmlMonitor(system, library=library, clock=lambda: 60.0 * self.count)
        super().__init__(nvml, wait_s=60.0, hung_s=120.0)
        self._before_sample = before_sample
        self.count = 0

    def sample(self, *, detailed: bool = True, processes: bool = True) -> Sample:
        self.count += 1
        self._before_sample(self.count)
        return super().sample(detailed=detailed, processes=processes)


class Run:
    """One test and the events it reported."""

    def __init__(
        self,
        environment: Path,
        scenario: Scenario,
        *,
        before_sample: Callable[[int], None] = lambda _: None,
        power: PowerStatus | None = None,
        **given: Any,
    ) -> None:
        adapters = (Gpu(vendor="nvidia", name="GeForce RTX 4060"),) if scenario.cards else ()
        self.system = FakeSystem(
            cpu=Cpu(name="AMD Ryzen 5 7500F", cores=2),
            display_adapters=adapters,
            power=power or PowerStatus(source="mains"),
        )
        self.sampler = CountingSampler(self.system, scenario.library, before_sample)
        self.test(environment, **{"time_limit": 60.0, **given})
        self.events: list[Any] = []

    def test(self, environment: Path | None, **given: Any) -> None:
        """What `go` is to run: a test of this environment; None asks the driver alone."""
        self.job = HealthJob(environment, self.system, RULES, self.sampler, sample_interval=INTERVAL_S, **given)

    def go(self, on_event: Callable[[Any], None] = lambda _: None, cancel: threading.Event | None = None) -> Checks:
        def report(one: Any) -> None:
            self.events.append(one)
            on_event(one)

        before = threading.active_count()
        try:
            with closing(self.sampler):
                checks = self.job.run(JobContext(report, cancel=cancel))
        finally:
            assert self.system.awake == 0
            assert not [each for each in threading.enumerate() if each.name == "safety monitor"], before
        assert tuple(one for one in self.events if isinstance(one, Check)) == checks.checks
        return localized(checks)


def localized(checks: Checks) -> Checks:
    """The same in English; every sentence exists in both languages, and the whole fits the schema."""
    schema = json.loads((resources_dir() / "schemas" / "checks.schema.json").read_text(encoding="utf-8"))
    for language in ("zh_CN", "en"):
        spoken = Texts(language).localize_checks(checks)
        jsonschema.Draft202012Validator(schema).validate(json.loads(encode(spoken)))
        assert spoken.scope
    return spoken


def states(checks: Checks) -> dict[str, str]:
    return {check.id: check.state for check in checks.checks}


def one(checks: Checks, check_id: str) -> Check:
    (check,) = [check for check in checks.checks if check.id == check_id]
    return check


def release_after_samples(count: int, file: Path) -> Callable[[int], None]:
    """Lets the program go on after so many samples of the GPUs."""

    def before_sample(now: int) -> None:
        if now > count:
            file.touch()

    return before_sample
