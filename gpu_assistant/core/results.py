"""What was proven and measured: `checks`, `benchmark` and `samples` of the contract."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .message import Value

CHECKS_SCHEMA = "gpu-assistant/checks/1"
BENCHMARK_SCHEMA = "gpu-assistant/benchmark/1"

CheckState = Literal["pass", "warn", "fail", "skip"]
Verdict = Literal["pass", "warn", "fail"]
DType = Literal["float32", "tf32", "float16", "bfloat16"]


class Check(Struct, frozen=True, kw_only=True):
    """One check. Texts: `check.<id>.<state>`, mend `check.<id>.fix`, both filled with `data`."""

    id: str
    state: CheckState
    value: Value = None
    expected: Value = None
    data: dict[str, Value] = {}
    text: str | None = None
    fix: str | None = None


class Checks(Struct, frozen=True, kw_only=True):
    """All checks and the worst of their states (skipped ones do not count)."""

    schema: Literal["gpu-assistant/checks/1"]
    verdict: Verdict
    checks: tuple[Check, ...]


class BenchDevice(Struct, frozen=True, kw_only=True):
    """A device that torch can compute on: `id` is "cpu" or "cuda:0"; memory in bytes."""

    id: str
    name: str | None = None
    threads: int | None = None
    memory_bytes: int | None = None


class BenchResult(Struct, frozen=True, kw_only=True):
    """One measured workload. `median`, `q1`, `q3` in `unit`; `seconds` is the time spent measuring it.

    `size` of a matmul is (m, k, n). `samples` are the raw seconds of each counted run.
    `error` is the largest relative error against a float64 reference.
    """

    id: str
    device: str
    dtype: DType
    size: tuple[int, ...]
    unit: str
    median: float
    q1: float
    q3: float
    runs: int
    seconds: float
    samples: tuple[float, ...] = ()
    error: float | None = None


class Benchmark(Struct, frozen=True, kw_only=True):
    """A whole run. `speedup` is GPU over CPU by "workload-dtype"; `verdict` is a text's key."""

    schema: Literal["gpu-assistant/benchmark/1"]
    torch: str
    devices: tuple[BenchDevice, ...]
    results: tuple[BenchResult, ...]
    speedup: dict[str, float] = {}
    expected: dict[str, tuple[float, float]] | None = None
    verdict: str | None = None
    started: float | None = None
    seconds: float | None = None
    notes: tuple[str, ...] = ()


class GpuProcess(Struct, frozen=True, kw_only=True):
    """A process that uses a GPU; memory in bytes."""

    pid: int
    name: str | None = None
    mem_used: int | None = None


class GpuSample(Struct, frozen=True, kw_only=True):
    """One GPU at one moment. Percent, bytes, °C, W, MHz, bytes per second; None where it does not report."""

    index: int
    name: str | None = None
    util: int | None = None
    mem_util: int | None = None
    mem_used: int | None = None
    mem_total: int | None = None
    temp: int | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    clock_sm: int | None = None
    clock_mem: int | None = None
    fan: int | None = None
    pcie_gen: int | None = None
    pcie_width: int | None = None
    pcie_tx: int | None = None
    pcie_rx: int | None = None
    throttle: tuple[str, ...] | None = None
    enc: int | None = None
    dec: int | None = None
    processes: tuple[GpuProcess, ...] | None = None


class Sample(Struct, frozen=True, kw_only=True):
    """One moment of the whole machine; `t` in seconds since the epoch, `cpu` percent, RAM in bytes."""

    t: float
    gpus: tuple[GpuSample, ...]
    cpu: float | None = None
    ram_used: int | None = None
    ram_total: int | None = None
