"""The same training step on several devices at once, under DistributedDataParallel, started by torchrun.

Every process has a device of its own, or on the CPU its share of the cores. The loss by communication
is measured in the same run: the first process trains alone before, on the same share.
"""

from __future__ import annotations

import datetime
import os
import socket
import sys
import time
from typing import Any, Dict, List, Optional

from . import timing
from .devices import CpuDevice, CudaDevice, Device
from .precision import precision_settings, set_precision
from .protocol import MessageWriter
from .training import MODEL_SPECS, TRAINING_UNITS, TrainingStep

PARALLEL_BATCHES = {"cpu": 2, "gpu": 32}
MEASURE_LIMIT_S = 6.0
PROCESS_TIMEOUT = datetime.timedelta(seconds=300)  # for collective operations


def launch(model_name: str, dtype: str, device: str, processes: int, cores: Optional[int]) -> int:
    """Start this program in `processes` processes by torchrun and wait; the first of them writes to our stdout."""
    from torch.distributed.run import main as torchrun

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    if os.name == "nt":
        os.environ.setdefault("USE_LIBUV", "0")  # missing in builds for Windows
    elif device == "cpu":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # a computer's own name may not resolve
    main_file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")  # noqa: PTH100, PTH118, PTH120
    torchrun_arguments = ["--nnodes", "1", "--nproc-per-node", str(processes)]
    torchrun_arguments += ["--master-addr", "127.0.0.1", "--master-port", str(port)]
    torchrun_arguments += [
        "--no-python",
        sys.executable,
        "-I",
        "-X",
        "utf8",
        main_file,
        "--device",
        device,
        "--take-part",
        model_name,
    ]
    torchrun_arguments += ["--dtype", dtype]
    torchrun(torchrun_arguments + (["--cores", str(cores)] if cores else []))
    return 0


def run_worker(writer: MessageWriter, device_kind: str, cores: Optional[int], model_name: str, dtype: str) -> None:
    """Run one of the processes; the first sends the result, then `{"end": true}`."""
    import torch
    from torch import distributed

    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if device_kind == "cpu":
        device: Device = CpuDevice(torch, max(1, cores // world_size) if cores else 1)
    else:
        torch.cuda.set_device(rank)
        device = CudaDevice(torch, rank)
    backend = "nccl" if device_kind == "gpu" and distributed.is_nccl_available() else "gloo"
    distributed.init_process_group(backend, timeout=PROCESS_TIMEOUT)
    try:
        result = _measure(device, model_name, dtype, rank, world_size)
    finally:
        distributed.destroy_process_group()
    if rank == 0:
        writer.send(result=result)
        writer.send(end=True)


def _measure(device: Device, model_name: str, dtype: str, rank: int, world_size: int) -> Dict[str, Any]:
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel

    torch, started_at = device.torch, time.perf_counter()
    set_precision(torch, dtype)
    batch = PARALLEL_BATCHES[device.kind]
    single_times: List[float] = []
    if rank == 0:
        step = TrainingStep(device, model_name, dtype)
        inputs, classes = step.make_batch(batch)
        expected_s = timing.warm_up(device, lambda: step.run(inputs, classes), MEASURE_LIMIT_S / 2)
        single_times = timing.measure_runs(device, lambda: step.run(inputs, classes), MEASURE_LIMIT_S, expected_s)
        del step, inputs, classes
    distributed.barrier()
    device_ids = [rank] if device.kind == "gpu" else None
    step = TrainingStep(
        device, model_name, dtype, wrap=lambda model: DistributedDataParallel(model, device_ids=device_ids)
    )
    inputs, classes = step.make_batch(batch, seed=1 + rank)
    step.run(inputs, classes)
    error = _weight_difference(torch, step, device)
    parallel_started_at, parallel_times = time.perf_counter(), []
    continue_flag = torch.ones(1, device=device.id)
    while bool(continue_flag.item()):
        parallel_times += device.time_runs(lambda: step.run(inputs, classes))
        is_steady = (
            len(parallel_times) >= timing.MIN_STEADY_RUNS
            and timing.relative_spread(parallel_times) < timing.STEADY_SPREAD
        )
        is_late = len(parallel_times) >= 3 and time.perf_counter() - parallel_started_at > MEASURE_LIMIT_S
        continue_flag.fill_(0.0 if is_steady or is_late else 1.0)
        distributed.broadcast(continue_flag, 0)  # all stop after the same step
    if rank != 0:
        return {}
    q1, median, q3 = timing.quartiles(parallel_times)
    single_median = timing.quartiles(single_times)[1]
    is_spread = timing.relative_spread(parallel_times) > timing.NOTED_SPREAD
    return {
        "id": model_name + "-parallel",
        "version": 2,  # goes up with `TrainingWorkload.version`
        "device": device.id if device.kind == "cpu" else "cuda",
        "dtype": dtype,
        "size": list(MODEL_SPECS[model_name].size),
        "batch": batch * world_size,
        "unit": TRAINING_UNITS[model_name],
        "median": batch * world_size / median,
        "q1": batch * world_size / q3,
        "q3": batch * world_size / q1,
        "runs": len(parallel_times),
        "seconds": time.perf_counter() - started_at,
        "samples": parallel_times,
        "error": error,
        "tolerance": 0.0,
        "processes": world_size,
        "efficiency": single_median / median,
        "settings": {
            **precision_settings(device, dtype),
            "backend": distributed.get_backend(),
            "alone": batch / single_median,
        },
        "notes": (["spread"] if is_spread else []) + (["wrong"] if error else []),
    }


def _weight_difference(torch: Any, step: TrainingStep, device: Device) -> float:
    """The largest relative difference between the processes' weights after a step; it must be 0."""
    from torch import distributed

    sums = torch.stack([parameter.detach().double().sum() for parameter in step.model.parameters()]).to(device.id)
    maximum, minimum = sums.clone(), sums.clone()
    distributed.all_reduce(maximum, distributed.ReduceOp.MAX)
    distributed.all_reduce(minimum, distributed.ReduceOp.MIN)
    return float((maximum - minimum).abs().max() / maximum.abs().max())
