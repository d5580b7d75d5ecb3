"""One remark beside an install."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from ..components import Card, IconWidget, label


class NoteCard(Card):
    """Whether one may leave: icon, a few words, one line."""

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 12, 16, 12)
        row, column = QHBoxLayout(), QVBoxLayout()
        row.setSpacing(14)
        column.setSpacing(1)
        self._icon_label = IconWidget("ok", "ok", 18)
        self._title_label, self._text_label = label("small-strong"), label("small")
        column.addWidget(self._title_label)
        column.addWidget(self._text_label)
        row.addWidget(self._icon_label, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        self.column.addLayout(row)

    def set(self, icon: str, title: str, text: str) -> None:
        """Another note."""
        self._icon_label.set(icon, "ok" if icon == "ok" else "accent")
        self._title_label.setText(title)
        self._text_label.setText(text)
        self.setAccessibleName(f"{title}. {text}")
