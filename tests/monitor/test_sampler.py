from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
from msgspec.structs import replace

from gpu_assistant.core.json import encode
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.results import GpuProcess, GpuSample, Sample
from gpu_assistant.monitor.sampler import Sampler
from gpu_assistant.monitor.series import GPU_FIGURES, SeriesExtractor
from gpu_assistant.system.nvml.device import THROTTLE_REASONS
from gpu_assistant.system.nvml.monitor import NvmlMonitor
from gpu_assistant.texts.localized import Texts

from ..fakes.system import FakeSystem
from ..schemas import struct_schema


def without_card(tmp_path: Path) -> NvmlMonitor:
    return NvmlMonitor(FakeSystem(), library=tmp_path / "not-there")


def valid(sample: Sample) -> None:
    schema = json.loads((resources_dir() / "schemas" / "sample.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(encode(sample)))


def test_machine_without_gpu(tmp_path: Path) -> None:
    steady = 0.0
    sampler = Sampler(without_card(tmp_path), clock=lambda: 1795000000.0, monotonic=lambda: steady)
    first = sampler.sample()
    assert first.cpu is None
    assert first.ram_used is not None
    valid(first)
    steady = 1.0
    sample = sampler.sample()
    assert sample.t == 1795000000.0
    assert sample.gpus == ()
    assert (sample.nvml, sample.driver) == ("absent", None)
    assert sample.cpu is not None
    assert 0 <= sample.cpu <= 100
    assert sample.ram_used is not None
    assert sample.ram_total is not None
    assert 0 < sample.ram_used < sample.ram_total
    valid(sample)
    sampler.close()


def test_gpu_sample_fits_schema() -> None:
    valid(Sample(t=1.0, gpus=(GpuSample(index=0),)))
    gpu = GpuSample(index=0, name="x", throttle=("thermal",), power_w=1.5, processes=(GpuProcess(pid=1),))
    valid(Sample(t=1.0, gpus=(gpu,)))


def test_sample_to_series() -> None:
    held = GpuSample(index=0, uuid="GPU-1", throttle=("hardware-thermal", "power-cap"))
    values = SeriesExtractor().values(Sample(t=1, gpus=(held, GpuSample(index=1, temp=50)), cpu=3.0))
    assert values["gpu1.temp"] == 50
    assert values["gpu1.util"] is None
    assert values["cpu"] == 3.0
    assert {key: value for key, value in values.items() if "throttle" in key} == {
        "GPU-1.throttle_hardware-thermal": 1, "GPU-1.throttle_power-cap": 1,
    }  # fmt: skip


def test_throttle_series_survives_restart() -> None:
    turn, capped = SeriesExtractor(), GpuSample(index=0, uuid="GPU-1", throttle=("power-cap",))
    free = replace(capped, throttle=())
    values = [turn.values(Sample(t=1, gpus=(gpu,))).get("GPU-1.throttle_power-cap") for gpu in (free, capped, free)]
    assert values == [None, 1, 0]
    again = SeriesExtractor()
    again.register_series(("cpu", "GPU-1.temp", "GPU-1.throttle_power-cap"))
    assert again.values(Sample(t=1, gpus=(free,)))["GPU-1.throttle_power-cap"] == 0
    unspoken = again.values(Sample(t=1, gpus=(replace(capped, throttle=None),)))
    assert "GPU-1.throttle_power-cap" not in unspoken  # it does not tell


def test_silent_gpu_is_gap_and_lost_gpu_is_marked() -> None:
    gone = [GpuSample(index=index, state=state) for index, state in enumerate(("asleep", "silent", "lost"))]
    values = SeriesExtractor().values(Sample(t=1, gpus=(*gone, GpuSample(index=3, temp=50))))
    assert {name: value for name, value in values.items() if name.startswith("gpu")} == {
        "gpu2.lost": 1.0, "gpu3.lost": 0.0, **{f"gpu3.{name}": 50 if name == "temp" else None for name in GPU_FIGURES},
    }  # fmt: skip


def test_gone_series_survives_restart() -> None:
    turn, here = SeriesExtractor(), GpuSample(index=0, uuid="GPU-1", temp=50)
    cards = (here, GpuSample(index=0, uuid="GPU-1", state="gone"), here)
    assert [turn.values(Sample(t=1, gpus=(gpu,))).get("GPU-1.gone") for gpu in cards] == [None, 1, 0]
    again = SeriesExtractor()
    again.register_series(("cpu", "GPU-1.temp", "GPU-1.gone"))
    assert again.values(Sample(t=1, gpus=(here,)))["GPU-1.gone"] == 0


def test_every_throttle_reason_has_a_text() -> None:
    for reason in THROTTLE_REASONS.values():
        for language in ("en", "zh_CN"):
            assert Texts(language).translate(f"monitor.throttle.{reason}")


def test_sampling_imports_no_numpy_or_qt() -> None:
    code = (
        "import sys, gpu_assistant.monitor.sampler, gpu_assistant.monitor.sample_csv;"
        "from gpu_assistant.monitor.sampler import Sampler;"
        "from gpu_assistant.system.nvml.monitor import NvmlMonitor; from gpu_assistant.system import current_system;"
        "s = Sampler(NvmlMonitor(current_system())); s.sample(); s.close();"
        "print([m for m in ('numpy', 'PySide6', 'prometheus_client', 'requests', 'uv') if m in sys.modules])"
    )
    root = str(Path(__file__).resolve().parents[2])
    out = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, timeout=60, check=True)
    assert out.stdout.strip() == b"[]"


def test_schema_matches_struct() -> None:
    schema = json.loads((resources_dir() / "schemas" / "sample.schema.json").read_text(encoding="utf-8"))
    made = struct_schema(Sample)
    assert (schema["$ref"], schema["$defs"]) == (made["$ref"], made["$defs"])
