"""A result as a PNG picture to share: headline, bars, devices and versions, warnings.

It shows no name, serial number or folder of this computer. It is drawn for other people's screens: always in the light
theme and in font sizes of its own, in pixels. May be called from a worker thread: only QImage and QPainter are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter

from ....bench.child_protocol import NOTE_PREFIX
from ....bench.device_comparison import DeviceComparison, unit_maxima
from ....bench.history import previous_benchmark
from ....core.results import Benchmark, BenchResult
from ....core.theme import load_theme_file
from ....reports import messages
from ....reports.expected_ranges import (
    BELOW_EXPECTED,
    RangeSource,
    limit_text,
    link_limit,
    ordered_comparisons,
    slow_text,
)
from ....reports.result_messages import MAX_STEADY_SPREAD, max_spread, validity_notes
from ....texts.benchmark import with_label
from ... import language, theme
from ...saving import encode_png
from ...widgets.base import draw_rounded_rect

IMAGE_WIDTH, IMAGE_HEIGHT = 1200, 630  # social networks show this format uncropped
FRAME_MARGIN, CONTENT_MARGIN = 30, 70
MAX_ROWS, ROW_TOP, ROW_HEIGHT = 4, 196.0, 78.0
BARS_LEFT, RATIO_WIDTH = 330, 130  # from the content's left to the bars; width of the ratio at its right
WARNINGS_WIDTH = IMAGE_WIDTH - 2 * CONTENT_MARGIN
MIN_FONT_SIZE = 12  # pixels
SPREAD_NOTE = NOTE_PREFIX + "spread"
ALIGN_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
ALIGN_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def render_png(
    benchmark: Benchmark, stored: Sequence[Benchmark] = (), range_source: RangeSource | None = None
) -> bytes:
    """The picture as a PNG file, 1200 × 630 pixels; `stored` are the earlier benchmarks, oldest first."""
    image = QImage(IMAGE_WIDTH, IMAGE_HEIGHT, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    ResultImagePainter(painter, benchmark, previous_benchmark(benchmark, stored), range_source).paint()
    painter.end()
    return encode_png(image)


def warnings_text(benchmark: Benchmark) -> str:
    """What the figures must not be shown without: below the expected range, unsteady, throttled, incomplete."""
    warnings = [slow_text(benchmark)] if benchmark.verdict == BELOW_EXPECTED else []
    warnings += [text for text in (messages.unmeasured_text(benchmark), messages.missing_text(benchmark)) if text]
    notes = [note for note in validity_notes(benchmark) if note.kind == "warn"]
    spread_is_high = max_spread(benchmark) > MAX_STEADY_SPREAD  # a note of its own has the figure
    warnings += [
        with_label(note.text, note.value, language.texts().language) if note.value else note.text
        for note in notes
        if not (spread_is_high and note.text == language.texts().translate(SPREAD_NOTE))
    ]
    return " · ".join([*(each.rstrip(".。") for each in warnings[:-1]), *warnings[-1:]])


class ResultImagePainter:
    """Paints one result with a QPainter that is active on an image of IMAGE_WIDTH × IMAGE_HEIGHT."""

    def __init__(
        self,
        painter: QPainter,
        benchmark: Benchmark,
        previous: Benchmark | None,
        range_source: RangeSource | None = None,
    ) -> None:
        self._painter, self._benchmark = painter, benchmark
        self._previous_date = messages.previous_date_label(previous)
        self._colours = {name: QColor(value) for name, value in load_theme_file().themes["light"].colours().items()}
        self._warnings = warnings_text(benchmark)
        # Warnings of more than one line take the place of the last row, so that none of them is cut.
        self._warnings_height = ROW_HEIGHT if self._warning_lines() > 1 else 0.0
        max_rows = MAX_ROWS - 1 if self._warnings_height else MAX_ROWS
        self._pairs = ordered_comparisons(benchmark, previous, max_rows)
        self._limits = tuple(link_limit(pair, benchmark, range_source) for pair in self._pairs)
        self._maxima: Mapping[str, float] = unit_maxima(self._pairs)

    def paint(self) -> None:
        """Paint the whole picture."""
        self._painter.fillRect(0, 0, IMAGE_WIDTH, IMAGE_HEIGHT, self._colours["window"])
        frame = QRectF(FRAME_MARGIN, FRAME_MARGIN, IMAGE_WIDTH - 2 * FRAME_MARGIN, IMAGE_HEIGHT - 2 * FRAME_MARGIN)
        draw_rounded_rect(self._painter, frame, 18, self._colours["card"], self._colours["line"])
        self._painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        headline = messages.make_headline(self._benchmark)
        if headline is not None:
            self._paint_headline(headline)
        full_width = self._full_bar_width()
        for index, (pair, limit) in enumerate(zip(self._pairs, self._limits, strict=True)):
            self._paint_row(pair, limit, ROW_TOP + index * ROW_HEIGHT, full_width)
        self._paint_footer()
        self._paint_warnings()

    def draw_line(
        self, rect: QRectF, text: str, font: QFont, token: str, alignment: Qt.AlignmentFlag = ALIGN_LEFT
    ) -> None:
        """One line of text: made smaller down to three quarters where it does not fit, then elided."""
        min_size = font.pixelSize() * 3 // 4
        while QFontMetricsF(font).horizontalAdvance(text) > rect.width() and font.pixelSize() > min_size:
            font.setPixelSize(font.pixelSize() - 1)
        elided = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        self._draw(rect, elided, font, token, int(alignment))

    def draw_paragraph(self, rect: QRectF, text: str, font: QFont, token: str, alignment: Qt.AlignmentFlag) -> None:
        """Wrapped text: made smaller down to MIN_FONT_SIZE until all lines fit into the height."""
        while font.pixelSize() > MIN_FONT_SIZE and wrapped_height(text, font, rect.width()) > rect.height():
            font.setPixelSize(font.pixelSize() - 1)
        flags = int(Qt.AlignmentFlag.AlignLeft | alignment) | int(Qt.TextFlag.TextWordWrap)
        self._draw(rect, text, font, token, flags)

    def _draw(self, rect: QRectF, text: str, font: QFont, token: str, flags: int) -> None:
        self._painter.setFont(font)
        self._painter.setPen(self._colours[token])
        self._painter.drawText(rect, flags, text)

    def _paint_headline(self, headline: messages.BenchmarkHeadline) -> None:
        top = 66.0
        figure_font = image_font(72, 700)
        figure_width = QFontMetricsF(figure_font).horizontalAdvance(headline.figure) + 36
        figure_rect = QRectF(CONTENT_MARGIN, top, figure_width, 96)
        self.draw_line(figure_rect, headline.figure, figure_font, "accent_text")
        text_rect = QRectF(figure_rect.right(), top, IMAGE_WIDTH - 2 * CONTENT_MARGIN - figure_width, 60)
        self.draw_paragraph(text_rect, headline.text, image_font(30, 600), "text", Qt.AlignmentFlag.AlignVCenter)
        detail_rect = QRectF(text_rect.left(), top + 56, text_rect.width(), 70)
        self.draw_paragraph(detail_rect, headline.detail, image_font(22, 400), "soft", Qt.AlignmentFlag.AlignTop)

    def _paint_row(self, pair: DeviceComparison, limit: float | None, y: float, full_width: float) -> None:
        """One workload; `full_width` is the length in pixels of the longest bar of its unit, or of the ground that
        shows the `limit`.
        """
        left, right = float(CONTENT_MARGIN), float(IMAGE_WIDTH - CONTENT_MARGIN)
        self.draw_line(QRectF(left, y, 300, 34), messages.pair_title(pair), image_font(23, 600), "text")
        description = messages.pair_description(pair, self._benchmark)
        self.draw_line(QRectF(left, y + 31, 300, 28), description, image_font(18, 400), "soft")
        if pair.parallel is not None:
            efficiency = messages.efficiency_text(pair.parallel)
            self.draw_line(QRectF(left, y + 54, 300, 24), efficiency, image_font(18, 400), "soft")
        if limit is not None:
            self.draw_line(QRectF(left, y + 54, 300, 24), limit_text(limit, pair), image_font(18, 400), "soft")
        results = _compared_results(pair)
        # The length of a bar without another one beside it says nothing: only the figure is drawn, larger.
        single, dense = len(results) == 1 and limit is None, len(results) > 2
        bars_left = left + BARS_LEFT
        for index, result in enumerate(results):
            top = y + (16 if single else -2 if dense else 2) + index * (25 if dense else 32)
            bar_end = bars_left - 14.0
            if not single:
                token = messages.bar_colour(result, pair)
                thickness = 14.0 if token == messages.REFERENCE_TOKEN else 18.0 if dense else 24.0
                width = max(full_width * result.median / (limit or self._maxima[result.unit]), 6.0)
                bar = QRectF(bars_left, top + (26 - thickness) / 2, width, thickness)
                bar_end = bar.right()
                if limit is not None:
                    ground = QRectF(bars_left, bar.top(), max(full_width, width), thickness)
                    draw_rounded_rect(self._painter, ground, 4, self._colours["pressed"])
                    bar_end = ground.right()
                draw_rounded_rect(self._painter, bar, 4, self._colours[token])
            text_rect = QRectF(bar_end + 14, top - 3, right - RATIO_WIDTH - bar_end - 14, 32)
            font = image_font(30 if single else 20, 600)
            self.draw_line(text_rect, self._bar_text(result, pair), font, "text")
        if pair.ratio is not None:
            ratio_rect = QRectF(right - RATIO_WIDTH, y, RATIO_WIDTH, 60)
            self.draw_line(ratio_rect, messages.ratio_text(pair.ratio), image_font(28, 600), "text", ALIGN_RIGHT)

    def _full_bar_width(self) -> float:
        """The length in pixels of a unit's longest bar that leaves room for the text after each bar of all rows."""
        metrics = QFontMetricsF(image_font(20, 600))
        available = IMAGE_WIDTH - 2 * CONTENT_MARGIN - BARS_LEFT - RATIO_WIDTH - 24
        widths = [
            (available - metrics.horizontalAdvance(self._bar_text(result, pair)))
            * (self._maxima[result.unit] / result.median if limit is None else 1)
            for pair, limit in zip(self._pairs, self._limits, strict=True)
            if len(_compared_results(pair)) > 1 or limit is not None
            for result in _compared_results(pair)
        ]
        return min(widths, default=available)

    def _bar_text(self, result: BenchResult, pair: DeviceComparison) -> str:
        name = self._bar_label(result, pair)
        value = messages.marked_median(result, (each for shown in self._pairs for each in _compared_results(shown)))
        return f"{name}  {value}" if name else value

    def _bar_label(self, result: BenchResult, pair: DeviceComparison) -> str:
        """What distinguishes a bar from the others of its row; "" for the only GPU.

        With a GPU in the row that is the device; on the CPU alone it is the number format, or the date of the earlier
        run.
        """
        if not pair.gpus:
            if result is pair.previous:
                return self._previous_date
            return messages.dtype_name(result.dtype) if pair.mixed is not None else ""
        if result is pair.parallel:
            return messages.gpu_count_label(result)
        if result is pair.fastest:
            return f"GPU {result.device.partition(':')[2]}" if len(pair.gpus) > 1 else ""
        return messages.cpu_label(result)

    def _paint_footer(self) -> None:
        brand, brand_font = "GPU Assistant", image_font(20, 600)
        rect = QRectF(CONTENT_MARGIN, IMAGE_HEIGHT - 92, IMAGE_WIDTH - 2 * CONTENT_MARGIN, 36)
        self.draw_line(rect, brand, brand_font, "soft", ALIGN_RIGHT)
        rect.setWidth(rect.width() - QFontMetricsF(brand_font).horizontalAdvance(brand) - 30)
        details = (*messages.machine_labels(self._benchmark), messages.measured_on(self._benchmark))
        self.draw_line(rect, " · ".join(part for part in details if part), image_font(20, 400), "soft")

    def _paint_warnings(self) -> None:
        rect = QRectF(CONTENT_MARGIN, IMAGE_HEIGHT - 122, WARNINGS_WIDTH, 30)
        if self._warnings_height:
            rect.adjust(0, -self._warnings_height, 0, -6)
        self.draw_paragraph(rect, self._warnings, image_font(20, 600), "warn", Qt.AlignmentFlag.AlignBottom)

    def _warning_lines(self) -> int:
        font = image_font(20, 600)
        height = wrapped_height(self._warnings, font, WARNINGS_WIDTH)
        return round(height / QFontMetricsF(font).height()) if self._warnings else 0


def wrapped_height(text: str, font: QFont, width: float) -> float:
    """The height in pixels of a text that is wrapped to a width."""
    rect = QRectF(0, 0, width, IMAGE_HEIGHT)
    return QFontMetricsF(font).boundingRect(rect, int(Qt.TextFlag.TextWordWrap), text).height()


def image_font(pixels: int, weight: int) -> QFont:
    """The window's font in a size in pixels."""
    font = QFont(theme.font("body"))
    font.setPixelSize(pixels)
    is_chinese = language.texts().language == "zh_CN"  # Chinese fonts have no weight 600
    font.setWeight(QFont.Weight(700 if is_chinese and weight == 600 else weight))
    return font


def _compared_results(pair: DeviceComparison) -> list[BenchResult]:
    """The results that have a bar: the fastest GPU, all GPUs together, and what they are compared with."""
    reference = pair.cpu if pair.gpus else pair.mixed or pair.previous
    return [each for each in (pair.fastest, pair.parallel, reference) if each is not None]
