"""A page: title, subtitle, a column of content that scrolls.

Vertically only, unless text is so large that even wrapped it needs more than the window's width.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractSlider, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from .base import Live
from .scroll_bar import scroll_slim
from .shape import Shape
from .text import label

COLUMN = 1120
KEYS = {
    Qt.Key.Key_PageDown: QAbstractSlider.SliderAction.SliderPageStepAdd,
    Qt.Key.Key_PageUp: QAbstractSlider.SliderAction.SliderPageStepSub,
    Qt.Key.Key_Down: QAbstractSlider.SliderAction.SliderSingleStepAdd,
    Qt.Key.Key_Up: QAbstractSlider.SliderAction.SliderSingleStepSub,
    Qt.Key.Key_Home: QAbstractSlider.SliderAction.SliderToMinimum,
    Qt.Key.Key_End: QAbstractSlider.SliderAction.SliderToMaximum,
}


class Page(Live, QScrollArea):
    """`column` takes the content, `add_action` what stands at the right of the title.

    `shape` says how large the window is. `wide` uses all the width (Monitor). `seen`: it is shown, and its window not
    minimised, which `isVisible` does not tell.
    """

    def __init__(
        self, title: str = "", subtitle: str = "", *, wide: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.shape_ = Shape(self)
        self._wide = wide
        self.seen = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        # The keyboard goes from control to control; `scroll_by_key` takes the keys that none of them wants.
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        scroll_slim(self)
        self.content = QWidget()
        self._outer = QVBoxLayout(self.content)
        self._outer.setSpacing(16)
        self.title, self.subtitle = label("title", title), label("body", subtitle, "soft")
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self.title)
        words.addWidget(self.subtitle)
        self.head = QHBoxLayout()
        self.head.setSpacing(8)
        self.head.addLayout(words, 1)
        self.column = QVBoxLayout()
        self.column.setSpacing(12)
        self._outer.addLayout(self.head)
        self._outer.addLayout(self.column, 1)
        self.setWidget(self.content)
        self.set_title(title, subtitle)
        self.shape_.changed.connect(self._fit)
        self._fit()
        self.follow()

    def set_title(self, title: str, subtitle: str = "") -> None:
        """The page's words; without a title the content begins at the top."""
        self.title.setText(title)
        self.title.setVisible(bool(title))
        self.subtitle.setText(subtitle)
        self.subtitle.setVisible(bool(subtitle))
        self.setAccessibleName(title)

    def add_action(self, widget: QWidget) -> None:
        """A control at the right of the title."""
        self.head.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def scroll_by_key(self, event: QKeyEvent) -> bool:
        """Scroll by a key, if it is one for that."""
        action = KEYS.get(Qt.Key(event.key()))
        if action is not None:
            self.verticalScrollBar().triggerAction(action)
        return action is not None

    def showEvent(self, event: QShowEvent) -> None:
        """Opened, or the window came back."""
        self.seen = True
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Another page was opened, or the window was minimised."""
        self.seen = False
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the column's width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        margin = self.shape_.margin
        # The scroll bar stands in the margin: what is on the page is as wide with it as without.
        upright = self.verticalScrollBar()
        bar = upright.sizeHint().width() if upright.maximum() > 0 else 0
        spare = 0 if self._wide else max(self.maximumViewportSize().width() - 2 * margin - COLUMN, 0)
        left = spare // 2 if self.shape_.wide else 0
        low = self.shape_.low
        top = 16 if low else 24
        self._outer.setContentsMargins(margin + left, top, max(margin + spare - left - bar, 0), top)
        self._outer.setSpacing(10 if low else 16)
        self.subtitle.set_one_line(low)
