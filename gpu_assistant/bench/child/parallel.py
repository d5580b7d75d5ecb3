"""The same training step on several devices at once, under DistributedDataParallel, started by torchrun.

Every process has a device of its own, or on the processor its share of the cores. How much is lost by working
together is measured in the same run: the first process trains alone before, on the same share.
"""

from __future__ import annotations

import datetime
import os
import socket
import sys
import time
from typing import Any, Dict, List, Optional

from . import timing
from .devices import Cpu, Cuda, Device
from .precision import set_precision, stated
from .step import KINDS, Step
from .talk import Talk
from .training import UNITS

BATCHES = {"cpu": 2, "gpu": 32}
LIMIT_S = 6.0
PATIENCE = datetime.timedelta(seconds=300)  # a process that waits longer for another one gives up


def launch(name: str, dtype: str, device: str, processes: int, cores: Optional[int]) -> int:
    """Start that many of this program through torchrun and wait for them; their first one writes to our stdout."""
    from torch.distributed.run import main as torchrun

    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    if os.name == "nt":
        os.environ.setdefault("USE_LIBUV", "0")  # builds for Windows came without it
    elif device == "cpu":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # a computer's own name may not resolve
    start = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")  # noqa: PTH100, PTH118, PTH120
    words = ["--nnodes", "1", "--nproc-per-node", str(processes)]
    words += ["--master-addr", "127.0.0.1", "--master-port", str(port)]
    words += ["--no-python", sys.executable, "-I", "-X", "utf8", start, "--device", device, "--take-part", name]
    words += ["--dtype", dtype]
    torchrun(words + (["--cores", str(cores)] if cores else []))
    return 0


def take_part(talk: Talk, kind: str, cores: Optional[int], name: str, dtype: str) -> None:
    """One of the processes; the first one tells the result, then `{"end": true}`."""
    import torch
    from torch import distributed

    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if kind == "cpu":
        device: Device = Cpu(torch, max(1, cores // world) if cores else 1)
    else:
        torch.cuda.set_device(rank)
        device = Cuda(torch, rank)
    backend = "nccl" if kind == "gpu" and distributed.is_nccl_available() else "gloo"
    distributed.init_process_group(backend, timeout=PATIENCE)
    try:
        result = _measured(device, name, dtype, rank, world)
    finally:
        distributed.destroy_process_group()
    if rank == 0:
        talk.send(result=result)
        talk.send(end=True)


def _measured(device: Device, name: str, dtype: str, rank: int, world: int) -> Dict[str, Any]:
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel

    torch, began = device.torch, time.perf_counter()
    set_precision(torch, dtype)
    batch = BATCHES[device.kind]
    alone: List[float] = []
    if rank == 0:
        step = Step(device, name, dtype)
        inputs, classes = step.data(batch)
        expected = timing.warm_up(device, lambda: step.run(inputs, classes), LIMIT_S / 2)
        alone = timing.measure(device, lambda: step.run(inputs, classes), LIMIT_S, expected)
        del step, inputs, classes
    distributed.barrier()
    ids = [rank] if device.kind == "gpu" else None
    step = Step(device, name, dtype, wrap=lambda model: DistributedDataParallel(model, device_ids=ids))
    inputs, classes = step.data(batch, seed=1 + rank)
    step.run(inputs, classes)
    error = _difference(torch, step, device)
    started, together = time.perf_counter(), []
    go_on = torch.ones(1, device=device.id)
    while bool(go_on.item()):
        together += device.seconds(lambda: step.run(inputs, classes))
        steady = len(together) >= timing.LEAST_RUNS and timing.spread(together) < timing.SPREAD_REACHED
        late = len(together) >= 3 and time.perf_counter() - started > LIMIT_S
        go_on.fill_(0.0 if steady or late else 1.0)
        distributed.broadcast(go_on, 0)  # all stop after the same step
    if rank != 0:
        return {}
    q1, median, q3 = timing.quartiles(together)
    one = timing.quartiles(alone)[1]
    noted = timing.spread(together) > timing.SPREAD_NOTED
    return {
        "id": name + "-parallel",
        "version": 2,  # 2: as `Training.version`
        "device": device.id if device.kind == "cpu" else "cuda",
        "dtype": dtype,
        "size": list(KINDS[name].size),
        "batch": batch * world,
        "unit": UNITS[name],
        "median": batch * world / median,
        "q1": batch * world / q3,
        "q3": batch * world / q1,
        "runs": len(together),
        "seconds": time.perf_counter() - began,
        "samples": together,
        "error": error,
        "tolerance": 0.0,
        "processes": world,
        "efficiency": one / median,
        "settings": {**stated(device, dtype), "backend": distributed.get_backend(), "alone": batch / one},
        "notes": (["spread"] if noted else []) + (["wrong"] if error else []),
    }


def _difference(torch: Any, step: Step, device: Device) -> float:
    """How far the processes' weights are apart after a step on different data, relative; they must be the same."""
    from torch import distributed

    sums = torch.stack([parameter.detach().double().sum() for parameter in step.model.parameters()]).to(device.id)
    most, least = sums.clone(), sums.clone()
    distributed.all_reduce(most, distributed.ReduceOp.MAX)
    distributed.all_reduce(least, distributed.ReduceOp.MIN)
    return float((most - least).abs().max() / most.abs().max())
