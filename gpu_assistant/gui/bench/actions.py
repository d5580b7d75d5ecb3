"""What one does with a result and for a new one: the buttons at the right of the page's title."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QSizePolicy, QWidget

from .. import theme
from ..components import Button, Page

TITLE = 260  # what the title wants beside the buttons
GAP = 8


class Actions(QWidget):
    """`picture` and `report` save, `full` and `again` measure. As many beside each other as fit, below the title where
    not all do.
    """

    def __init__(self, page: Page) -> None:
        super().__init__()
        self._page = page
        self._columns = 0
        self.picture, self.report = Button(icon="image"), Button(icon="file")
        self.full, self.again = Button(icon="clock"), Button(kind="primary", icon="play")
        self.buttons = (self.picture, self.report, self.full, self.again)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        page.add_action(self)
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the page in its size."""
        if event.type() == QEvent.Type.Resize:
            self.arrange()
        return super().eventFilter(watched, event)

    def set_words(self, able: bool, quick: str, thorough: str, why_not: str) -> None:
        """All words; `quick` and `thorough` say how long that takes, `why_not` why nothing can be measured."""
        self.picture.setText(self.tr("Save as picture"))
        self.report.setText(self.tr("Save report"))
        self.full.setText(self.tr("Full test…"))
        self.again.setText(self.tr("Measure again"))
        for button, how_long in ((self.full, thorough), (self.again, quick)):
            button.setEnabled(able)
            button.setToolTip(how_long if able else why_not)
        self.arrange()

    def arrange(self) -> None:
        """Buttons below the title where both do not fit beside each other."""
        room, margins = self._page.maximumViewportSize().width(), 2 * self._page.shape_.margin
        wide = [button.sizeHint().width() + GAP for button in self.buttons]
        beside = theme.px(TITLE) + sum(wide) + margins <= room
        direction = QBoxLayout.Direction
        self._page.head.setDirection(direction.LeftToRight if beside else direction.TopToBottom)
        side = Qt.AlignmentFlag.AlignVCenter if beside else Qt.AlignmentFlag.AlignLeft
        self._page.head.setAlignment(self, side)
        count = len(self.buttons)
        fitting = (each for each in (count, 2) if each * max(wide) + margins <= room)
        columns = count if beside else next(fitting, 1)
        if columns != self._columns:
            self._columns = columns
            for place, button in enumerate(self.buttons):
                self._grid.addWidget(button, place // columns, place % columns)
