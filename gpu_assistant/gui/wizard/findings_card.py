"""What else was noticed, one sentence a row."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ..components import Card, IconWidget, label
from .findings import MachineNote


class MachineNotesCard(Card):
    """Hidden while there is nothing to say."""

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setSpacing(4)
        self._row_widgets: list[QWidget] = []
        self._shown_notes: tuple[MachineNote, ...] | None = None

    def set_notes(self, title: str, notes: tuple[MachineNote, ...]) -> None:
        """Other findings, or the same in another language."""
        self.set_title(title)
        self.setVisible(bool(notes))
        if notes == self._shown_notes:
            return
        self._shown_notes = notes
        for row in self._row_widgets:
            self.column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._row_widgets = [self._add_row(note) for note in notes]

    def _add_row(self, note: MachineNote) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 4, 0, 4)
        layout.setSpacing(12)
        color = "warn" if note.kind == "warn" else "soft"
        layout.addWidget(IconWidget(note.kind, color, 18), 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(label("small", note.text, "text"), 1)
        row.setAccessibleName(note.text)
        self.column.addWidget(row)
        row.show()
        return row
