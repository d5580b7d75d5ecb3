"""Was it a fair test? What speaks for and against a benchmark's figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from ...bench import compare, summary
from ...bench.lines import ENDINGS as HOW
from ...bench.lines import NOTE, QUIET
from ...bench.watch import BUSY_PERCENT, HELD_BACK
from ...core.results import Benchmark, BenchResult, LeftOut
from ...texts.format import duration
from .. import language
from . import scores

# Above this share of the median between the quartiles a figure is not steady (see the honesty rules of bench/).
STEADY = 0.10
WRONG = "wrong"
TIME = "bench.note.time"
ENDINGS = frozenset(NOTE + how for how in HOW)
WELL_LEFT = frozenset(NOTE + why for why in QUIET)

translate = QCoreApplication.translate


class Fairness(NamedTuple):
    """One line of “Was it a fair test?”: kind ok, warn or neutral; `below` is a list that is too long for a value."""

    kind: str
    text: str
    value: str
    below: str = ""


def fairness(benchmark: Benchmark, kept: Sequence[Benchmark] = ()) -> list[Fairness]:
    """What speaks for and against the figures, as far as the benchmark and those of before say it."""
    found = [*_figures(benchmark)]
    if any(result.device != "cpu" for result in benchmark.results):
        found += _cards(benchmark)
    threads = next((device.threads for device in benchmark.devices if device.id == "cpu"), None)
    if threads is not None:
        found.append(Fairness("neutral", translate("Fairness", "CPU threads"), str(threads)))
    found += [
        Fairness("warn", language.texts().say(note), "", translate("Fairness", "; ").join(_about(benchmark, note)))
        for note in benchmark.notes
    ]
    if benchmark.scope == "quick" and any(left.why == TIME for left in benchmark.left_out):
        text = translate("Fairness", "The full test has up to 15 minutes for each device: more of it fits in.")
        found.append(Fairness("neutral", text, ""))
    if missing := left_out(benchmark, kept):
        text = translate("Fairness", "Measured before, not this time")
        found.append(Fairness("neutral", text, "", translate("Fairness", "; ").join(missing)))
    if benchmark.seconds is not None:
        took = duration(benchmark.seconds, language.texts().language)
        found.append(Fairness("neutral", translate("Fairness", "Time"), took))
    return found


def spread_of(benchmark: Benchmark) -> float:
    """The widest middle half of all that was measured, as a share of its median."""
    measured = (r for r in benchmark.results if not r.extrapolated and r.median > 0)
    return max(((r.q3 - r.q1) / r.median for r in measured), default=0.0)


def _figures(benchmark: Benchmark) -> Iterator[Fairness]:
    """Whether the results are right and the runs alike."""
    measured = [r for r in benchmark.results if not r.extrapolated]
    if not measured:
        return
    text = translate("Fairness", "Results checked")
    if wrong := sum(WRONG in result.notes for result in measured):
        yield Fairness("warn", text, translate("Fairness", "{count} wrong").format(count=wrong))
    else:
        checked = sum(result.error is not None for result in measured)
        every = checked == len(measured)
        said = translate("Fairness", "all right")
        if not every:
            said = translate("Fairness", "{checked} of {count}, no time for the rest")
        elif ENDINGS & set(benchmark.notes) or any(left.why not in WELL_LEFT for left in benchmark.left_out):
            every, said = False, translate("Fairness", "{checked} right, the rest was not measured")
        yield Fairness("ok" if every else "neutral", text, said.format(checked=checked, count=len(measured)))
    spread = spread_of(benchmark)
    most = translate("Fairness", "at most {percent} %").format(percent=f"{100 * spread:.1f}")
    yield Fairness("ok" if spread <= STEADY else "warn", translate("Fairness", "Spread between runs"), most)


def _cards(benchmark: Benchmark) -> Iterator[Fairness]:
    """What the cards' driver told along the run."""
    watched = summary.watched(benchmark)
    ends = [(card.temp_start, card.temp_max) for card in watched]
    known = [(start, most) for start, most in ends if start is not None and most is not None]
    if known:
        coolest, hottest = min(start for start, _ in known), max(most for _, most in known)
        value = translate("Fairness", "{first} → {last} °C").format(first=coolest, last=hottest)
        yield Fairness("neutral", translate("Fairness", "Temperature"), value)
    if watched:
        held = any(HELD_BACK & set(card.throttle) for card in watched)
        value = translate("Fairness", "yes") if held else translate("Fairness", "none")
        yield Fairness("warn" if held else "ok", translate("Fairness", "Slowed down by heat or power"), value)
    busy = [card.util_before for card in watched if card.util_before is not None]
    if busy:
        value = translate("Fairness", "{percent} %").format(percent=max(busy))
        kind = "warn" if max(busy) > BUSY_PERCENT else "ok"
        yield Fairness(kind, translate("Fairness", "Other programs on the card"), value)


def _about(benchmark: Benchmark, note: str) -> list[str]:
    """What bears this note or was left out for it, device by device; a product's sizes in one."""
    found: dict[str, list[tuple[int, ...]]] = {}
    results, left_out = summary.concerned(note, benchmark)
    some: list[BenchResult | LeftOut] = [*left_out]
    if len(results) < len(benchmark.results):  # what is true of all of them needs no list
        some = [*results, *some]
    for each in some:
        name = scores.workload(each.id, each.dtype)
        named = scores.on_device(each.device, name) if len(benchmark.devices) > 1 else name
        found.setdefault(named, []).append(each.size)
    return _listed(found)


def left_out(benchmark: Benchmark, kept: Sequence[Benchmark]) -> list[str]:
    """What earlier runs measured and this one did not: a whole workload by its name, a product's sizes in one."""
    found: dict[str, list[tuple[int, ...]]] = {}
    for result in compare.missing(benchmark, kept):
        found.setdefault(scores.name(result), []).append(result.size)
    return _listed(found)


def _listed(found: dict[str, list[tuple[int, ...]]]) -> list[str]:
    """Names, those of products with their sizes."""
    comma = "、" if language.texts().language == "zh_CN" else ", "
    return [
        f"{name} · {comma.join(scores.extent(size) for size in sorted(sizes))}"
        if len(sizes[0]) == 3 and len(set(sizes[0])) == 1
        else name
        for name, sizes in found.items()
    ]
