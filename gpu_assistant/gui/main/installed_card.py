"""What is installed, in one environment."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout

from ...texts.format import UNKNOWN, size
from ..components import Banner, Button, Card, Icon, label
from .facts import Installed


class InstalledCard(Card):
    """PyTorch, its CUDA, Python, size; `verify` asks for a new proof, `remove` to take it all back."""

    ROWS = 4

    def __init__(self) -> None:
        self._installed: Installed | None = None
        self._ready = False
        super().__init__()
        head = QHBoxLayout()
        head.setSpacing(10)
        self._heading = label("heading")
        head.addWidget(Icon("envs", size=20))
        head.addWidget(self._heading, 1)
        self.column.addLayout(head)
        grid = QGridLayout()
        grid.setVerticalSpacing(5)
        grid.setColumnStretch(1, 1)
        self._names = [label("body", "", "soft") for _ in range(self.ROWS)]
        self._values = [label("strong") for _ in range(self.ROWS)]
        for row, (name, value) in enumerate(zip(self._names, self._values, strict=True)):
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            grid.addWidget(name, row, 0)
            grid.addWidget(value, row, 1)
        self.column.addLayout(grid)
        self.proof = Banner("ok")
        self.proof.hide()
        self.column.addWidget(self.proof)
        self.column.addStretch(1)
        foot = QHBoxLayout()
        self.place = label("small")
        self.place.set_one_line(True)
        self.verify, self.remove = Button(kind="ghost"), Button(kind="ghost", icon="trash")
        foot.addWidget(self.place, 1)
        for button in (self.verify, self.remove):
            foot.addWidget(button)
        self.column.addLayout(foot)
        self._ready = True
        self.retranslate()

    def set_installed(self, installed: Installed) -> None:
        """Another environment."""
        self._installed = installed
        self.retranslate()

    def retranslate(self) -> None:
        """All words and figures."""
        if not self._ready:
            return
        self._heading.setText(self.tr("Installed"))
        self.verify.setText(self.tr("Verify again"))
        self.remove.setText(self.tr("Remove"))
        installed = self._installed
        if installed is None:
            return
        cuda = installed.cuda or (self.tr("none: CPU build") if installed.torch is not None else None)
        rows = (
            ("PyTorch", installed.torch),
            (self.tr("CUDA, inside it"), cuda),
            ("Python", installed.python),
            (self.tr("Size"), size(installed.bytes) if installed.bytes is not None else None),
        )
        for (name, value), name_label, value_label in zip(rows, self._names, self._values, strict=True):
            name_label.setText(name)
            value_label.setText(value or UNKNOWN)
        self.place.setText(installed.path)
        self.setAccessibleName(", ".join(f"{name}: {value or UNKNOWN}" for name, value in rows))
