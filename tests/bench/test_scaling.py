"""Several processes train one model: two of them on the processor, really run."""

from __future__ import annotations

import socket
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

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


@pytest.mark.real_install
def test_store_works_without_libuv(torch_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in PyTorch's builds for Windows, where a store with libuv cannot be created."""
    monkeypatch.delenv("USE_LIBUV", raising=False)
    first, second = in_two_processes(
        torch_environment,
        monkeypatch,
        "result = distributed.get_world_size()",
        before="""
import sys
import torch.distributed
rendezvous = sys.modules["torch.distributed.rendezvous"]
store = rendezvous.TCPStore
def without_libuv(*arguments, use_libuv=True, **options):
    if use_libuv:
        raise RuntimeError("use_libuv was requested but PyTorch was built without libuv support")
    return store(*arguments, use_libuv=False, **options)
rendezvous.TCPStore = without_libuv
""",
    )
    assert (first, second) == (2, 2)


def test_failed_process_ends_the_others(tmp_path: Path) -> None:
    """The first would wait for the second for five minutes."""
    torch = """
import os, sys, time
if os.environ["RANK"] == "1":
    sys.exit(3)
time.sleep(300)
"""
    environment = environment_with(tmp_path / "env", torch)
    started_at = time.monotonic()
    log: list[str] = []
    system = FakeSystem(cpu=Cpu(cores=2))
    result = scaling.measure_parallel(
        system, system.environment_python(environment), JobContext(log=log.append), processes=2, on_cpu=True
    )
    assert result is None
    assert time.monotonic() - started_at < 60


TAKES_PART = """
torch.nn.parallel.DistributedDataParallel = lambda model, device_ids: model
parallel.timing.MIN_STEADY_RUNS, parallel.MEASURE_LIMIT_S, parallel.PARALLEL_BATCHES = 3, 0.1, {"cpu": 1}
result = parallel._measure(cpu, "resnet50", ["float32"], rank, 2)
"""


@pytest.mark.real_install
def test_unshared_gradients_are_detected(torch_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = in_two_processes(torch_environment, monkeypatch, TAKES_PART)
    assert first["error"] > 0
    assert "wrong" in first["notes"]


def in_two_processes(
    environment: Path, monkeypatch: pytest.MonkeyPatch, code: str, *, before: str = ""
) -> tuple[Any, Any]:
    """What `code` leaves in `result` in each of two processes of one group; `rank` is their number. `before` is run
    before they join the group.
    """
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    for name, value in {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    started = [f"import os\nos.environ['RANK'] = '{rank}'\n{before}\n{JOINS}\n{code}\n{LEAVES}" for rank in range(2)]
    with ThreadPoolExecutor() as both:
        first, second = both.map(partial(inside, environment), started)
    return first, second


JOINS = """
import types
parallel = __import__("importlib").import_module("gpu_assistant_bench.parallel")
from torch import distributed
distributed.init_process_group("gloo", init_method=parallel.STORE)
rank = distributed.get_rank()
"""
# As the program does: a process that ends while its group's threads run may be aborted, and the first one's store ends
# with it while the other may still ask for the group's addresses.
LEAVES = "distributed.barrier()\ndistributed.destroy_process_group()"


@pytest.mark.real_install
@pytest.mark.parametrize(
    ("weights", "differing"),
    [
        (("[1.0, 2.0, 3.0, 4.0]", "[1.0, 2.0, 3.0, 4.0]"), 0.0),
        (("[1.0, 2.0, 3.0, 4.0]", "[2.0, 1.0, 3.0, 4.0]"), 0.5),  # the sum is the same
        (("[1.0, 2.0, 3.0, 4.0]", "[1.0, 2.0, 3.0, 4.0000005]"), 0.25),  # by one bit
        (("[0.0, 2.0, 3.0, 4.0]", "[-0.0, 2.0, 3.0, 4.0]"), 0.25),
        (("[float('nan'), 2.0, 3.0, 4.0]", "[float('nan'), 2.0, 3.0, 4.0]"), 0.0),
    ],
    ids=["equal", "swapped", "one-bit", "signed-zero", "nan"],
)
def test_weights_are_compared_bit_by_bit(
    torch_environment: Path, monkeypatch: pytest.MonkeyPatch, weights: tuple[str, str], differing: float
) -> None:
    code = f"""
weight = torch.nn.Parameter(torch.tensor([{weights[0]}, {weights[1]}][rank]))
step = types.SimpleNamespace(model=types.SimpleNamespace(parameters=lambda: [weight]))
result = parallel._weight_difference(torch, step, cpu)
"""
    assert in_two_processes(torch_environment, monkeypatch, code) == (differing, differing)


UNLIKE_CARDS = """
class Step:
    def __init__(self, device, model_name, dtype, *, wrap=lambda model: model, scales_gradients=False):
        self.model = torch.nn.Linear(1, 1)
        torch.nn.init.ones_(self.model.weight), torch.nn.init.zeros_(self.model.bias)
        made.append([dtype, scales_gradients])

    def make_batch(self, batch, seed=1):
        return None, None

    def run(self, inputs, classes):
        pass

made = []
parallel.TrainingStep, parallel.set_precision = Step, lambda torch, dtype: None
parallel.PARALLEL_BATCHES = {"cpu": 12}
names = NAMES
cpu.describe = lambda: {"name": names[rank], "memory_bytes": 8}
# Alone a step of 12 takes 0.1 s on the first card, 0.3 s on the second; together 0.4 s.
alone_s, alone = [0.1, 0.3][rank], []
parallel.timing.warm_up = lambda device, run, limit_s: alone_s
parallel.timing.measure_runs = lambda device, run, limit_s, expected_s: alone.append(rank) or [alone_s] * 3
cpu.time_runs = lambda run, count=1: [0.4]
measured = parallel._measure(cpu, "resnet50", ["mixed-bfloat16", "mixed-float16"], rank, 2)
result = [measured.get("median"), measured.get("efficiency"), measured.get("settings"), made, alone]
"""


@pytest.mark.real_install
def test_efficiency_is_by_the_sum_of_the_cards_own_speeds(
    torch_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = UNLIKE_CARDS.replace("NAMES", '["RTX 3060", "GTX 1080"]')
    (median, efficiency, settings, made, alone), (*_, others_made, others_alone) = in_two_processes(
        torch_environment, monkeypatch, code
    )
    assert median == pytest.approx(24 / 0.4)
    assert efficiency == pytest.approx((24 / 0.4) / (12 / 0.1 + 12 / 0.3))
    assert settings["formats"] == "mixed-bfloat16 mixed-float16"
    # Each in its own format, alone and together; together all scale their gradients, or none.
    assert made == [["mixed-bfloat16", False], ["mixed-bfloat16", True]]
    assert others_made == [["mixed-float16", False], ["mixed-float16", True]]
    assert (alone, others_alone) == ([0], [1])


@pytest.mark.real_install
def test_equal_cards_are_measured_alone_once(torch_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = UNLIKE_CARDS.replace("NAMES", '["RTX 3060"] * 2').replace('"mixed-float16"]', '"mixed-bfloat16"]')
    (_, efficiency, _, _, alone), (*_, others_alone) = in_two_processes(torch_environment, monkeypatch, code)
    assert (alone, others_alone) == ([0], [])
    assert efficiency == pytest.approx((24 / 0.4) / (2 * 12 / 0.1))


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
