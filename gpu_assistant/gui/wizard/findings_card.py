"""What else was noticed, one sentence a row."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ..components import Card, Icon, label
from .findings import Finding


class FindingsCard(Card):
    """Hidden while there is nothing to say."""

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setSpacing(4)
        self._rows: list[QWidget] = []
        self._shown: tuple[Finding, ...] | None = None

    def set(self, title: str, found: tuple[Finding, ...]) -> None:
        """Other findings, or the same in another language."""
        self.set_title(title)
        self.setVisible(bool(found))
        if found == self._shown:
            return
        self._shown = found
        for row in self._rows:
            self.column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = [self._row(finding) for finding in found]

    def _row(self, finding: Finding) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 4, 0, 4)
        line.setSpacing(12)
        token = "warn" if finding.kind == "warn" else "soft"
        line.addWidget(Icon(finding.kind, token, 18), 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(label("small", finding.text, "text"), 1)
        row.setAccessibleName(finding.text)
        self.column.addWidget(row)
        row.show()
        return row
