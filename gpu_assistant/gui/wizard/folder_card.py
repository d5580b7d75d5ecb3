"""The folder that an environment goes to."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout

from ..components import Button, Card, Icon, label


class FolderCard(Card):
    """Where it goes, and a button to put it elsewhere."""

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 6, 10, 6)
        row = QHBoxLayout()
        row.setSpacing(12)
        self._name, self._path = label("small"), label("mono")
        self.change = Button(kind="ghost", icon="folder")
        row.addWidget(Icon("folder", "soft", 20))
        row.addWidget(self._name)
        row.addWidget(self._path, 1)
        row.addWidget(self.change)
        self.column.addLayout(row)

    def set(self, name: str, path: str, change: str) -> None:
        """Its words and the path."""
        self._name.setText(name)
        self._path.setText(path)
        self.change.setText(change)
        self.change.setAccessibleName(f"{change}: {path}")
        self.setAccessibleName(f"{name}: {path}")
