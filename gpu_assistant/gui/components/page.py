"""A page: title, subtitle, a column of content that scrolls.

Vertically only, unless text is so large that even wrapped it needs more than the window's width.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractSlider, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from .base import Themed
from .scroll_bar import use_slim_scroll_bars
from .shape import Breakpoints
from .text import label

MAX_COLUMN_WIDTH = 1120
SCROLL_KEYS = {
    Qt.Key.Key_PageDown: QAbstractSlider.SliderAction.SliderPageStepAdd,
    Qt.Key.Key_PageUp: QAbstractSlider.SliderAction.SliderPageStepSub,
    Qt.Key.Key_Down: QAbstractSlider.SliderAction.SliderSingleStepAdd,
    Qt.Key.Key_Up: QAbstractSlider.SliderAction.SliderSingleStepSub,
    Qt.Key.Key_Home: QAbstractSlider.SliderAction.SliderToMinimum,
    Qt.Key.Key_End: QAbstractSlider.SliderAction.SliderToMaximum,
}


class Page(Themed, QScrollArea):
    """`column` takes the content, `add_action` what stands at the right of the title.

    `shape` says how large the window is. `wide` uses all the width (Monitor). `seen`: it is shown, and its window not
    minimised, which `isVisible` does not tell.
    """

    def __init__(
        self, title: str = "", subtitle: str = "", *, wide: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.breakpoints = Breakpoints(self)
        self._wide = wide
        self.is_shown = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        # The keyboard goes from control to control; `scroll_by_key` takes the keys that none of them wants.
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        use_slim_scroll_bars(self)
        self.content = QWidget()
        self._outer_layout = QVBoxLayout(self.content)
        self._outer_layout.setSpacing(16)
        self.title_label, self.subtitle_label = label("title", title), label("body", subtitle, "soft")
        text_layout = QVBoxLayout()
        text_layout.setSpacing(4)
        text_layout.addWidget(self.title_label)
        text_layout.addWidget(self.subtitle_label)
        self.header = QHBoxLayout()
        self.header.setSpacing(8)
        self.header.addLayout(text_layout, 1)
        self.column = QVBoxLayout()
        self.column.setSpacing(12)
        self._outer_layout.addLayout(self.header)
        self._outer_layout.addLayout(self.column, 1)
        self.setWidget(self.content)
        self.set_title(title, subtitle)
        self.breakpoints.changed.connect(self._update_margins)
        self._update_margins()
        self.apply_theme()

    def set_title(self, title: str, subtitle: str = "") -> None:
        """The page's words; without a title the content begins at the top."""
        self.title_label.setText(title)
        self.title_label.setVisible(bool(title))
        self.subtitle_label.setText(subtitle)
        self.subtitle_label.setVisible(bool(subtitle))
        self.setAccessibleName(title)

    def add_action(self, widget: QWidget) -> None:
        """A control at the right of the title."""
        self.header.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def scroll_by_key(self, event: QKeyEvent) -> bool:
        """Scroll by a key, if it is one for that."""
        action = SCROLL_KEYS.get(Qt.Key(event.key()))
        if action is not None:
            self.verticalScrollBar().triggerAction(action)
        return action is not None

    def showEvent(self, event: QShowEvent) -> None:
        """Opened, or the window came back."""
        self.is_shown = True
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Another page was opened, or the window was minimised."""
        self.is_shown = False
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the column's width."""
        super().resizeEvent(event)
        self._update_margins()

    def _update_margins(self) -> None:
        margin = self.breakpoints.margin
        # The scroll bar stands in the margin: what is on the page is as wide with it as without.
        scroll_bar = self.verticalScrollBar()
        scroll_bar_width = scroll_bar.sizeHint().width() if scroll_bar.maximum() > 0 else 0
        extra_width = 0 if self._wide else max(self.maximumViewportSize().width() - 2 * margin - MAX_COLUMN_WIDTH, 0)
        left = extra_width // 2 if self.breakpoints.is_wide else 0
        low = self.breakpoints.is_low
        top = 16 if low else 24
        self._outer_layout.setContentsMargins(margin + left, top, max(margin + extra_width - left - scroll_bar_width, 0), top)
        self._outer_layout.setSpacing(10 if low else 16)
        self.subtitle_label.set_one_line(low)
