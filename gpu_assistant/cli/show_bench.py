"""A benchmark as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..bench import scaling, summary
from ..bench.compare import DOUBTFUL
from ..bench.expected import key
from ..bench.lines import CANCELLED, ENDINGS, NOTE, UNSAVED, BenchProgress
from ..core.names import Value, called, device_name
from ..core.results import Benchmark, BenchResult, BenchWatch, LeftOut
from ..texts.format import memory
from ..texts.measured import digits, labelled, times
from ..texts.measured import unit as unit_name
from ..texts.missing import without
from ..texts.verdict import verdict
from .output import Output

COPIES = "copy-"
THROTTLE = "monitor.throttle."
TROUBLE = frozenset({UNSAVED, *(NOTE + code for code in (*ENDINGS, "lost", "wrong"))}) - {CANCELLED}
WORDS = ("bert-base", "bert-base-parallel", "decode")  # whose sizes count words


def before(environment: Path, output: Output, *, full: bool, device: str | None = None) -> None:
    """What comes and how long it takes; of one `device` alone, where only that is measured."""
    alone = "-one" if device is not None else ""
    words: dict[str, Value] = {"device": device_name(device)} if device is not None else {}
    words["together_seconds"] = scaling.longest_s(full=full)
    output.note(output.say(f"bench-before{alone}{'-full' if full else ''}", path=str(environment), **words))


def trouble(value: Benchmark, output: Output) -> tuple[str, ...]:
    """What is wrong with the work or the machine, in sentences: it ended too soon, a device was lost or computes wrong,
    the result could not be saved.
    """
    return tuple(output.texts.say(note) for note in value.notes if note in TROUBLE)


def benchmark(value: Benchmark, output: Output) -> None:
    """The comparison, every figure with what is usual, what was left out and why, the verdict and what to do."""
    pair = summary.headline(value)
    if pair is not None and pair.cpu is not None and pair.ratio is not None:
        best = pair.best
        output.line(
            output.say(
                "bench-headline",
                workload=output.texts.say(f"bench.workload.{best.id}"),
                card=_device(best.device, value, output),
                how=_how(best, output),
                factor=times(pair.ratio),
                how_cpu=_how(pair.cpu, output),
            )
        )
    if missing := summary.missing(value):
        several = len(value.devices) > 1
        names = [(_named(left.id, left.device if several else None, value, output), left.why) for left in missing]
        output.line(without(names, output.texts))
    for device in value.devices:
        if device.threads is not None:
            name = _device(device.id, value, output)
            output.line(output.say("bench-threads", device=name, threads=device.threads))
    for result in value.results:
        output.line(
            named(_device(result.device, value, output, result.processes), _figure(result, value, output), output)
        )
    for card in summary.watched(value):
        output.line(_along(card, value, output))
    quiet = dict.fromkeys(left.why for left in value.left_out if left.why not in value.notes)
    for why in quiet:
        _note("–", why, value, output)
    if any(result.unit == "GB/s" for result in value.results):
        output.line("  " + output.texts.say("bench.units"))
    for note in value.notes:
        _note("!", note, value, output)
    if value.verdict:
        output.line(verdict(value, output.texts))
    for cause in value.causes:
        output.line("  • " + output.texts.say(cause))
    if value.seconds is not None:
        output.line(output.say("bench-took", took_seconds=float(value.seconds)))


def _note(mark: str, note: str, value: Benchmark, output: Output) -> None:
    """A warning once, then what it is about."""
    output.line(f"  {mark} {output.texts.say(note)}")
    results, left_out = summary.concerned(note, value)
    for result in results if len(results) < len(value.results) else ():
        device = _device(result.device, value, output, result.processes)
        output.line("      " + named(device, what(result, None, output), output))
    for left in left_out:
        said = what(left, None, output)
        if (figures := summary.wanted(left)) is not None:
            said = named(said, output.texts.say(*figures), output)
        output.line("      " + named(_device(left.device, value, output), said, output))


def _named(workload: str, device: str | None, value: Benchmark, output: Output) -> str:
    """A workload, and where it was to be measured."""
    name = output.texts.say(f"bench.workload.{workload}")
    return name if device is None else f"{name} ({_device(device, value, output)})"


def _figure(result: BenchResult, value: Benchmark, output: Output) -> str:
    """One row behind its device."""
    (median, unit), (q1, _), (q3, _) = (
        shown(number, result, output) for number in (result.median, result.q1, result.q3)
    )
    code = "bench-extrapolated" if result.extrapolated else "bench-figure"
    said = output.say(code, median=median, q1=q1, q3=q3, unit=unit, runs=result.runs)
    more = []
    usual = (value.expected or {}).get(key(result))
    if usual is not None and summary.best_of_its_key(result, value):
        low, high = (shown(number, result, output)[0] for number in usual)
        code = "bench-above" if result.median > usual[1] else "bench-usual"
        more.append(output.say(code, low=low, high=high, unit=unit))
    if result.efficiency is not None:
        more.append(output.say("bench-efficiency", percent=f"{100 * result.efficiency:.0f}"))
    figure = named(what(result, result.batch, output), said, output)
    if DOUBTFUL & set(result.notes):
        figure = output.say("bench-doubtful", figure=figure)
    return "\n    ".join([figure, *more])


def _along(card: BenchWatch, value: Benchmark, output: Output) -> str:
    """What a card did while it was measured; a dash for what its driver does not tell."""
    texts = output.texts
    held = [texts.say(THROTTLE + why) if texts.has(THROTTLE + why) else why for why in card.throttle]
    return output.say(
        "bench-along",
        card=_device(f"cuda:{card.index}", value, output),
        first=card.temp_start,
        last=card.temp_end,
        most=card.temp_max,
        clock=card.clock_sm,
        memory_clock=card.clock_mem,
        power=None if card.power_max_w is None else round(card.power_max_w),
        limit=None if card.power_limit_w is None else round(card.power_limit_w),
        reasons=("；" if texts.language == "zh_CN" else "; ").join(held) or output.say("bench-free"),
    )


def amount(result: BenchResult, output: Output) -> str:
    """The median with its unit, and whether something speaks against it."""
    said = " ".join(shown(result.median, result, output))
    return output.say("bench-doubtful", figure=said) if DOUBTFUL & set(result.notes) else said


def shown(number: float, like: BenchResult, output: Output) -> tuple[str, str]:
    """A figure of a result (its median, a quartile, what is usual) and its unit."""
    value, unit = summary.readable(number, like.unit, like=like.median)
    return digits(value), unit_name(unit, output.texts)


def named(name: str, said: str, output: Output) -> str:
    """What is said of something, behind its name."""
    return labelled(name, said, output.texts.language)


def what(of: BenchResult | LeftOut, batch: int | None, output: Output) -> str:
    """What was measured: workload, format, size and how many at a time."""
    parts = [measured(of, output), _size(of.id, of.size, output)]
    if batch is not None:
        parts.append(output.say("bench-batch", batch=batch))
    return listed([part for part in parts if part], output)


def measured(of: BenchResult | LeftOut | BenchProgress, output: Output) -> str:
    """A workload and its format; what is only copied has none."""
    workload = of.workload if isinstance(of, BenchProgress) else of.id
    named = output.texts.say(f"bench.workload.{workload}")
    return named if of.dtype == "uint8" else listed([named, _format(of.dtype, output)], output)


def _how(result: BenchResult, output: Output) -> str:
    """In which format and how many at a time."""
    batch = [] if result.batch is None else [output.say("bench-batch", batch=result.batch)]
    return listed([_format(result.dtype, output), *batch], output)


def _format(dtype: str, output: Output) -> str:
    """Mixed precision by its name, with the narrower of its formats."""
    narrow = dtype.removeprefix("mixed-")
    return dtype if narrow == dtype else output.say("bench-mixed", dtype=narrow)


def _size(workload: str, size: Sequence[int], output: Output) -> str:
    """4096 × 4096, 256 MB, 3 × 224 × 224, 128 words."""
    if workload in WORDS:
        return output.say("bench-words", words=sum(size))
    if workload.startswith(COPIES):
        return memory(size[0])
    square = workload == "matmul" and len(set(size)) == 1
    return " × ".join(str(side) for side in (size[:2] if square else size))


def _device(device: str, value: Benchmark, output: Output, processes: int = 1) -> str:
    """Its name; of several cards its number first."""
    if processes > 1 or device == "cuda":
        count = processes if processes > 1 else sum(each.id != "cpu" for each in value.devices)
        return output.say("bench-together", count=count)
    name = next((each.name for each in value.devices if each.id == device), None)
    cards = sum(each.id != "cpu" for each in value.devices)
    return called(device, name, several=device != "cpu" and cards > 1)


def listed(parts: Sequence[str], output: Output) -> str:
    """As one enumerates them."""
    return ("，" if output.texts.language == "zh_CN" else ", ").join(parts)
