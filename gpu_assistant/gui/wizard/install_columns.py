"""How the parts of the install page stand: list and progress beside each other, or in one column with both in sight."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

ALIGN_TOP = Qt.AlignmentFlag.AlignTop


class InstallLayout(QBoxLayout):
    """`lists` at the left, `news` at the right, the `notes` and the `log` below the news; in one column the news come
    first.
    """

    def __init__(
        self, list_widgets: Sequence[QWidget], progress_widgets: Sequence[QWidget], notes: Sequence[QWidget], log: QWidget
    ) -> None:
        super().__init__(QBoxLayout.Direction.LeftToRight)
        self._note_widgets, self._log_widget = tuple(notes), log
        self.left, self.right = QWidget(), QWidget()
        self._columns = {box: QVBoxLayout(box) for box in (self.left, self.right)}
        for box, widgets in ((self.left, list_widgets), (self.right, (*progress_widgets, *notes, log))):
            self._columns[box].setContentsMargins(0, 0, 0, 0)
            self._columns[box].setSpacing(12)
            for widget in widgets:
                self._columns[box].addWidget(widget)
        self.addWidget(self.left, 38, ALIGN_TOP)
        self.addWidget(self.right, 62, ALIGN_TOP)
        self._arranged_for: tuple[bool, bool] | None = None

    def arrange(self, *, narrow: bool, running: bool) -> None:
        """In one column: progress before the list, remarks after it, but before it once nothing runs; the log last."""
        if (narrow, running) == self._arranged_for:
            return
        self._arranged_for = narrow, running
        down, across = QBoxLayout.Direction.BottomToTop, QBoxLayout.Direction.LeftToRight
        self.setDirection(down if narrow else across)
        self.setSpacing(12 if narrow else 16)
        for note in self._note_widgets:
            self._columns[self.left if narrow and running else self.right].addWidget(note)
        self._columns[self.left if narrow else self.right].addWidget(self._log_widget)
