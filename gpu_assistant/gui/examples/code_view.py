"""Python code to read, scroll and copy, with comments, strings, numbers and keywords in colours of the theme."""

from __future__ import annotations

import keyword
import re

from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

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
PATTERN = re.compile("|".join(f"(?P<{token}>{pattern})" for token, pattern in TOKENS))


class PythonHighlighter(QSyntaxHighlighter):
    """Colours one line at a time: the scripts have no strings over several lines."""

    def highlightBlock(self, text: str) -> None:
        for match in PATTERN.finditer(text):
            if match.lastgroup is not None:
                colour = QTextCharFormat()
                colour.setForeground(theme.color(match.lastgroup))
                self.setFormat(match.start(), match.end() - match.start(), colour)


class CodeView(Themed, QPlainTextEdit):
    """Read-only; a line that is wider than the view goes on below, so that nothing is cut off."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(6)
        use_slim_scroll_bars(self)
        document: QTextDocument = self.document()
        self._highlighter = PythonHighlighter(document)
        self.apply_theme()

    def set_code(self, code: str) -> None:
        """Show other code from its beginning."""
        if code != self.toPlainText():
            self.setPlainText(code)

    def retranslate(self) -> None:
        self.setAccessibleName(self.tr("Code"))

    def refresh(self) -> None:
        self.setFont(theme.font("mono"))
        super().refresh()
        self._highlighter.rehighlight()

    def update_colours(self) -> None:
        super().update_colours()
        self._highlighter.rehighlight()
