"""The proof: one line for each check."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ..components import Card, label
from ..components.step_list import StateIcon
from .proof import ProofRow

STATES = {"pass": "done", "warn": "cancelled", "fail": "failed", "skip": "skipped"}


class ProofCard(Card):
    """Tick, sentence, figure; below a check that did not pass what mends it."""

    def __init__(self) -> None:
        super().__init__(" ")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(8)
        self.column.addLayout(self._rows)
        self.column.addStretch(1)
        self._widgets: list[QWidget] = []
        self._shown: tuple[ProofRow, ...] = ()

    def set_rows(self, rows: Sequence[ProofRow]) -> None:
        """Other checks."""
        if tuple(rows) == self._shown:
            return
        self._shown = tuple(rows)
        for widget in self._widgets:
            self._rows.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._widgets = [_row(row) for row in rows]
        for widget in self._widgets:
            self._rows.addWidget(widget)
            widget.show()


def _row(row: ProofRow) -> QWidget:
    widget = QWidget()
    line = QHBoxLayout(widget)
    line.setContentsMargins(0, 0, 0, 0)
    line.setSpacing(12)
    icon = StateIcon()
    icon.set_state(STATES[row.state])  # type: ignore[arg-type]
    words = QVBoxLayout()
    words.setSpacing(1)
    words.addWidget(label("body", row.text))
    if row.fix:
        words.addWidget(label("small", row.fix))
    line.addWidget(icon, 0, Qt.AlignmentFlag.AlignTop)
    line.addLayout(words, 1)
    if row.value:
        value = label("mono", row.value, "soft")
        value.setAlignment(Qt.AlignmentFlag.AlignRight)
        value.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Minimum)
        line.addWidget(value, 0, Qt.AlignmentFlag.AlignTop)
    widget.setAccessibleName(", ".join(part for part in (row.text, row.value, row.fix) if part))
    return widget
