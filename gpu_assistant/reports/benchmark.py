"""A benchmark as a page for any browser: all figures, how they came about, what they are compared with.

Texts are made field by field from what was measured: no name, serial number or folder of this computer is among them.
"""

from __future__ import annotations

from html import escape

from ..bench.device_comparison import DeviceComparison, relevant_gpu_logs, unit_maxima
from ..bench.expected_ranges import shortfall_percent
from ..bench.history import previous_benchmark
from ..core.results import TRAINING_WORKLOADS, Benchmark, BenchResult
from ..core.types import short_device_name
from ..texts import current
from ..texts.benchmark import verdict_text
from ..texts.current import translate
from ..texts.format import format_memory, format_percent
from . import messages, result_messages
from .expected_ranges import (
    BELOW_EXPECTED,
    RangeSource,
    cause_texts,
    compared_name,
    described_pair,
    expected_results,
    link_limit,
    middle_note,
    ordered_comparisons,
    range_source_text,
    slow_text,
    step_texts,
)
from .page import paragraph_html, render_page, section_html, table_html
from .result_messages import VERSION_NAMES, table_rows, validity_notes, version_name


def render_html(
    benchmark: Benchmark, stored: tuple[Benchmark, ...] = (), range_source: RangeSource | None = None
) -> str:
    """The page in the current language; `stored` are the earlier benchmarks, oldest first."""
    title = _page_title(benchmark)
    parts = [
        paragraph_html(" · ".join([*messages.machine_labels(benchmark), messages.measured_on(benchmark)])),
        _headline_section(benchmark),
        _comparison_section(benchmark, stored, range_source),
        _expected_section(benchmark, range_source),
        section_html(
            translate("BenchmarkReport", "Was it a fair test?"),
            table_html([(line.text, line.value or line.detail) for line in validity_notes(benchmark, stored)]),
        ),
        _gpu_log_section(benchmark),
        _history_section(benchmark, stored),
        section_html(
            translate("BenchmarkReport", "All results"),
            table_html(table_rows(benchmark), headers=_figure_headers())
            + paragraph_html(current.texts().translate("bench.units")),
        ),
        section_html(translate("BenchmarkReport", "Devices and versions"), table_html(_device_rows(benchmark))),
        paragraph_html(
            translate(
                "BenchmarkReport",
                "Measured with GPU Assistant. Contains no personal names, serial numbers or folder names.",
            )
        ),
    ]
    return render_page(title, parts)


def _page_title(benchmark: Benchmark) -> str:
    """It says no more than was measured: "trains" only with a training workload on a GPU."""
    reference = messages.reference_result(benchmark)
    if reference is None or reference.device == "cpu":
        return translate("BenchmarkReport", "How fast this CPU is")
    if any(result.id in TRAINING_WORKLOADS for result in benchmark.results):
        return translate("BenchmarkReport", "How fast this computer trains")
    return translate("BenchmarkReport", "How fast this computer is")


def _headline_section(benchmark: Benchmark) -> str:
    headline = messages.make_headline(benchmark)
    if headline is None:
        return ""
    body = f'<div class="figure">{escape(headline.figure)}</div><div>{escape(headline.text)}</div>'
    notes = (headline.detail, headline.missing, messages.unmeasured_text(benchmark))
    return f"<section>{body}{''.join(paragraph_html(note) for note in notes)}</section>"


def _comparison_section(benchmark: Benchmark, stored: tuple[Benchmark, ...], range_source: RangeSource | None) -> str:
    rows, previous = [], previous_benchmark(benchmark, stored)
    pairs = ordered_comparisons(benchmark, previous)
    maxima, shown = unit_maxima(pairs), [each for pair in pairs for each in pair.results]
    for pair in pairs:
        limit = link_limit(pair, benchmark, range_source)
        single = len(pair.results) == 1 and limit is None  # the length of one bar alone says nothing
        bars = "".join(
            ("" if single else _bar_html(each, pair, limit or maxima[each.unit], has_ground=limit is not None))
            + f"<small>{escape(_bar_device(each, pair, previous))} "
            + f"{escape(messages.marked_median(each, shown))}</small>"
            for each in pair.results
        )
        ratio = messages.ratio_text(pair.ratio) if pair.ratio is not None else ""
        title, description = messages.pair_title(pair), described_pair(pair, benchmark, limit)
        name = f"{escape(title)}<br><small>{escape(description)}</small>"
        rows.append(f'<tr><td style="width:34%">{name}</td><td>{bars}</td><td>{ratio}</td></tr>')
    headline = messages.make_headline(benchmark)
    doubts = messages.doubt_legend(shown)
    doubts = "" if headline is not None and doubts in headline.detail else doubts
    title = result_messages.comparison_title(pairs)
    return section_html(title, f"<table>{''.join(rows)}</table>{paragraph_html(doubts)}") if rows else ""


def _bar_html(result: BenchResult, pair: DeviceComparison, maximum: float, *, has_ground: bool) -> str:
    """A bar in a scale that ends at `maximum`; with a ground up to there where that is what the device could reach."""
    css_class = "bar cpu" if messages.bar_colour(result, pair) == "s5" else "bar"
    bar = f'<div class="{css_class}" style="width:{100 * result.median / maximum:.1f}%"></div>'
    return f'<div class="ground">{bar}</div>' if has_ground else bar


def _bar_device(result: BenchResult, pair: DeviceComparison, previous: Benchmark | None) -> str:
    """The device of a bar, with number format and batch of a CPU; the date for the earlier run."""
    if result is pair.previous:
        return messages.previous_date_label(previous)
    if result.processes > 1:
        return messages.multi_gpu_label(result)
    return messages.cpu_label(result) if result.device == "cpu" else messages.result_device(result)


def _expected_section(benchmark: Benchmark, range_source: RangeSource | None) -> str:
    rows = []
    for result, expected in expected_results(benchmark):
        low, high = (messages.value_with_unit(each, result.unit) for each in expected)
        template = translate("BenchmarkReport", "usual: {low} to {high}")
        if result.judgement == "above":
            template = translate("BenchmarkReport", "above the usual range: {low} to {high}")
        elif result.judgement == "below":
            template = translate("BenchmarkReport", "{percent} slower than usual: {low} to {high}")
        percent = format_percent(shortfall_percent(result.median, expected))
        rows.append(
            (
                compared_name(result, benchmark),
                messages.median_text(result),
                template.format(low=low, high=high, percent=percent),
            )
        )
    if not rows:
        return ""
    texts, is_below = current.texts(), benchmark.verdict == BELOW_EXPECTED
    causes, steps = (cause_texts(benchmark), step_texts(benchmark)) if is_below else ([], [])
    verdict = slow_text(benchmark) if is_below else verdict_text(benchmark, texts)
    step_list = "".join(f"<li>{escape(step)}</li>" for step in steps)
    return section_html(
        translate("BenchmarkReport", "Is that normal for this card?"),
        f"<p>{escape(verdict)}</p>{table_html(rows)}{paragraph_html(middle_note() if is_below else '')}"
        + "".join(f"<p>{escape(cause)}</p>" for cause in causes)
        + (f"<ol>{step_list}</ol>" if steps else "")
        + _range_source_html(range_source),
    )


def _range_source_html(range_source: RangeSource | None) -> str:
    """Where the ranges are from, with a link."""
    if range_source is None:
        return ""
    text = paragraph_html(range_source_text(range_source))
    if range_source.url is None:
        return text
    label = escape(translate("BenchmarkReport", "Sources:"))
    url = escape(range_source.url)
    return f'{text}<p class="soft">{label} <a rel="noreferrer" href="{url}">{url}</a></p>'


def _gpu_log_section(benchmark: Benchmark) -> str:
    gpus = relevant_gpu_logs(benchmark)
    if not gpus:
        return ""
    several = len(gpus) > 1
    columns = [
        (result_messages.gpu_label(gpu, gpus), *(value for _, value in result_messages.gpu_log_rows(gpu)))
        for gpu in gpus
    ]
    captions = ("", *(caption for caption, _ in result_messages.gpu_log_rows(gpus[0])))
    rows = list(zip(captions, *columns, strict=True))
    title = (
        translate("BenchmarkReport", "What the cards did during the test")
        if several
        else translate("BenchmarkReport", "What the card did during the test")
    )
    return section_html(title, table_html(rows[1:], headers=rows[0]))


def _history_section(benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> str:
    """The same measurement in earlier benchmarks, and the change since the last one."""
    runs = messages.comparable_runs(benchmark, stored)
    if len(runs) < 2:
        return ""
    dates = messages.date_labels([each for each, _ in runs])
    rows = [
        (date, messages.marked_median(result, [result for _, result in runs]), _versions_text(each))
        for date, (each, result) in zip(dates, runs, strict=True)
    ]
    doubts = messages.doubt_legend(result for _, result in runs)
    headers = (
        translate("BenchmarkReport", "When"),
        translate("BenchmarkReport", "Median"),
        translate("BenchmarkReport", "Versions"),
    )
    return section_html(
        translate("BenchmarkReport", "Before and now"),
        paragraph_html(result_messages.measurement_label(runs[-1][1]))
        + table_html(rows, headers=headers)
        + f"<p>{escape(result_messages.change_text(runs[-2], runs[-1], dates[-2]))}</p>"
        + paragraph_html(doubts if not messages.doubt_text(runs[-2][1], runs[-1][1]) else ""),
    )


def _versions_text(benchmark: Benchmark) -> str:
    versions = ((version_name(key), benchmark.versions.get(key)) for key in VERSION_NAMES)
    return " · ".join(f"{name} {version}" for name, version in versions if version is not None)


def _device_rows(benchmark: Benchmark) -> list[tuple[str, ...]]:
    rows = []
    for device in benchmark.devices:
        memory_text = format_memory(device.memory_bytes) if device.memory_bytes is not None else ""
        rows.append((short_device_name(device.id), device.name or device.id, memory_text))
    return [*rows, *((version_name(key), version) for key, version in benchmark.versions.items())]


def _figure_headers() -> tuple[str, ...]:
    return (
        translate("BenchmarkReport", "What"),
        translate("BenchmarkReport", "Where"),
        translate("BenchmarkReport", "Size"),
        translate("BenchmarkReport", "Median"),
        translate("BenchmarkReport", "Middle 50%"),
        translate("BenchmarkReport", "Runs"),
    )
