"""Benchmarks as text: significant digits, units, notes on results, missing workloads, the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..core.results import COPY_WORKLOADS, TOKEN_WORKLOADS
from .format import format_memory, join_list, short_name

if TYPE_CHECKING:
    from ..core.results import Benchmark
    from ..core.types import Language
    from .translate import Translator


UNIT_PREFIX, DOUBT_PREFIX = "bench.unit.", "bench.doubt."


def format_digits(number: float) -> str:
    """A number with three significant digits, from 100 on as an integer: 0.0410, 5.10, 11.8, 262, 1,024."""
    if number >= 100:
        return f"{number:,.0f}"
    if number >= 10:
        return f"{number:.1f}"
    return f"{number:#.3g}"


def format_ratio(ratio: float) -> str:
    """A ratio with one decimal below 10, else none: 31, 6.4."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def workload_name(workload: str, texts: Translator, device: str = "cpu") -> str:
    """The name of a workload; its id where it has none, as in the result of a newer version.

    On a GPU some have another name, which says more exactly what is measured there.
    """
    code = f"bench.workload.{workload}"
    if device != "cpu" and texts.has_text(f"{code}.gpu"):
        return texts.translate(f"{code}.gpu")
    return texts.translate(code) if texts.has_text(code) else workload


def unit_name(name: str, texts: Translator) -> str:
    """A unit in the texts' language; TFLOP/s and GB/s are the same in all."""
    return texts.translate(UNIT_PREFIX + name) if texts.has_text(UNIT_PREFIX + name) else name


def dimensions_text(size: Sequence[int]) -> str:
    """ "4096 × 4096 × 4096" of a square product as "4096 × 4096", else all: "3 × 224 × 224"."""
    return " × ".join(str(side) for side in (size[:2] if len(set(size)) == 1 else size))


def size_text(workload: str, size: Sequence[int], texts: Translator) -> str:
    """What a workload computes with: "256 MB" of a copy, "128 words", else the dimensions; "" where none is stored."""
    if not size:
        return ""
    if workload in COPY_WORKLOADS:
        return format_memory(size[0])
    if workload in TOKEN_WORKLOADS:
        return texts.translate("bench.words", {"words": sum(size)})
    return dimensions_text(size)


def doubt_text(notes: Iterable[str], texts: Translator) -> str:
    """The text of the notes that make a result doubtful; "" for none."""
    return ("；" if texts.language == "zh_CN" else "; ").join(texts.translate(DOUBT_PREFIX + note) for note in notes)


def with_label(name: str, text: str, language: Language) -> str:
    """A name followed by a remark."""
    return f"{name}：{text}" if language == "zh_CN" else f"{name}: {text}"


NOTE_PREFIX, REASON_PREFIX = "bench.note.", "bench.because."


def missing_workloads_text(missing: Sequence[tuple[str, str]], texts: Translator) -> str:
    """The missing workloads with reasons, from each one's name and `SkippedWorkload.why`; "" for none."""
    reasons: dict[str, list[str]] = {}
    for name, reason in missing:
        reasons.setdefault(reason, []).append(name)
    sentences = [
        texts.translate(
            reason.replace(NOTE_PREFIX, REASON_PREFIX, 1),
            {"workloads": join_list(names, texts.language)},
        )
        for reason, names in reasons.items()
    ]
    joined = ("；" if texts.language == "zh_CN" else "; ").join(sentences)
    return texts.translate("bench.missing", {"workloads": joined}) if sentences else ""


def verdict_text(benchmark: Benchmark, texts: Translator) -> str:
    """The verdict's text, "" for none. It names the GPU that torch uses, else the driver's first."""
    if benchmark.verdict is None:
        return ""
    names = [device.name for device in benchmark.devices if device.id != "cpu"]
    names += [card.name for card in benchmark.watched]
    card = next((name for name in names if name is not None), None)
    return texts.translate(benchmark.verdict, {"card": "GPU" if card is None else short_name(card)})
