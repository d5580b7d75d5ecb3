"""One benchmark in a test, and what it told meanwhile."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from gpu_assistant.bench.child_protocol import BenchmarkProgress, TorchLoading
from gpu_assistant.bench.job import BenchmarkJob
from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.json import encode
from gpu_assistant.core.machine import Cpu
from gpu_assistant.core.paths import DataDir, resources_dir
from gpu_assistant.core.results import Benchmark, BenchResult, GpuSample
from gpu_assistant.system.base import PowerStatus
from gpu_assistant.texts.benchmark import verdict_text
from gpu_assistant.texts.localized import Texts

from ..fakes.system import FakeSystem


class Run:
    """A job for `environment` whose results are kept below `data`; `options` are the job's."""

    def __init__(self, environment: Path, data: Path, *, power: PowerStatus | None = None, **options: Any) -> None:
        self.system = FakeSystem(cpu=Cpu(name="AMD Ryzen 5 7500F", cores=2), power=power)
        self.data = DataDir(data)
        self.events: list[TorchLoading | BenchmarkProgress | BenchResult] = []
        self.log: list[str] = []
        options = {"start_limit": 200.0, "read_gpus": no_gpus, "read_cpu_load": lambda _: 0.0, **options}
        self.job = BenchmarkJob(environment, self.system, self.data, **options)

    def go(self, cancel: threading.Event | None = None) -> Benchmark:
        result = self.job.run(JobContext(self.events.append, self.log.append, cancel))
        measured = [replace(each, judgement=None) for each in result.results]  # judged when all are there
        assert [event for event in self.events if isinstance(event, BenchResult)] == measured
        schema = json.loads((resources_dir() / "schemas" / "benchmark.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(json.loads(encode(result)))
        texts = (*result.notes, *result.causes, *(left.why for left in result.left_out))
        workloads = [f"bench.workload.{each.id}" for each in (*result.results, *result.left_out)]
        for code in (*texts, *workloads):
            for language in ("en", "zh_CN"):
                assert Texts(language).translate(code)
                assert verdict_text(result, Texts(language))
        return result

    def fails(self, exit_code: int = 1) -> AppError:
        with pytest.raises(AppError) as caught:
            self.go()
        for language in ("en", "zh_CN"):
            assert Texts(language).error_text(caught.value)
        assert caught.value.exit_code == exit_code
        return caught.value


def no_gpus() -> tuple[GpuSample, ...]:
    return ()
