"""The key of a card of bars, with the head of the numbers at the right of the bars below it."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QLabel, QWidget

from ..widgets.layouts import WrappingRow


class HeadedKeyRow(WrappingRow):
    """A key that wraps, and a head at its right, in its last line: next to the numbers that it heads.

    Where the head would leave the key too little, it goes below it.
    """

    def __init__(self, key: QWidget, head: QLabel) -> None:
        super().__init__(key, head, spacing=12)
        self._key, self._head = key, head

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        key, head = self._key.geometry(), self._head.geometry()
        if self._key.isHidden() or self._head.isHidden() or head.top() > key.bottom():
            return
        last_line = self._key.sizeHint().height()
        head.moveTop(key.bottom() + 1 - (last_line + head.height()) // 2)
        self._head.setGeometry(head)
