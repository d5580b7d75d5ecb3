"""Which figures of a card are read together: by how fast they change and what asking costs.

Each function gives fields of a `GpuSample`; a card that does not tell gives None. Costs were measured by others: the
process list takes milliseconds, the fan 0.14 ms, most others a few microseconds (MangoHud issue 2104); NVML's own
documentation says that PCIe traffic is counted for 20 ms in each call.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from .nvml_ask import Big, Memory, Utilization

if TYPE_CHECKING:
    from .nvml_card import Card

THROTTLE_REASONS = {
    # nvml.h, nvmlClocksEventReason*. "GPU idle" (bit 0) is left out: a resting card is not held back.
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
UNKNOWN_PSTATE = 32  # nvml.h, NVML_PSTATE_UNKNOWN

Figures = dict[str, Any]

# What can be at all, least and most, in a `GpuSample`'s units: some drivers answer with all bits set instead of saying
# that they do not know. NVML's documentation allows a fan more than 100 %.
PERCENT, CELSIUS, WATTS, MHZ = (0, 100), (-60, 200), (0, 10_000), (0, 20_000)
POSSIBLE: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("util", "mem_util", "enc", "dec"), PERCENT),
    **dict.fromkeys(("temp", "temp_memory", "temp_max", "temp_slow", "temp_shutdown", "temp_memory_max"), CELSIUS),
    **dict.fromkeys(("power_w", "power_limit_w", "power_default_w"), WATTS),
    **dict.fromkeys(("clock_sm", "clock_mem", "clock_sm_max", "clock_mem_max"), MHZ),
    "fan": (0, 200),
    "fan_rpm": (0, 100_000),
    **dict.fromkeys(("pcie_gen", "pcie_gen_max", "pcie_gen_card"), (1, 16)),
    **dict.fromkeys(("pcie_width", "pcie_width_max"), (1, 32)),
}


def possible(figures: Figures) -> Figures:
    """The same figures; what cannot be is not known."""
    for name, value in figures.items():
        if value is not None and name in POSSIBLE:
            least, most = POSSIBLE[name]
            if not least <= value <= most:
                figures[name] = None
    used, total = figures.get("mem_used"), figures.get("mem_total")
    if used is not None and total is not None and used > total:
        figures["mem_used"] = figures["mem_reserved"] = None
    return figures


def current(card: Card) -> Figures:
    """What changes from second to second."""
    number, nvml = card.number, card.pynvml
    util = number("nvmlDeviceGetUtilizationRates", kind=Utilization)
    used = memory(card)
    pstate = number("nvmlDeviceGetPerformanceState")
    return {
        "util": util.gpu if util is not None else None,
        "mem_util": util.memory if util is not None else None,
        "mem_used": used.used if used is not None else None,
        "mem_total": used.total if used is not None else None,
        # The first version of the function counts it as used.
        "mem_reserved": getattr(used, "reserved", None),
        "temp": _temperature(card),
        "power_w": _thousandth(number("nvmlDeviceGetPowerUsage")),
        "clock_sm": number("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_SM, key="clock-sm"),
        "clock_mem": number("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_MEM, key="clock-mem"),
        "pstate": pstate if pstate != UNKNOWN_PSTATE else None,
        "throttle": _throttle(card),
    }


def settled(card: Card) -> Figures:
    """What changes slowly, or takes longer to ask."""
    number, nvml = card.number, card.pynvml
    return {
        # 0 °C is a sensor that is not there.
        "temp_memory": card.field(nvml.NVML_FI_DEV_MEMORY_TEMP) or None,
        "power_limit_w": _thousandth(number("nvmlDeviceGetEnforcedPowerLimit")),
        "energy_j": _thousandth(number("nvmlDeviceGetTotalEnergyConsumption", kind=Big)),
        "fan": number("nvmlDeviceGetFanSpeed"),
        "fan_rpm": card.ask("nvmlDeviceGetFanSpeedRPM"),
        "pcie_gen": number("nvmlDeviceGetCurrPcieLinkGeneration"),
        "pcie_width": number("nvmlDeviceGetCurrPcieLinkWidth"),
        "enc": card.load("nvmlDeviceGetEncoderUtilization"),
        "dec": card.load("nvmlDeviceGetDecoderUtilization"),
    }


def errors(card: Card) -> Figures:
    """What went wrong so far, as counted by card and driver."""
    ask, number, nvml = card.ask, card.number, card.pynvml
    mode = ask("nvmlDeviceGetCurrentEccMode")

    def ecc(kind: int, counter: int) -> int | None:
        if not mode:
            return None
        count: int | None = number("nvmlDeviceGetTotalEccErrors", kind, counter, kind=Big, key=f"ecc-{kind}-{counter}")
        return count

    mended, not_mended = nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
    rows = ask("nvmlDeviceGetRemappedRows")
    causes = (
        nvml.NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS,
        nvml.NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR,
    )
    pages = [ask("nvmlDeviceGetRetiredPages", cause, key=f"retired-{cause}") for cause in causes]
    known = [len(each) for each in pages if each is not None]
    return {
        "pcie_replays": number("nvmlDeviceGetPcieReplayCounter"),
        "ecc": None if mode is None else bool(mode),
        "ecc_corrected": ecc(mended, nvml.NVML_VOLATILE_ECC),
        "ecc_uncorrected": ecc(not_mended, nvml.NVML_VOLATILE_ECC),
        "ecc_corrected_total": ecc(mended, nvml.NVML_AGGREGATE_ECC),
        "ecc_uncorrected_total": ecc(not_mended, nvml.NVML_AGGREGATE_ECC),
        "retired_pages": sum(known) if known else None,
        "retired_single": len(pages[0]) if pages[0] is not None else None,
        "retired_double": len(pages[1]) if pages[1] is not None else None,
        "retired_pending": _yes(number("nvmlDeviceGetRetiredPagesPendingStatus")),
        "remapped_rows": rows[0] + rows[1] if rows else None,
        "remapped_corrected": rows[0] if rows else None,
        "remapped_uncorrected": rows[1] if rows else None,
        "remap_pending": _yes(rows[2] if rows else None),
        "remap_failed": _yes(rows[3] if rows else None),
    }


def limits(card: Card, temp: int | None) -> Figures:
    """What does not change while a driver runs; `temp` is the card's of now, in °C."""
    ask, nvml = card.ask, card.pynvml

    def threshold(which: int, below: int | None = None) -> int | None:
        found = ask("nvmlDeviceGetTemperatureThreshold", which, key=f"threshold-{which}")
        if found is not None or below is None or temp is None:
            return int(found) if found else None
        # Cards from Ada on tell how far they are from where they slow down, and their limits relative to there.
        margin = ask("nvmlDeviceGetMarginTemperature")
        limit = card.field(below)
        return None if margin is None or limit is None else int(temp + margin - limit)

    return {
        "temp_max": threshold(nvml.NVML_TEMPERATURE_THRESHOLD_GPU_MAX, nvml.NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT),
        "temp_slow": threshold(nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN, nvml.NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT),
        "temp_shutdown": threshold(
            nvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN, nvml.NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT
        ),
        "temp_memory_max": threshold(nvml.NVML_TEMPERATURE_THRESHOLD_MEM_MAX),
        "power_default_w": _thousandth(ask("nvmlDeviceGetPowerManagementDefaultLimit")),
        "clock_sm_max": ask("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_SM, key="clock-sm-max"),
        "clock_mem_max": ask("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_MEM, key="clock-mem-max"),
        "pcie_gen_max": ask("nvmlDeviceGetMaxPcieLinkGeneration"),
        "pcie_gen_card": ask("nvmlDeviceGetGpuMaxPcieLinkGeneration"),
        "pcie_width_max": ask("nvmlDeviceGetMaxPcieLinkWidth"),
    }


def traffic(card: Card) -> Figures:
    """What goes over the bus; nvml.h gives KB/s."""
    nvml = card.pynvml
    tx = card.number("nvmlDeviceGetPcieThroughput", nvml.NVML_PCIE_UTIL_TX_BYTES, key="pcie-tx")
    rx = card.number("nvmlDeviceGetPcieThroughput", nvml.NVML_PCIE_UTIL_RX_BYTES, key="pcie-rx")
    return {"pcie_tx": None if tx is None else tx * 1000, "pcie_rx": None if rx is None else rx * 1000}


def memory(card: Card) -> Any:  # noqa: ANN401
    """NVML's struct with `total` and `used` in bytes."""
    # The second version leaves out of "used" what the driver keeps for itself, as nvidia-smi shows it.
    newer = card.number("nvmlDeviceGetMemoryInfo_v2", kind=Memory)
    return newer if newer is not None else card.ask("nvmlDeviceGetMemoryInfo")


def _throttle(card: Card) -> tuple[str, ...] | None:
    bits = card.number("nvmlDeviceGetCurrentClocksEventReasons", kind=Big)
    if bits is None:  # the name before driver 535
        bits = card.number("nvmlDeviceGetCurrentClocksThrottleReasons", kind=Big)
    return None if bits is None else _reasons(bits)


@cache
def _reasons(bits: int) -> tuple[str, ...]:
    return tuple(name for bit, name in THROTTLE_REASONS.items() if bits & bit)


def _temperature(card: Card) -> int | None:
    sensor = card.pynvml.NVML_TEMPERATURE_GPU
    celsius = card.number("nvmlDeviceGetTemperature", sensor)
    if celsius is None:  # the only name from CUDA 14 on
        celsius = card.ask("nvmlDeviceGetTemperatureV", sensor)
    return None if celsius is None else int(celsius)


def _thousandth(value: int | None) -> float | None:
    """Milliwatts in watts, millijoules in joules."""
    return None if value is None else value / 1000


def _yes(value: int | None) -> bool | None:
    return None if value is None else bool(value)
