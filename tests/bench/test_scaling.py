"""Several processes train one model: two of them on the processor, really run, through torchrun."""

from __future__ import annotations

import socket
import statistics
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from gpu_assistant.bench import scaling
from gpu_assistant.core.errors import Cancelled
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.machine import Cpu

from ..fakes.environments import environment_with
from ..fakes.system import FakeSystem
from .child_code import inside

pytestmark = pytest.mark.timeout(600)


@pytest.mark.real_install
def test_two_processes_train_together(torch_environment: Path) -> None:
    system = FakeSystem(cpu=Cpu(cores=2))
    log: list[str] = []
    interpreter = system.environment_python(torch_environment)
    result = scaling.measure_parallel(
        system, interpreter, JobContext(log=log.append), processes=2, on_cpu=True, limit_s=500
    )
    assert result is not None, log
    assert (result.id, result.device, result.processes, result.batch) == ("resnet50-parallel", "cpu", 2, 4)
    assert result.settings["backend"] == "gloo"
    assert result.error == 0  # both have the same weights after a step on different images
    assert result.runs == len(result.samples) >= 3
    assert result.median == pytest.approx(4 / statistics.median(result.samples))
    alone = result.settings["alone"]
    assert isinstance(alone, float)
    assert result.efficiency == pytest.approx(result.median / (2 * alone))


TAKES_PART = """
parallel = __import__("importlib").import_module("gpu_assistant_bench.parallel")
from torch import distributed
torch.nn.parallel.DistributedDataParallel = lambda model, device_ids: model
parallel.timing.MIN_STEADY_RUNS, parallel.MEASURE_LIMIT_S, parallel.PARALLEL_BATCHES = 3, 0.1, {"cpu": 1}
distributed.init_process_group("gloo")
result = parallel._measure(cpu, "resnet50", ["float32"], distributed.get_rank(), 2)
"""


@pytest.mark.real_install
def test_unshared_gradients_are_detected(torch_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    for name, value in {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    started = [f"import os\nos.environ['RANK'] = '{rank}'\n{TAKES_PART}" for rank in range(2)]
    with ThreadPoolExecutor() as both:
        first, _ = both.map(partial(inside, torch_environment), started)
    assert first["error"] > 0
    assert "wrong" in first["notes"]


def test_unsupported_torch_is_logged(tmp_path: Path) -> None:
    system = FakeSystem(cpu=Cpu(cores=2))
    log: list[str] = []
    interpreter = system.environment_python(environment_with(tmp_path / "env", ""))
    assert scaling.measure_parallel(system, interpreter, JobContext(log=log.append), processes=2) is None
    assert any("torch" in line for line in log)


def test_cancel_terminates_all_processes(tmp_path: Path) -> None:
    system = FakeSystem(cpu=Cpu(cores=2))
    cancel = threading.Event()
    cancel.set()
    interpreter = system.environment_python(environment_with(tmp_path / "env", ""))
    with pytest.raises(Cancelled):
        scaling.measure_parallel(system, interpreter, JobContext(cancel=cancel), processes=2)
