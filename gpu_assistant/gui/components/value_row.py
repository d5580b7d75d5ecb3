"""One thing this computer has."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ...texts.format import UNKNOWN
from .base import Live
from .picture import Icon
from .pill import Pill, PillKind
from .text import label


class ValueRow(Live, QWidget):
    """Icon, label over value, detail and pill at the right; read as one sentence. Unknown is a dash."""

    def __init__(self, icon: str, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 10, 4, 10)
        row.setSpacing(14)
        self.icon_ = Icon(icon, ground="square", side=34)
        self.label, self.value = label("caption", text), label("strong", UNKNOWN)
        self.detail, self.pill = label("small"), Pill()
        self.detail.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.detail.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Minimum)
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addStretch(0)
        words.addWidget(self.label)
        words.addWidget(self.value)
        words.addStretch(0)
        row.addWidget(self.icon_, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(words, 3)
        row.addWidget(self.detail, 2, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.pill, 0, Qt.AlignmentFlag.AlignVCenter)
        self.set(text)
        self.follow()

    def set(
        self,
        text: str,
        value: str | None = None,
        detail: str = "",
        pill: tuple[PillKind, str] | None = None,
        reason: str = "",
    ) -> None:
        """All of it at once; `reason` says on hover why a value is unknown."""
        self.label.setText(text)
        self.value.setText(UNKNOWN if value is None else value)
        self.detail.setText(detail)
        self.detail.setVisible(bool(detail))
        self.pill.setVisible(pill is not None)
        if pill is not None:
            self.pill.set(*pill)
        self.setToolTip(reason)
        parts = (self.value.text(), detail, pill[1] if pill else "", reason)
        self.setAccessibleName(f"{text}: " + ", ".join(part for part in parts if part))
