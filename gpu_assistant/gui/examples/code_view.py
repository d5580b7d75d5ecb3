"""Python code to read, scroll and copy, with comments, strings, numbers and keywords in colours of the theme."""

from __future__ import annotations

import keyword
import re

from PySide6.QtGui import (
    QFontMetricsF,
    QSyntaxHighlighter,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from .. import theme
from ..widgets.base import Themed
from ..widgets.inputs import use_slim_scroll_bars

# In the order in which they are looked for at each place; the names are tokens of the theme.
TOKENS = (
    ("ok", r"#.*"),
    ("s2", r"[rbf]*(?:\"[^\"\\]*(?:\\.[^\"\\]*)*\"|'[^'\\]*(?:\\.[^'\\]*)*')"),
    ("accent_text", rf"\b(?:{'|'.join(keyword.kwlist)})\b"),
    ("s3", r"\b\d[\d_.]*(?:e-?\d+)?\b"),
)
COMMENT_INDENT, WRAP_INDENT = 2, 4  # letters by which a wrapped line is indented
LINE_HEIGHT = 112  # percent
PATTERN = re.compile("|".join(f"(?P<{token}>{pattern})" for token, pattern in TOKENS))


class PythonHighlighter(QSyntaxHighlighter):
    """Colours one line at a time: the scripts have no strings over several lines."""

    def highlightBlock(self, text: str) -> None:
        for match in PATTERN.finditer(text):
            if match.lastgroup is not None:
                colour = QTextCharFormat()
                colour.setForeground(theme.color(match.lastgroup))
                self.setFormat(match.start(), match.end() - match.start(), colour)


class CodeView(Themed, QTextEdit):
    """Read-only; a line that is wider than the view goes on below, indented, so that nothing is cut off."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setUndoRedoEnabled(False)
        self.setLineWrapMode(QTextEdit.LineWrapMode.WidgetWidth)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(6)
        use_slim_scroll_bars(self)
        document: QTextDocument = self.document()
        self._highlighter = PythonHighlighter(document)
        self.apply_theme()

    def set_code(self, code: str) -> None:
        """Show other code, from its beginning."""
        if code != self.toPlainText():
            self.setPlainText(code)
            self._indent_lines()
            self.moveCursor(QTextCursor.MoveOperation.Start)

    def _indent_lines(self) -> None:
        """What does not fit into a line begins further right than the line itself."""
        advance = QFontMetricsF(self.font()).horizontalAdvance(" ")
        cursor, block = QTextCursor(self.document()), self.document().begin()
        cursor.beginEditBlock()  # one layout for all of them
        while block.isValid():
            text = block.text()
            indent = len(text) - len(text.lstrip()) + (COMMENT_INDENT if text.lstrip().startswith("#") else WRAP_INDENT)
            form = QTextBlockFormat()
            form.setLeftMargin(indent * advance)
            form.setTextIndent(-indent * advance)
            form.setLineHeight(LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            cursor.setPosition(block.position())
            cursor.mergeBlockFormat(form)
            block = block.next()
        cursor.endEditBlock()

    def retranslate(self) -> None:
        self.setAccessibleName(self.tr("Code"))

    def refresh(self) -> None:
        self.setFont(theme.font("mono"))
        self._indent_lines()
        super().refresh()
        self._highlighter.rehighlight()

    def update_colours(self) -> None:
        super().update_colours()
        self._highlighter.rehighlight()
