"""The folder that an environment goes to."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout

from .. import theme
from ..components import Button, Card, Icon, label
from ..components.dialogs import folder_dialog

LEVEL = 600  # below this width, times the text scale, the path and the button stand on lines of their own


class FolderCard(Card):
    """Where it goes, and a button to put it elsewhere; `chosen` brings the folder that was picked."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 4, 10, 4)
        self._row, name = QBoxLayout(QBoxLayout.Direction.LeftToRight), QHBoxLayout()
        self._row.setSpacing(12)
        name.setSpacing(12)
        self._name, self._path = label("small"), label("mono")
        self.change = Button(kind="ghost", icon="folder")
        self.change.clicked.connect(self.choose)
        name.addWidget(Icon("folder", "soft", 20))
        name.addWidget(self._name, 1)
        self._row.addLayout(name)
        self._row.addWidget(self._path, 1)
        self._row.addWidget(self.change, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(self._row)

    def set_room(self, room: int) -> None:
        """How wide the card may be: in one line, or below each other."""
        level = room >= theme.px(LEVEL)
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if level else QBoxLayout.Direction.TopToBottom)
        self._row.setSpacing(12 if level else 4)

    def set(self, name: str, path: str, change: str) -> None:
        """Its words and the path."""
        self._name.setText(name)
        self._path.setText(path)
        self.change.setText(change)
        self.change.setAccessibleName(f"{change}: {path}")
        self.setAccessibleName(f"{name}: {path}")

    def choose(self) -> None:
        """Ask where to install."""
        dialog = folder_dialog(self, self.tr("Where shall it be installed?"))
        dialog.fileSelected.connect(self.chosen)
        dialog.open()
