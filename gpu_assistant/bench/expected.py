"""Is that right for this card? Measured figures beside the maker's; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..core.results import BenchDevice, BenchResult, BenchWatch
from .watch import BUSY_PERCENT, HELD_BACK, HOT

if TYPE_CHECKING:
    from ..catalog.load import Catalog
    from ..catalog.reference import Rates, ReferenceCard

CAUSE = "bench.cause."
CAUSES = frozenset(
    CAUSE + name for name in ("battery", "heat", "power-supply", "power-plan", "busy", "slot", "unknown")
)


def cards_of(devices: Sequence[BenchDevice], catalog: Catalog) -> dict[str, ReferenceCard]:
    """The makers' figures of the devices that the catalog knows, by device."""
    found = {
        device.id: catalog.reference_card(device.name, device.memory_bytes)
        for device in devices
        if device.id != "cpu" and device.name is not None
    }
    return {device: card for device, card in found.items() if card is not None}


def expected(
    results: Iterable[BenchResult],
    cards: Mapping[str, ReferenceCard],
    catalog: Catalog,
    watched: Sequence[BenchWatch] = (),
) -> dict[str, tuple[float, float]]:
    """The range that healthy cards reach, by "device/workload-dtype"; only for what was measured and is known.

    On the way to a card counts what the card has of lanes, at the speed that its slot was `watched` to talk with: an
    older board is no fault, a slot with too few lanes is one.
    """
    healthy, rates = catalog.reference.healthy, catalog.reference.rates
    shares = {"matmul": healthy.matmul_share, "copy-within": healthy.copy_share}
    found: dict[str, tuple[float, float]] = {}
    for result in results:
        card = cards.get(result.device)
        if card is None:
            continue
        way = _way(result.device, card, rates, watched)
        tf32 = card.bf16_tensor_tflops and card.bf16_tensor_tflops * rates.tf32_of_bf16
        most = {
            ("matmul", "tf32"): tf32,
            ("copy-to-device-pinned", "uint8"): way,
            ("copy-to-host-pinned", "uint8"): way,
            ("matmul", "float32"): card.fp32_tflops,
            ("matmul", "float16"): card.fp16_tensor_tflops,
            ("matmul", "bfloat16"): card.bf16_tensor_tflops,
            ("copy-within", "uint8"): card.bandwidth_gb_s,
        }.get((result.id, result.dtype))
        if most is not None:
            low, high = shares.get(result.id, healthy.pcie_share)
            found[key(result)] = (most * low, most * high)
    return found


def _way(device: str, card: ReferenceCard, rates: Rates, watched: Sequence[BenchWatch]) -> float | None:
    """10^9 bytes a second that the card's lanes carry in one direction."""
    index = int(device.partition(":")[2] or 0)
    seen = next((each.pcie_gen for each in watched if each.index == index), None)
    lane = rates.pcie_gb_s_per_lane.get(str(min(seen or card.pcie_gen, card.pcie_gen)))
    return None if lane is None else lane * card.pcie_lanes


def key(result: BenchResult) -> str:
    """Where a result stands among the expected ranges."""
    return f"{result.device}/{result.id}-{result.dtype}"


def below(results: Iterable[BenchResult], ranges: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """The keys whose best figure, of all sizes, is less than what healthy cards reach."""
    best = _best(results)
    return tuple(name for name, (low, _) in ranges.items() if best.get(name, low) < low)


def above(results: Iterable[BenchResult], ranges: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """The keys whose best figure is more than what healthy cards reach: nothing bad, but not as expected either."""
    best = _best(results)
    return tuple(name for name, (_, high) in ranges.items() if best.get(name, high) > high)


def _best(results: Iterable[BenchResult]) -> dict[str, float]:
    best: dict[str, float] = {}
    for result in results:
        best[key(result)] = max(best.get(key(result), 0.0), result.median)
    return best


def causes(
    watched: Sequence[BenchWatch], cards: Iterable[ReferenceCard], *, on_battery: bool | None, saving: bool | None
) -> tuple[str, ...]:
    """What may make a card slow, by what was seen along the run; the surest first."""
    throttle = {reason for card in watched for reason in card.throttle}
    lanes = {(card.name.lower(), card.pcie_lanes) for card in cards}
    found = {
        "battery": on_battery is True,
        "heat": bool(throttle & HOT),
        "power-supply": bool(throttle & (HELD_BACK - HOT)),
        "power-plan": saving is True,
        "busy": any(card.util_before is not None and card.util_before > BUSY_PERCENT for card in watched),
        "slot": any(
            card.pcie_width is not None
            and card.name is not None
            and card.name.lower().endswith(name)
            and card.pcie_width < most
            for card in watched
            for name, most in lanes
        ),
    }
    return tuple(CAUSE + code for code, seen in found.items() if seen)
