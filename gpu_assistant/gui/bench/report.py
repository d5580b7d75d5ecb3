"""A result as a page for any browser: all figures, how they came about, and no name, number or folder of this computer.

What it says is taken field by field from what is measured; samples' names and paths have no way in.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from PySide6.QtCore import QCoreApplication

from ...bench import summary
from ...core.paths import resources_dir
from ...core.results import Benchmark, BenchResult
from ...texts.format import format_memory
from ...texts.verdict import verdict_text
from .. import language
from ..theme.tokens import load_theme_file
from . import along, moments, scores
from .every import table_rows
from .fairness import validity_notes
from .meanings import pair_description, pair_title
from .past_card import VERSION_NAMES, change_text, measurement_label
from .picture import machine_labels
from .right_card import BELOW_EXPECTED, RangeSource, range_source_text, expected_results

translate = QCoreApplication.translate

TRAINING_WORKLOADS = frozenset({"resnet50", "bert-base"})
STYLE_FILE = "report/style.css"
COLOUR_CSS = ":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
CSS_TOKENS = ("window", "card", "line", "text", "soft", "accent", "accent_text", "s5")


def render_html(benchmark: Benchmark, stored: tuple[Benchmark, ...] = (), range_source: RangeSource | None = None) -> str:
    """The whole page in the language that is on; it loads nothing from anywhere.

    `kept` are the results of before, oldest first; `source` is where the expected ranges are from.
    """
    title = _page_title(benchmark)
    parts = [
        f"<h1>{escape(title)}</h1>",
        _paragraph_html(" · ".join([*machine_labels(benchmark), moments.measured_on(benchmark)])),
        _headline_section(benchmark),
        _comparison_section(benchmark, stored),
        _expected_section(benchmark, range_source),
        _section_html(
            translate("Report", "Was it a fair test?"),
            _table_html([(line.text, line.value or line.detail) for line in validity_notes(benchmark, stored)]),
        ),
        _gpu_log_section(benchmark),
        _history_section(benchmark, stored),
        _section_html(
            translate("Report", "All figures"),
            _table_html(table_rows(benchmark), headers=_figure_headers()) + _paragraph_html(language.texts().translate("bench.units")),
        ),
        _section_html(translate("Report", "Devices and versions"), _table_html(_device_rows(benchmark))),
        _paragraph_html(
            translate(
                "Report", "Measured with GPU Assistant. Names of people, serial numbers and folders are not in here."
            )
        ),
    ]
    code = language.texts().language.replace("_", "-")
    colours = COLOUR_CSS.format(light=_css_variables("light"), dark=_css_variables("dark"))
    style = colours + (resources_dir() / STYLE_FILE).read_text(encoding="utf-8")
    return (
        f'<!doctype html>\n<html lang="{code}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f"<style>{style}</style></head><body>\n" + "\n".join(part for part in parts if part) + "\n</body></html>\n"
    )


def _page_title(benchmark: Benchmark) -> str:
    """What was measured at all: without a card, or without a training, it says no more than that."""
    reference = scores.reference_result(benchmark)
    if reference is None or reference.device == "cpu":
        return translate("Report", "How fast this CPU computes")
    if any(result.id in TRAINING_WORKLOADS for result in benchmark.results):
        return translate("Report", "How fast this computer trains")
    return translate("Report", "How fast this computer computes")


def _headline_section(benchmark: Benchmark) -> str:
    headline = scores.make_headline(benchmark)
    if headline is None:
        return ""
    body = f'<div class="figure">{escape(headline.figure)}</div><div>{escape(headline.text)}</div>'
    return f"<section>{body}{_paragraph_html(headline.detail)}{_paragraph_html(headline.missing)}{_paragraph_html(scores.unmeasured_text(benchmark))}</section>"


def _comparison_section(benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> str:
    rows, previous = [], summary.previous_benchmark(benchmark, stored)
    pairs = summary.device_comparisons(benchmark, previous)
    maxima = summary.unit_maxima(pairs)
    for pair in pairs:
        single = len(pair.results) == 1  # a length says nothing where there is nothing beside it
        bars = "".join(
            ("" if single else _bar_html(each, pair, maxima[each.unit]))
            + f"<small>{escape(_bar_device(each, pair, previous))} {escape(scores.marked_median(each))}</small>"
            for each in pair.results
        )
        ratio = scores.ratio_text(pair.ratio) if pair.ratio is not None else ""
        name = f"{escape(pair_title(pair))}<br><small>{escape(pair_description(pair, benchmark))}</small>"
        rows.append(f'<tr><td style="width:34%">{name}</td><td>{bars}</td><td>{ratio}</td></tr>')
    has_gpu = any(pair.gpus for pair in pairs)
    title = translate("Report", "GPU beside CPU") if has_gpu else translate("Report", "Measured on the CPU")
    return _section_html(title, f"<table>{''.join(rows)}</table>") if rows else ""


def _bar_html(result: BenchResult, pair: summary.DeviceComparison, maximum: float) -> str:
    css_class = "bar cpu" if scores.bar_colour(result, pair) == "s5" else "bar"
    return f'<div class="{css_class}" style="width:{100 * result.median / maximum:.1f}%"></div>'


def _bar_device(result: BenchResult, pair: summary.DeviceComparison, previous: Benchmark | None) -> str:
    """A bar's device, or when it was measured; of a processor its format too, which may be another than the card's."""
    if result is pair.previous:
        return moments.previous_date_label(previous)
    if result.processes > 1:
        return scores.multi_gpu_label(result)
    return scores.cpu_label(result.dtype) if result.device == "cpu" else scores.result_device(result)


def _expected_section(benchmark: Benchmark, range_source: RangeSource | None) -> str:
    rows = []
    for result, expected in expected_results(benchmark):
        low, high = (scores.value_with_unit(each, result.unit) for each in expected)
        template = translate("Report", "usual: {low} to {high}")
        if result.median > expected[1]:
            template = translate("Report", "above the usual range: {low} to {high}")
        rows.append((scores.result_name(result), scores.median_text(result), template.format(low=low, high=high)))
    if not rows:
        return ""
    texts = language.texts()
    causes = benchmark.causes if benchmark.verdict == BELOW_EXPECTED else ()
    return _section_html(
        translate("Report", "Is that right for this card?"),
        f"<p>{escape(verdict_text(benchmark, texts))}</p>{_table_html(rows)}"
        + "".join(f"<p>{escape(texts.translate(each))}</p>" for each in causes)
        + _range_source_html(range_source),
    )


def _range_source_html(range_source: RangeSource | None) -> str:
    """Where the ranges are from: a link to read, which loads nothing by itself."""
    if range_source is None:
        return ""
    text = _paragraph_html(range_source_text(range_source))
    if range_source.url is None:
        return text
    label = escape(translate("Report", "Where the figures are from:"))
    url = escape(range_source.url)
    return f'{text}<p class="soft">{label} <a rel="noreferrer" href="{url}">{url}</a></p>'


def _gpu_log_section(benchmark: Benchmark) -> str:
    gpus = summary.relevant_gpu_logs(benchmark)
    if not gpus:
        return ""
    several = len(gpus) > 1
    columns = [(along.gpu_label(gpu, gpus), *(value for _, value in along.gpu_log_rows(gpu))) for gpu in gpus]
    captions = ("", *(caption for caption, _ in along.gpu_log_rows(gpus[0])))
    rows = list(zip(captions, *columns, strict=True))
    title = (
        translate("Report", "What the cards did meanwhile")
        if several
        else translate("Report", "What the card did meanwhile")
    )
    return _section_html(title, _table_html(rows[1:], headers=rows[0]))


def _history_section(benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> str:
    """The same measurement in the benchmarks of before, and what changed since the last one."""
    runs = scores.comparable_runs(benchmark, stored)
    if len(runs) < 2:
        return ""
    dates = moments.date_labels([each for each, _ in runs], with_year=True)
    rows = [(date, scores.marked_median(result), _versions_text(each)) for date, (each, result) in zip(dates, runs, strict=True)]
    headers = (translate("Report", "When"), translate("Report", "Median"), translate("Report", "Versions"))
    return _section_html(
        translate("Report", "Before and now"),
        _paragraph_html(measurement_label(runs[-1][1]))
        + _table_html(rows, headers=headers)
        + f"<p>{escape(change_text(runs[-2], runs[-1], dates[-2]))}</p>",
    )


def _versions_text(benchmark: Benchmark) -> str:
    versions = ((_version_name(key), benchmark.versions.get(key)) for key in VERSION_NAMES)
    return " · ".join(f"{name} {version}" for name, version in versions if version is not None)


def _device_rows(benchmark: Benchmark) -> list[tuple[str, ...]]:
    rows = []
    for device in benchmark.devices:
        memory_text = format_memory(device.memory_bytes) if device.memory_bytes is not None else ""
        rows.append((scores.device_label(device.id), device.name or device.id, memory_text))
    return [*rows, *((_version_name(key), version) for key, version in benchmark.versions.items())]


def _version_name(key: str) -> str:
    return VERSION_NAMES.get(key, key) or translate("PastCard", "driver")


def _figure_headers() -> tuple[str, ...]:
    return (
        translate("Report", "What"),
        translate("Report", "Where"),
        translate("Report", "Size"),
        translate("Report", "Median"),
        translate("Report", "Middle half"),
        translate("Report", "Runs"),
    )


def _section_html(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def _table_html(rows: Iterable[tuple[str, ...]], headers: tuple[str, ...] = ()) -> str:
    header = "<tr>" + "".join(f"<th>{escape(each)}</th>" for each in headers) + "</tr>" if headers else ""
    body = "".join(f"<tr>{_cells_html(row, len(headers))}</tr>" for row in rows)
    return f"<table>{header}{body}</table>"


def _cells_html(row: tuple[str, ...], columns: int) -> str:
    """A row that is shorter than the head has its last cell as wide as what is left."""
    colspan = columns - len(row) + 1
    last = f'<td colspan="{colspan}">' if colspan > 1 else "<td>"
    return "".join(f"<td>{escape(cell)}</td>" for cell in row[:-1]) + f"{last}{escape(row[-1])}</td>"


def _paragraph_html(text: str) -> str:
    return f'<p class="soft">{escape(text)}</p>' if text else ""


def _css_variables(theme: str) -> str:
    colours = load_theme_file().themes[theme].colours()
    return " ".join(f"--{token}: {colours[token]};" for token in CSS_TOKENS)
