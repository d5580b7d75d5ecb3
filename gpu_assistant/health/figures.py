"""The figures that rules ask for: a sample's own, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from ..core.names import device_label
from ..core.results import GpuSample, Sample

if TYPE_CHECKING:
    from ..catalog.health import XidKind

FigureValue = float | str | tuple[str, ...] | None
# What a card is built into, as far as its name tells.
FormFactor = Literal["desktop", "laptop", "server", "any"]

# What this module adds to the fields of a `GpuSample` and of a `Sample`.
DERIVED_FIGURES = (
    "temp_limit",
    "temp_unlimited",
    "temp_danger",
    "temp_danger_kind",
    "temp_unwarned",
    "heat_where",
    "held_by",
    "fan_turns",
    "pcie_width_card",
    "xid_kind",
    "xid_age",
    "temp_settled",
    "temp_usual",
)
# Advice that differs with what a card is built into (texts `health.<advice>.<form>`).
ADVICE_KEYS = ("air", "power", "slot", "link", "pace", "lowered")
EXTRA_COMPUTER_FIGURES = ("cuda",)


def gpu_figure_names() -> frozenset[str]:
    """Every name that a rule about a card may use."""
    return frozenset((*GpuSample.__struct_fields__, *DERIVED_FIGURES))


def computer_figure_names() -> frozenset[str]:
    """Every name that a rule about the computer may use."""
    return frozenset((*Sample.__struct_fields__, *EXTRA_COMPUTER_FIGURES)) - {"gpus"}


def temperature_limit(gpu: GpuSample, max_temperature: Callable[[GpuSample], float | None]) -> float | None:
    """°C from which on the card is slowed down: by the driver, else by itself, else what its maker allows."""
    limits = (limit for limit in (gpu.temp_max, gpu.temp_slow) if limit is not None)
    return next(limits, None) or max_temperature(gpu)


def critical_temperature(gpu: GpuSample) -> int | None:
    """°C from which on the card saves itself: by slowing down hard, else by switching itself off."""
    return gpu.temp_slow if gpu.temp_slow is not None else gpu.temp_shutdown


def critical_action(gpu: GpuSample) -> str:
    """What the card does at that temperature."""
    return "slow" if gpu.temp_slow is not None else "shutdown"


def heat_location(gpu: GpuSample, limit: float | None) -> str:
    """What is hot where heat slows the card down: its core from its `limit` in °C on, else maybe another part."""
    return "core" if gpu.temp is not None and limit is not None and gpu.temp >= limit else "elsewhere"


def fan_speed(gpu: GpuSample) -> int | None:
    """How fast the fan turns: as measured (turns a minute), else as asked for (%)."""
    return gpu.fan_rpm if gpu.fan_rpm is not None else gpu.fan


def is_judgeable(gpu: GpuSample) -> bool:
    """Whether anything is known by which it could be unwell: how warm it is, or what holds it back."""
    return any(figure is not None for figure in (gpu.temp, gpu.temp_memory, gpu.throttle))


def gpu_display_name(gpu: GpuSample, *, has_several: bool) -> str:
    """What a card is called in sentences: its name; of `several` its number first, as marks and tables call it."""
    return device_label(f"cuda:{gpu.index}", gpu.name, several=has_several)


def advice_codes(form_factor: FormFactor) -> dict[str, str]:
    """The advice for such a card, as the codes of texts, by its name in the sentences around it."""
    return {name: f"@health.{name}.{form_factor}" for name in ADVICE_KEYS}


class GpuRuleInputs:
    """One card's figures by name. Units as in `GpuSample`.

    `temp_limit`: see `temperature_limit`; `temp_unlimited` is the temperature where nobody knows that. `temp_danger`:
    see `danger`, `temp_danger_kind` what the card does then ("slow", "shutdown"); `temp_unwarned` is the temperature
    where the driver does not tell that. `heat_where`: see there, as the code of a
    text. `held_by`: why clocks are held back; nothing, where the driver does not tell.
    `fan_turns`: measured, else asked for. `pcie_width_card`:
    the lanes that the card has, by its maker (NVML tells only what card and slot can do together). `xid_age`: seconds
    since the driver's last error, `xid_kind` what that speaks of. `temp_settled`: mean °C under an even load,
    `temp_usual` the same in its own past; both None while the load is not even.
    """

    def __init__(
        self,
        t: float,
        gpu: GpuSample,
        *,
        max_temperature: Callable[[GpuSample], float | None],
        lanes: Callable[[GpuSample], int | None],
        xids: Mapping[int, XidKind],
        temp_comparison: tuple[float, float] | None,
    ) -> None:
        self._gpu = gpu
        limit, critical = temperature_limit(gpu, max_temperature), critical_temperature(gpu)
        self._derived: dict[str, FigureValue] = {
            "temp_limit": limit,
            "temp_unlimited": gpu.temp if limit is None else None,
            "temp_danger": critical,
            "temp_danger_kind": critical_action(gpu),
            "temp_unwarned": gpu.temp if critical is None else None,
            "heat_where": f"@health.heat-where.{heat_location(gpu, limit)}",
            "held_by": gpu.throttle or (),
            "pcie_width_card": lanes(gpu),
            "fan_turns": fan_speed(gpu),
            "xid_kind": xids.get(gpu.xid, "unknown") if gpu.xid else None,
            "xid_age": t - gpu.xid_t if gpu.xid and gpu.xid_t is not None else None,
            "temp_settled": temp_comparison[0] if temp_comparison is not None else None,
            "temp_usual": temp_comparison[1] if temp_comparison is not None else None,
        }

    def __getitem__(self, name: str) -> FigureValue:
        if name in self._derived:
            return self._derived[name]
        value: FigureValue = getattr(self._gpu, name)
        return value


class ComputerRuleInputs:
    """What is known of the whole computer, by name; `cuda` is the state of the last check of CUDA ("pass", "fail")."""

    def __init__(self, sample: Sample, *, cuda_state: str | None) -> None:
        self._sample = sample
        self._cuda_state = cuda_state

    def __getitem__(self, name: str) -> FigureValue:
        if name == "cuda":
            return self._cuda_state
        value: FigureValue = getattr(self._sample, name)
        return value
