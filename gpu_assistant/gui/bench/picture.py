"""A result as a picture to share: headline, bars, card and versions; no name, number or folder of this computer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QBuffer, QIODevice, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter

from ...bench import summary
from ...bench.lines import NOTE_PREFIX
from ...core.results import Benchmark, BenchResult
from ...texts.measured import with_label
from .. import language, theme
from ..components.base import draw_rounded_rect
from ..theme.tokens import load_theme_file
from . import moments, scores
from .fairness import MAX_STEADY_SPREAD, validity_notes, max_spread
from .meanings import pair_description, pair_title
from .right_card import BELOW_EXPECTED, verdict_label

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
    _paint_image(painter, benchmark, summary.previous_benchmark(benchmark, stored))
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
    headline = scores.make_headline(benchmark)
    y = 66.0
    if headline is not None:
        figure_font = _image_font(72, 700)
        figure_width = QFontMetricsF(figure_font).horizontalAdvance(headline.figure) + 36
        _draw_text(painter, QRectF(IMAGE_MARGIN + 10, y, figure_width, 96), headline.figure, figure_font, colours["accent_text"])
        text_rect = QRectF(IMAGE_MARGIN + 10 + figure_width, y, IMAGE_WIDTH - 2 * IMAGE_MARGIN - figure_width - 20, 60)
        _draw_text(painter, text_rect, headline.text, _image_font(30, 600), colours["text"])
        detail_rect = QRectF(text_rect.left(), y + 56, text_rect.width(), 70)
        _draw_paragraph(painter, detail_rect, headline.detail, _image_font(22, 400), colours["soft"], Qt.AlignmentFlag.AlignTop)
    y = 196.0
    row_height = 78.0
    # Warnings that take more than one line take the last row's place: nothing of them may be cut.
    extra_height = row_height if _line_count(warnings_text(benchmark)) > 1 else 0.0
    previous_date = moments.previous_date_label(previous)
    pairs = summary.device_comparisons(benchmark, previous)[: MAX_ROWS - 1 if extra_height else MAX_ROWS]
    maxima = summary.unit_maxima(pairs)
    full_width = _full_bar_width(pairs, previous_date, maxima)
    for pair in pairs:
        _paint_row(painter, pair, pair_description(pair, benchmark), previous_date, y, colours, full_width, maxima)
        y += row_height
    footer_rect = QRectF(IMAGE_MARGIN + 10, IMAGE_HEIGHT - 92, IMAGE_WIDTH - 2 * IMAGE_MARGIN - 20, 36)
    brand_font = _image_font(20, 600)
    _draw_text(painter, footer_rect, "GPU Assistant", brand_font, colours["soft"], ALIGN_RIGHT)
    footer_rect.setWidth(footer_rect.width() - QFontMetricsF(brand_font).horizontalAdvance("GPU Assistant") - 30)
    details = " · ".join(part for part in (*machine_labels(benchmark), moments.measured_on(benchmark)) if part)
    _draw_text(painter, footer_rect, details, _image_font(20, 400), colours["soft"])
    _paint_warnings(painter, QRectF(IMAGE_MARGIN + 10, IMAGE_HEIGHT - 122, IMAGE_WIDTH - 140, 30), warnings_text(benchmark), colours["warn"], extra_height)


def warnings_text(benchmark: Benchmark) -> str:
    """What who sees the figures must know with them: slower than usual, not steady, held back; nothing where all is
    well."""
    warnings = [verdict_label(benchmark)] if benchmark.verdict == BELOW_EXPECTED else []
    warnings += [text for text in (scores.unmeasured_text(benchmark), scores.missing_text(benchmark)) if text]
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
    pair: summary.DeviceComparison,
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
        efficiency = scores.efficiency_text(pair.parallel)
        _draw_text(painter, QRectF(left, y + 54, 300, 24), efficiency, _image_font(18, 400), colours["soft"])
    results = _compared_results(pair)
    # A length says nothing where there is nothing beside it: the figure has the room.
    single = len(results) == 1
    bars, value_font = left + BARS_LEFT, _image_font(30 if single else 20, 600)
    dense = len(results) > 2
    for index, each in enumerate(results):
        top = y + (16 if single else -2 if dense else 2) + index * (25 if dense else 32)
        thickness = 14.0 if scores.bar_colour(each, pair) == "s5" else 18.0 if dense else 24.0
        width, text = -14.0, _bar_text(each, pair, previous_date)
        if not single:
            width = max(full_width * each.median / maxima[each.unit], 6.0)
            draw_rounded_rect(painter, QRectF(bars, top + (26 - thickness) / 2, width, thickness), 4, colours[scores.bar_colour(each, pair)])
        _draw_text(
            painter,
            QRectF(bars + width + 14, top - 3, right - RATIO_WIDTH - bars - width - 14, 32),
            text,
            value_font,
            colours["text"],
        )
    if pair.ratio is not None:
        ratio = scores.ratio_text(pair.ratio)
        _draw_text(painter, QRectF(right - RATIO_WIDTH, y, RATIO_WIDTH, 60), ratio, _image_font(28, 600), colours["text"], ALIGN_RIGHT)


def _full_bar_width(pairs: Sequence[summary.DeviceComparison], previous_date: str, maxima: dict[str, float]) -> float:
    """How long a whole bar may be: behind each bar of all rows its figure has to fit."""
    metrics = QFontMetricsF(_image_font(20, 600))
    available = IMAGE_WIDTH - 2 * (IMAGE_MARGIN + 10) - BARS_LEFT - RATIO_WIDTH - 24
    return min(
        (
            (available - metrics.horizontalAdvance(_bar_text(each, pair, previous_date))) * maxima[each.unit] / each.median
            for pair in pairs
            if len(_compared_results(pair)) > 1
            for each in _compared_results(pair)
        ),
        default=available,
    )


def _compared_results(pair: summary.DeviceComparison) -> list[BenchResult]:
    """What has a bar here: the fastest card, all cards together, and what they are compared with."""
    compared = pair.cpu if pair.gpus else pair.mixed or pair.previous
    return [each for each in (pair.fastest, pair.parallel, compared) if each is not None]


def _bar_text(result: BenchResult, pair: summary.DeviceComparison, previous_date: str) -> str:
    name = _bar_label(result, pair, previous_date)
    return f"{name}  {scores.marked_median(result)}" if name else scores.marked_median(result)


def _bar_label(result: BenchResult, pair: summary.DeviceComparison, previous_date: str) -> str:
    """What tells a bar from the row's other one: the processor, with its format where that is not the card's; of a
    processor alone the format, or when it was.
    """
    if not pair.gpus:
        return previous_date if result is pair.previous else scores.dtype_name(result.dtype) if pair.mixed is not None else ""
    if result is pair.parallel:
        return scores.gpu_count_label(result)
    if result is pair.fastest:
        return f"GPU {result.device.partition(':')[2]}" if len(pair.gpus) > 1 else ""
    return scores.cpu_label(result.dtype) if result.dtype != pair.fastest.dtype else "CPU"


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


def _draw_text(painter: QPainter, rect: QRectF, text: str, font: QFont, colour: QColor, flags: int = ALIGN_LEFT) -> None:  # noqa: PLR0917
    """One line; what does not fit is made smaller, down to three quarters, then cut with a dash of dots."""
    min_size = font.pixelSize() * 3 // 4
    while QFontMetricsF(font).horizontalAdvance(text) > rect.width() and font.pixelSize() > min_size:
        font.setPixelSize(font.pixelSize() - 1)
    painter.setFont(font)
    painter.setPen(colour)
    elided = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, flags, elided)
