"""What samples of a card say about it, as checks; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.names import Value
from ..core.results import Check, CheckState, Curve, GpuSample, Sample
from . import judged
from .figures import Form, advice, card_name, fan_turns, temperature_limit

if TYPE_CHECKING:
    from ..catalog.health import HealthRules, Tests, XidKind
    from ..system.services import Power

Seen = Sequence[tuple[float, GpuSample]]

Make = Callable[..., Check]

# What holds a card back, the likeliest cause first, and the rule that judges it.
HELD_BACK = {
    "power-brake": "power-supply",
    "hardware-thermal": "slowed-by-heat",
    "thermal": "slowed-by-heat",
    "hardware-slowdown": "slowed-by-itself",
}
NO_CARD = "no-card"  # how the check of the driver is called where there is no card for it
NO_CARD_REASON = "@health.reason.no-card"  # where there is neither a driver nor a card
OWN = "own"  # what the rules call a source that is our own experience
TWICE = 2  # one reading alone may be a slip


def made(check_id: str, state: CheckState, *, value: Value = None, expected: Value = None, **data: Value) -> Check:
    """A check whose texts are filled with `data`, too."""
    filled = {"reason": None, "device": None, "value": value, "expected": expected, **data}
    return Check(id=check_id, state=state, value=value, expected=expected, data=filled)


def ours(tests: Tests) -> dict[str, Value]:
    """For a check whose threshold nobody but us names: the texts say so."""
    return {"own": tests.source == OWN}


def mains(power: Power) -> Check:
    """Whether the computer runs on its battery: a card is held back then."""
    if power.source is None:
        return made("mains", "skip", reason="@health.reason.unknown")
    return made("mains", "warn" if power.source == "battery" else "pass", value=power.percent)


def undecided(sample: Sample) -> bool:
    """Whether the driver's answer is yet to come: a card that sleeps is woken by the test."""
    return sample.nvml in ("untried", "asleep", "resting", "slow")


def driver(sample: Sample, rules: HealthRules, *, card_there: bool) -> Check:
    """Whether the driver answers and finds a card; `card_there`: the system has an NVIDIA adapter."""
    if sample.nvml in ("asleep", "resting"):
        return made("driver", "skip", reason="@health.reason.asleep")
    if sample.nvml == "ready" and not sample.gpus:
        # A driver alone is no fault; a card that it does not find is one.
        case = "unfound" if card_there else NO_CARD
        return made("driver", "fail" if card_there else "warn", value=sample.driver, case=case)
    # A lost card is told of by itself; where the driver names none, it is the driver that does not work.
    if sample.nvml == "ready" or (sample.nvml == "lost" and sample.gpus):
        return made("driver", "pass", value=sample.driver)
    if sample.nvml == "absent":
        if not card_there:
            return made("driver", "skip", reason=NO_CARD_REASON)
        return made("driver", "fail", case="absent")
    rule = judged.of_driver(rules, sample.nvml)
    state = "fail" if rule is None else judged.STATES[rule.level]
    return made("driver", state, reason=f"@health.nvml.{sample.nvml}", advice=None if rule is None else rule.id)


def answers(gpu: GpuSample, *, several: bool, form: Form) -> Check:
    """Whether a card answers at all."""
    state: CheckState = "fail" if gpu.state in ("lost", "gone") else "pass"
    case = {"case": "gone"} if gpu.state == "gone" else {}
    return _about(gpu, several=several, form=form)("card-answers", state, **case)


def card(
    seen: Seen,
    rules: HealthRules,
    limit: float,
    *,
    worked: bool,
    xids: Mapping[int, XidKind],
    allowed: Callable[[GpuSample], float | None],
    several: bool,
    form: Form,
) -> Iterator[Check]:
    """Everything about one card; `worked`: it was made to work meanwhile. `limit`: °C at which the test stops;
    `allowed`: what its maker allows. `several`: its name alone does not tell it from another.
    """
    first, last, tests = seen[0][1], seen[-1][1], rules.tests
    make = _about(last, several=several, form=form)
    yield _link(make, seen, tests)
    yield _memory(make, first, tests, worked=worked)
    yield _errors(make, last, rules)
    yield _xid(make, last, xids)
    yield _heat(make, seen, limit, temperature_limit(last, allowed), tests)
    yield _fan(make, seen)
    if worked or _loaded(seen, tests):
        yield _held_back(make, seen, rules)


def _about(gpu: GpuSample, *, several: bool, form: Form) -> Make:
    """Makes checks of this card."""
    return partial(made, device=card_name(gpu, several=several), gpu=gpu.index, **_advice(form))


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


def link_speed(found: Sequence[Check], seen: Seen, tests: Tests, *, several: bool, form: Form) -> Iterator[Check]:
    """Whether the copies that were measured on a card are as fast as its link."""
    gpu = seen[-1][1]
    check = next((one for one in found if one.id == "copy-bandwidth" and one.data.get("gpu") == gpu.index), None)
    if check is None or check.state != "pass":
        return
    slower = min(float(check.data.get(way) or 0.0) for way in ("up_gb_s", "down_gb_s"))
    carries = link_gb_s(seen, tests)
    make = _about(gpu, several=several, form=form)
    if carries is None:
        yield make("link-speed", "skip", reason="@health.reason.too-short")
    else:
        state: CheckState = "pass" if slower >= tests.link.share * carries else "warn"
        share = round(100 * slower / carries)
        yield make("link-speed", state, value=slower, expected=carries, share=share, **ours(tests))


def _advice(form: Form) -> dict[str, Any]:
    return dict(advice(form))


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


def _link(make: Make, seen: Seen, tests: Tests) -> Check:
    last = seen[-1][1]
    most = (last.pcie_gen_max, last.pcie_width_max)
    if last.pcie_gen is None or last.pcie_width is None or None in most:
        return make("card-link", "skip", reason="@health.reason.not-told")
    loaded = _loaded(seen, tests)
    at_work = _link_at_work(seen, tests)
    if at_work is None and len(loaded) == len(seen) >= TWICE:  # it worked before the test began
        at_work = (last.pcie_gen, last.pcie_width)
    gen, width = at_work or (last.pcie_gen, last.pcie_width)
    data: dict[str, Value] = {"gen": gen, "width": width, "gen_max": most[0], "width_max": most[1]}
    data |= {"lanes": width, "most_lanes": most[1]}
    full = gen >= (most[0] or 0) and width >= (most[1] or 0)
    if not full and at_work is None:
        reason = "@health.reason.too-short" if loaded else "@health.reason.at-rest"
        return make("card-link", "skip", reason=reason, **data)
    expected = f"PCIe {most[0]} x{most[1]}"
    return make("card-link", "pass" if full else "warn", value=f"PCIe {gen} x{width}", expected=expected, **data)


def _memory(make: Make, first: GpuSample, tests: Tests, *, worked: bool) -> Check:
    """By the first look, before anything of the test's own ran there."""
    if first.mem_used is None or first.mem_total is None:
        return make("card-memory", "skip", reason="@health.reason.not-told")
    # A desktop's own drawing lowers what is measured, and is no worry where nothing is.
    most = tests.busy_percent if worked else tests.loaded_percent
    free = first.mem_total - first.mem_used
    taken = (first.util is not None and first.util > most) or free < tests.least_free_share * first.mem_total
    data: dict[str, Value] = {"free_memory_bytes": free, "total_memory_bytes": first.mem_total, "busy": first.util}
    return make("card-memory", "warn" if taken else "pass", value=free, **data, **ours(tests))


def _errors(make: Make, last: GpuSample, rules: HealthRules) -> Check:
    known = (last.ecc_uncorrected, last.retired_pages, last.remapped_rows)
    counts: dict[str, Value] = {
        "uncorrected": last.ecc_uncorrected,
        "corrected": last.ecc_corrected,
        "replaced": last.remapped_rows if last.remapped_rows is not None else last.retired_pages,
    }
    if all(count is None for count in known):
        return make("card-errors", "skip", **{**counts, "reason": "@health.reason.no-counters"})
    found = (
        (last.remap_failed, "no-spare", "remap-failed"),
        (last.ecc_uncorrected, "unmended", "memory-errors-before"),
        (last.remap_pending, "pending", "rows-pending"),
        (last.retired_pending, "pending", "pages-pending"),
    )
    for there, reason, rule in found:
        if there:
            counts |= {"reason": f"@health.reason.{reason}", "advice": rule}
            return make("card-errors", judged.grade(rules, rule), value=last.ecc_uncorrected, **counts)
    return make("card-errors", "pass", value=last.ecc_uncorrected, **counts)


def _xid(make: Make, last: GpuSample, xids: Mapping[int, XidKind]) -> Check:
    """What the driver reported since the test began to look; a program's own error was the test's."""
    if last.xid is None:
        return make("card-xid", "skip", reason="@health.reason.not-told")
    if not last.xid:
        return make("card-xid", "pass", value=0)
    kind = xids.get(last.xid, "unknown")
    state: CheckState = "warn" if kind == "replaced" else "fail"
    said: dict[str, Value] = {"reason": f"@health.xid.{kind}", "then": f"@health.xid-again.{kind}"}
    return make("card-xid", state, value=last.xid, **said)


def _heat(make: Make, seen: Seen, limit: float, most: float | None, tests: Tests) -> Check:
    """`limit` stops the test; from `most` on the card is slowed down."""
    temps = sorted(gpu.temp for _, gpu in seen if gpu.temp is not None)
    if not temps:
        return make("card-heat", "skip", reason="@health.reason.not-told")
    highest = temps[-1]
    if highest >= limit:
        return make("card-heat", "fail", value=highest, limit=round(limit), **ours(tests))
    if most is not None and len(temps) >= TWICE and temps[-TWICE] >= most - tests.hot_before_limit:
        return make("card-heat", "warn", value=highest, limit=round(most))
    if most is None:
        return make("card-heat", "pass", value=highest, limit=round(limit), case="unlimited")
    return make("card-heat", "pass", value=highest, limit=round(most))


def _fan(make: Make, seen: Seen) -> Check:
    turns = [turns for _, gpu in seen if (turns := fan_turns(gpu)) is not None]
    if not turns or not max(turns):
        return make("card-fan", "skip", reason="@health.reason.fan-rests" if turns else "@health.reason.not-told")
    return make("card-fan", "pass", value=turns[-1])


def _held_back(make: Make, seen: Seen, rules: HealthRules) -> Check:
    tests = rules.tests
    told = [gpu.throttle for gpu in _loaded(seen, tests) if gpu.throttle is not None]
    if not told:
        return make("card-held-back", "skip", reason="@health.reason.not-told")
    held = [[name for name in HELD_BACK if name in reasons] for reasons in told]
    times = sum(map(bool, held))
    share = times / len(told)
    if len(told) < TWICE:
        return make("card-held-back", "skip", reason="@health.reason.one-look")
    value = round(100 * share)
    if share <= tests.held_back_share or times < TWICE:
        return make("card-held-back", "pass", value=value)
    firsts = [reasons[0] for reasons in held if reasons]
    most = max(HELD_BACK, key=firsts.count)
    rule = HELD_BACK[most]
    said: dict[str, Value] = {"reason": f"@monitor.throttle.{most}", "advice": rule}
    return make("card-held-back", judged.grade(rules, rule), value=value, **said, **ours(tests))
