"""Text wraps anywhere it must, and nothing is cut."""

from __future__ import annotations

from gpu_assistant.gui.widgets.text import label, layout_text


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
