"""Tokens per second of a GPU: the step as a CUDA graph, on the real PyTorch with a stand-in for its CUDA calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ..child_code import inside

pytestmark = pytest.mark.real_install

# What `torch.cuda` does, on the CPU: a graph keeps every operation of the capture with its tensors, a capture leaves
# no effects, a replay runs the operations again with the same tensors. A number that is read back from a tensor ends
# the capture, as on a card; before torch 2.12 its end leaves the allocator and the current stream as they were then.
CUDA = """
import contextlib
from torch.utils._python_dispatch import TorchDispatchMode

class Recorder(TorchDispatchMode):
    def __init__(self, calls, written):
        super().__init__()
        self.calls, self.written = calls, written

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if str(function).startswith(("aten.item", "aten._local_scalar_dense")):
            cuda.invalid = True
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        for argument, value in zip(function._schema.arguments, args):
            if argument.alias_info is not None and argument.alias_info.is_write:
                self.written.append((value, value.clone()))
        result = function(*args, **(kwargs or {}))
        self.calls.append((function, args, kwargs or {}, result))
        return result

class CUDAGraph:
    def __init__(self):
        self.calls = []

    def replay(self):
        cuda.replays += 1
        for function, args, kwargs, result in self.calls:
            again = function(*args, **kwargs)
            for old, new in zip(tensors([result]), tensors([again])):
                if not shares_memory(old, args):
                    old.copy_(new)

def tensors(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from tensors(value)
        elif isinstance(value, torch.Tensor):
            yield value

def shares_memory(tensor, args):
    places = {each.untyped_storage().data_ptr() for each in tensors(args)}
    return tensor.untyped_storage().data_ptr() in places

class Stream:
    def __init__(self, device=None, priority=0):
        self.device = device

    def wait_stream(self, stream):
        pass

class graph:
    def __init__(self, cuda_graph, pool=None, stream=None):
        self.graph, self.stream, self.written = cuda_graph, stream, []

    def __enter__(self):
        cuda.empty_cache()
        cuda.captures += 1
        self.before, cuda.now = cuda.now, self.stream
        self.recorder = Recorder(self.graph.calls, self.written)
        self.recorder.__enter__()

    def __exit__(self, *error):
        self.recorder.__exit__(*error)
        for tensor, value in reversed(self.written):
            tensor.copy_(value)
        if cuda.fault is not None or cuda.invalid:
            cuda.allocator_broken = True
            raise RuntimeError(cuda.fault or "CUDA error: operation failed due to a previous error during capture")
        cuda.now = self.before

@contextlib.contextmanager
def stream(stream):
    before, cuda.now = cuda.now, stream
    try:
        yield
    finally:
        cuda.now = before

def empty_cache():
    if cuda.allocator_broken:
        raise RuntimeError("captures_underway.empty() INTERNAL ASSERT FAILED at CUDACachingAllocator.cpp:2967")

default_stream = Stream()
cuda = torch.cuda
vars(cuda).update(
    CUDAGraph=CUDAGraph, Stream=Stream, graph=graph, stream=stream, empty_cache=empty_cache,
    device=lambda index: contextlib.nullcontext(), synchronize=lambda device=None: None,
    current_stream=lambda device=None: cuda.now,
    now=default_stream, captures=0, replays=0, fault=None, invalid=False, allocator_broken=False,
)

class Gpu(devices.CudaDevice):
    time_runs, free_bytes = devices.CpuDevice.time_runs, lambda self: None

    def __init__(self):
        self.torch, self._index, self.id, self.capability, self.half_speedup = torch, 0, "cpu", (8, 9), None

from gpu_assistant_bench import decoding, models, workload
workload.precision_settings = lambda device, dtype: {}
models.DECODER_LAYERS = 2
decoding.PROMPT_TOKENS = decoding.NEW_TOKENS = 8
made = decoding.GraphDecodingWorkload(Gpu(), "bfloat16", 0.5)
"""


def test_step_is_recorded_once_and_replayed_for_each_token(torch_environment: Path) -> None:
    code = f"{CUDA}\nresult = {{**made.measure(), 'captures': cuda.captures, 'replays': cuda.replays}}"
    result = inside(torch_environment, code)
    assert (result["id"], result["unit"], result["size"], result["batch"]) == ("decode-graph", "tokens/s", [8, 8], 1)
    assert result["captures"] == 1
    assert result["replays"] >= 8 * (result["runs"] + 1)
    assert "wrong" not in result["notes"]
    assert 0 < result["error"] <= result["tolerance"]  # of the last token: each replay was at its own position


def test_replays_generate_the_tokens_of_the_plain_way(torch_environment: Path) -> None:
    code = f"""{CUDA}
plain = decoding.DecodingWorkload(Gpu(), "float64", 0.5)
made.dtype = "float64"
result = []
for each in (plain, made):
    each.prepare()
    each.run()
    result.append(each.sequence().tolist())
"""
    plain, graph = inside(torch_environment, code)
    assert len(plain[0]) == 16
    assert graph == plain


FAILS = """
try:
    made.measure()
    outcome = "measured"
except workload.WorkloadSkipped as left:
    outcome = left.reason
except RuntimeError as error:
    outcome = str(error)
made.device.release_cached_memory()
result = [outcome, cuda.now is default_stream, cuda.replays]
"""


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("cuda.fault = 'CUDA error: operation not permitted when stream is capturing'", "no-graph"),
        ("argmax = made._step; made._step = lambda: (argmax(), made.position.item())", "no-graph"),
        (
            "cuda.fault = 'CUDA out of memory. Tried to allocate 2.00 MiB'",
            "CUDA out of memory. Tried to allocate 2.00 MiB",
        ),
    ],
    ids=["refused", "reads-back", "memory"],
)
def test_capture_that_fails_leaves_the_rest_usable(torch_environment: Path, fault: str, outcome: str) -> None:
    result: Any = inside(torch_environment, f"{CUDA}\n{fault}\n{FAILS}")
    assert result == [outcome, True, 0]
