"""Wrapped text in the type scale and with the theme's line height."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from .. import theme
from .base import Themed

_UNBOUNDED_WIDTH = 1e6
_MAX_CACHED_LAYOUTS = 16
SEPARATOR, NO_BREAK_SPACE = " · ", "\u00a0"
# The least width of a paragraph's last line as a share of the widest, and how much narrower each try is.
MIN_LAST_LINE, BALANCE_STEP, MAX_BALANCE_STEPS = 0.4, 0.05, 9
# In sizes of the font: a last line this wide is never short, and lines become no narrower for a better end than this.
LONG_LAST_LINE, MAX_NARROWING = 8, 12
# The space between a figure and its unit.
UNIT_SPACE = re.compile(
    r"(?<=\d) (?=(?:°C|[kKMGT]?(?:B|iB|Hz)|[KMG]B/s|[KMG]?bit/s|W|RPM|%|(?:second|minute|hour|day)s?)(?!\w)"
    r"|秒|分钟|小时|天)"
)
LINE_ENDS = " -–—,;:.，。；：、）”"


def layout_text(text: str, font: QFont, width: float, wrap: bool = True) -> tuple[QTextLayout, QSize]:
    """Break text into lines of at most `width` pixels; returns the layout and its size.

    A line ends between phrases that middle dots separate rather than within one, and in place of the dot; it does not
    end between a figure and its unit.
    """
    text = UNIT_SPACE.sub(NO_BREAK_SPACE, text)
    if SEPARATOR in text:
        text = "\n".join(_break_between_phrases(line, font, width) for line in text.split("\n"))
    layout = QTextLayout(text.replace("\n", "\u2028"), font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere if wrap else QTextOption.WrapMode.NoWrap)
    layout.setTextOption(option)
    layout.beginLayout()
    y = widest = 0.0
    bottom = QFontMetricsF(font).height()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(max(width, 1.0))
        line.setPosition(QPointF(0, y))
        widest = max(widest, line.naturalTextWidth())
        bottom = y + line.height()  # no leading below the last line
        y += line.height() * theme.line_height()
    layout.endLayout()
    return layout, QSize(ceil(widest), ceil(bottom))


def balance_lines(text: str, font: QFont, layout: QTextLayout, size: QSize, width: float) -> tuple[QTextLayout, QSize]:
    """The layout of one paragraph, broken earlier where its last line is short, as a single character is, or where
    Chinese is broken after a punctuation mark then, not within what may be a word; the number of lines is the same.
    """
    count, em = layout.lineCount(), font.pixelSize()
    if count < 2 or "\u2028" in layout.text():
        return layout, size
    found: tuple[int, QTextLayout, QSize] | None = None
    if _is_last_line_long(layout, size, em):
        found = _broken_phrases(layout), layout, size
        if not found[0]:
            return layout, size
    for step in range(1, MAX_BALANCE_STEPS + 1):
        narrowing = width * BALANCE_STEP * step
        if found is not None and narrowing > MAX_NARROWING * em:
            break
        narrower, narrower_size = layout_text(text, font, width - narrowing)
        if narrower.lineCount() != count:
            break
        broken = _broken_phrases(narrower)
        if _is_last_line_long(narrower, narrower_size, em) and (found is None or broken < found[0]):
            found = broken, narrower, narrower_size
            if not broken:
                break
    return (layout, size) if found is None else found[1:]


def _is_last_line_long(layout: QTextLayout, size: QSize, em: int) -> bool:
    """Whether the last line is more than a lone word: `em` is the font's size in pixels."""
    last_width = layout.lineAt(layout.lineCount() - 1).naturalTextWidth()
    return last_width >= min(MIN_LAST_LINE * size.width(), LONG_LAST_LINE * em)


def _broken_phrases(layout: QTextLayout) -> int:
    """How many lines end neither at a space nor after a punctuation mark."""
    ends = (line.textStart() + line.textLength() for line in map(layout.lineAt, range(layout.lineCount() - 1)))
    return sum(layout.text()[end - 1] not in LINE_ENDS for end in ends)


def _break_between_phrases(line: str, font: QFont, width: float) -> str:
    """A line as several ones, as few as there is room for and about equally long; a phrase that has room in a line
    keeps together.
    """
    metrics = QFontMetricsF(font)
    phrases = [
        phrase.replace(" ", NO_BREAK_SPACE) if metrics.horizontalAdvance(phrase) <= width else phrase
        for phrase in line.split(SEPARATOR)
    ]
    lines, widest = _join_phrases(phrases, metrics, width)
    while len(lines) > 1:
        narrower, narrower_widest = _join_phrases(phrases, metrics, widest - 1)
        if len(narrower) > len(lines) or narrower_widest >= widest:
            break
        lines, widest = narrower, narrower_widest
    return "\n".join(lines)


def _join_phrases(phrases: Sequence[str], metrics: QFontMetricsF, width: float) -> tuple[list[str], float]:
    """Lines of as many phrases as `width` has room for, and the width of the widest line."""
    lines, widths = [phrases[0]], [metrics.horizontalAdvance(phrases[0])]
    for phrase in phrases[1:]:
        joined = f"{lines[-1]}{NO_BREAK_SPACE}· {phrase}"
        joined_width = metrics.horizontalAdvance(joined)
        if joined_width <= width:
            lines[-1], widths[-1] = joined, joined_width
        else:
            lines.append(phrase)
            widths.append(metrics.horizontalAdvance(phrase))
    return lines, max(widths)


class TextLabel(Themed, QLabel):
    """A label that wraps anywhere it must, so that no text is cut. `tone` is the token of its colour."""

    def __init__(self, kind: str = "body", text: str = "", tone: str = "text", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.kind = kind
        self.tone = tone
        self._one_line = False
        self._layouts: dict[float, tuple[QTextLayout, QSize]] = {}  # by the width
        self._balanced: tuple[QTextLayout, QTextLayout, QSize] | None = None  # the second is the first one balanced
        self.setTextFormat(Qt.TextFormat.PlainText)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.apply_theme()

    def setText(self, text: str) -> None:
        if text != self.text():
            self._layouts.clear()
        super().setText(text)

    def refresh(self) -> None:
        self._layouts.clear()
        self._balanced = None
        font = theme.font(self.kind)
        # Qt updates the widget even where the font is the same.
        if self.font() != font:
            self.setFont(font)
        super().refresh()

    def _fitting_layout(self, width: float) -> tuple[QTextLayout, QSize]:
        """The text in lines of at most `width`, and their size; layouts ask for the same widths many times."""
        fitting = self._layouts.get(width)
        if fitting is None:
            text, font = self.text(), self.font()
            one_line = self._layouts.get(_UNBOUNDED_WIDTH) or layout_text(text, font, _UNBOUNDED_WIDTH)
            fitting = one_line if one_line[1].width() <= width else layout_text(text, font, width)
            if len(self._layouts) >= _MAX_CACHED_LAYOUTS:
                self._layouts.clear()
            self._layouts |= {_UNBOUNDED_WIDTH: one_line, width: fitting}
        return fitting

    def _painted_layout(self) -> tuple[QTextLayout, QSize]:
        """The lines as they are painted: the height for a width is that of the others, too."""
        layout, size = self._fitting_layout(self.width())
        if self._balanced is None or self._balanced[0] is not layout:
            self._balanced = (layout, *balance_lines(self.text(), self.font(), layout, size, self.width()))
        return self._balanced[1:]

    def set_tone(self, tone: str) -> None:
        """Set the token of its colour."""
        self.tone = tone
        self.update()

    def set_kind(self, kind: str) -> None:
        """Set the step of the type scale."""
        self.kind = kind
        self.refresh()

    def set_one_line(self, one_line: bool) -> None:
        """Keep to one line; text that does not fit is elided and becomes the tool tip."""
        self._one_line = one_line
        self.refresh()

    def hasHeightForWidth(self) -> bool:
        return not self._one_line

    def heightForWidth(self, width: int) -> int:
        return self._fitting_layout(width)[1].height()

    def sizeHint(self) -> QSize:
        """As wide as the text in one line, up to a width that is comfortable to read."""
        return self._fitting_layout(_UNBOUNDED_WIDTH if self._one_line else theme.px(640))[1]

    def minimumSizeHint(self) -> QSize:
        """Wide enough for the longest word, up to a limit: longer words break."""
        metrics = QFontMetricsF(self.font())
        words = (theme.advance(self.kind, word) for word in self.text().split())
        widest = min(max(words, default=0.0), theme.px(120))
        return QSize(ceil(widest), ceil(metrics.height()) if self.text() else 0)

    def _elided_text(self) -> str:
        """The text as far as it fits into one line; if that is not all of it, the whole becomes the tool tip."""
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        self.setToolTip(self.text() if text != self.text() else "")
        return text

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A label that is not on the screen yet has its tool tip, too: a screen reader may ask for it."""
        super().resizeEvent(event)
        if self._one_line:
            self._elided_text()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setPen(theme.color(self.tone if self.isEnabled() else "disabled"))
        layout, size = self._painted_layout()
        if self._one_line:
            layout, size = layout_text(self._elided_text(), self.font(), self.width(), wrap=False)
        flags = self.alignment()
        free_height = self.height() - size.height()
        top = free_height / 2 if flags & Qt.AlignmentFlag.AlignVCenter else 0.0
        for index in range(layout.lineCount()):
            line = layout.lineAt(index)
            free_width = self.width() - line.naturalTextWidth()
            left = free_width if flags & Qt.AlignmentFlag.AlignRight else 0.0
            left = free_width / 2 if flags & Qt.AlignmentFlag.AlignHCenter else left
            line.draw(painter, QPointF(left, max(top, 0.0)))


def label(kind: str = "body", text: str = "", tone: str | None = None, parent: QWidget | None = None) -> TextLabel:
    """A TextLabel; of the kinds small and caption in the soft tone unless `tone` says otherwise."""
    return TextLabel(kind, text, tone or ("soft" if kind in ("small", "caption") else "text"), parent)
