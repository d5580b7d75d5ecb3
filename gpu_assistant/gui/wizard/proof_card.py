"""The proof: one line for each check."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ..components import Card, label
from ..components.step_list import StepStateIcon
from .proof import VerificationRow

STEP_STATES = {"pass": "done", "warn": "cancelled", "fail": "failed", "skip": "skipped"}


class VerificationCard(Card):
    """Tick, sentence, figure; below a check that did not pass what mends it."""

    def __init__(self) -> None:
        super().__init__(" ")
        self._rows_layout = QVBoxLayout()
        self._rows_layout.setSpacing(8)
        self.column.addLayout(self._rows_layout)
        self.column.addStretch(1)
        self._row_widgets: list[QWidget] = []
        self._shown_rows: tuple[VerificationRow, ...] = ()

    def set_rows(self, rows: Sequence[VerificationRow]) -> None:
        """Other checks."""
        if tuple(rows) == self._shown_rows:
            return
        self._shown_rows = tuple(rows)
        for widget in self._row_widgets:
            self._rows_layout.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._row_widgets = [_build_verification_row(row) for row in rows]
        for widget in self._row_widgets:
            self._rows_layout.addWidget(widget)
            widget.show()


def _build_verification_row(row: VerificationRow) -> QWidget:
    widget = QWidget()
    layout = QHBoxLayout(widget)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(12)
    icon = StepStateIcon()
    icon.set_state(STEP_STATES[row.state])  # type: ignore[arg-type]
    text_layout = QVBoxLayout()
    text_layout.setSpacing(1)
    text_layout.addWidget(label("body", row.text))
    if row.fix:
        text_layout.addWidget(label("small", row.fix))
    layout.addWidget(icon, 0, Qt.AlignmentFlag.AlignTop)
    layout.addLayout(text_layout, 1)
    if row.value:
        value = label("mono", row.value, "soft")
        value.setAlignment(Qt.AlignmentFlag.AlignRight)
        value.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Minimum)
        layout.addWidget(value, 0, Qt.AlignmentFlag.AlignTop)
    widget.setAccessibleName(", ".join(part for part in (row.text, row.value, row.fix) if part))
    return widget
