"""How the parts of the install page stand: list and progress beside each other, or in one column with both in sight."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

TOP = Qt.AlignmentFlag.AlignTop


class InstallColumns(QBoxLayout):
    """`lists` at the left, `news` at the right, the `notes` and the `log` below the news; in one column the news come
    first.
    """

    def __init__(
        self, lists: Sequence[QWidget], news: Sequence[QWidget], notes: Sequence[QWidget], log: QWidget
    ) -> None:
        super().__init__(QBoxLayout.Direction.LeftToRight)
        self._notes, self._log = tuple(notes), log
        self.left, self.side = QWidget(), QWidget()
        self._stacks = {box: QVBoxLayout(box) for box in (self.left, self.side)}
        for box, widgets in ((self.left, lists), (self.side, (*news, *notes, log))):
            self._stacks[box].setContentsMargins(0, 0, 0, 0)
            self._stacks[box].setSpacing(12)
            for widget in widgets:
                self._stacks[box].addWidget(widget)
        self.addWidget(self.left, 38, TOP)
        self.addWidget(self.side, 62, TOP)
        self._fitted: tuple[bool, bool] | None = None

    def fit(self, *, narrow: bool, running: bool) -> None:
        """In one column: progress before the list, remarks after it, but before it once nothing runs; the log last."""
        if (narrow, running) == self._fitted:
            return
        self._fitted = narrow, running
        down, right = QBoxLayout.Direction.BottomToTop, QBoxLayout.Direction.LeftToRight
        self.setDirection(down if narrow else right)
        self.setSpacing(12 if narrow else 16)
        for note in self._notes:
            self._stacks[self.left if narrow and running else self.side].addWidget(note)
        self._stacks[self.left if narrow else self.side].addWidget(self._log)
