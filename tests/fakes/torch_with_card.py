"""Stands in for PyTorch on a computer with one CUDA card: just enough of it for the checks and the benchmark.

A test copies this file into an environment as its torch package. FAKE_CARD says what is wrong with the card:
"wrong" (computes wrong), "no-kernel" (the build has no code for it), "no-driver", "out-of-memory", "dies",
"lost" (it stops answering midway), "reset" (the driver ends a long kernel), "slow", "two" (there is a second one).
Tensors hold either their values in a flat list, or, where they are large, one value for all of them.
A product or copy takes no time: it puts the process's `time.perf_counter` forward by what it would have taken.
"""

from __future__ import annotations

import math
import os
import time
import types

FAULT = os.environ.get("FAKE_CARD", "")
STATE = types.SimpleNamespace(threads=1, input=None, lost=False, worked_s=0.0)
LOSSES = {
    "lost": "CUDA error: unspecified launch failure",
    "reset": "CUDA error: the launch timed out and was terminated",
}
CPU_PRODUCT_S, GPU_PRODUCT_S, COPY_S = 2e-3, 1e-3, 1e-3
_perf_counter = time.perf_counter
time.perf_counter = lambda: _perf_counter() + STATE.worked_s

__version__ = "2.13.0+cu126"
version = types.SimpleNamespace(cuda="12.6", hip=None)
float32, float16, bfloat16, uint8 = "float32", "float16", "bfloat16", "uint8"


class Tensor:
    def __init__(self, values, shape, device="cpu"):
        self.values, self.shape, self.device = values, tuple(shape), device

    def _map(self, work):
        values = [work(v) for v in self.values] if isinstance(self.values, list) else work(self.values)
        return Tensor(values, self.shape, self.device)

    def reshape(self, *shape):
        return Tensor(self.values, shape, self.device)

    def __mod__(self, number):
        return self._map(lambda v: v % number)

    def __mul__(self, other):
        return Tensor([a * b for a, b in zip(self.values, other.values, strict=True)], self.shape)

    def __sub__(self, other):
        return self._map(lambda v: v - other.values)

    def __truediv__(self, other):
        return self._map(lambda v: v / other.values)

    def __float__(self):
        return float(self.values)

    def abs(self):
        return self._map(abs)

    def max(self):
        return self

    def __getitem__(self, key):
        if len(self.shape) == 1:
            return Tensor(self.values, (len(range(*key.indices(self.shape[0]))),), self.device)
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        size = [len(range(*cut.indices(side))) for cut, side in zip((rows, columns), self.shape, strict=True)]
        return Tensor(self.values, size, self.device)

    def __matmul__(self, other):
        (m, k), (_, n) = self.shape, other.shape
        wrong = 1 if FAULT == "wrong" and self.device != "cpu" else 0
        if not isinstance(self.values, list):
            return Tensor(self.values * other.values * k * (1 + wrong), (m, n), self.device)
        if FAULT == "no-kernel" and self.device != "cpu":
            raise RuntimeError("CUDA error: no kernel image is available for execution on the device\nand more")
        columns = [other.values[c::n] for c in range(n)]
        rows = [self.values[r * k : (r + 1) * k] for r in range(m)]
        products = [sum(a * b for a, b in zip(r, c, strict=True)) + wrong for r in rows for c in columns]
        return Tensor(products, (m, n), self.device)

    def to(self, where):
        return Tensor(self.values, self.shape, where if ":" in where else self.device)

    def cpu(self):
        return Tensor(self.values, self.shape)

    def double(self):
        return self

    def pin_memory(self):
        return self

    def repeat(self, count):
        return Tensor(self.values, (self.shape[0] * count,), self.device)

    def clone(self):
        return Tensor(self.values, self.shape, self.device)

    def zero_(self):
        self.values = 0

    def copy_(self, other, non_blocking=False):
        STATE.worked_s += COPY_S
        self.values = other.values

    def tolist(self):
        flat = list(self.values)
        side = self.shape[-1]
        return [flat[at : at + side] for at in range(0, len(flat), side)] if len(self.shape) == 2 else flat

    def sum(self):
        return self

    def backward(self):
        STATE.input.grad = Tensor([2 * v for v in STATE.input.values], STATE.input.shape)


def arange(count, dtype=None):
    return Tensor([float(v) for v in range(count)], (count,))


def tensor(values, requires_grad=False):
    STATE.input = Tensor(values, (len(values),))
    return STATE.input


def randint(low, high, size, dtype=None):
    return Tensor(7, size)


def randn(*size, device="cpu", dtype=None):
    if FAULT == "out-of-memory" and device != "cpu" and size[0] > 2048:
        raise RuntimeError("CUDA out of memory. Tried to allocate 256.00 MiB")
    if FAULT == "dies" and device != "cpu" and size[0] > 2048:
        os._exit(9)
    return Tensor(1.0, size, device)


def empty(*size, device="cpu", dtype=None):
    return Tensor(0.0, size, device)


def empty_like(like, device="cpu"):
    return Tensor(0, like.shape, device)


def mm(left, right, out):
    if FAULT in LOSSES and left.device != "cpu" and left.shape[0] > 2048:
        STATE.lost = True
        raise RuntimeError(LOSSES[FAULT])
    STATE.worked_s += CPU_PRODUCT_S if left.device == "cpu" else GPU_PRODUCT_S
    out.values = (left @ right).values


def equal(a, b):
    return a.values == b.values


def allclose(a, b, rtol, atol):
    return all(math.isclose(x, y, rel_tol=rtol, abs_tol=atol) for x, y in zip(a.values, b.values, strict=True))


def conv2d(image, kernel):
    wrong = 100 if FAULT == "wrong" and image.device != "cpu" else 0
    return Tensor([sum(image.values[:9]) + wrong], (1,), image.device)


def manual_seed(seed):
    pass


def set_num_threads(count):
    STATE.threads = count


def get_float32_matmul_precision():
    return "highest"


def get_num_threads():
    return STATE.threads


def finfo(kind):
    return types.SimpleNamespace(eps={"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}[kind])


class Event:
    def __init__(self, enable_timing):
        pass

    def record(self):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return 1000.0 if FAULT == "slow" else 1.0


class _Device:
    def __init__(self, device):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def _synchronize(device=None):
    if STATE.lost:
        raise RuntimeError("CUDA error: unspecified launch failure")


def _init():
    raise RuntimeError("Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU\nand more")


cuda = types.SimpleNamespace(
    is_available=lambda: FAULT != "no-driver",
    device_count=lambda: 2 if FAULT == "two" else 1,
    init=_init,
    get_device_properties=lambda device: types.SimpleNamespace(
        name="NVIDIA GeForce RTX 4060", total_memory=8585740288, major=8, minor=9
    ),
    get_device_capability=lambda device: (8, 9),
    mem_get_info=lambda device: (8_000_000_000, 8585740288),
    set_per_process_memory_fraction=lambda fraction, device: None,
    synchronize=_synchronize,
    empty_cache=lambda: None,
    device=_Device,
    Event=Event,
)
backends = types.SimpleNamespace(
    cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=False)),
    cudnn=types.SimpleNamespace(is_available=lambda: True, version=lambda: 91002),
)
nn = types.SimpleNamespace(functional=types.SimpleNamespace(conv2d=conv2d))
