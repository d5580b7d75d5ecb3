"""The figures that rules ask for: a sample's own, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from ..core.names import called
from ..core.results import GpuSample, Sample

if TYPE_CHECKING:
    from ..catalog.health import XidKind

Value = float | str | tuple[str, ...] | None
# What a card is built into, as far as its name tells.
Form = Literal["desktop", "laptop", "server", "any"]

# What this module adds to the fields of a `GpuSample` and of a `Sample`.
DERIVED = (
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
ADVICE = ("air", "power", "slot", "link", "pace", "lowered")
EXTRA = ("cuda",)


def card_figures() -> frozenset[str]:
    """Every name that a rule about a card may use."""
    return frozenset((*GpuSample.__struct_fields__, *DERIVED))


def computer_figures() -> frozenset[str]:
    """Every name that a rule about the computer may use."""
    return frozenset((*Sample.__struct_fields__, *EXTRA)) - {"gpus"}


def temperature_limit(gpu: GpuSample, allowed: Callable[[GpuSample], float | None]) -> float | None:
    """°C from which on the card is slowed down: by the driver, else by itself, else what its maker allows."""
    known = (limit for limit in (gpu.temp_max, gpu.temp_slow) if limit is not None)
    return next(known, None) or allowed(gpu)


def danger(gpu: GpuSample) -> int | None:
    """°C from which on the card saves itself: by slowing down hard, else by switching itself off."""
    return gpu.temp_slow if gpu.temp_slow is not None else gpu.temp_shutdown


def danger_kind(gpu: GpuSample) -> str:
    """What the card does at that temperature."""
    return "slow" if gpu.temp_slow is not None else "shutdown"


def heat_where(gpu: GpuSample, limit: float | None) -> str:
    """What is hot where heat slows the card down: its core from its `limit` in °C on, else maybe another part."""
    return "core" if gpu.temp is not None and limit is not None and gpu.temp >= limit else "elsewhere"


def fan_turns(gpu: GpuSample) -> int | None:
    """How fast the fan turns: as measured (turns a minute), else as asked for (%)."""
    return gpu.fan_rpm if gpu.fan_rpm is not None else gpu.fan


def tells_enough(gpu: GpuSample) -> bool:
    """Whether anything is known by which it could be unwell: how warm it is, or what holds it back."""
    return any(figure is not None for figure in (gpu.temp, gpu.temp_memory, gpu.throttle))


def card_name(gpu: GpuSample, *, several: bool) -> str:
    """What a card is called in sentences: its name; of `several` its number first, as marks and tables call it."""
    return called(f"cuda:{gpu.index}", gpu.name, several=several)


def advice(form: Form) -> dict[str, str]:
    """The advice for such a card, as the codes of texts, by its name in the sentences around it."""
    return {name: f"@health.{name}.{form}" for name in ADVICE}


class CardFigures:
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
        allowed: Callable[[GpuSample], float | None],
        lanes: Callable[[GpuSample], int | None],
        xids: Mapping[int, XidKind],
        settled: tuple[float, float] | None,
    ) -> None:
        self._gpu = gpu
        limit, dangerous = temperature_limit(gpu, allowed), danger(gpu)
        self._derived: dict[str, Value] = {
            "temp_limit": limit,
            "temp_unlimited": gpu.temp if limit is None else None,
            "temp_danger": dangerous,
            "temp_danger_kind": danger_kind(gpu),
            "temp_unwarned": gpu.temp if dangerous is None else None,
            "heat_where": f"@health.heat-where.{heat_where(gpu, limit)}",
            "held_by": gpu.throttle or (),
            "pcie_width_card": lanes(gpu),
            "fan_turns": fan_turns(gpu),
            "xid_kind": xids.get(gpu.xid, "unknown") if gpu.xid else None,
            "xid_age": t - gpu.xid_t if gpu.xid and gpu.xid_t is not None else None,
            "temp_settled": settled[0] if settled is not None else None,
            "temp_usual": settled[1] if settled is not None else None,
        }

    def __getitem__(self, name: str) -> Value:
        if name in self._derived:
            return self._derived[name]
        value: Value = getattr(self._gpu, name)
        return value


class ComputerFigures:
    """What is known of the whole computer, by name; `cuda` is the state of the last check of CUDA ("pass", "fail")."""

    def __init__(self, sample: Sample, *, cuda: str | None) -> None:
        self._sample = sample
        self._cuda = cuda

    def __getitem__(self, name: str) -> Value:
        if name == "cuda":
            return self._cuda
        value: Value = getattr(self._sample, name)
        return value
