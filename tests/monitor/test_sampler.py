from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import msgspec

from gpu_assistant.core.json import encode
from gpu_assistant.core.paths import resources
from gpu_assistant.core.results import GpuProcess, GpuSample, Sample
from gpu_assistant.monitor.sampler import Sampler
from gpu_assistant.monitor.series import GPU_FIGURES, figures
from gpu_assistant.system.nvml import Nvml
from gpu_assistant.system.nvml_card import THROTTLE_REASONS
from gpu_assistant.texts import Texts

from ..fakes.system import FakeSystem


def without_card(tmp_path: Path) -> Nvml:
    return Nvml(FakeSystem(), library=tmp_path / "not-there")


def valid(sample: Sample) -> None:
    schema = json.loads((resources() / "schemas" / "sample.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(encode(sample)))


def test_this_machine_without_a_card(tmp_path: Path) -> None:
    steady = 0.0
    sampler = Sampler(without_card(tmp_path), clock=lambda: 1795000000.0, steady=lambda: steady)
    first = sampler.sample()
    assert first.cpu is None
    assert first.ram_used is not None
    valid(first)
    steady = 1.0
    sample = sampler.sample()
    assert sample.t == 1795000000.0
    assert sample.gpus == ()
    assert sampler.nvml_state == "absent"
    assert sample.cpu is not None
    assert 0 <= sample.cpu <= 100
    assert sample.ram_used is not None
    assert sample.ram_total is not None
    assert 0 < sample.ram_used < sample.ram_total
    valid(sample)
    sampler.close()


def test_a_card_fits_the_schema() -> None:
    valid(Sample(t=1.0, gpus=(GpuSample(index=0),)))
    gpu = GpuSample(index=0, name="x", throttle=("thermal",), power_w=1.5, processes=(GpuProcess(pid=1),))
    valid(Sample(t=1.0, gpus=(gpu,)))


def test_figures_by_name() -> None:
    found = figures(Sample(t=1, gpus=(GpuSample(index=1, temp=50),), cpu=3.0))
    assert found["gpu1.temp"] == 50
    assert found["gpu1.util"] is None
    assert found["cpu"] == 3.0


def test_every_number_of_a_card_is_a_figure() -> None:
    rest = {"index", "name", "throttle", "processes"}
    assert set(GPU_FIGURES) == {field.name for field in msgspec.structs.fields(GpuSample)} - rest


def test_every_throttle_reason_is_said() -> None:
    for reason in THROTTLE_REASONS.values():
        for language in ("en", "zh_CN"):
            assert Texts(language).say(f"monitor.throttle.{reason}")


def test_sampling_loads_no_numpy_and_no_qt() -> None:
    code = (
        "import sys, gpu_assistant.monitor.ring, gpu_assistant.monitor.csv;"
        "from gpu_assistant.monitor.sampler import Sampler;"
        "from gpu_assistant.system.nvml import Nvml; from gpu_assistant.system import current;"
        "s = Sampler(Nvml(current())); s.sample(); s.close();"
        "print([m for m in ('numpy', 'PySide6', 'requests', 'uv') if m in sys.modules])"
    )
    root = str(Path(__file__).resolve().parents[2])
    out = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, timeout=60, check=True)
    assert out.stdout.strip() == b"[]"
