"""Runs in an environment with the real PyTorch: the tests' own programs on a device that is made faulty on purpose.

The fault's name is the argument; what was found goes to stdout as the program says it.
"""

from __future__ import annotations

import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[3] / "gpu_assistant"
sys.dont_write_bytecode = True
sys.path[:0] = [str(PACKAGE / folder) for folder in ("verify", "health/child", "bench/child")]

import matrix_products  # noqa: E402
import memory_patterns  # noqa: E402
import torch  # noqa: E402
from child_protocol import CheckWriter  # noqa: E402
from stress_devices import StressCpu  # noqa: E402

WORD, BIT = 5_000_003, 37
ROW = 257  # not one of those that are computed again in full
BASES = []


class Leaky(torch.Tensor):
    """Memory in which something goes wrong between writing and reading."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.ne:
            FAULTS[sys.argv[1]](BASES[0])
        return super().__torch_function__(function, types, args, kwargs or {})


def stuck(memory):
    memory[WORD] &= ~(1 << BIT)


def shared(memory):
    """Two places for one word, as where an address line is broken."""
    memory[WORD] = memory[WORD + 4096]


class Torch:
    """torch, but for the one function that is faulty."""

    def __init__(self):
        self.products = 0

    def __getattr__(self, name):
        return getattr(torch, name)

    def empty(self, size, dtype, device):
        BASES.append(torch.empty(size, dtype=dtype, device=device))
        return BASES[-1].as_subclass(Leaky)

    def mm(self, left, right, out=None):
        result = torch.mm(left, right, out=out) if out is not None else torch.mm(left, right)
        self.products += 1
        if sys.argv[1] == "wrong" or (sys.argv[1] == "slip" and out is not None and self.products % 5 == 0):
            whole = result.view(getattr(torch, matrix_products.INTEGER_DTYPES[result.element_size()]))
            whole[ROW, 7] ^= 1 << (8 * result.element_size() - 3 if sys.argv[1] == "wrong" else 0)
        return result


FAULTS = {"none": lambda memory: None, "stuck": stuck, "shared": shared}


class SmallCpu(StressCpu):
    precisions = ("float32",)


writer = CheckWriter()
device = SmallCpu(torch, 2, 150_000_000)
if sys.argv[1] in FAULTS:
    memory_patterns.run_memory_test(writer, Torch(), device, 1.0, 1.0)
else:
    matrix_products.run_product_tests(writer, Torch(), device, 0.2)
