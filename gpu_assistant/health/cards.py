"""What samples of a card say about it, as checks; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..core.names import Value
from ..core.results import Check, CheckState, Curve, GpuSample, Sample

if TYPE_CHECKING:
    from ..catalog.health import Tests, XidKind
    from ..system.services import Power

Seen = Sequence[tuple[float, GpuSample]]

HELD_BACK = {"thermal", "hardware-thermal", "power-brake", "hardware-slowdown"}


def made(check_id: str, state: CheckState, *, value: Value = None, expected: Value = None, **data: Value) -> Check:
    """A check whose texts are filled with `data`, too."""
    filled = {"reason": None, "device": None, "value": value, "expected": expected, **data}
    return Check(id=check_id, state=state, value=value, expected=expected, data=filled)


def mains(power: Power) -> Check:
    """Whether the computer runs on its battery: a card is held back then."""
    if power.source is None:
        return made("mains", "skip", reason="@health.reason.unknown")
    return made("mains", "warn" if power.source == "battery" else "pass", value=power.percent)


def undecided(sample: Sample) -> bool:
    """Whether the driver's answer is yet to come: a card that sleeps is woken by the test."""
    return sample.nvml in ("untried", "asleep", "resting", "slow")


def driver(sample: Sample, *, card_there: bool) -> Check:
    """Whether the driver answers; `card_there`: the system has an NVIDIA adapter."""
    if sample.nvml in ("ready", "lost", "asleep", "resting"):
        return made("driver", "pass", value=sample.driver)
    if sample.nvml == "absent" and not card_there:
        return made("driver", "skip", reason="@health.reason.no-card")
    return made("driver", "fail", reason=f"@monitor.nvml.{sample.nvml}")


def card(seen: Seen, tests: Tests, limit: float, *, worked: bool, xids: Mapping[int, XidKind]) -> Iterator[Check]:
    """Everything about one card; `worked`: it was made to work meanwhile. `limit`: °C at which the test stops."""
    first, last = seen[0][1], seen[-1][1]
    yield _link(seen, tests, worked=worked)
    yield _memory(first, tests, worked=worked)
    yield _errors(last)
    yield _xid(last, xids)
    yield _heat(seen, limit)
    if worked:
        yield _held_back(seen, tests)


def curve(seen: Seen, speeds: Sequence[tuple[float, float]]) -> Curve:
    """One card's curve; `speeds` are (seconds, 10^12 operations a second)."""
    cards = [gpu for _, gpu in seen]
    return Curve(
        gpu=cards[0].index,
        name=cards[0].name,
        t=tuple(round(t, 2) for t, _ in seen),
        temp=tuple(gpu.temp for gpu in cards),
        power_w=tuple(gpu.power_w for gpu in cards),
        clock_sm=tuple(gpu.clock_sm for gpu in cards),
        throttle=tuple(gpu.throttle for gpu in cards),
        speed_t=tuple(round(t, 2) for t, _ in speeds),
        speed=tuple(speed for _, speed in speeds),
    )


def link_gb_s(seen: Seen, tests: Tests) -> float | None:
    """What the link carried at most while the card worked, in 10^9 bytes a second one way; None where that is not
    known, or it did not work long enough.
    """
    link = _link_at_work(seen, tests)
    per_lane = tests.link.gb_s_per_lane.get(str(link[0])) if link is not None else None
    return None if link is None or per_lane is None else per_lane * link[1]


def _loaded(seen: Seen, tests: Tests) -> list[GpuSample]:
    return [gpu for _, gpu in seen if gpu.util is not None and gpu.util >= tests.loaded_percent]


def _link_at_work(seen: Seen, tests: Tests) -> tuple[int, int] | None:
    """(generation, lanes): the best of both once the card has worked for a while; the link wakes up with it."""
    began: float | None = None
    gens, widths = [], []
    for t, gpu in seen:
        if gpu.util is None or gpu.util < tests.loaded_percent:
            began = None
            continue
        began = t if began is None else began
        if t - began >= tests.link.settled_seconds and gpu.pcie_gen is not None and gpu.pcie_width is not None:
            gens.append(gpu.pcie_gen)
            widths.append(gpu.pcie_width)
    return (max(gens), max(widths)) if gens else None


def _link(seen: Seen, tests: Tests, *, worked: bool) -> Check:
    name, last = seen[0][1].name, seen[-1][1]
    most = (last.pcie_gen_max, last.pcie_width_max)
    if last.pcie_gen is None or last.pcie_width is None or None in most:
        return made("card-link", "skip", device=name, reason="@health.reason.not-told")
    at_work = _link_at_work(seen, tests) if worked else None
    gen, width = at_work or (last.pcie_gen, last.pcie_width)
    data: dict[str, Value] = {"device": name, "gen": gen, "width": width, "gen_max": most[0], "width_max": most[1]}
    full = gen >= (most[0] or 0) and width >= (most[1] or 0)
    if not full and at_work is None:
        return made("card-link", "skip", **{**data, "reason": "@health.reason.at-rest"})
    expected = f"PCIe {most[0]} x{most[1]}"
    return made("card-link", "pass" if full else "warn", value=f"PCIe {gen} x{width}", expected=expected, **data)


def _memory(first: GpuSample, tests: Tests, *, worked: bool) -> Check:
    if first.mem_used is None or first.mem_total is None:
        return made("card-memory", "skip", device=first.name, reason="@health.reason.not-told")
    busy = worked and first.util is not None and first.util > tests.busy_percent
    free = first.mem_total - first.mem_used
    data: dict[str, Value] = {"device": first.name, "free_memory_bytes": free, "total_memory_bytes": first.mem_total}
    return made("card-memory", "warn" if busy else "pass", value=free, expected=None, busy=first.util, **data)


def _errors(last: GpuSample) -> Check:
    known = (last.ecc_uncorrected, last.retired_pages, last.remapped_rows)
    counts: dict[str, Value] = {
        "device": last.name,
        "uncorrected": last.ecc_uncorrected,
        "corrected": last.ecc_corrected,
        "replaced": last.remapped_rows if last.remapped_rows is not None else last.retired_pages,
    }
    if all(count is None for count in known):
        return made("card-errors", "skip", **{**counts, "reason": "@health.reason.no-counters"})
    state: CheckState = "pass"
    if last.retired_pending or last.remap_pending:
        state, counts["reason"] = "warn", "@health.reason.pending"
    if last.remap_failed or last.ecc_uncorrected:
        state = "fail"
        counts["reason"] = "@health.reason.no-spare" if last.remap_failed else "@health.reason.unmended"
    return made("card-errors", state, value=last.ecc_uncorrected, **counts)


def _xid(last: GpuSample, xids: Mapping[int, XidKind]) -> Check:
    """What the driver reported since the test began to look; a program's own error was the test's."""
    if last.xid is None:
        return made("card-xid", "skip", device=last.name, reason="@health.reason.not-told")
    if not last.xid:
        return made("card-xid", "pass", value=0, device=last.name)
    reason = f"@health.xid.{xids.get(last.xid, 'unknown')}"
    return made("card-xid", "fail", value=last.xid, device=last.name, reason=reason)


def _heat(seen: Seen, limit: float) -> Check:
    temps = [gpu.temp for _, gpu in seen if gpu.temp is not None]
    name = seen[0][1].name
    if not temps:
        return made("card-heat", "skip", device=name, reason="@health.reason.not-told")
    highest = max(temps)
    state: CheckState = "fail" if highest >= limit else "pass"
    return made("card-heat", state, value=highest, device=name, limit=round(limit))


def _held_back(seen: Seen, tests: Tests) -> Check:
    name = seen[0][1].name
    told = [gpu.throttle for gpu in _loaded(seen, tests) if gpu.throttle is not None]
    if not told:
        return made("card-held-back", "skip", device=name, reason="@health.reason.not-told")
    held = [HELD_BACK & set(reasons) for reasons in told]
    share = sum(map(bool, held)) / len(told)
    names = [name for reasons in held for name in sorted(reasons)]
    most = max(set(names), key=names.count) if names else None
    state: CheckState = "warn" if share > tests.held_back_share else "pass"
    reason = f"@monitor.throttle.{most}" if most is not None and state == "warn" else None
    return made("card-held-back", state, value=round(100 * share), device=name, reason=reason)
