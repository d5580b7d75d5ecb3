"""What was proven and measured: `checks`, `benchmark` and `samples` of the contract.

Whether the cards are well: the state of a moment, and its alarms.

What fits in memory: `memory` of the contract.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from .types import Value

CHECKS_SCHEMA = "gpu-assistant/checks/1"
BENCHMARK_SCHEMA = "gpu-assistant/benchmark/1"

CheckState = Literal["pass", "warn", "fail", "skip"]
Verdict = Literal["pass", "warn", "fail"]
DType = Literal["float32", "tf32", "float16", "bfloat16", "float8", "mixed-float16", "mixed-bfloat16", "uint8"]
BenchScope = Literal["quick", "full"]

# What can be measured, with the unit of its figures; each has a text `bench.workload.<id>`.
WORKLOAD_UNITS = {
    "matmul": "TFLOP/s",
    "copy-within": "GB/s",
    "copy-to-device": "GB/s",
    "copy-to-device-pinned": "GB/s",
    "copy-to-host": "GB/s",
    "copy-to-host-pinned": "GB/s",
    "resnet50": "images/s",
    "bert-base": "sequences/s",
    "decode": "tokens/s",
    "resnet50-parallel": "images/s",
    "bert-base-parallel": "sequences/s",
}
TRAINING_WORKLOADS = frozenset(name for name, unit in WORKLOAD_UNITS.items() if unit in ("images/s", "sequences/s"))
# The sizes of these are numbers of tokens, of those bytes.
TOKEN_WORKLOADS = frozenset(name for name, unit in WORKLOAD_UNITS.items() if unit in ("sequences/s", "tokens/s"))
COPY_WORKLOADS = frozenset(name for name, unit in WORKLOAD_UNITS.items() if unit == "GB/s")


# Whether NVIDIA's management library answers.
NvmlState = Literal[
    "untried",  # nobody asked yet
    "ready",
    "absent",  # no library: no NVIDIA driver is installed
    "not-loaded",  # the library is there, its kernel driver is not
    "version-mismatch",  # the driver was updated and waits for a restart
    "no-permission",
    "asleep",  # every card sleeps and is left asleep
    "resting",  # let go of, so that a laptop's idle card may fall asleep
    "lost",  # a card fell off the bus or needs a reset; the others answer
    "slow",  # it has been asked and has not answered yet
    "hung",  # it has not answered for so long that it may never
    "failed",  # anything else that it says
]
# "resting": as of the driver; "lost": fell off the bus or needs a reset, as the driver says; "gone": the driver no
# longer lists it; "silent": the driver does not answer for it.
GpuState = Literal["ready", "asleep", "resting", "lost", "gone", "silent"]


class Check(Struct, frozen=True, kw_only=True):
    """One check. Texts: `check.<id>.<state>`, mend `check.<id>.fix`, both filled with `data`."""

    id: str
    state: CheckState
    value: Value = None
    expected: Value = None
    data: dict[str, Value] = {}
    text: str | None = None
    fix: str | None = None


class HealthTestCurve(Struct, frozen=True, kw_only=True):
    """A GPU while it was tested: seconds from the beginning, °C, W, MHz, and what held it back, moment by moment.

    `speed` is what it computed in 10^12 operations a second by the test's own count, with its own seconds `speed_t`.
    """

    gpu: int
    name: str | None = None
    t: tuple[float, ...] = ()
    temp: tuple[int | None, ...] = ()
    power_w: tuple[float | None, ...] = ()
    clock_sm: tuple[int | None, ...] = ()
    throttle: tuple[tuple[str, ...] | None, ...] = ()
    speed_t: tuple[float, ...] = ()
    speed: tuple[float, ...] = ()


class Checks(Struct, frozen=True, kw_only=True):
    """All checks and the worst of their states (skipped ones do not count).

    A health test has a `level`, the `curves` of what it did to the cards, and says in `scope` (text `health.scope`)
    what its verdict `covers` and what it `leaves_out`: keys of texts (`health.area.<key>`), or those texts.
    """

    schema: Literal["gpu-assistant/checks/1"]
    verdict: Verdict
    checks: tuple[Check, ...]
    level: int | None = None
    covers: tuple[str, ...] = ()
    leaves_out: tuple[str, ...] = ()
    scope: str | None = None
    curves: tuple[HealthTestCurve, ...] = ()


class BenchDevice(Struct, frozen=True, kw_only=True):
    """A device that torch can compute on: `id` is "cpu" or "cuda:0"; memory in bytes."""

    id: str
    name: str | None = None
    threads: int | None = None
    memory_bytes: int | None = None


class BenchResult(Struct, frozen=True, kw_only=True):
    """One measured workload. `median`, `q1`, `q3` in `unit`; `seconds` is the time spent measuring it.

    `size` of a matmul is (m, k, n), else that of one item (an image, words, bytes) of the `batch` of each run.
    `samples` are the raw seconds of each counted run. `error` is the largest relative error against a float64
    reference, `tolerance` what rounding explains. Figures of different `version`s cannot be compared. `settings` are
    the switches it ran with. `notes`: "spread", "few", "wrong", "busy-cpu". An `extrapolated` figure was not measured
    but worked out from a smaller size. `processes` worked on it together; `efficiency` is their speed by that of as
    many alone.
    """

    id: str
    version: int = 1
    device: str
    dtype: DType
    size: tuple[int, ...]
    batch: int | None = None
    unit: str
    median: float
    q1: float
    q3: float
    runs: int
    seconds: float
    samples: tuple[float, ...] = ()
    error: float | None = None
    tolerance: float | None = None
    settings: dict[str, Value] = {}
    notes: tuple[str, ...] = ()
    extrapolated: bool = False
    processes: int = 1
    efficiency: float | None = None


class SkippedWorkload(Struct, frozen=True, kw_only=True):
    """A workload that was not measured; `why` is the key of a text.

    For lack of time it wanted about `wanted_s` seconds and had `had_s`, for lack of memory so many bytes; None where
    nobody knows.
    """

    id: str
    device: str
    dtype: DType
    size: tuple[int, ...]
    why: str
    wanted_s: float | None = None
    had_s: float | None = None
    wanted_bytes: int | None = None
    had_bytes: int | None = None


class BenchGpuLog(Struct, frozen=True, kw_only=True):
    """A GPU along the run, as its driver told it: °C, MHz, W, percent; None where it does not report.

    `util_before` is how busy it was before anything was measured; clocks are medians of the moments under load.
    """

    index: int
    name: str | None = None
    samples: int
    util_before: int | None = None
    temp_start: int | None = None
    temp_end: int | None = None
    temp_max: int | None = None
    clock_sm: int | None = None
    clock_mem: int | None = None
    power_max_w: float | None = None
    power_limit_w: float | None = None
    pcie_gen: int | None = None
    pcie_width: int | None = None
    throttle: tuple[str, ...] = ()


class Benchmark(Struct, frozen=True, kw_only=True):
    """A whole run. `speedup` is GPU over CPU by "workload-dtype"; `verdict` is a text's key.

    `expected` is the range (lowest, highest) that healthy cards of this name reach, by "device/workload-dtype", in
    the workload's unit. `causes` are keys of texts: what may make a figure too low, by what was seen.
    """

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
    scope: BenchScope | None = None
    versions: dict[str, str] = {}
    left_out: tuple[SkippedWorkload, ...] = ()
    watched: tuple[BenchGpuLog, ...] = ()
    on_battery: bool | None = None
    causes: tuple[str, ...] = ()


class BenchmarkHistoryEntry(Struct, frozen=True, kw_only=True):
    """A benchmark of before by the one figure that stands for it (`headline`).

    `ratio` is the fastest card over the processor. `change` is how many times as fast as in the one `compared_with`
    (its `started`), the last with the same measurement in the same version on a device of the same name; None beside
    one is no difference that the runs could tell, or that `doubts` (notes of either figure) forbid to compare.
    `compared` is that measurement: the headline, else one in common. `missing` are main workloads that it left out. One
    that is not `finished` ended too soon or lost a device: nothing is compared with it.
    """

    started: float | None
    seconds: float | None
    scope: BenchScope | None
    versions: dict[str, str]
    devices: tuple[BenchDevice, ...]
    headline: BenchResult | None = None
    ratio: float | None = None
    compared_with: float | None = None
    change: float | None = None
    compared: BenchResult | None = None
    doubts: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    finished: bool = True


class BenchmarkHistory(Struct, frozen=True, kw_only=True):
    """All benchmarks that were kept, oldest first; how many were left out: another version wrote them, or damaged."""

    schema: Literal["gpu-assistant/benchmarks/1"]
    runs: tuple[BenchmarkHistoryEntry, ...]
    left_out: int = 0


class GpuProcess(Struct, frozen=True, kw_only=True):
    """A process that uses a GPU; its memory on that GPU in bytes. What draws and computes is "both"."""

    pid: int
    name: str | None = None
    mem_used: int | None = None
    kind: Literal["compute", "graphics", "both"] | None = None


class GpuSample(Struct, frozen=True, kw_only=True):
    """One GPU at one moment. Percent, bytes, °C, W, MHz, bytes per second; None where it does not report.

    A GPU that is not "ready" has its names alone. Limits and what errors count are read less often than once a
    second; a figure is then that of the last reading.

    `index` is the driver's number of now, as nvidia-smi's; one that is "gone" keeps its last until another card has
    it, then it gets a free one. `address` is its place on the bus, "0000:01:00.0". `mem_reserved` is what the driver
    keeps of the memory for itself, where it tells that apart from `mem_used`. `temp` is the core's, `temp_memory` the
    memory's. From `temp_max` on the driver may slow the card below its base clock, from `temp_slow` on the card
    itself does, at `temp_shutdown` it switches itself off; from `temp_memory_max` on the driver slows it for the
    memory's sake. `power_limit_w` is in force, `power_default_w` the maker's. `pstate` 0 is the fastest, 15 the
    slowest. `fan` is the speed asked for, `fan_rpm` the turns a minute that are measured. `pcie_gen_max` and
    `pcie_width_max` are what card and slot can do together, `pcie_gen_card` what the card can. `pcie_replays` counts
    packets sent again, `energy_j` joules, both since the driver was loaded. `throttle` names why clocks are held back
    (text `monitor.throttle.<name>`), empty: not at all.

    `ecc` says whether memory errors are watched for; counts of errors mended and not mended, since the driver was
    loaded and (`_total`) in the card's life. `retired_pages`: bits of memory switched off for good (old cards),
    `remapped_rows`: rows replaced by spare ones (new cards, `remap_failed`: no spare one was left); `_pending`: they
    will be after a restart. `retired_single` and `retired_double` part the pages by their cause (several single-bit
    errors, a double-bit one), `remapped_corrected` and `remapped_uncorrected` the rows. `xid` is the last error the
    driver reported since the program looks, at `xid_t` (seconds since the epoch); 0: none.
    """

    index: int
    name: str | None = None
    uuid: str | None = None
    address: str | None = None
    state: GpuState = "ready"
    util: int | None = None
    mem_util: int | None = None
    mem_used: int | None = None
    mem_total: int | None = None
    mem_reserved: int | None = None
    temp: int | None = None
    temp_memory: int | None = None
    temp_max: int | None = None
    temp_slow: int | None = None
    temp_shutdown: int | None = None
    temp_memory_max: int | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    power_default_w: float | None = None
    energy_j: float | None = None
    clock_sm: int | None = None
    clock_sm_max: int | None = None
    clock_mem: int | None = None
    clock_mem_max: int | None = None
    pstate: int | None = None
    fan: int | None = None
    fan_rpm: int | None = None
    pcie_gen: int | None = None
    pcie_gen_max: int | None = None
    pcie_gen_card: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    pcie_tx: int | None = None
    pcie_rx: int | None = None
    pcie_replays: int | None = None
    throttle: tuple[str, ...] | None = None
    enc: int | None = None
    dec: int | None = None
    ecc: bool | None = None
    ecc_corrected: int | None = None
    ecc_uncorrected: int | None = None
    ecc_corrected_total: int | None = None
    ecc_uncorrected_total: int | None = None
    retired_pages: int | None = None
    retired_single: int | None = None
    retired_double: int | None = None
    retired_pending: bool | None = None
    remapped_rows: int | None = None
    remapped_corrected: int | None = None
    remapped_uncorrected: int | None = None
    remap_pending: bool | None = None
    remap_failed: bool | None = None
    xid: int | None = None
    xid_t: float | None = None
    processes: tuple[GpuProcess, ...] | None = None


class Sample(Struct, frozen=True, kw_only=True):
    """One moment of the whole machine; `t` in seconds since the epoch, `cpu` percent, RAM in bytes.

    `nvml` says whether the NVIDIA driver answers, and if not, why (text `monitor.nvml.<state>`); `driver` is its
    version. Where it does not answer, GPUs seen before keep their names and have the state "silent".
    """

    t: float
    gpus: tuple[GpuSample, ...]
    cpu: float | None = None
    ram_used: int | None = None
    ram_total: int | None = None
    nvml: NvmlState = "untried"
    driver: str | None = None


AlarmLevel = Literal["info", "warn", "error"]
# "unknown": fewer than two samples; "no-card": no NVIDIA GPU or driver; "asleep": powered down by the system and left
# so; "slow": the driver does not answer at present; "watching": an alarm's conditions hold, not yet for long enough;
# "untold": a GPU reports too little to judge it.
HealthState = Literal["unknown", "no-card", "asleep", "slow", "watching", "untold", "well", "warn", "error"]


class Alarm(Struct, frozen=True, kw_only=True):
    """An active health alarm. Texts: `health.<id>.title`, `.evidence`, `.fix`, filled with `data`.

    `id` is the rule's, `gpu` the GPU's index (None: the whole computer), `since` the time at which its conditions began
    to hold (seconds since the epoch), `source` the URL of an explanation. The level "info" does not affect the state.
    """

    id: str
    level: AlarmLevel
    gpu: int | None = None
    since: float
    data: dict[str, Value] = {}
    source: str | None = None
    title: str | None = None
    evidence: str | None = None
    fix: str | None = None


class Health(Struct, frozen=True, kw_only=True):
    """The health of all GPUs at the time `t` (seconds since the epoch); `alarms` are sorted by severity, worst first.

    Text: `health.state.<state>`, or the first alarm's title where its level is "warn" or "error". GPUs are given by
    index, the whole computer by None.

    `ended`: alarms that were active in the previous evaluation and are not now, without those that another alarm
    suppresses. `watching`: where conditions of an alarm hold, not yet for long enough. `untold`: GPUs that report too
    little to judge them. `cards`: number of GPUs. `reported`: for each GPU, (number, time) of the last Xid error that
    the driver reported, which may be older than this program's start.
    """

    t: float
    state: HealthState
    alarms: tuple[Alarm, ...] = ()
    ended: tuple[Alarm, ...] = ()
    watching: tuple[int | None, ...] = ()
    untold: tuple[int, ...] = ()
    cards: int = 1
    reported: dict[int, tuple[int, float]] = {}
    text: str | None = None


MEMORY_SCHEMA = "gpu-assistant/memory/1"

FitVariant = Literal["plain", "mixed", "checkpointing", "accumulation", "together"]


class MemoryPeakModel(Struct, frozen=True, kw_only=True):
    """A moment of a training step that is its memory peak for some batch size.

    Its memory, above what is allocated between two steps, is `constant` + `example` × examples in bytes; `gradients` of
    them are gradients. `updating` is true during the optimizer's update.
    """

    constant: int
    example: int
    gradients: int
    updating: bool


class MemoryProfile(Struct, frozen=True, kw_only=True):
    """The memory of a training step in one variant, measured with two small batches, from which `project_memory`
    computes any batch. Sizes are in bytes.

    `example` is the size of one example's inputs and labels. `micro_batches` is the number of passes that a batch is
    accumulated in. `cached` is the allocator's cache as a share of the memory in use. `peaks` are the candidates for
    the peak. `exact`: both small batches made the same sequence of allocations, so that all of them are projected.
    `capacity` is the device's free memory, `reserve` the part of it that is not planned with (other programs, display,
    fragmentation); None where they are unknown.
    """

    model: str
    device: str
    variant: FitVariant
    dtype: DType
    exact: bool
    parameters: int
    gradients: int
    optimizer: int
    example: int
    micro_batches: Annotated[int, Meta(ge=1)] = field(name="parts")
    cached: float
    peaks: Annotated[tuple[MemoryPeakModel, ...], Meta(min_length=1)] = field(name="tops")
    capacity: int | None
    reserve: int | None = field(name="spare")


class MemoryFit(Struct, frozen=True, kw_only=True):
    """The projected memory of a training step with `batch` examples in one variant, in bytes.

    `peak` is the sum of the fields from `parameters` to `cache`. `capacity`, `reserve` and `exact` are as in
    `MemoryProfile`. `largest_batch` is the largest whose peak fits into capacity less reserve, None where that is
    unknown. The variant "together" combines checkpointing, accumulation and, where the device has hardware for it,
    mixed precision (`dtype`).
    """

    model: str
    device: str
    variant: FitVariant
    dtype: DType
    batch: int
    parameters: int
    gradients: int
    optimizer: int
    activations: int
    temporary: int
    cache: int
    peak: int
    capacity: int | None
    reserve: int | None = field(name="spare")
    largest_batch: int | None
    exact: bool


class MemoryFits(Struct, frozen=True, kw_only=True):
    """The memory needs of all variants of one model.

    `left_out` gives the key of a text for each variant that could not be measured. `devices` are all devices of torch.
    `seconds` is the duration of the measurement. `steps` are the profiles from which `fits` were computed, for the
    projection to another batch (`bench/memory_fit.py`).
    """

    schema: Literal["gpu-assistant/memory/1"]
    torch: str
    fits: tuple[MemoryFit, ...]
    steps: tuple[MemoryProfile, ...] = ()
    left_out: dict[str, str] = {}
    devices: tuple[BenchDevice, ...] = ()
    seconds: float | None = None
