"""Text wraps anywhere it must, and nothing is cut."""

from __future__ import annotations

from gpu_assistant.gui.widgets.text import label


def test_text_wraps_and_nothing_is_cut(show) -> None:
    text = "A sentence that is long enough to need more than one line " + "https://" + "x" * 80
    made = label("small", text)
    narrow, wide = made.heightForWidth(200), made.heightForWidth(1200)
    assert narrow > wide >= made.fontMetrics().height()
    from gpu_assistant.gui.widgets.text import layout_text

    layout, size = layout_text(text, made.font(), 200)
    assert size.width() <= 200
    assert layout.lineCount() >= 5


def test_elided_text_has_tooltip(show) -> None:
    made = show(label("body", "word " * 100), 300, 60)
    made.set_one_line(True)
    made.grab()
    assert made.toolTip() == made.text()
    assert made.sizeHint().height() <= made.fontMetrics().height() + 1


def test_chinese_breaks_between_characters() -> None:
    made = label("body", "下载到一半时网络断了，已下载的都在，下次会从这里接着装。" * 3)
    assert made.heightForWidth(160) > 2 * made.heightForWidth(4000)
