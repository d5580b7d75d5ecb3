"""Text wraps anywhere it must, and nothing is cut."""

from __future__ import annotations

import re

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
    # No short phrase is left alone where two lines can be about equally long.
    text = "Download: 2.6 GB · No administrator prompt · No restart"
    room = made.fontMetrics().horizontalAdvance("Download: 2.6 GB · No administrator prompt · No")
    assert lines(room) == ["Download: 2.6 GB", "No administrator prompt · No restart"]
    text = "CUDA 13.0 and cuDNN included · Python 3.12 · up to date"
    # A phrase that is longer than a line breaks at its words.
    assert lines(made.fontMetrics().horizontalAdvance("CUDA 13.0 and cuDNN"))[0] == "CUDA 13.0 and cuDNN"


@pytest.mark.parametrize("text", ["Took 5 minutes on a CPU", "It uses 12 GB of memory", "实测用了 5 分钟左右"])
def test_line_does_not_end_between_a_figure_and_its_unit(qapp, text: str) -> None:
    font, space = theme.font("small"), re.search(r"(?<=\d) ", text)
    assert space is not None
    room = layout_text(text[: space.start()], font, 1e6)[1].width()
    layout, _ = layout_text(text, font, room)
    assert layout.lineCount() > 1
    assert layout.lineAt(0).textLength() < space.start()


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


def test_chinese_ends_a_line_at_a_punctuation_mark_where_that_takes_no_further_line(qapp) -> None:
    text = "清理风扇和滤网上的灰尘，机箱周围留出空间。"
    font = theme.font("body")
    first = layout_text("清理风扇和滤网上的灰尘，机", font, 1e6)[1].width()
    layout, size = balance_lines(text, font, *layout_text(text, font, first), first)
    assert layout.lineCount() == 2
    assert layout.text()[: layout.lineAt(0).textLength()].endswith("，")
    assert size.width() <= first


@pytest.mark.parametrize(
    "text",
    [
        "When the card's memory is full, Windows gives no error: it uses the computer's memory instead, which is many "
        "times slower. Close other programs that use the card, and measure again.",
        "显存装满时系统不会报错而是悄悄改用电脑内存，速度会慢很多倍所以请先关闭其他正在使用显卡的程序然后再重新测一次，"
        "这样得到的成绩才能与同型号显卡的正常范围相比较并且看出显卡有没有变慢",
    ],
)
def test_long_lines_end_near_their_place(qapp, text: str) -> None:
    """A banner's text has a second line of a few words rather than two short lines."""
    font = theme.font("small")
    full = layout_text(text, font, 1e6)[1].width()
    widths = range(full * 3 // 4, full, 7)
    for width in widths:
        layout, size = balance_lines(text, font, *layout_text(text, font, width), width)
        assert layout.lineCount() == 2
        assert size.width() > width - 16 * font.pixelSize()


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
