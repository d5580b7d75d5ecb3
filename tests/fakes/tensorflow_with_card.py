"""Stands in for TensorFlow with one card in tests: plain Python behind the few names that the proof uses.

`FAKE_TENSORFLOW` is its fault: "wrong" computes wrongly on the card, "no-card" sees none, "crash" dies while computing;
`FAKE_TENSORFLOW_CUDA` is the CUDA that it was built for, "" a build without.
"""

from __future__ import annotations

import contextlib
import os
import types

__version__ = "2.21.0"
FAULT = os.environ.get("FAKE_TENSORFLOW", "")
float32 = "float32"
_where = ["/CPU:0"]


class Tensor:
    def __init__(self, rows):
        self.rows = rows

    def numpy(self):
        return self

    def tolist(self):
        return self.rows

    def __mul__(self, other):
        return Tensor([a * b for a, b in zip(self.rows, other.rows, strict=True)])


Variable = Tensor


def constant(rows, _kind):
    return Tensor(rows)


def reduce_sum(tensor):
    return Tensor([sum(tensor.rows)])


@contextlib.contextmanager
def device(name):
    before, _where[0] = _where[0], name
    yield
    _where[0] = before


class GradientTape:
    def __enter__(self):
        return self

    def __exit__(self, *_problem):
        return False

    def gradient(self, _of, at):
        return Tensor([2 * each for each in at.rows])


def matmul(left, right):
    if FAULT == "crash":
        os._exit(9)
    columns = list(zip(*right.rows, strict=True))
    rows = [[float(sum(a * b for a, b in zip(row, column, strict=True))) for column in columns] for row in left.rows]
    if FAULT == "wrong" and "GPU" in _where[0]:
        rows[3][5] += 1.0
    return Tensor(rows)


linalg = types.SimpleNamespace(matmul=matmul)
config = types.SimpleNamespace(list_physical_devices=lambda _kind: [] if FAULT == "no-card" else ["card"])


def _build_info():
    """As of the real 2.21.0 for Linux."""
    cuda = os.environ.get("FAKE_TENSORFLOW_CUDA", "12.5.1")
    return {"cuda_version": cuda, "is_cuda_build": True} if cuda else {"is_cuda_build": False}


sysconfig = types.SimpleNamespace(get_build_info=_build_info)
