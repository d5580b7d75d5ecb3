"""What is installed, in one environment."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout

from ...texts.format import UNKNOWN_VALUE, format_size
from ..components import Banner, Button, Card, IconWidget, label
from .facts import InstalledEnvironment


class InstalledEnvironmentCard(Card):
    """PyTorch, its CUDA, Python, size; `verify` asks for a new proof, `remove` to take it all back."""

    ROW_COUNT = 4

    def __init__(self) -> None:
        self._installed: InstalledEnvironment | None = None
        self._is_built = False
        super().__init__()
        heading_layout = QHBoxLayout()
        heading_layout.setSpacing(10)
        self._heading = label("heading")
        heading_layout.addWidget(IconWidget("envs", size=20))
        heading_layout.addWidget(self._heading, 1)
        self.column.addLayout(heading_layout)
        grid = QGridLayout()
        grid.setVerticalSpacing(5)
        grid.setColumnStretch(1, 1)
        self._name_labels = [label("body", "", "soft") for _ in range(self.ROW_COUNT)]
        self._value_labels = [label("strong") for _ in range(self.ROW_COUNT)]
        for row, (name, value) in enumerate(zip(self._name_labels, self._value_labels, strict=True)):
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            grid.addWidget(name, row, 0)
            grid.addWidget(value, row, 1)
        self.column.addLayout(grid)
        self.checks_banner = Banner("ok")
        self.checks_banner.hide()
        self.column.addWidget(self.checks_banner)
        self.column.addStretch(1)
        footer_layout = QHBoxLayout()
        self.path_label = label("small")
        self.path_label.set_one_line(True)
        self.verify_button, self.remove_button = Button(kind="ghost"), Button(kind="ghost", icon_name="trash")
        footer_layout.addWidget(self.path_label, 1)
        for button in (self.verify_button, self.remove_button):
            footer_layout.addWidget(button)
        self.column.addLayout(footer_layout)
        self._is_built = True
        self.retranslate()

    def set_installed(self, installed: InstalledEnvironment) -> None:
        """Another environment."""
        self._installed = installed
        self.retranslate()

    def retranslate(self) -> None:
        """All words and figures."""
        if not self._is_built:
            return
        self._heading.setText(self.tr("Installed"))
        self.verify_button.setText(self.tr("Verify again"))
        self.remove_button.setText(self.tr("Remove"))
        installed = self._installed
        if installed is None:
            return
        cuda = installed.cuda or (self.tr("none: CPU build") if installed.torch is not None else None)
        rows = (
            ("PyTorch", installed.torch),
            (self.tr("CUDA, inside it"), cuda),
            ("Python", installed.python),
            (self.tr("Size"), format_size(installed.bytes) if installed.bytes is not None else None),
        )
        for (name, value), name_label, value_label in zip(rows, self._name_labels, self._value_labels, strict=True):
            name_label.setText(name)
            value_label.setText(value or UNKNOWN_VALUE)
        self.path_label.setText(installed.path)
        self.setAccessibleName(", ".join(f"{name}: {value or UNKNOWN_VALUE}" for name, value in rows))
