"""Text wraps anywhere it must, and nothing is cut."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QFont, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QApplication

from gpu_assistant.gui import theme
from gpu_assistant.gui.widgets.text import balance_lines, label, layout_text


def test_text_wraps_and_nothing_is_cut(show) -> None:
    text = "A sentence that is long enough to need more than one line " + "https://" + "x" * 80
    made = label("small", text)
    narrow, wide = made.heightForWidth(200), made.heightForWidth(1200)
    assert narrow > wide >= made.fontMetrics().height()
    layout, size = layout_text(text, made.font(), 200)
    assert size.width() <= 200
    assert layout.lineCount() >= 5


def test_lines_break_between_phrases_rather_than_within() -> None:
    text = "CUDA 13.0 and cuDNN included · Python 3.12 · up to date"
    made = label("small", text)

    def lines(width: float) -> list[str]:
        layout, _ = layout_text(text, made.font(), width)
        parts = [layout.lineAt(index) for index in range(layout.lineCount())]
        whole = layout.text().replace("\u00a0", " ")
        return [whole[line.textStart() : line.textStart() + line.textLength()].strip() for line in parts]

    room = made.fontMetrics().horizontalAdvance("CUDA 13.0 and cuDNN included · Pyth")
    assert lines(room) == ["CUDA 13.0 and cuDNN included", "Python 3.12 · up to date"]  # no dot at the end
    assert lines(4000) == [text]
    # A phrase that is longer than a line breaks at its words.
    assert lines(made.fontMetrics().horizontalAdvance("CUDA 13.0 and cuDNN"))[0] == "CUDA 13.0 and cuDNN"


def test_elided_text_has_tooltip(show) -> None:
    made = show(label("body", "word " * 100), 300, 60)
    made.set_one_line(True)
    made.grab()
    assert made.toolTip() == made.text()
    assert made.sizeHint().height() <= made.fontMetrics().height() + 1


def test_chinese_breaks_between_characters() -> None:
    made = label("body", "下载到一半时网络断了，已下载的都在，下次会从这里接着装。" * 3)
    assert made.heightForWidth(160) > 2 * made.heightForWidth(4000)


@pytest.mark.parametrize(
    "text",
    [
        "检查所有风扇是否在转，清理风扇和滤网上的灰尘，机箱周围留出空间，然后再测一次。",
        "Check that all fans turn, and improve its cooling: clean dust off fans and filters. Then test it.",
    ],
)
def test_last_line_is_not_one_short_word_or_character(qapp, text: str) -> None:
    font = theme.font("body")
    full = layout_text(text, font, 1e6)[1].width()
    found = improved = 0
    for width in range(120, full, 7):
        plain = _broken(text, font, width)
        layout, size = balance_lines(text, font, *layout_text(text, font, width), width)
        lines = [layout.lineAt(index) for index in range(layout.lineCount())]
        assert len(lines) == len(plain)  # no further line for it
        assert size.width() <= width
        assert sum(line.textLength() for line in lines) == len(text)
        if plain[-1] < 30:
            found += 1
            improved += lines[-1].naturalTextWidth() > plain[-1] + 10
    # Not where the lines are so few or so full that it would take one more.
    assert 0 < 0.6 * found <= improved


def _broken(text: str, font: QFont, width: int) -> list[float]:
    """How wide the lines are that Qt alone makes."""
    layout = QTextLayout(text, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    widths = []
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        widths.append(line.naturalTextWidth())
    layout.endLayout()
    return widths


def test_text_that_is_cut_has_a_tool_tip_before_it_is_painted() -> None:
    made = label("small", "Each is a folder with its own Python and PyTorch")
    made.set_one_line(True)
    made.resize(60, 20)
    QApplication.sendEvent(made, QResizeEvent(QSize(60, 20), QSize()))
    assert made.toolTip() == made.text()
    made.resize(2000, 20)
    QApplication.sendEvent(made, QResizeEvent(QSize(2000, 20), QSize(60, 20)))
    assert made.toolTip() == ""
