"""A result as a picture to share: headline, bars, card and versions; no name, number or folder of this computer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QBuffer, QIODevice, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter

from ...bench import summary
from ...bench.lines import NOTE
from ...core.results import Benchmark, BenchResult
from ...texts.measured import labelled
from .. import language, theme
from ..components.base import rounded
from ..theme.tokens import look
from . import moments, scores
from .fairness import STEADY, fairness, spread_of
from .meanings import meaning, short_name
from .right_card import BELOW, verdict_words

WIDTH, HEIGHT, MARGIN, ROWS = 1200, 630, 60, 4  # what social networks show whole
SPREAD = NOTE + "spread"
BARS, RATIO = 330, 130  # where bars begin, and the room of the ratio behind them
SMALLEST = 12  # pixels of a letter
# The picture goes to other people's screens: it is always light, and its letters have their own size.
LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


def png(benchmark: Benchmark, kept: Sequence[Benchmark] = ()) -> bytes:
    """The picture as a PNG file's bytes, 1200 × 630; `kept` are the results of before, oldest first."""
    image = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    _paint(painter, benchmark, summary.before(benchmark, kept))
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def _paint(painter: QPainter, benchmark: Benchmark, before: Benchmark | None) -> None:
    colours = {name: QColor(value) for name, value in look().themes["light"].colours().items()}
    painter.fillRect(0, 0, WIDTH, HEIGHT, colours["window"])
    inner = QRectF(MARGIN / 2, MARGIN / 2, WIDTH - MARGIN, HEIGHT - MARGIN)
    rounded(painter, inner, 18, colours["card"], colours["line"])
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    head = scores.headline(benchmark)
    y = 66.0
    if head is not None:
        big = _font(72, 700)
        wide = QFontMetricsF(big).horizontalAdvance(head.figure) + 36
        _text(painter, QRectF(MARGIN + 10, y, wide, 96), head.figure, big, colours["accent_text"])
        room = QRectF(MARGIN + 10 + wide, y, WIDTH - 2 * MARGIN - wide - 20, 60)
        _text(painter, room, head.text, _font(30, 600), colours["text"])
        below = QRectF(room.left(), y + 56, room.width(), 70)
        _paragraph(painter, below, head.detail, _font(22, 400), colours["soft"], Qt.AlignmentFlag.AlignTop)
    y = 196.0
    row = 78.0
    # Warnings that take more than one line take the last row's place: nothing of them may be cut.
    less = row if _lines(marks(benchmark)) > 1 else 0.0
    when = moments.of_before(before)
    shown = summary.pairs(benchmark, before)[: ROWS - 1 if less else ROWS]
    most = summary.scales(shown)
    whole = _room(shown, when, most)
    for pair in shown:
        _row(painter, pair, meaning(pair, benchmark), when, y, colours, whole, most)
        y += row
    foot = QRectF(MARGIN + 10, HEIGHT - 92, WIDTH - 2 * MARGIN - 20, 36)
    ours = _font(20, 600)
    _text(painter, foot, "GPU Assistant", ours, colours["soft"], RIGHT)
    foot.setWidth(foot.width() - QFontMetricsF(ours).horizontalAdvance("GPU Assistant") - 30)
    said = " · ".join(part for part in (*about(benchmark), moments.dated(benchmark)) if part)
    _text(painter, foot, said, _font(20, 400), colours["soft"])
    _warn(painter, QRectF(MARGIN + 10, HEIGHT - 122, WIDTH - 140, 30), marks(benchmark), colours["warn"], less)


def marks(benchmark: Benchmark) -> str:
    """What who sees the figures must know with them: slower than usual, not steady, held back; nothing where all is
    well."""
    found = [verdict_words(benchmark)] if benchmark.verdict == BELOW else []
    found += [said for said in (scores.unmeasured(benchmark), scores.missing(benchmark)) if said]
    lines = [line for line in fairness(benchmark) if line.kind == "warn"]
    told = spread_of(benchmark) > STEADY  # by how much: that they vary needs no second sentence
    found += [
        labelled(line.text, line.value, language.texts().language) if line.value else line.text
        for line in lines
        if not (told and line.text == language.texts().say(SPREAD))
    ]
    return " · ".join([*(each.rstrip(".。") for each in found[:-1]), *found[-1:]])


def _warn(painter: QPainter, place: QRectF, text: str, colour: QColor, more: float) -> None:
    """Warnings in as many lines as they take, `more` higher than one line; in smaller letters where that is too few."""
    place = place.adjusted(0, -more, 0, -6 if more else 0)
    _paragraph(painter, place, text, _font(20, 600), colour, Qt.AlignmentFlag.AlignBottom)


def _paragraph(  # noqa: PLR0917
    painter: QPainter, place: QRectF, text: str, font: QFont, colour: QColor, side: Qt.AlignmentFlag
) -> None:
    """All of a text in as many lines as fit, in smaller letters where they are too few."""
    while font.pixelSize() > SMALLEST and _wrapped(text, font, place.width()).height() > place.height():
        font.setPixelSize(font.pixelSize() - 1)
    painter.setFont(font)
    painter.setPen(colour)
    painter.drawText(place, int(Qt.AlignmentFlag.AlignLeft | side) | int(Qt.TextFlag.TextWordWrap), text)


def _wrapped(text: str, font: QFont, width: float) -> QRectF:
    return QFontMetricsF(font).boundingRect(QRectF(0, 0, width, HEIGHT), int(Qt.TextFlag.TextWordWrap), text)


def _lines(text: str) -> int:
    font = _font(20, 600)
    return round(_wrapped(text, font, WIDTH - 140).height() / QFontMetricsF(font).height()) if text else 0


def _row(  # noqa: PLR0917
    painter: QPainter,
    pair: summary.Pair,
    under: str,
    when: str,
    y: float,
    colours: dict[str, QColor],
    room: float,
    most: dict[str, float],
) -> None:
    """`room` is how long a whole bar is, `most` what it is in each unit."""
    left, right = MARGIN + 10.0, WIDTH - MARGIN - 10.0
    _text(painter, QRectF(left, y, 300, 34), short_name(pair), _font(23, 600), colours["text"])
    _text(painter, QRectF(left, y + 31, 300, 28), under, _font(18, 400), colours["soft"])
    if pair.together is not None:
        share = scores.efficiency(pair.together)
        _text(painter, QRectF(left, y + 54, 300, 24), share, _font(18, 400), colours["soft"])
    shown = _beside(pair)
    # A length says nothing where there is nothing beside it: the figure has the room.
    alone = len(shown) == 1
    bars, values = left + BARS, _font(30 if alone else 20, 600)
    many = len(shown) > 2
    for index, each in enumerate(shown):
        top = y + (16 if alone else -2 if many else 2) + index * (25 if many else 32)
        thick = 14.0 if scores.colour(each, pair) == "s5" else 18.0 if many else 24.0
        width, text = -14.0, _label(each, pair, when)
        if not alone:
            width = max(room * each.median / most[each.unit], 6.0)
            rounded(painter, QRectF(bars, top + (26 - thick) / 2, width, thick), 4, colours[scores.colour(each, pair)])
        _text(
            painter,
            QRectF(bars + width + 14, top - 3, right - RATIO - bars - width - 14, 32),
            text,
            values,
            colours["text"],
        )
    if pair.ratio is not None:
        ratio = scores.ratio_words(pair.ratio)
        _text(painter, QRectF(right - RATIO, y, RATIO, 60), ratio, _font(28, 600), colours["text"], RIGHT)


def _room(shown: Sequence[summary.Pair], when: str, most: dict[str, float]) -> float:
    """How long a whole bar may be: behind each bar of all rows its figure has to fit."""
    metrics = QFontMetricsF(_font(20, 600))
    wide = WIDTH - 2 * (MARGIN + 10) - BARS - RATIO - 24
    return min(
        (
            (wide - metrics.horizontalAdvance(_label(each, pair, when))) * most[each.unit] / each.median
            for pair in shown
            if len(_beside(pair)) > 1
            for each in _beside(pair)
        ),
        default=wide,
    )


def _beside(pair: summary.Pair) -> list[BenchResult]:
    """What has a bar here: the fastest card, all cards together, and what they are compared with."""
    beside = pair.cpu if pair.gpus else pair.mixed or pair.before
    return [each for each in (pair.best, pair.together, beside) if each is not None]


def _label(result: BenchResult, pair: summary.Pair, when: str) -> str:
    name = _bar_name(result, pair, when)
    return f"{name}  {scores.marked(result)}" if name else scores.marked(result)


def _bar_name(result: BenchResult, pair: summary.Pair, when: str) -> str:
    """What tells a bar from the row's other one: the processor, with its format where that is not the card's; of a
    processor alone the format, or when it was.
    """
    if not pair.gpus:
        return when if result is pair.before else scores.dtype_name(result.dtype) if pair.mixed is not None else ""
    if result is pair.together:
        return scores.all_of_them(result)
    if result is pair.best:
        return f"GPU {result.device.partition(':')[2]}" if len(pair.gpus) > 1 else ""
    return scores.cpu_in(result.dtype) if result.dtype != pair.best.dtype else "CPU"


def about(benchmark: Benchmark) -> list[str]:
    """What the figures depend on, as everybody may know it: cards, processor, versions."""
    names = [device.name for device in benchmark.devices if device.name and device.id != "cpu"]
    names += [device.name for device in benchmark.devices if device.name and device.id == "cpu"]
    found = [name if count == 1 else f"{count} × {name}" for name, count in Counter(names).items()]
    found.append(f"PyTorch {benchmark.torch}")
    if "cuda" in benchmark.versions and "+cu" not in benchmark.torch:
        found.append(f"CUDA {benchmark.versions['cuda']}")
    return found


def _font(pixels: int, weight: int) -> QFont:
    font = QFont(theme.font("body"))
    font.setPixelSize(pixels)
    chinese = language.texts().language == "zh_CN"  # whose fonts have no 600
    font.setWeight(QFont.Weight(700 if chinese and weight == 600 else weight))
    return font


def _text(painter: QPainter, place: QRectF, text: str, font: QFont, colour: QColor, flags: int = LEFT) -> None:  # noqa: PLR0917
    """One line; what does not fit is made smaller, down to three quarters, then cut with a dash of dots."""
    smallest = font.pixelSize() * 3 // 4
    while QFontMetricsF(font).horizontalAdvance(text) > place.width() and font.pixelSize() > smallest:
        font.setPixelSize(font.pixelSize() - 1)
    painter.setFont(font)
    painter.setPen(colour)
    words = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, place.width())
    painter.drawText(place, flags, words)
