"""A benchmark in words: headline, names, figures, fairness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from ...bench import compare, summary
from ...bench.expected import key
from ...bench.lines import NOTE, BenchProgress
from ...core.results import Benchmark, BenchResult
from ...texts import measured
from ...texts.format import counted, duration, memory, short_name
from ...texts.measured import digits, labelled, times
from ...texts.missing import without
from ...texts.sentences import closed_up
from ...texts.verdict import verdict
from .. import language
from .working import Now

translate = QCoreApplication.translate


class Headline(NamedTuple):
    """The one figure and what it is; `missing` is what of the main ones is not there.

    `read_with` is what nobody may read the figure without: the formats that it compares, what speaks against it.
    """

    figure: str
    text: str
    detail: str
    missing: str = ""
    read_with: str = ""

    @property
    def brief(self) -> str:
        """As little as can stand beside the figure."""
        return "\n".join(part for part in (self.text, self.read_with) if part)


def workload(name: str, dtype: str = "") -> str:
    """What is measured: "Matrix product, float32"."""
    texts = language.texts()
    known = texts.has(f"bench.workload.{name}")
    said = texts.say(f"bench.workload.{name}") if known else name
    kind = dtype_name(dtype)
    return translate("Scores", "{workload}, {dtype}").format(workload=said, dtype=kind) if kind else said


def running(now: BenchProgress) -> Now:
    """What is measured just now."""
    size = extent(now.size) if now.workload == "matmul" else ""
    return Now(f"{workload(now.workload, now.dtype)} · {device_label(now.device)}", size)


def dtype_name(dtype: str) -> str:
    """A format as people call it: "mixed precision", "float32"; none for bytes that are only copied."""
    if dtype.startswith("mixed-"):
        return translate("Scores", "mixed precision")
    return "" if dtype == "uint8" else dtype


def name(result: BenchResult) -> str:
    """What was measured."""
    return workload(result.id, result.dtype)


def detail(result: BenchResult) -> str:
    """Its size and how often it ran; what was only worked out says so."""
    if result.extrapolated:
        return translate("Scores", "{size}, worked out from a smaller size").format(size=extent(result.size))
    return counted(translate("Scores", "{size}, {runs} runs"), size=extent(result.size), runs=result.runs)


def extent(size: tuple[int, ...]) -> str:
    """A size as people say it: square matrices are 4096 × 4096."""
    return " × ".join(str(side) for side in (size[:2] if len(set(size)) == 1 else size))


def mebibytes(count: int) -> str:
    """Bytes of a copy: "256 MB"."""
    return memory(count)


def device_label(name: str) -> str:
    """CPU or GPU, with its number only where it is not the first."""
    kind, _, number = name.partition(":")
    return "CPU" if kind == "cpu" else "GPU" if number in ("", "0") else f"GPU {number}"


def cpu_in(dtype: str) -> str:
    """The processor and the format in which it computed: "CPU (float32)"."""
    kind = dtype_name(dtype)
    return translate("Scores", "CPU ({dtype})").format(dtype=kind) if kind else "CPU"


def on_device(device: str, said: str) -> str:
    """Something of one device, behind its label."""
    return labelled(device_label(device), said, language.texts().language)


def device_name(result: BenchResult) -> str:
    """Where it was measured."""
    return device_label(result.device)


def together(result: BenchResult) -> str:
    """Several cards at one model, and how much of so many times one card's speed that is."""
    return " · ".join(part for part in (all_of_them(result), efficiency(result)) if part)


def all_of_them(result: BenchResult) -> str:
    """Several cards at one model."""
    return translate("Scores", "{count} GPUs together").format(count=result.processes)


def efficiency(result: BenchResult) -> str:
    """How much of so many times one card's speed it is; "" where nobody knows."""
    if result.efficiency is None:
        return ""
    return translate("Scores", "{percent} % efficiency").format(percent=round(100 * result.efficiency))


def colour(result: BenchResult, pair: summary.Pair | None = None) -> str:
    """The token of its bar: of a processor that stands alone in `pair` only what was before is grey."""
    quiet = result.device == "cpu" if pair is None or pair.gpus else result is pair.before
    return "s5" if quiet else "accent"


def shown(number: float, unit: str) -> tuple[str, str]:
    """A figure and its unit as people read them: below 1 TFLOP/s it is GFLOP/s."""
    number, unit = summary.readable(number, unit)
    return digits(number), unit


def unit_name(unit: str) -> str:
    """A unit as people call it."""
    return measured.unit(unit, language.texts())


def amount(number: float, unit: str) -> str:
    """A figure with its unit."""
    said, unit = shown(number, unit)
    return f"{said} {unit_name(unit)}"


def value(result: BenchResult) -> str:
    """The median with its unit."""
    return amount(result.median, result.unit)


def marked(result: BenchResult) -> str:
    """The median with its unit, and whether something speaks against it."""
    if not doubtful(result):
        return value(result)
    return translate("Scores", "{value} (doubtful)").format(value=value(result))


def why(left_out: str) -> str:
    """Why one thing was left out, behind its name; by the key of what is said of all of them together."""
    texts, short = language.texts(), left_out.replace(NOTE, "bench.why.", 1)
    return texts.say(short if texts.has(short) else left_out)


def doubtful(result: BenchResult) -> bool:
    """Whether something speaks against its figure."""
    return bool(compare.doubts(result))


def doubt(*results: BenchResult) -> str:
    """What speaks against the figures of these results; "" where nothing does."""
    return measured.doubt(compare.doubts(*results), language.texts())


def reference(benchmark: Benchmark) -> BenchResult | None:
    """The one result that stands for all: the most telling workload, on the fastest GPU, else on the CPU.

    At the largest size that all devices did, never the highest figure: which size that is changes from run to run,
    and two runs could not be compared.
    """
    pair = summary.headline(benchmark)
    return pair.best if pair is not None else None


def history(benchmark: Benchmark, kept: Sequence[Benchmark]) -> list[tuple[Benchmark, BenchResult]]:
    """The same measurement in every benchmark that has it: the headline's, else one that another one has too."""
    return summary.compared(benchmark, kept)[1] if reference(benchmark) is not None else []


def comparable(benchmark: Benchmark) -> list[BenchResult]:
    """The results of the most telling workload, one for each device at the largest size that all did, fastest first."""
    pair = summary.headline(benchmark)
    alone = [*pair.gpus, pair.cpu] if pair is not None else []
    return sorted((each for each in alone if each is not None), key=lambda r: r.median, reverse=True)


def headline(benchmark: Benchmark) -> Headline | None:
    """GPU over CPU where both were measured, else the figure there is."""
    pair = summary.headline(benchmark)
    if pair is None:
        return None
    best = pair.best
    why = doubt(*(each for each in (best, pair.cpu) if each is not None))
    unsure = translate("Scores", "Doubtful: {why}.").format(why=why) if why else ""
    if pair.ratio is not None:
        figure, formats = times(pair.ratio), _formats(pair)
        return Headline(
            ratio_words(pair.ratio),
            (
                translate("Scores", "{workload}: one {card} is {times} times as fast as your CPU")
                if _twins(benchmark, best.device)
                else translate("Scores", "{workload}: your {card} is {times} times as fast as your CPU")
            ).format(workload=workload(best.id), card=card(benchmark, best.device), times=figure),
            closed_up(" ".join((formats, unsure or _of_a_night(pair.ratio))).strip()),
            missing(benchmark),
            closed_up(" ".join((formats, unsure)).strip()),
        )
    threads = next((device.threads for device in benchmark.devices if device.id == best.device), None)
    where = translate("Scores", "the CPU") if best.device == "cpu" else card(benchmark, best.device)
    if _twins(benchmark, best.device):
        where = translate("Scores", "one {card}").format(card=where)
    said = translate("Scores", "{name} on {device}").format(name=name(best), device=where)
    number, unit = shown(best.median, best.unit)
    return Headline(
        number,
        f"{unit_name(unit)} · {said}",
        " · ".join(
            part
            for part in (
                extent(best.size) if best.id == "matmul" else "",
                in_words(best),
                counted(translate("Scores", "{threads} threads"), threads=threads) if threads is not None else "",
                unsure,
            )
            if part
        ),
        missing(benchmark),
        unsure,
    )


def _formats(pair: summary.Pair) -> str:
    """In which format each of both computed, where that is not the same."""
    card_kind, cpu_kind = (dtype_name(each.dtype) if each is not None else "" for each in (pair.best, pair.cpu))
    if card_kind == cpu_kind:
        return ""
    return translate("Scores", "On the card {card}, on the CPU {cpu}.").format(card=card_kind, cpu=cpu_kind)


def missing(benchmark: Benchmark) -> str:
    """Which main measurements are not in this result, and why; nothing where all are."""
    several = len(benchmark.devices) > 1
    names = [
        (f"{workload(left.id)} ({device_label(left.device)})" if several else workload(left.id), left.why)
        for left in summary.missing(benchmark)
    ]
    return without(names, language.texts())


def unmeasured(benchmark: Benchmark) -> str:
    """That a card which is there was not measured, and why; "" where all were."""
    return verdict(benchmark, language.texts()) if benchmark.verdict in summary.UNMEASURED else ""


def usual(pair: summary.Pair, benchmark: Benchmark) -> tuple[float, float] | None:
    """The range of healthy cards beside the fastest card's bar; None where another size stands for the card."""
    best = pair.best
    known = (benchmark.expected or {}).get(key(best))
    return known if known is not None and summary.best_of_its_key(best, benchmark) else None


def ratio_words(ratio: float) -> str:
    """A ratio as it stands at the end of a row: "31×"."""
    return translate("Scores", "{times}×").format(times=times(ratio))


def card(benchmark: Benchmark, device: str) -> str:
    """A card as people call it: "RTX 4060"."""
    named = next((each.name for each in benchmark.devices if each.id == device), None)
    return short_name(named) if named else device_label(device)


def _twins(benchmark: Benchmark, device: str) -> bool:
    """Whether there are several cards of this one's name, which then says nothing of how many computed."""
    names = [card(benchmark, each.id) for each in benchmark.devices if each.id != "cpu"]
    return device != "cpu" and names.count(card(benchmark, device)) > 1


def _of_a_night(ratio: float) -> str:
    seconds = summary.of_a_night(ratio)
    if seconds >= summary.NIGHT_S:
        return translate("Scores", "For this the CPU is the better device here.")
    return translate("Scores", "What takes the CPU a night of 8 hours, the card does in {time}.").format(
        time=duration(seconds, language.texts().language)
    )


def in_words(result: BenchResult) -> str:
    """What the unit means: TFLOP/s as operations a second."""
    if result.unit != "TFLOP/s":
        return ""
    text = translate("Scores", "{billions} billion operations a second")
    return text.format(billions=f"{result.median * 1e3:,.0f}", hundred_millions=f"{result.median * 1e4:,.0f}")


def unfinished(benchmark: Benchmark) -> str:
    """That it ended too soon, or lost a device, and what that means; "" where it did not."""
    return closed_up(" ".join(language.texts().say(note) for note in benchmark.notes if note in compare.UNFINISHED))
