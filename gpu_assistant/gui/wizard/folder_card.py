"""The folder that an environment goes to."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout

from .. import theme
from ..components import Button, Card, IconWidget, label
from ..components.dialogs import folder_dialog

FOLDER_ROW_MIN_WIDTH = 600  # below this width, times the text scale, the path and the button stand on lines of their own


class InstallFolderCard(Card):
    """Where it goes, and a button to put it elsewhere; `chosen` brings the folder that was picked."""

    folder_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__(padding=16)
        self.column.setContentsMargins(16, 4, 10, 4)
        self._layout, name_row = QBoxLayout(QBoxLayout.Direction.LeftToRight), QHBoxLayout()
        self._layout.setSpacing(12)
        name_row.setSpacing(12)
        self._name_label, self._path_label = label("small"), label("mono")
        self.change_button = Button(kind="ghost", icon_name="folder")
        self.change_button.clicked.connect(self.choose_folder)
        name_row.addWidget(IconWidget("folder", "soft", 20))
        name_row.addWidget(self._name_label, 1)
        self._layout.addLayout(name_row)
        self._layout.addWidget(self._path_label, 1)
        self._layout.addWidget(self.change_button, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(self._layout)

    def set_available_width(self, available_width: int) -> None:
        """How wide the card may be: in one line, or below each other."""
        in_row = available_width >= theme.px(FOLDER_ROW_MIN_WIDTH)
        self._layout.setDirection(QBoxLayout.Direction.LeftToRight if in_row else QBoxLayout.Direction.TopToBottom)
        self._layout.setSpacing(12 if in_row else 4)

    def set(self, name: str, path: str, change_text: str) -> None:
        """Its words and the path."""
        self._name_label.setText(name)
        self._path_label.setText(path)
        self.change_button.setText(change_text)
        self.change_button.setAccessibleName(f"{change_text}: {path}")
        self.setAccessibleName(f"{name}: {path}")

    def choose_folder(self) -> None:
        """Ask where to install."""
        dialog = folder_dialog(self, self.tr("Where shall it be installed?"))
        dialog.fileSelected.connect(self.folder_chosen)
        dialog.open()
