"""What one does with a result and for a new one: the buttons at the right of the page's title."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QSizePolicy, QWidget

from .. import theme
from ..components import Button, Page

TITLE_WIDTH = 260  # what the title wants beside the buttons
BUTTON_GAP = 8


class ResultActions(QWidget):
    """`picture` and `report` save, `full` and `again` measure. As many beside each other as fit, below the title where
    not all do.
    """

    def __init__(self, page: Page) -> None:
        super().__init__()
        self._page = page
        self._columns = 0
        self.picture_button, self.report_button = Button(icon_name="image"), Button(icon_name="file")
        self.full_test_button, self.measure_button = Button(icon_name="clock"), Button(kind="primary", icon_name="play")
        self.buttons = (self.picture_button, self.report_button, self.full_test_button, self.measure_button)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(BUTTON_GAP)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        page.add_action(self)
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the page in its size."""
        if event.type() == QEvent.Type.Resize:
            self.update_layout()
        return super().eventFilter(watched, event)

    def set_texts(self, enabled: bool, quick_duration: str, full_duration: str, unavailable_reason: str) -> None:
        """All words; `quick` and `thorough` say how long that takes, `why_not` why nothing can be measured."""
        self.picture_button.setText(self.tr("Save as picture"))
        self.report_button.setText(self.tr("Save report"))
        self.full_test_button.setText(self.tr("Full test…"))
        self.measure_button.setText(self.tr("Measure again"))
        for button, duration_text in ((self.full_test_button, full_duration), (self.measure_button, quick_duration)):
            button.setEnabled(enabled)
            button.setToolTip(duration_text if enabled else unavailable_reason)
        self.update_layout()

    def update_layout(self) -> None:
        """Buttons below the title where both do not fit beside each other."""
        available, margins = self._page.maximumViewportSize().width(), 2 * self._page.breakpoints.margin
        widths = [button.sizeHint().width() + BUTTON_GAP for button in self.buttons]
        one_row = theme.px(TITLE_WIDTH) + sum(widths) + margins <= available
        direction = QBoxLayout.Direction
        self._page.header.setDirection(direction.LeftToRight if one_row else direction.TopToBottom)
        alignment = Qt.AlignmentFlag.AlignVCenter if one_row else Qt.AlignmentFlag.AlignLeft
        self._page.header.setAlignment(self, alignment)
        count = len(self.buttons)
        candidates = (each for each in (count, 2) if each * max(widths) + margins <= available)
        columns = count if one_row else next(candidates, 1)
        if columns != self._columns:
            self._columns = columns
            for index, button in enumerate(self.buttons):
                self._grid.addWidget(button, index // columns, index % columns)
