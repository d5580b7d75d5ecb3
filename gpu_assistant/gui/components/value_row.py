"""One thing this computer has."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ...texts.format import UNKNOWN_VALUE
from .base import Themed
from .picture import IconWidget
from .pill import Pill, PillKind
from .text import label


class ValueRow(Themed, QWidget):
    """Icon, label over value, detail and pill at the right; read as one sentence. Unknown is a dash."""

    def __init__(self, icon: str, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 10, 4, 10)
        row.setSpacing(14)
        self.icon_widget = IconWidget(icon, background="square", background_size=34)
        self.name_label, self.value_label = label("caption", text), label("strong", UNKNOWN_VALUE)
        self.detail_label, self.pill = label("small"), Pill()
        self.detail_label.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.detail_label.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Minimum)
        text_layout = QVBoxLayout()
        text_layout.setSpacing(1)
        text_layout.addStretch(0)
        text_layout.addWidget(self.name_label)
        text_layout.addWidget(self.value_label)
        text_layout.addStretch(0)
        row.addWidget(self.icon_widget, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(text_layout, 3)
        row.addWidget(self.detail_label, 2, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.pill, 0, Qt.AlignmentFlag.AlignVCenter)
        self.set(text)
        self.apply_theme()

    def set(
        self,
        text: str,
        value: str | None = None,
        detail: str = "",
        pill: tuple[PillKind, str] | None = None,
        reason: str = "",
    ) -> None:
        """All of it at once; `reason` says on hover why a value is unknown."""
        self.name_label.setText(text)
        self.value_label.setText(UNKNOWN_VALUE if value is None else value)
        self.detail_label.setText(detail)
        self.detail_label.setVisible(bool(detail))
        self.pill.setVisible(pill is not None)
        if pill is not None:
            self.pill.set(*pill)
        self.setToolTip(reason)
        parts = (self.value_label.text(), detail, pill[1] if pill else "", reason)
        self.setAccessibleName(f"{text}: " + ", ".join(part for part in parts if part))
