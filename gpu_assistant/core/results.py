"""Results of jobs, which are also JSON output: checks, benchmarks, monitor samples, health, memory of training."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from .types import Value

CheckState = Literal["pass", "warn", "fail", "skip"]
Verdict = Literal["pass", "warn", "fail"]
DType = Literal["float32", "tf32", "float16", "bfloat16", "float8", "mixed-float16", "mixed-bfloat16", "uint8"]
BenchScope = Literal["quick", "full"]

# What can be measured, with the unit of its figures; each has a text `bench.workload.<id>`.
WORKLOAD_UNITS = {
    "matmul": "TFLOP/s",
    "matmul-sustained": "TFLOP/s",
    "copy-within": "GB/s",
    "copy-to-device": "GB/s",
    "copy-to-device-pinned": "GB/s",
    "copy-to-host": "GB/s",
    "copy-to-host-pinned": "GB/s",
    "resnet50": "images/s",
    "bert-base": "sequences/s",
    "decode": "tokens/s",
    "decode-graph": "tokens/s",
    "resnet50-parallel": "images/s",
    "bert-base-parallel": "sequences/s",
}
TRAINING_WORKLOADS = frozenset(name for name, unit in WORKLOAD_UNITS.items() if unit in ("images/s", "sequences/s"))
# The sizes of these are numbers of tokens, of those bytes.
TOKEN_WORKLOADS = frozenset(name for name, unit in WORKLOAD_UNITS.items() if unit in ("sequences/s", "tokens/s"))
# The faster way of a GPU for a workload, in which its kernels are started all at once.
GRAPH_WORKLOADS = {"decode": "decode-graph"}
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
    """One check. Texts: `check.<id>.<state>` and, what to do, `check.<id>.fix`, both filled with `data`."""

    id: str
    state: CheckState
    value: Value = None
    expected: Value = None
    data: dict[str, Value] = {}
    text: str | None = None
    fix: str | None = None


class HealthTestCurve(Struct, frozen=True, kw_only=True):
    """A GPU's samples during a test: seconds since its start, °C, W, MHz, throttle reasons; lists of equal length.

    `speed` is the computing rate in 10^12 operations per second, at the times `speed_t`.
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
    """All checks and their worst state, skipped ones not counted.

    A health test has a `level`, `curves` for each GPU, and a `scope` (text `health.scope`). `covers` and `leaves_out`
    are the areas that the verdict covers or not: keys of texts (`health.area.<key>`), or the texts themselves.
    `cleared` are environment variables that would have falsified the checks and were removed for them.
    """

    schema: Literal["gpu-assistant/checks/1"]
    verdict: Verdict
    checks: tuple[Check, ...]
    level: int | None = None
    covers: tuple[str, ...] = ()
    leaves_out: tuple[str, ...] = ()
    scope: str | None = None
    curves: tuple[HealthTestCurve, ...] = ()
    cleared: tuple[str, ...] = ()


# A result compared with the usual range of its GPU; "unknown" where there is no range.
Judgement = Literal["as-expected", "below", "above", "unknown"]


class BenchDevice(Struct, frozen=True, kw_only=True):
    """A device that torch can compute on; `id` is "cpu" or as "cuda:0", memory is in bytes."""

    id: str
    name: str | None = None
    threads: int | None = None
    memory_bytes: int | None = None


class BenchResult(Struct, frozen=True, kw_only=True):
    """The result of one workload: median and quartiles in `unit`; `seconds` is the duration of the measurement.

    `size` is (m, k, n) of a matrix product, otherwise the shape of one item (image, tokens, bytes), of which a run has
    `batch`. `samples` are the seconds of each timed run. `error` is the largest relative error against a float64
    reference, `tolerance` the limit for rounding. Results of different `version` are not comparable. `settings` are the
    precision switches. `notes`: "spread", "few", "wrong", "busy-cpu", "spilled" (timed in memory of the computer that
    Windows lent to a full GPU). An `extrapolated` result is computed from a smaller size, not measured. `efficiency` is
    the throughput of `processes` together, divided by that of as many running alone. `load`: "burst" is a GPU's speed
    in the first seconds of load, "sustained" that after so long that power and temperature have limited its clocks;
    None on a CPU. `clock_sm` is the GPU's median clock in MHz while it was timed, None where it is unknown.
    `judgement` compares the median with the usual range of this GPU; None before it was judged.
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
    load: Literal["burst", "sustained"] | None = None
    clock_sm: int | None = None
    judgement: Judgement | None = None


class SkippedWorkload(Struct, frozen=True, kw_only=True):
    """A workload that was not measured; `why` is the key of a text.

    `wanted_s` and `wanted_bytes` are the estimated requirement, `had_s` and `had_bytes` what was available; None where
    they are unknown.
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
    """A GPU's figures from the driver during a benchmark, in °C, MHz, W and percent; None where it reports none.

    `util_before` is the utilization before the benchmark; clocks are medians of the samples under load, `throttle` are
    the reasons seen in at least two of them. `device` is the GPU's id in the results ("cuda:0"), which differs from
    `index` where programs see only some of the GPUs; None where that is unknown.
    """

    index: int
    device: str | None = None
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
    """A complete benchmark; `speedup` is GPU divided by CPU, by "workload-dtype". `verdict` is the key of a text.

    `expected` is the range (lowest, highest) of healthy GPUs with this name, by "device/workload-dtype", in the
    workload's unit. `causes` are keys of texts on possible causes of a result below its range. `cleared` are
    environment variables that would have falsified the results and were removed for them.
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
    cleared: tuple[str, ...] = ()


class BenchmarkHistoryEntry(Struct, frozen=True, kw_only=True):
    """A stored benchmark, represented by its main result (`headline`).

    `ratio` is the fastest GPU divided by the CPU. `compared_with` is the `started` of the last earlier benchmark with a
    comparable result on a device of the same name, `compared` that result of this benchmark: the headline's, else
    another one that both have. `change` is its speed divided by the earlier one; None where the difference is not
    significant, or `doubts` (notes of either result) prevent a comparison. `missing` are main workloads without a
    result. One that is not `finished` ended early or lost a device, and is not compared with.
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
    """All stored benchmarks, oldest first; `left_out` files are damaged or of another version of this program."""

    schema: Literal["gpu-assistant/benchmarks/1"]
    runs: tuple[BenchmarkHistoryEntry, ...]
    left_out: int = 0


class GpuProcess(Struct, frozen=True, kw_only=True):
    """A process that uses a GPU, for graphics, compute or "both"; its memory on that GPU is in bytes."""

    pid: int
    name: str | None = None
    mem_used: int | None = None
    kind: Literal["compute", "graphics", "both"] | None = None


class GpuSample(Struct, frozen=True, kw_only=True):
    """One GPU in one sample, in percent, bytes, °C, W, MHz, bytes per second; None where it does not report.

    A GPU that is not "ready" has identification only. Limits and error counters are read less often than once a second;
    in between they keep their last value.

    `index` is the driver's present index, as in nvidia-smi; a GPU that is "gone" keeps its last one until another GPU
    has it, and then gets a free one. `address` is the PCI address, "0000:01:00.0". `mig_devices` are the UUIDs of the
    slices into which it is divided (MIG); of such a GPU the driver does not tell `util`, but whether it is `idle`.
    `mem_shared` is memory of the computer that programs use as the GPU's, for which Windows makes room when the card's
    own is full; None where nobody counts it. `mem_reserved` is memory reserved by the driver, None where it is part of
    `mem_used`. `temp` is the core's temperature, `temp_memory` the memory's. From `temp_max` the driver may reduce
    clocks below the base clock, from `temp_slow` the hardware does, at `temp_shutdown` it shuts down; from
    `temp_memory_max` the driver reduces clocks because of the memory. `power_limit_w` is the present limit,
    `power_default_w` the default one. `pstate` is 0 (fastest) to 15. `fan` is the intended speed in percent, `fan_rpm`
    the measured one. `pcie_gen_max` and `pcie_width_max` are the maximum of GPU and slot together, `pcie_gen_card` that
    of the GPU. `pcie_replays` (retransmitted packets) and `energy_j` (joules) count since the driver was loaded.
    `throttle` are reasons for reduced clocks (text `monitor.throttle.<name>`), empty for none.

    `ecc`: whether ECC is enabled. Corrected and uncorrected errors count since the driver was loaded, with `_total`
    over the GPU's life. `retired_pages` are memory pages taken out of use (older GPUs), by cause `retired_single`
    (several single-bit errors) and `retired_double` (a double-bit error). `remapped_rows` are memory rows replaced by
    spare ones (newer GPUs), `remapped_corrected` and `remapped_uncorrected` by cause; `remap_failed`: no spare row was
    left. `_pending`: effective after a restart. `xid` is the last Xid error that the driver reported since this program
    started, 0 for none; `xid_t` is its time (seconds since the epoch).
    """

    index: int
    name: str | None = None
    uuid: str | None = None
    address: str | None = None
    mig_devices: tuple[str, ...] = ()
    state: GpuState = "ready"
    util: int | None = None
    idle: bool | None = None
    mem_util: int | None = None
    mem_used: int | None = None
    mem_total: int | None = None
    mem_reserved: int | None = None
    mem_shared: int | None = None
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

    def is_loaded(self, least_percent: int) -> bool:
        """Whether its load is known to be so high; of a divided GPU, whether anything runs on it."""
        if self.util is None:
            return bool(self.mig_devices) and self.idle is False
        return self.util >= least_percent

    def has_uuid(self, uuid: str | None) -> bool:
        """Whether that is its UUID or that of a slice of it; NVML writes "GPU-" or "MIG-" before one, torch nothing."""
        return uuid is not None and _bare_uuid(uuid) in map(_bare_uuid, filter(None, (self.uuid, *self.mig_devices)))


def _bare_uuid(uuid: str) -> str:
    # Drivers before 470 name a slice by its GPU: "MIG-GPU-…/1/0".
    return uuid.lower().removeprefix("mig-").removeprefix("gpu-").partition("/")[0]


class Sample(Struct, frozen=True, kw_only=True):
    """One sample of the computer; `t` is in seconds since the epoch, `cpu` in percent, RAM in bytes.

    `nvml` tells whether the NVIDIA driver answers, and why not (text `monitor.nvml.<state>`); `driver` is its version.
    Where it does not answer, GPUs of earlier samples keep their names and have the state "silent".
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


class StepMemory(Struct, frozen=True, kw_only=True):
    """The memory of a training step in one variant, measured with two small batches. Sizes are in bytes.

    `example` is the size of one example's inputs and labels. `micro_batches` is the number of passes that a batch is
    accumulated in. `cached` is the allocator's cache as a share of the memory in use. `peaks` are the candidates for
    the peak. `exact`: both small batches made the same sequence of allocations, so that all of them are projected.
    `capacity` is the device's free memory, None where it is unknown.
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


class MemoryProfile(StepMemory, frozen=True, kw_only=True):
    """A measurement from which `project_memory` computes any batch: `reserve` is the part of the device's free memory
    that is not planned with (other programs, display, fragmentation), None where that memory is unknown.
    """

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


FitVerdict = Literal["fits", "tight", "no", "unknown"]


class ModelFit(Struct, frozen=True, kw_only=True):
    """What one model with so many `parameters` needs in one format, computed from published figures; bytes.

    `needed` is for `items` tokens, images or examples (`item`); it may be wrong by the share `error`. `largest` is the
    largest number that fits, at most the model's own `limit`; None where the card's memory is unknown. `measured_as` is
    the model's name for a measurement here.
    """

    id: str
    name: str
    kind: Literal["language", "image", "training"]
    format: str
    parameters: int
    weights: int
    per_item: int
    needed: int
    item: Literal["token", "image", "example"]
    items: int
    largest: int | None
    limit: int | None
    verdict: FitVerdict
    error: float
    confidence: str
    page: str
    measured_as: Literal["resnet50", "bert-base", "language-model"] | None = None


class ModelFits(Struct, frozen=True, kw_only=True):
    """Which models fit into a card's memory: `memory` bytes, of which `usable` are planned with (None: unknown).

    `spills`: its system lends memory of the computer where the card's own is full, slowly and without an error.
    """

    schema: Literal["gpu-assistant/fit/1"]
    device: str | None
    memory: int | None
    usable: int | None
    spills: bool
    as_of: str
    models: tuple[ModelFit, ...]
    measured: MemoryFits | None = None
