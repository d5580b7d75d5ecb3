"""A result as a picture to share: headline, bars, card and versions; no name, number or folder of this computer.

A result as a page for any browser: all figures, how they came about, and no name, number or folder of this computer.

What it says is taken field by field from what is measured; samples' names and paths have no way in.

Saves a result where the user wants it: as a picture, or as a page for a browser.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from PySide6.QtCore import QBuffer, QCoreApplication, QIODevice, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter

from ...bench import results as bench_results
from ...bench.child_protocol import NOTE_PREFIX
from ...core import json
from ...core.paths import resources_dir
from ...core.results import Benchmark, BenchResult
from ...texts.benchmark import verdict_text, with_label
from ...texts.format import format_memory
from .. import language, theme
from ..saving import FileSaver
from ..theme.theme import load_theme_file
from ..widgets.base import draw_rounded_rect
from . import messages
from .messages import pair_description, pair_title
from .result import view
from .result.expected_card import (
    BELOW_EXPECTED,
    MAX_STEADY_SPREAD,
    RangeSource,
    expected_results,
    max_spread,
    range_source_text,
    validity_notes,
    verdict_label,
)
from .result.table import table_rows
from .result.view import VERSION_NAMES, change_text, measurement_label

IMAGE_WIDTH, IMAGE_HEIGHT, IMAGE_MARGIN, MAX_ROWS = 1200, 630, 60, 4  # what social networks show whole
SPREAD_NOTE = NOTE_PREFIX + "spread"
BARS_LEFT, RATIO_WIDTH = 330, 130  # where bars begin, and the room of the ratio behind them
MIN_FONT_SIZE = 12  # pixels of a letter
# The picture goes to other people's screens: it is always light, and its letters have their own size.
ALIGN_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
ALIGN_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


def render_png(benchmark: Benchmark, stored: Sequence[Benchmark] = ()) -> bytes:
    """The picture as a PNG file's bytes, 1200 × 630; `kept` are the results of before, oldest first."""
    image = QImage(IMAGE_WIDTH, IMAGE_HEIGHT, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    _paint_image(painter, benchmark, bench_results.previous_benchmark(benchmark, stored))
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def _paint_image(painter: QPainter, benchmark: Benchmark, previous: Benchmark | None) -> None:
    colours = {name: QColor(value) for name, value in load_theme_file().themes["light"].colours().items()}
    painter.fillRect(0, 0, IMAGE_WIDTH, IMAGE_HEIGHT, colours["window"])
    inner = QRectF(IMAGE_MARGIN / 2, IMAGE_MARGIN / 2, IMAGE_WIDTH - IMAGE_MARGIN, IMAGE_HEIGHT - IMAGE_MARGIN)
    draw_rounded_rect(painter, inner, 18, colours["card"], colours["line"])
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    headline = messages.make_headline(benchmark)
    y = 66.0
    if headline is not None:
        figure_font = _image_font(72, 700)
        figure_width = QFontMetricsF(figure_font).horizontalAdvance(headline.figure) + 36
        _draw_text(
            painter,
            QRectF(IMAGE_MARGIN + 10, y, figure_width, 96),
            headline.figure,
            figure_font,
            colours["accent_text"],
        )
        text_rect = QRectF(IMAGE_MARGIN + 10 + figure_width, y, IMAGE_WIDTH - 2 * IMAGE_MARGIN - figure_width - 20, 60)
        _draw_text(painter, text_rect, headline.text, _image_font(30, 600), colours["text"])
        detail_rect = QRectF(text_rect.left(), y + 56, text_rect.width(), 70)
        _draw_paragraph(
            painter, detail_rect, headline.detail, _image_font(22, 400), colours["soft"], Qt.AlignmentFlag.AlignTop
        )
    y = 196.0
    row_height = 78.0
    # Warnings that take more than one line take the last row's place: nothing of them may be cut.
    extra_height = row_height if _line_count(warnings_text(benchmark)) > 1 else 0.0
    previous_date = messages.previous_date_label(previous)
    pairs = bench_results.device_comparisons(benchmark, previous)[: MAX_ROWS - 1 if extra_height else MAX_ROWS]
    maxima = bench_results.unit_maxima(pairs)
    full_width = _full_bar_width(pairs, previous_date, maxima)
    for pair in pairs:
        _paint_row(painter, pair, pair_description(pair, benchmark), previous_date, y, colours, full_width, maxima)
        y += row_height
    footer_rect = QRectF(IMAGE_MARGIN + 10, IMAGE_HEIGHT - 92, IMAGE_WIDTH - 2 * IMAGE_MARGIN - 20, 36)
    brand_font = _image_font(20, 600)
    _draw_text(painter, footer_rect, "GPU Assistant", brand_font, colours["soft"], ALIGN_RIGHT)
    footer_rect.setWidth(footer_rect.width() - QFontMetricsF(brand_font).horizontalAdvance("GPU Assistant") - 30)
    details = " · ".join(part for part in (*machine_labels(benchmark), messages.measured_on(benchmark)) if part)
    _draw_text(painter, footer_rect, details, _image_font(20, 400), colours["soft"])
    _paint_warnings(
        painter,
        QRectF(IMAGE_MARGIN + 10, IMAGE_HEIGHT - 122, IMAGE_WIDTH - 140, 30),
        warnings_text(benchmark),
        colours["warn"],
        extra_height,
    )


def warnings_text(benchmark: Benchmark) -> str:
    """What who sees the figures must know with them: slower than usual, not steady, held back; nothing where all is
    well."""
    warnings = [verdict_label(benchmark)] if benchmark.verdict == BELOW_EXPECTED else []
    warnings += [text for text in (messages.unmeasured_text(benchmark), messages.missing_text(benchmark)) if text]
    lines = [line for line in validity_notes(benchmark) if line.kind == "warn"]
    spread_is_high = max_spread(benchmark) > MAX_STEADY_SPREAD  # by how much: that they vary needs no second sentence
    warnings += [
        with_label(line.text, line.value, language.texts().language) if line.value else line.text
        for line in lines
        if not (spread_is_high and line.text == language.texts().translate(SPREAD_NOTE))
    ]
    return " · ".join([*(each.rstrip(".。") for each in warnings[:-1]), *warnings[-1:]])


def _paint_warnings(painter: QPainter, rect: QRectF, text: str, colour: QColor, extra_height: float) -> None:
    """Warnings in as many lines as they take, `more` higher than one line; in smaller letters where that is too few."""
    rect = rect.adjusted(0, -extra_height, 0, -6 if extra_height else 0)
    _draw_paragraph(painter, rect, text, _image_font(20, 600), colour, Qt.AlignmentFlag.AlignBottom)


def _draw_paragraph(  # noqa: PLR0917
    painter: QPainter, rect: QRectF, text: str, font: QFont, colour: QColor, alignment: Qt.AlignmentFlag
) -> None:
    """All of a text in as many lines as fit, in smaller letters where they are too few."""
    while font.pixelSize() > MIN_FONT_SIZE and _wrapped_rect(text, font, rect.width()).height() > rect.height():
        font.setPixelSize(font.pixelSize() - 1)
    painter.setFont(font)
    painter.setPen(colour)
    painter.drawText(rect, int(Qt.AlignmentFlag.AlignLeft | alignment) | int(Qt.TextFlag.TextWordWrap), text)


def _wrapped_rect(text: str, font: QFont, width: float) -> QRectF:
    return QFontMetricsF(font).boundingRect(QRectF(0, 0, width, IMAGE_HEIGHT), int(Qt.TextFlag.TextWordWrap), text)


def _line_count(text: str) -> int:
    font = _image_font(20, 600)
    return round(_wrapped_rect(text, font, IMAGE_WIDTH - 140).height() / QFontMetricsF(font).height()) if text else 0


def _paint_row(  # noqa: PLR0917
    painter: QPainter,
    pair: bench_results.DeviceComparison,
    description: str,
    previous_date: str,
    y: float,
    colours: dict[str, QColor],
    full_width: float,
    maxima: dict[str, float],
) -> None:
    """`room` is how long a whole bar is, `most` what it is in each unit."""
    left, right = IMAGE_MARGIN + 10.0, IMAGE_WIDTH - IMAGE_MARGIN - 10.0
    _draw_text(painter, QRectF(left, y, 300, 34), pair_title(pair), _image_font(23, 600), colours["text"])
    _draw_text(painter, QRectF(left, y + 31, 300, 28), description, _image_font(18, 400), colours["soft"])
    if pair.parallel is not None:
        efficiency = messages.efficiency_text(pair.parallel)
        _draw_text(painter, QRectF(left, y + 54, 300, 24), efficiency, _image_font(18, 400), colours["soft"])
    results = _compared_results(pair)
    # A length says nothing where there is nothing beside it: the figure has the room.
    single = len(results) == 1
    bars, value_font = left + BARS_LEFT, _image_font(30 if single else 20, 600)
    dense = len(results) > 2
    for index, each in enumerate(results):
        top = y + (16 if single else -2 if dense else 2) + index * (25 if dense else 32)
        thickness = 14.0 if messages.bar_colour(each, pair) == "s5" else 18.0 if dense else 24.0
        width, text = -14.0, _bar_text(each, pair, previous_date)
        if not single:
            width = max(full_width * each.median / maxima[each.unit], 6.0)
            draw_rounded_rect(
                painter,
                QRectF(bars, top + (26 - thickness) / 2, width, thickness),
                4,
                colours[messages.bar_colour(each, pair)],
            )
        _draw_text(
            painter,
            QRectF(bars + width + 14, top - 3, right - RATIO_WIDTH - bars - width - 14, 32),
            text,
            value_font,
            colours["text"],
        )
    if pair.ratio is not None:
        ratio = messages.ratio_text(pair.ratio)
        _draw_text(
            painter,
            QRectF(right - RATIO_WIDTH, y, RATIO_WIDTH, 60),
            ratio,
            _image_font(28, 600),
            colours["text"],
            ALIGN_RIGHT,
        )


def _full_bar_width(
    pairs: Sequence[bench_results.DeviceComparison], previous_date: str, maxima: dict[str, float]
) -> float:
    """How long a whole bar may be: behind each bar of all rows its figure has to fit."""
    metrics = QFontMetricsF(_image_font(20, 600))
    available = IMAGE_WIDTH - 2 * (IMAGE_MARGIN + 10) - BARS_LEFT - RATIO_WIDTH - 24
    return min(
        (
            (available - metrics.horizontalAdvance(_bar_text(each, pair, previous_date)))
            * maxima[each.unit]
            / each.median
            for pair in pairs
            if len(_compared_results(pair)) > 1
            for each in _compared_results(pair)
        ),
        default=available,
    )


def _compared_results(pair: bench_results.DeviceComparison) -> list[BenchResult]:
    """What has a bar here: the fastest card, all cards together, and what they are compared with."""
    compared = pair.cpu if pair.gpus else pair.mixed or pair.previous
    return [each for each in (pair.fastest, pair.parallel, compared) if each is not None]


def _bar_text(result: BenchResult, pair: bench_results.DeviceComparison, previous_date: str) -> str:
    name = _bar_label(result, pair, previous_date)
    return f"{name}  {messages.marked_median(result)}" if name else messages.marked_median(result)


def _bar_label(result: BenchResult, pair: bench_results.DeviceComparison, previous_date: str) -> str:
    """What tells a bar from the row's other one: the processor, with its format where that is not the card's; of a
    processor alone the format, or when it was.
    """
    if not pair.gpus:
        return (
            previous_date
            if result is pair.previous
            else messages.dtype_name(result.dtype)
            if pair.mixed is not None
            else ""
        )
    if result is pair.parallel:
        return messages.gpu_count_label(result)
    if result is pair.fastest:
        return f"GPU {result.device.partition(':')[2]}" if len(pair.gpus) > 1 else ""
    return messages.cpu_label(result.dtype) if result.dtype != pair.fastest.dtype else "CPU"


def machine_labels(benchmark: Benchmark) -> list[str]:
    """What the figures depend on, as everybody may know it: cards, processor, versions."""
    names = [device.name for device in benchmark.devices if device.name and device.id != "cpu"]
    names += [device.name for device in benchmark.devices if device.name and device.id == "cpu"]
    labels = [name if count == 1 else f"{count} × {name}" for name, count in Counter(names).items()]
    labels.append(f"PyTorch {benchmark.torch}")
    if "cuda" in benchmark.versions and "+cu" not in benchmark.torch:
        labels.append(f"CUDA {benchmark.versions['cuda']}")
    return labels


def _image_font(pixels: int, weight: int) -> QFont:
    font = QFont(theme.font("body"))
    font.setPixelSize(pixels)
    is_chinese = language.texts().language == "zh_CN"  # whose fonts have no 600
    font.setWeight(QFont.Weight(700 if is_chinese and weight == 600 else weight))
    return font


def _draw_text(  # noqa: PLR0917
    painter: QPainter, rect: QRectF, text: str, font: QFont, colour: QColor, flags: int = ALIGN_LEFT
) -> None:
    """One line; what does not fit is made smaller, down to three quarters, then cut with a dash of dots."""
    min_size = font.pixelSize() * 3 // 4
    while QFontMetricsF(font).horizontalAdvance(text) > rect.width() and font.pixelSize() > min_size:
        font.setPixelSize(font.pixelSize() - 1)
    painter.setFont(font)
    painter.setPen(colour)
    elided = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, flags, elided)


translate = QCoreApplication.translate

TRAINING_WORKLOADS = frozenset({"resnet50", "bert-base"})
STYLE_FILE = "report/style.css"
COLOUR_CSS = ":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
CSS_TOKENS = ("window", "card", "line", "text", "soft", "accent", "accent_text", "s5")


def render_html(
    benchmark: Benchmark, stored: tuple[Benchmark, ...] = (), range_source: RangeSource | None = None
) -> str:
    """The whole page in the language that is on; it loads nothing from anywhere.

    `kept` are the results of before, oldest first; `source` is where the expected ranges are from.
    """
    title = _page_title(benchmark)
    parts = [
        f"<h1>{escape(title)}</h1>",
        _paragraph_html(" · ".join([*machine_labels(benchmark), messages.measured_on(benchmark)])),
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
            _table_html(table_rows(benchmark), headers=_figure_headers())
            + _paragraph_html(language.texts().translate("bench.units")),
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
    reference = messages.reference_result(benchmark)
    if reference is None or reference.device == "cpu":
        return translate("Report", "How fast this CPU computes")
    if any(result.id in TRAINING_WORKLOADS for result in benchmark.results):
        return translate("Report", "How fast this computer trains")
    return translate("Report", "How fast this computer computes")


def _headline_section(benchmark: Benchmark) -> str:
    headline = messages.make_headline(benchmark)
    if headline is None:
        return ""
    body = f'<div class="figure">{escape(headline.figure)}</div><div>{escape(headline.text)}</div>'
    notes = (headline.detail, headline.missing, messages.unmeasured_text(benchmark))
    return f"<section>{body}{''.join(_paragraph_html(note) for note in notes)}</section>"


def _comparison_section(benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> str:
    rows, previous = [], bench_results.previous_benchmark(benchmark, stored)
    pairs = bench_results.device_comparisons(benchmark, previous)
    maxima = bench_results.unit_maxima(pairs)
    for pair in pairs:
        single = len(pair.results) == 1  # a length says nothing where there is nothing beside it
        bars = "".join(
            ("" if single else _bar_html(each, pair, maxima[each.unit]))
            + f"<small>{escape(_bar_device(each, pair, previous))} {escape(messages.marked_median(each))}</small>"
            for each in pair.results
        )
        ratio = messages.ratio_text(pair.ratio) if pair.ratio is not None else ""
        name = f"{escape(pair_title(pair))}<br><small>{escape(pair_description(pair, benchmark))}</small>"
        rows.append(f'<tr><td style="width:34%">{name}</td><td>{bars}</td><td>{ratio}</td></tr>')
    has_gpu = any(pair.gpus for pair in pairs)
    title = translate("Report", "GPU beside CPU") if has_gpu else translate("Report", "Measured on the CPU")
    return _section_html(title, f"<table>{''.join(rows)}</table>") if rows else ""


def _bar_html(result: BenchResult, pair: bench_results.DeviceComparison, maximum: float) -> str:
    css_class = "bar cpu" if messages.bar_colour(result, pair) == "s5" else "bar"
    return f'<div class="{css_class}" style="width:{100 * result.median / maximum:.1f}%"></div>'


def _bar_device(result: BenchResult, pair: bench_results.DeviceComparison, previous: Benchmark | None) -> str:
    """A bar's device, or when it was measured; of a processor its format too, which may be another than the card's."""
    if result is pair.previous:
        return messages.previous_date_label(previous)
    if result.processes > 1:
        return messages.multi_gpu_label(result)
    return messages.cpu_label(result.dtype) if result.device == "cpu" else messages.result_device(result)


def _expected_section(benchmark: Benchmark, range_source: RangeSource | None) -> str:
    rows = []
    for result, expected in expected_results(benchmark):
        low, high = (messages.value_with_unit(each, result.unit) for each in expected)
        template = translate("Report", "usual: {low} to {high}")
        if result.median > expected[1]:
            template = translate("Report", "above the usual range: {low} to {high}")
        rows.append((messages.result_name(result), messages.median_text(result), template.format(low=low, high=high)))
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
    gpus = bench_results.relevant_gpu_logs(benchmark)
    if not gpus:
        return ""
    several = len(gpus) > 1
    columns = [(view.gpu_label(gpu, gpus), *(value for _, value in view.gpu_log_rows(gpu))) for gpu in gpus]
    captions = ("", *(caption for caption, _ in view.gpu_log_rows(gpus[0])))
    rows = list(zip(captions, *columns, strict=True))
    title = (
        translate("Report", "What the cards did meanwhile")
        if several
        else translate("Report", "What the card did meanwhile")
    )
    return _section_html(title, _table_html(rows[1:], headers=rows[0]))


def _history_section(benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> str:
    """The same measurement in the benchmarks of before, and what changed since the last one."""
    runs = messages.comparable_runs(benchmark, stored)
    if len(runs) < 2:
        return ""
    dates = messages.date_labels([each for each, _ in runs], with_year=True)
    rows = [
        (date, messages.marked_median(result), _versions_text(each))
        for date, (each, result) in zip(dates, runs, strict=True)
    ]
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
        rows.append((messages.device_label(device.id), device.name or device.id, memory_text))
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


class BenchmarkExporter(FileSaver):
    """A benchmark as a file."""

    def ask_picture(self, benchmark: Benchmark, stored: tuple[Benchmark, ...]) -> None:
        """Ask where the picture shall lie, and save it there; `kept` are the results of before, oldest first."""
        title, name = self.tr("Where shall the picture be saved?"), _export_name(benchmark, "png")
        self.choose_file(title, "PNG (*.png)", name, lambda path: self.save_picture(benchmark, stored, path))

    def ask_report(self, benchmark: Benchmark, stored: tuple[Benchmark, ...], range_source: RangeSource | None) -> None:
        """Ask where the report shall lie, and save it there; `source` is where the expected ranges are from."""
        title, name = self.tr("Where shall the report be saved?"), _export_name(benchmark, "html")
        self.choose_file(
            title, "HTML (*.html)", name, lambda path: self.save_report(benchmark, stored, range_source, path)
        )

    def save_picture(self, benchmark: Benchmark, stored: tuple[Benchmark, ...], path: Path) -> None:
        """Save the picture."""

        self.write(path, lambda: json.write_file(path, render_png(benchmark, stored)))

    def save_report(
        self, benchmark: Benchmark, stored: tuple[Benchmark, ...], range_source: RangeSource | None, path: Path
    ) -> None:
        """Save the report."""

        self.write(path, lambda: json.write_file(path, render_html(benchmark, stored, range_source).encode()))


def _export_name(benchmark: Benchmark, suffix: str) -> str:
    """A file name that says what it is and of which day: "GPU-Assistant-RTX-4060-2026-11-22.png"."""
    reference = messages.reference_result(benchmark)
    device = "CPU" if reference is None or reference.device == "cpu" else messages.gpu_name(benchmark, reference.device)
    device_slug = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in device).strip("-")
    day = "" if benchmark.started is None else time.strftime("-%Y-%m-%d", time.localtime(benchmark.started))
    return f"GPU-Assistant-{device_slug}{day}.{suffix}"
