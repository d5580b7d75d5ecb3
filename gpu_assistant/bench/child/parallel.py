"""The same training step on several devices at once, under DistributedDataParallel.

`launch` starts the processes itself: torchrun creates its store with libuv, whatever USE_LIBUV says, and PyTorch's
builds for Windows lack libuv.

Every process has a device of its own, or on the CPU its share of the cores, and trains in the device's own format. The
loss by communication is measured in the same run: one process of each model of device trains alone before.
"""

from __future__ import annotations

import datetime
import functools
import os
import queue
import socket
import subprocess
import sys
import threading
import time
import zlib
from typing import Any, Dict, List, Optional

from . import timing
from .devices import CpuDevice, CudaDevice, Device
from .precision import MIXED_PREFIX, precision_settings, set_precision
from .protocol import MessageWriter
from .training import MODEL_SPECS, TRAINING_UNITS, TrainingStep

PARALLEL_BATCHES = {"cpu": 2, "gpu": 32}
MEASURE_LIMIT_S = 6.0
# The first process's store, by the address in the environment. Versions without libuv ignore the parameter:
# https://docs.pytorch.org/tutorials/intermediate/TCPStore_libuv_backend.html
STORE = "env://?use_libuv=0"
PROCESS_TIMEOUT = datetime.timedelta(seconds=300)  # for collective operations


def launch(model_name: str, dtype: str, device: str, processes: int, cores: Optional[int]) -> int:
    """Start this program in `processes` processes and wait; the first of them writes to our stdout.

    Returns 1 if one of them failed; the others are ended then, since they would wait for it.
    """
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(processes)}
    if os.name != "nt" and device == "cpu":
        environment.setdefault("GLOO_SOCKET_IFNAME", "lo")  # a computer's own name may not resolve
    main_file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")  # noqa: PTH100, PTH118, PTH120
    command = [sys.executable, "-I", "-X", "utf8", main_file, "--device", device]
    command += ["--take-part", model_name, "--dtype", dtype, *(["--cores", str(cores)] if cores else [])]
    workers = [subprocess.Popen(command, env={**environment, "RANK": str(rank)}) for rank in range(processes)]
    exit_codes: queue.SimpleQueue[int] = queue.SimpleQueue()
    for worker in workers:
        threading.Thread(target=lambda each: exit_codes.put(each.wait()), args=(worker,), daemon=True).start()
    try:
        return 1 if any(exit_codes.get() for _ in workers) else 0
    finally:
        for worker in workers:
            worker.kill()  # does nothing to one that ended


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
    distributed.init_process_group(backend, init_method=STORE, timeout=PROCESS_TIMEOUT)
    try:
        result = _measure(device, model_name, dtype.split(","), rank, world_size)
    finally:
        distributed.destroy_process_group()
    if rank == 0:
        writer.send(result=result)
        writer.send(end=True)


def _measure(device: Device, model_name: str, dtypes: List[str], rank: int, world_size: int) -> Dict[str, Any]:
    """`dtypes` are the processes' formats; the last one is that of all further processes."""
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel

    torch, started_at = device.torch, time.perf_counter()
    dtypes = (dtypes + dtypes[-1:] * world_size)[:world_size]
    dtype = dtypes[rank]
    set_precision(torch, dtype)
    batch = PARALLEL_BATCHES[device.kind]
    # The processes add up their gradients, so these are scaled in all of them or in none.
    scales_gradients = MIXED_PREFIX + "float16" in dtypes
    alone_examples_per_s = _examples_per_second_alone(device, model_name, dtype, rank, world_size)
    device_ids = [rank] if device.kind == "gpu" else None
    step = TrainingStep(
        device,
        model_name,
        dtype,
        wrap=lambda model: DistributedDataParallel(model, device_ids=device_ids),
        scales_gradients=scales_gradients,
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
        "efficiency": batch * world_size / median / sum(alone_examples_per_s),
        "settings": {
            **precision_settings(device, dtype),
            "backend": distributed.get_backend(),
            "alone": alone_examples_per_s[0],
            **({"formats": " ".join(dtypes)} if len(set(dtypes)) > 1 else {}),
        },
        "notes": (["spread"] if is_spread else []) + (["wrong"] if error else []),
    }


def _examples_per_second_alone(device: Device, model_name: str, dtype: str, rank: int, world_size: int) -> List[float]:
    """The speed of each process alone. One of each model of device and format trains, one after the other."""
    from torch import distributed

    torch, described = device.torch, device.describe()
    kind_text = "%s %s %s" % (described.get("name"), described.get("memory_bytes"), dtype)
    # Tensors, since torch gathers objects with the help of numpy.
    kinds = _gather(torch.tensor([zlib.crc32(kind_text.encode())], device=device.id), world_size)
    speed = 0.0
    for kind in dict.fromkeys(kinds):
        if kinds.index(kind) == rank:
            step = TrainingStep(device, model_name, dtype)
            inputs, classes = step.make_batch(PARALLEL_BATCHES[device.kind])
            run = functools.partial(step.run, inputs, classes)
            expected_s = timing.warm_up(device, run, MEASURE_LIMIT_S / 2)
            times = timing.measure_runs(device, run, MEASURE_LIMIT_S, expected_s)
            speed = PARALLEL_BATCHES[device.kind] / timing.quartiles(times)[1]
            del step, inputs, classes, run
        distributed.barrier()
    speeds = _gather(torch.tensor([speed], device=device.id, dtype=torch.float64), world_size)
    return [speeds[kinds.index(kind)] for kind in kinds]


def _gather(value: Any, world_size: int) -> List[Any]:
    """The number in a tensor of one element, of every process."""
    from torch import distributed

    gathered = [value.clone() for _ in range(world_size)]
    distributed.all_gather(gathered, value)
    return [each.item() for each in gathered]


def _weight_difference(torch: Any, step: TrainingStep, device: Device) -> float:
    """The share of weights whose bits differ between the processes after a step; it must be 0.

    Bits are compared, not sums: the order in which a chip adds up differs between models.
    """
    from torch import distributed

    differing = total = 0
    for parameter in step.model.parameters():
        bits = parameter.detach().to(device.id).contiguous().view(torch.int32)
        maximum, minimum = bits.clone(), bits.clone()
        distributed.all_reduce(maximum, distributed.ReduceOp.MAX)
        distributed.all_reduce(minimum, distributed.ReduceOp.MIN)
        differing += int((maximum != minimum).sum())
        total += bits.numel()
    return differing / total
