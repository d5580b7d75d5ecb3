"""Every workload on the real PyTorch."""

from __future__ import annotations

import json
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpu_assistant.bench.child_protocol import CHILD_PROGRAM, BenchmarkProgress, TorchLoading
from gpu_assistant.core.json import decode
from gpu_assistant.core.results import Benchmark
from gpu_assistant.system import current_system

from ..child_code import inside
from ..run import Run

pytestmark = pytest.mark.real_install


def test_matmul_and_copy_on_real_torch(torch_environment: Path, tmp_path: Path) -> None:
    run = Run(torch_environment, tmp_path, workloads=["matmul", "copy"])
    result = run.go()
    assert result.verdict == "bench.verdict.cpu-only"
    assert result.speedup == {}
    assert (result.scope, result.versions["torch"]) == ("quick", result.torch)
    assert {(r.id, r.device, r.dtype, r.unit) for r in result.results} == {
        ("matmul", "cpu", "float32", "TFLOP/s"),
        ("copy-within", "cpu", "uint8", "GB/s"),
    }
    (device,) = result.devices
    assert (device.id, device.name) == ("cpu", "AMD Ryzen 5 7500F")
    assert device.threads in (1, 2)
    for measured in result.results:
        assert 0 < measured.q1 <= measured.median <= measured.q3
        assert measured.extrapolated == (measured.runs == 0) == (not measured.samples)
        if measured.extrapolated:
            assert measured.size == (10000, 10000, 10000)
            continue
        assert measured.runs == len(measured.samples) >= 3
        amount = 2 * measured.size[0] ** 3 / 1e12 if measured.id == "matmul" else 2 * measured.size[0] / 1e9
        assert measured.median == pytest.approx(amount / statistics.median(measured.samples))
        assert measured.error is not None
        assert measured.tolerance is not None
        assert measured.error <= measured.tolerance < 1e-4
    assert run.events[0] == TorchLoading(limit_s=200.0)
    first = run.events[1]
    assert isinstance(first, BenchmarkProgress)
    assert (first.index, first.total, first.workload, first.size) == (1, 5, "matmul", (1024, 1024, 1024))
    assert run.system.awake == 0
    (stored,) = run.data.benchmarks.glob("[!.]*.json")
    assert decode(stored.read_bytes(), Benchmark) == result


# Two blocks in place of twelve or sixteen: tests/install/jobs/test_end_to_end.py measures the whole models.
SHALLOW = """
from gpu_assistant_bench import models
models.BERT_LAYERS = 2
models.RESNET_STAGES = tuple((width, 1, stride) for width, _, stride in models.RESNET_STAGES)
"""
# One example at a time and a few words: a whole run belongs to the benchmarks.
LITTLE = {
    "training": f'{SHALLOW}training.TRAINING_BATCHES["cpu"] = 1',
    "decoding": "decoding.PROMPT_TOKENS = decoding.NEW_TOKENS = 8",
    # A processor without units for it takes minutes for a whole image.
    "mixed": f"""{SHALLOW}
training.has_hardware_support = lambda device, dtype: True
training.MODEL_SPECS["resnet50"] = training.MODEL_SPECS["resnet50"]._replace(
    make_inputs=lambda torch, batch: torch.randn(batch, 3, 64, 64)
)
training.MODEL_SPECS["bert-base"] = training.MODEL_SPECS["bert-base"]._replace(
    make_inputs=lambda torch, batch: torch.randint(1, 30522, (batch, 8))
)
training.TRAINING_BATCHES["cpu"] = 2
""",
}


def measured(environment: Path, module: str, make: str, little: str) -> Any:
    """One workload's result, with hardly any time to measure."""
    return inside(environment, f"from gpu_assistant_bench import {module}\n{LITTLE[little]}\nresult = {make}.measure()")


@pytest.mark.parametrize("dtype", ["float32", "mixed-bfloat16"])
@pytest.mark.parametrize(("name", "unit"), [("resnet50", "images/s"), ("bert-base", "sequences/s")])
def test_training(torch_environment: Path, name: str, unit: str, dtype: str) -> None:
    made = f"training.TrainingWorkload(cpu, {name!r}, {dtype!r}, 0.2)"
    result = measured(torch_environment, "training", made, "training" if dtype == "float32" else "mixed")
    assert (result["id"], result["dtype"], result["unit"]) == (name, dtype, unit)
    assert result["batch"] in (1, 2)
    assert result["runs"] == len(result["samples"]) >= 3
    assert result["median"] == pytest.approx(result["batch"] / statistics.median(result["samples"]))
    assert 0 < result["error"] <= result["tolerance"]
    assert "wrong" not in result["notes"]
    assert result["settings"]["threads"] == 1
    assert result["settings"].get("autocast") == (None if dtype == "float32" else "bfloat16")


@pytest.mark.parametrize("name", ["resnet50", "bert-base"])
def test_training_steps_avoid_subnormal_numbers(torch_environment: Path, name: str) -> None:
    """A loss that vanished would leave subnormal gradients, with which a processor is thirty times slower."""
    code = f"""
from gpu_assistant_bench import training
{LITTLE["mixed"]}
made = training.TrainingStep(cpu, {name!r}, "float32")
made.model.train()
inputs, classes = made.make_batch(1)
result = []
for _ in range(6):
    loss = made.forward(inputs, classes)
    made.backward(loss)
    # Dropout throws its dice anew each time, so a loss may differ, but none may vanish.
    result.append([float(loss.detach()), min(float(part.grad.abs().max()) for part in made.base_model.parameters())])
    made.update()
"""
    steps = inside(torch_environment, code)
    first, last = steps[0][0], steps[-1][0]
    assert last == pytest.approx(first, rel=0.9)
    assert all(gradient > 1e-30 for _, gradient in steps)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_decoding(torch_environment: Path, dtype: str) -> None:
    result = measured(torch_environment, "decoding", f"decoding.DecodingWorkload(cpu, {dtype!r}, 0.5)", "decoding")
    assert (result["size"], result["batch"], result["unit"]) == ([8, 8], 1, "tokens/s")
    assert result["median"] == pytest.approx(8 / statistics.median(result["samples"]))
    assert 0 < result["error"] <= result["tolerance"]


def test_slow_cpu_measures_before_check(torch_environment: Path) -> None:
    code = f"""from gpu_assistant_bench import training
{LITTLE["mixed"]}
import time
made = training.TrainingWorkload(cpu, "resnet50", "float32", 0.2)
made.deadline = time.perf_counter() + 250
made.check_seconds = lambda run_s: 1e9
result = made.measure()
result = [result["runs"] >= 3, result["median"] > 0, result["error"], result["tolerance"], "wrong" in result["notes"]]
"""
    assert inside(torch_environment, code) == [True, True, None, None, False]


def test_mixed_precision_without_hardware_is_skipped(torch_environment: Path) -> None:
    code = """
from gpu_assistant_bench import training, workload
training.has_hardware_support = lambda device, dtype: dtype == "float32"
try:
    training.TrainingWorkload(cpu, "resnet50", "mixed-bfloat16", 0.5).measure()
except workload.WorkloadSkipped as left:
    result = left.reason
"""
    assert inside(torch_environment, code) == "hardware"


def test_too_large_workload_is_skipped_before_running(torch_environment: Path) -> None:
    code = """
from gpu_assistant_bench import decoding, matmul, training, workload
result = []
cpu.free_bytes = lambda: 100 * 2**20
for each in (
    matmul.MatmulWorkload(cpu, "float32", 4096, 1.0, None),
    training.TrainingWorkload(cpu, "bert-base", "float32", 1.0),
    decoding.DecodingWorkload(cpu, "float32", 1.0),
):
    try:
        each.measure()
    except workload.WorkloadSkipped as left:
        result.append([left.reason, left.figures["wanted_bytes"] > left.figures["had_bytes"] == 80 * 2**20])
"""
    assert inside(torch_environment, code) == [["memory", True]] * 3


def test_run_ends_at_deadline(torch_environment: Path, tmp_path: Path) -> None:
    """Three seconds for everything: what runs is left behind, and what comes is left out."""
    program = f"""
import runpy, sys
sys.argv = ["child", "--cores", "1", "--only", "copy", "--only", "training"]
launcher = runpy.run_path({str(CHILD_PROGRAM)!r})
launcher["load"]()
import torch, time, threading
from gpu_assistant_bench import timing, program, schedule, training
schedule.QUICK_DEVICE_S = (2.0, 2.0)
timing.clock_at_epoch = lambda since: time.perf_counter()
training.TrainingWorkload.prepare = lambda self: threading.Event().wait(120)
program.main()
"""
    completed = subprocess.run(
        [str(current_system().environment_python(torch_environment)), "-I", "-X", "utf8", "-c", program],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    start, *lines = [json.loads(line) for line in completed.stdout.splitlines()]
    assert 0 < start["start"]["limit_s"] <= 3
    assert lines[-1] == {"end": True}
    begun = [line["begin"] for line in lines if "begin" in line]
    assert [each["n"] for each in begun] == [1, 2, 3, 4, 5]
    # With units for bfloat16, images are trained on in both formats first; the order has a test of its own.
    assert [each["workload"] for each in begun][:2] == ["copy-within", "resnet50"]
    assert sorted(each["workload"] for each in begun[2:]) == ["bert-base", "bert-base", "resnet50"]
    assert [line["left"] for line in lines if "left" in line][-4:] == ["time"] * 4
    assert sum("left" in line or "result" in line for line in lines) == 5


def test_compiler_is_loaded_on_demand(torch_environment: Path) -> None:
    code = """
import sys
from gpu_assistant_bench import program
program.defer_compiler(torch)
weight = torch.nn.Parameter(torch.ones(2))
for kind in (torch.optim.SGD, torch.optim.AdamW):
    optimizer = kind([weight], lr=0.5)
    weight.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
without = "torch._dynamo.utils" not in sys.modules
compiled = torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2)).tolist()
result = [without, float(weight[0]) < 1, compiled, "torch._dynamo.utils" in sys.modules]
"""
    assert inside(torch_environment, code) == [True, True, [2.0, 2.0], True]


def test_reference_product_is_extrapolated_with_spread(torch_environment: Path) -> None:
    code = """
from gpu_assistant_bench import matmul, workload
def made(side, before, **figures):
    one = matmul.MatmulWorkload(cpu, "float32", side, 1e-9, before)
    one.stored_result = {"size": [side] * 3, "samples": [9.0], **figures}
    return one
small = made(2048, None, median=0.064, q1=0.063, q3=0.066)
large = made(4096, small, median=0.0158, q1=0.0155, q3=0.0159)
result = matmul.MatmulWorkload(cpu, "float32", 10000, 1e-9, large).measure()
# Of what lies in a cache nothing is worked out.
tiny = made(1024, None, median=0.08, q1=0.08, q3=0.08)
try:
    matmul.MatmulWorkload(cpu, "float32", 10000, 1.0, tiny).measure()
except workload.WorkloadSkipped as left:
    result["tiny"] = [left.reason, left.figures["had_s"], left.figures["wanted_s"] > 1.5]
"""
    result = inside(torch_environment, code)
    assert (result["median"], result["q1"], result["q3"]) == (0.064, 0.0155, 0.066)
    assert (result["extrapolated"], result["notes"], result["size"]) == (True, ["spread"], [10000] * 3)
    assert result["tiny"] == ["time", 1.5, True]
