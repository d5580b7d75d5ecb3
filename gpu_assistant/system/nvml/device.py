"""One NVIDIA GPU: what it is, its figures in groups that are read at different intervals, the processes on it.

A figure that the GPU does not report is None. Which figures are read together depends on how fast they change and on
what reading them costs: the process list takes milliseconds, PCIe traffic is measured for 20 ms in each call (NVML's
documentation), the fan takes 0.14 ms, most others a few microseconds (MangoHud, issue 2104). A hot spot is not among
them: NVML names the sensors of GPU, memory, board and power supply alone (nvmlTemperatureSensors_t,
nvmlThermalTarget_t).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from msgspec.structs import replace

from ...core.machine import Gpu, is_mig_name, virtual_gpu_board
from ...core.results import GpuProcess, GpuSample, GpuState
from ..base import Hardware
from .query import NvmlMemory, NvmlQuery, NvmlUtilization, UInt64

# How often a group of figures is read, in seconds; live figures are read each time.
SLOW_INTERVAL_S = 5.0
ERRORS_INTERVAL_S = 60.0
EXPENSIVE_INTERVAL_S = 3.0

THROTTLE_REASONS = {
    # nvml.h, nvmlClocksEventReason*. GPU_IDLE_REASON is left out: an idle GPU is not throttled.
    0x002: "applications-clocks",
    0x004: "power-cap",
    0x008: "hardware-slowdown",
    0x010: "sync-boost",
    0x020: "thermal",
    0x040: "hardware-thermal",
    0x080: "power-brake",
    0x100: "display-clocks",
    0x200: "board-limit",
    0x400: "reliability",
}
MARGIN_TOLERANCE = 2  # °C by which a threshold that is computed from a margin may differ without having moved
VIRTUALIZATION_MODE_VGPU = 2  # nvml.h, NVML_GPU_VIRTUALIZATION_MODE_VGPU
GPU_IDLE_REASON = 0x001  # nvml.h, nvmlClocksEventReasonGpuIdle
UNKNOWN_PSTATE = 32  # nvml.h, NVML_PSTATE_UNKNOWN

SampleFields = dict[str, Any]

# Plausible minimum and maximum, in the units of `GpuSample`: some drivers set all bits of a figure that they do not
# know. NVML's documentation allows more than 100 % for a fan.
PERCENT, CELSIUS, WATTS, MHZ = (0, 100), (-60, 200), (0, 10_000), (0, 20_000)
PLAUSIBLE_RANGES: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("util", "mem_util", "enc", "dec"), PERCENT),
    **dict.fromkeys(("temp", "temp_memory", "temp_max", "temp_slow", "temp_shutdown", "temp_memory_max"), CELSIUS),
    **dict.fromkeys(("power_w", "power_limit_w", "power_default_w"), WATTS),
    **dict.fromkeys(("clock_sm", "clock_mem", "clock_sm_max", "clock_mem_max"), MHZ),
    "fan": (0, 200),
    "fan_rpm": (0, 100_000),
    **dict.fromkeys(("pcie_gen", "pcie_gen_max", "pcie_gen_card"), (1, 16)),
    **dict.fromkeys(("pcie_width", "pcie_width_max"), (1, 32)),
}
PROCESS_LISTS: tuple[tuple[Literal["compute", "graphics"], str], ...] = (
    ("compute", "nvmlDeviceGetComputeRunningProcesses"),
    ("graphics", "nvmlDeviceGetGraphicsRunningProcesses"),
)


class NvmlDevice(NvmlQuery):
    """A GPU of an open session. `reports_xids` is whether its Xid errors are reported to the session, `xid` is the last
    one and when it was reported (seconds since the epoch).
    """

    def __init__(self, index: int, pynvml: Any) -> None:  # noqa: ANN401 - untyped library
        super().__init__(index, pynvml)
        self.index = index
        self.reports_xids = False
        self.can_sleep = False
        self.xid: tuple[int | None, float | None] = (None, None)
        self.name = decode_text(self.query("nvmlDeviceGetName"))
        self.uuid = decode_text(self.query("nvmlDeviceGetUUID"))
        self.pci: Any = self.query("nvmlDeviceGetPciInfo")
        # NVML writes the PCI domain with eight digits, the kernel with four.
        self.address = None if self.pci is None else str(decode_text(self.pci.busId)).lower()[-12:]
        self._next_due: dict[str, float] = {}
        self._slow_fields: dict[str, Any] = {}
        self._error_fields: dict[str, Any] = {}
        self._threshold_fields: dict[str, Any] = {}
        self._limit_fields: dict[str, Any] | None = None
        self._mig_devices: tuple[str, ...] = ()
        self._traffic_fields: dict[str, Any] = {}
        self._process_fields: dict[str, Any] = {}
        self._processes = GpuProcessList(self.query)

    def describe(self) -> Gpu:
        """Name, ids, memory and compute capability; NVML does not know `laptop`."""
        capability = self.query("nvmlDeviceGetCudaComputeCapability")
        memory_info = read_memory_info(self)
        pci_number = self.pci.pciDeviceId if self.pci is not None else None
        return Gpu(
            index=self.index,
            vendor="nvidia",
            name=self.name,
            # NVML packs device and vendor into one number: 0x288210de.
            pci_id=f"{pci_number & 0xFFFF:04x}:{pci_number >> 16:04x}" if pci_number else None,
            uuid=self.uuid,
            compute_capability=".".join(map(str, capability)) if capability else None,
            memory_bytes=memory_info.total if memory_info is not None else None,
            vgpu=virtual_gpu_board(self.name) is not None or self._is_virtual_gpu(),
            mig=is_mig_name(self.name) or self._is_mig_enabled(),
        )

    def _is_virtual_gpu(self) -> bool | None:
        """By NVML_GPU_VIRTUALIZATION_MODE_*: 2 is a virtual GPU inside of a guest."""
        mode = self.query("nvmlDeviceGetVirtualizationMode")
        return mode == VIRTUALIZATION_MODE_VGPU if mode is not None else None

    def _is_mig_enabled(self) -> bool | None:
        """By the current mode; a GPU that cannot be divided says "not supported": None."""
        modes = self.query("nvmlDeviceGetMigMode")
        return modes[0] == 1 if modes is not None else None

    def _read_mig_devices(self) -> tuple[str, ...]:
        """The UUIDs of its slices; none where it is not divided."""
        if not self._is_mig_enabled():
            return ()
        uuids = []
        for index in range(self.query("nvmlDeviceGetMaxMigDeviceCount") or 0):
            function = "nvmlDeviceGetMigDeviceHandleByIndex"
            handle = self.query(function, index, key=f"{function}-{index}")
            if handle is not None:
                uuids.append(decode_text(self.query_of(handle, "nvmlDeviceGetUUID", key="mig-uuid")))
        return tuple(uuid for uuid in uuids if uuid is not None)

    def sample(self, now: float, system: Hardware, *, detailed: bool, processes: bool) -> GpuSample:
        """The GPU's figures at `now` (seconds of a monotonic clock); only its identity if it is asleep or lost.

        `detailed` adds what is expensive to read: PCIe traffic, and the `processes` if asked for. `system` tells
        whether a GPU that can sleep is asleep, and how much memory processes have where the driver does not know.
        """
        if self.is_lost:
            return self.identity_sample("lost")
        if self.can_sleep and self.address is not None and system.is_gpu_asleep(self.address):
            return self.identity_sample("asleep")
        return self._read_sample(now, system, detailed=detailed, processes=detailed and processes)

    def _read_sample(self, now: float, system: Hardware, *, detailed: bool, processes: bool) -> GpuSample:
        live_fields = drop_implausible(read_live(self))
        if self._is_due("slow", now, SLOW_INTERVAL_S):
            self._slow_fields = drop_implausible(read_slow(self))
            self._mig_devices = self._read_mig_devices()
        if self._is_due("errors", now, ERRORS_INTERVAL_S):
            self._error_fields = read_errors(self)
        if self._is_due("thresholds", now, SLOW_INTERVAL_S):
            self._threshold_fields = drop_implausible(
                read_thresholds(self, live_fields["temp"], self._threshold_fields)
            )
        if self._limit_fields is None:
            self._limit_fields = drop_implausible(read_limits(self))
        # Details that are asked for again are read at once.
        if not detailed:
            self._traffic_fields = {}
            self._next_due.pop("traffic", None)
        elif self._is_due("traffic", now, EXPENSIVE_INTERVAL_S):
            self._traffic_fields = {**read_pcie_traffic(self), "mem_shared": self._shared_memory(system)}
        if not processes:
            self._process_fields = {}
            self._next_due.pop("processes", None)
        elif self._is_due("processes", now, EXPENSIVE_INTERVAL_S):
            self._process_fields = {"processes": self._processes.list_processes(self._system_memory_reader(system))}
        # Lost meanwhile: half a sample would look like an idle GPU.
        if self.is_lost:
            return self.identity_sample("lost")
        return GpuSample(
            index=self.index,
            name=self.name,
            uuid=self.uuid,
            address=self.address,
            mig_devices=self._mig_devices,
            **live_fields,
            **self._slow_fields,
            **self._error_fields,
            **self._threshold_fields,
            **self._limit_fields,
            **self._traffic_fields,
            **self._process_fields,
            **self._xid_fields(),
        )

    def identity_sample(self, state: GpuState) -> GpuSample:
        """Name, ids and the last Xid error; calls nothing."""
        identity: dict[str, Any] = {"name": self.name, "uuid": self.uuid, "address": self.address}
        return GpuSample(index=self.index, state=state, **identity, **self._xid_fields())

    def _xid_fields(self) -> dict[str, Any]:
        xid, reported_at = self.xid
        return {"xid": 0 if xid is None and self.reports_xids else xid, "xid_t": reported_at}

    def _system_memory_reader(self, system: Hardware) -> Callable[[], dict[int, int]]:
        return lambda: system.gpu_memory_by_process(self.address) if self.address is not None else {}

    def _shared_memory(self, system: Hardware) -> int | None:
        return system.shared_gpu_memory(self.address) if self.address is not None else None

    def _is_due(self, group: str, now: float, interval_s: float) -> bool:
        if now < self._next_due.get(group, now):
            return False
        self._next_due[group] = now + interval_s
        return True


def drop_implausible(fields: SampleFields) -> SampleFields:
    """The same fields, with None in place of implausible values."""
    for name, value in fields.items():
        if value is not None and name in PLAUSIBLE_RANGES:
            minimum, maximum = PLAUSIBLE_RANGES[name]
            if not minimum <= value <= maximum:
                fields[name] = None
    used, total = fields.get("mem_used"), fields.get("mem_total")
    if used is not None and total is not None and used > total:
        fields["mem_used"] = fields["mem_reserved"] = None
    return fields


def read_live(gpu: NvmlQuery) -> SampleFields:
    """What changes from second to second."""
    query_number, nvml = gpu.query_number, gpu.pynvml
    utilization = query_number("nvmlDeviceGetUtilizationRates", buffer_type=NvmlUtilization)
    memory_info = read_memory_info(gpu)
    pstate = query_number("nvmlDeviceGetPerformanceState")
    reason_bits = _clock_event_reasons(gpu)
    return {
        "util": utilization.gpu if utilization is not None else None,
        "mem_util": utilization.memory if utilization is not None else None,
        "mem_used": memory_info.used if memory_info is not None else None,
        "mem_total": memory_info.total if memory_info is not None else None,
        # The first version of the struct counts it as used.
        "mem_reserved": getattr(memory_info, "reserved", None),
        "temp": _read_temperature(gpu),
        "power_w": _milli_to_unit(query_number("nvmlDeviceGetPowerUsage")),
        "clock_sm": query_number("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_SM, key="clock-sm"),
        "clock_mem": query_number("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_MEM, key="clock-mem"),
        "pstate": pstate if pstate != UNKNOWN_PSTATE else None,
        "throttle": None if reason_bits is None else _reason_names(reason_bits),
        "idle": None if reason_bits is None else bool(reason_bits & GPU_IDLE_REASON),
    }


def read_slow(gpu: NvmlQuery) -> SampleFields:
    """What changes slowly, or takes longer to read."""
    query_number, nvml = gpu.query_number, gpu.pynvml
    return {
        # 0 °C means that there is no sensor.
        "temp_memory": gpu.query_field(nvml.NVML_FI_DEV_MEMORY_TEMP) or None,
        "power_limit_w": _milli_to_unit(query_number("nvmlDeviceGetEnforcedPowerLimit")),
        "energy_j": _milli_to_unit(query_number("nvmlDeviceGetTotalEnergyConsumption", buffer_type=UInt64)),
        "fan": query_number("nvmlDeviceGetFanSpeed"),
        "fan_rpm": gpu.query("nvmlDeviceGetFanSpeedRPM"),
        "pcie_gen": query_number("nvmlDeviceGetCurrPcieLinkGeneration"),
        "pcie_width": query_number("nvmlDeviceGetCurrPcieLinkWidth"),
        "enc": gpu.query_load("nvmlDeviceGetEncoderUtilization"),
        "dec": gpu.query_load("nvmlDeviceGetDecoderUtilization"),
    }


def read_errors(gpu: NvmlQuery) -> SampleFields:
    """Error counters of the GPU and its driver."""
    query, query_number, nvml = gpu.query, gpu.query_number, gpu.pynvml
    ecc_enabled = query("nvmlDeviceGetCurrentEccMode")

    def ecc_count(error_type: int, counter_type: int) -> int | None:
        if not ecc_enabled:
            return None
        count: int | None = query_number(
            "nvmlDeviceGetTotalEccErrors",
            error_type,
            counter_type,
            buffer_type=UInt64,
            key=f"ecc-{error_type}-{counter_type}",
        )
        return count

    corrected, uncorrected = nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
    remapped_rows = query("nvmlDeviceGetRemappedRows")
    causes = (
        nvml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS,
        nvml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR,
    )
    retired_pages = [query("nvmlDeviceGetRetiredPages", cause, key=f"retired-{cause}") for cause in causes]
    known_counts = [len(page_list) for page_list in retired_pages if page_list is not None]
    return {
        "pcie_replays": query_number("nvmlDeviceGetPcieReplayCounter"),
        "ecc": None if ecc_enabled is None else bool(ecc_enabled),
        "ecc_corrected": ecc_count(corrected, nvml.NVML_VOLATILE_ECC),
        "ecc_uncorrected": ecc_count(uncorrected, nvml.NVML_VOLATILE_ECC),
        "ecc_corrected_total": ecc_count(corrected, nvml.NVML_AGGREGATE_ECC),
        "ecc_uncorrected_total": ecc_count(uncorrected, nvml.NVML_AGGREGATE_ECC),
        "retired_pages": sum(known_counts) if known_counts else None,
        "retired_single": len(retired_pages[0]) if retired_pages[0] is not None else None,
        "retired_double": len(retired_pages[1]) if retired_pages[1] is not None else None,
        "retired_pending": _optional_bool(query_number("nvmlDeviceGetRetiredPagesPendingStatus")),
        "remapped_rows": remapped_rows[0] + remapped_rows[1] if remapped_rows else None,
        "remapped_corrected": remapped_rows[0] if remapped_rows else None,
        "remapped_uncorrected": remapped_rows[1] if remapped_rows else None,
        "remap_pending": _optional_bool(remapped_rows[2] if remapped_rows else None),
        "remap_failed": _optional_bool(remapped_rows[3] if remapped_rows else None),
    }


def read_thresholds(gpu: NvmlQuery, temperature: int | None, previous: SampleFields) -> SampleFields:
    """Temperatures from which the GPU slows down. They move: laptops and tools set them while the driver is loaded.

    `temperature` is the GPU's current one in °C; `previous` are the thresholds that were read before.
    """
    query, nvml = gpu.query, gpu.pynvml

    def threshold(name: str, threshold_type: int, tlimit_field: int | None = None) -> int | None:
        celsius = query("nvmlDeviceGetTemperatureThreshold", threshold_type, key=f"threshold-{threshold_type}")
        if celsius is not None or tlimit_field is None or temperature is None:
            return int(celsius) if celsius else None
        # GPUs from Ada on report the margin to where they slow down, and limits relative to that temperature.
        margin = query("nvmlDeviceGetMarginTemperature")
        limit = gpu.query_field(tlimit_field)
        if margin is None or limit is None:
            return None
        # Temperature and margin are rounded and read one after the other.
        derived, before = int(temperature + margin - limit), previous.get(name)
        return before if before is not None and abs(derived - before) <= MARGIN_TOLERANCE else derived

    return {
        "temp_max": threshold(
            "temp_max", nvml.NVML_TEMPERATURE_THRESHOLD_GPU_MAX, nvml.NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT
        ),
        "temp_slow": threshold(
            "temp_slow", nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN, nvml.NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT
        ),
        "temp_shutdown": threshold(
            "temp_shutdown", nvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN, nvml.NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT
        ),
        "temp_memory_max": threshold("temp_memory_max", nvml.NVML_TEMPERATURE_THRESHOLD_MEM_MAX),
    }


def read_limits(gpu: NvmlQuery) -> SampleFields:
    """What does not change while a driver is loaded."""
    query, nvml = gpu.query, gpu.pynvml
    return {
        "power_default_w": _milli_to_unit(query("nvmlDeviceGetPowerManagementDefaultLimit")),
        "clock_sm_max": query("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_SM, key="clock-sm-max"),
        "clock_mem_max": query("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_MEM, key="clock-mem-max"),
        "pcie_gen_max": query("nvmlDeviceGetMaxPcieLinkGeneration"),
        "pcie_gen_card": query("nvmlDeviceGetGpuMaxPcieLinkGeneration"),
        "pcie_width_max": query("nvmlDeviceGetMaxPcieLinkWidth"),
    }


def read_pcie_traffic(gpu: NvmlQuery) -> SampleFields:
    """PCIe traffic in bytes per second; NVML reports KB/s."""
    nvml = gpu.pynvml
    tx = gpu.query_number("nvmlDeviceGetPcieThroughput", nvml.NVML_PCIE_UTIL_TX_BYTES, key="pcie-tx")
    rx = gpu.query_number("nvmlDeviceGetPcieThroughput", nvml.NVML_PCIE_UTIL_RX_BYTES, key="pcie-rx")
    return {"pcie_tx": None if tx is None else tx * 1000, "pcie_rx": None if rx is None else rx * 1000}


def read_memory_info(gpu: NvmlQuery) -> Any:  # noqa: ANN401
    """NVML's struct with `total` and `used` in bytes."""
    # Like nvidia-smi, the second version does not count the driver's own memory as used.
    memory_v2 = gpu.query_number("nvmlDeviceGetMemoryInfo_v2", buffer_type=NvmlMemory)
    return memory_v2 if memory_v2 is not None else gpu.query("nvmlDeviceGetMemoryInfo")


def _clock_event_reasons(gpu: NvmlQuery) -> int | None:
    reason_bits: int | None = gpu.query_number("nvmlDeviceGetCurrentClocksEventReasons", buffer_type=UInt64)
    if reason_bits is None:  # its name before driver 535
        reason_bits = gpu.query_number("nvmlDeviceGetCurrentClocksThrottleReasons", buffer_type=UInt64)
    return reason_bits


@cache
def _reason_names(reason_bits: int) -> tuple[str, ...]:
    return tuple(name for bit, name in THROTTLE_REASONS.items() if reason_bits & bit)


def _read_temperature(gpu: NvmlQuery) -> int | None:
    sensor = gpu.pynvml.NVML_TEMPERATURE_GPU
    celsius = gpu.query_number("nvmlDeviceGetTemperature", sensor)
    if celsius is None:  # its only name from CUDA 14 on
        celsius = gpu.query("nvmlDeviceGetTemperatureV", sensor)
    return None if celsius is None else int(celsius)


def _milli_to_unit(value: int | None) -> float | None:
    """Milliwatts to watts, millijoules to joules."""
    return None if value is None else value / 1000


def _optional_bool(value: int | None) -> bool | None:
    return None if value is None else bool(value)


class GpuProcessList:
    """The processes on one GPU, read through its `query`. The name of a process is read once, when it is first seen."""

    def __init__(self, query: Callable[[str], Any]) -> None:
        self._query = query
        self._names: dict[int, str | None] = {}

    def list_processes(self, read_system_memory: Callable[[], dict[int, int]]) -> tuple[GpuProcess, ...] | None:
        """Each process once; None where the GPU does not tell.

        `read_system_memory` gives the system's own count of bytes by process id, for drivers that do not know.
        """
        processes: dict[int, GpuProcess] = {}
        is_supported = False
        names: dict[int, str | None] = {}
        for kind, function in PROCESS_LISTS:
            entries = self._query(function)
            is_supported = is_supported or entries is not None
            for entry in entries or ():
                pid = entry.pid
                if pid not in names:
                    names[pid] = self._names[pid] if pid in self._names else _process_name(pid)
                # A process that draws and computes is in both lists, with the same memory.
                existing = processes.get(pid)
                processes[pid] = GpuProcess(
                    pid=pid,
                    name=names[pid],
                    mem_used=(existing.mem_used if existing is not None else None) or entry.usedGpuMemory,
                    kind=kind if existing is None else "both",
                )
        self._names = names
        if any(process.mem_used is None for process in processes.values()):
            system_memory = read_system_memory()
            for pid, process in processes.items():
                if process.mem_used is None:
                    processes[pid] = replace(process, mem_used=system_memory.get(pid))
        return tuple(processes.values()) if is_supported else None


def _process_name(pid: int) -> str | None:
    import psutil

    try:
        return psutil.Process(pid).name()
    except (psutil.Error, OSError, ValueError):
        return None


def decode_text(value: str | bytes | None) -> str | None:
    """A name as text: nvidia-ml-py returns text or bytes, depending on its version."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
