"""One remark beside an install."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from ..components import Card, Icon, label


class NoteCard(Card):
    """Whether one may leave: icon, a few words, one line."""

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 12, 16, 12)
        row, column = QHBoxLayout(), QVBoxLayout()
        row.setSpacing(14)
        column.setSpacing(1)
        self._icon = Icon("ok", "ok", 18)
        self._title, self._line = label("small-strong"), label("small")
        column.addWidget(self._title)
        column.addWidget(self._line)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        self.column.addLayout(row)

    def set(self, icon: str, title: str, line: str) -> None:
        """Another note."""
        self._icon.set(icon, "ok" if icon == "ok" else "accent")
        self._title.setText(title)
        self._line.setText(line)
        self.setAccessibleName(f"{title}. {line}")
