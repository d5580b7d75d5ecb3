"""Pages and the wizard's footer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QAbstractSlider,
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from ...texts.guide import CONTENTS
from .. import theme
from .base import Breakpoints, Themed
from .buttons import Button
from .icons import IconWidget
from .inputs import use_slim_scroll_bars
from .text import label


def set_reading_order(container: QWidget) -> None:
    """Let Tab go through what is seen in a container as one reads: by rows, and in a row from the left.

    Qt's own order is that in which widgets got their parent: what is arranged anew, or added later, comes last.
    """
    for previous, following in pairwise(list(_focus_widgets(container))):
        QWidget.setTabOrder(previous, following)


def _focus_widgets(container: QWidget) -> Iterator[QWidget]:
    for row in _rows(container):
        for child in sorted(row, key=QWidget.x):
            if child.focusPolicy() & Qt.FocusPolicy.TabFocus:
                yield child
            if isinstance(child, Page):
                yield from _focus_widgets(child.content)
            elif not isinstance(child, QAbstractScrollArea):  # tables and plots have no controls of ours inside
                yield from _focus_widgets(child)


def _rows(container: QWidget) -> list[list[QWidget]]:
    """The visible children, those beside each other in one row."""
    children = [each for each in container.children() if isinstance(each, QWidget) and not each.isWindow()]
    rows: list[list[QWidget]] = []
    for child in sorted((each for each in children if not each.isHidden()), key=QWidget.y):
        middle = child.y() + child.height() / 2
        if rows and middle <= rows[-1][0].geometry().bottom():
            rows[-1].append(child)
        else:
            rows.append([child])
    return rows


MAX_COLUMN_WIDTH = 1120
SUBTITLE_GAP = 14  # pixels between title and subtitle beside each other
SCROLL_KEYS = {
    Qt.Key.Key_PageDown: QAbstractSlider.SliderAction.SliderPageStepAdd,
    Qt.Key.Key_PageUp: QAbstractSlider.SliderAction.SliderPageStepSub,
    Qt.Key.Key_Down: QAbstractSlider.SliderAction.SliderSingleStepAdd,
    Qt.Key.Key_Up: QAbstractSlider.SliderAction.SliderSingleStepSub,
    Qt.Key.Key_Home: QAbstractSlider.SliderAction.SliderToMinimum,
    Qt.Key.Key_End: QAbstractSlider.SliderAction.SliderToMaximum,
}


class Page(Themed, QScrollArea):
    """A scrolling page: title and subtitle, `column` for its content, actions at the right of the title.

    It scrolls horizontally only where large text needs more than the window's width even when wrapped. `wide` uses all
    of that width. `is_shown`: it is on the screen and its window is not minimised, which `isVisible` does not say.
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
        # Tab goes from control to control; `scroll_by_key` takes the keys that no control uses.
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        use_slim_scroll_bars(self)
        self.content = QWidget()
        self._outer_layout = QVBoxLayout(self.content)
        self._outer_layout.setSpacing(16)
        self.title_label, self.subtitle_label = label("title", title), label("body", subtitle, "soft")
        self._title_layout = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._title_layout.addWidget(self.title_label)
        self._title_layout.addWidget(self.subtitle_label, 1)
        self._title_layout.setSpacing(4)
        self._has_subtitle_beside = False
        self.header = QHBoxLayout()
        self.header.setSpacing(8)
        self.header.addLayout(self._title_layout, 1)
        self.column = QVBoxLayout()
        self.column.setSpacing(12)
        self._outer_layout.addLayout(self.header)
        self._outer_layout.addLayout(self.column, 1)
        self.setWidget(self.content)
        self.set_title(title, subtitle)
        self.breakpoints.changed.connect(self._update_margins)
        # A scroll bar also comes and goes with the content, without a change of the window's size.
        self.verticalScrollBar().rangeChanged.connect(self._update_margins)
        self._update_margins()
        self.apply_theme()

    def set_title(self, title: str, subtitle: str = "") -> None:
        """Set the texts; an empty title is hidden."""
        self.title_label.setText(title)
        self.title_label.setVisible(bool(title))
        self.subtitle_label.setText(subtitle)
        self.subtitle_label.setVisible(bool(subtitle))
        self.setAccessibleName(title)

    def set_subtitle_beside(self, *, beside: bool) -> None:
        """Put the subtitle behind the title, with less space around them, in a window with little height; else it is
        below the title.
        """
        if beside == self._has_subtitle_beside:
            return
        self._has_subtitle_beside = beside
        directions = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._title_layout.setDirection(directions[beside])
        self._title_layout.setSpacing(SUBTITLE_GAP if beside else 4)
        for each in (self.title_label, self.subtitle_label):
            self._title_layout.setAlignment(each, Qt.AlignmentFlag.AlignBottom if beside else Qt.AlignmentFlag(0))
        self._update_margins()

    @property
    def help_topic(self) -> str:
        """The page of the guide about it."""
        return CONTENTS

    def reload(self) -> None:
        """Read again what the page shows; by default nothing."""

    def take_focus(self) -> None:
        """Give keyboard focus to what the page is for; by default nothing."""

    def available_width(self) -> int:
        """The width in pixels that the content has, with a scroll bar or without."""
        return self.maximumViewportSize().width() - 2 * self.breakpoints.margin - self._extra_width

    @property
    def _extra_width(self) -> int:
        """By how many pixels the widest column is narrower than the page within its margins."""
        width = self.maximumViewportSize().width() - 2 * self.breakpoints.margin
        return 0 if self._wide else max(width - MAX_COLUMN_WIDTH, 0)

    def add_action(self, widget: QWidget) -> None:
        """Add a control at the right of the title."""
        self.header.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def scroll_by_key(self, event: QKeyEvent) -> bool:
        """Scroll by a key; False if it is no key for that."""
        action = SCROLL_KEYS.get(Qt.Key(event.key()))
        if action is not None:
            self.verticalScrollBar().triggerAction(action)
        return action is not None

    def scroll_to(self, widget: QWidget) -> None:
        """Scroll until a widget is seen, also one that was shown just now and has no place yet."""
        self._outer_layout.activate()
        self.ensureWidgetVisible(widget)

    def showEvent(self, event: QShowEvent) -> None:
        self.is_shown = True
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self.is_shown = False
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_margins()

    def _update_margins(self) -> None:
        margin = self.breakpoints.margin
        # The scroll bar is in the margin: the content is as wide with it as without.
        scroll_bar = self.verticalScrollBar()
        scroll_bar_width = scroll_bar.sizeHint().width() if scroll_bar.maximum() > 0 else 0
        extra_width = self._extra_width
        left = extra_width // 2 if self.breakpoints.is_wide else 0
        low = self.breakpoints.is_low
        is_flat = low or self._has_subtitle_beside
        top = 16 if is_flat else 24
        bottom = 8 if low else 16 if self.breakpoints.is_tight else 24
        self._outer_layout.setContentsMargins(
            margin + left, top, max(margin + extra_width - left - scroll_bar_width, 0), bottom
        )
        self._outer_layout.setSpacing(10 if is_flat else 16)
        self.subtitle_label.set_one_line(low)


_MAX_HINT_LINES = 2.5


class Footer(Themed, QWidget):
    """The wizard's footer: a hint at the left, buttons at the right.

    A hint that needs more than two lines beside the buttons goes above them; so do the left buttons where they do not
    fit beside the right ones. Right buttons that do not fit side by side stand below each other.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._breakpoints = Breakpoints(self)
        self._icon, self.hint_label = IconWidget("info", "soft", 16), label("small")
        self._right_buttons: list[Button] = []
        hint_layout = QHBoxLayout()
        hint_layout.setSpacing(12)
        hint_layout.addWidget(self._icon)
        hint_layout.addWidget(self.hint_label, 1, Qt.AlignmentFlag.AlignVCenter)
        self._left_layout, self._right_layout = QHBoxLayout(), QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._left_layout.setSpacing(8)
        self._right_layout.setSpacing(12)
        self._buttons_layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._buttons_layout.setSpacing(12)
        self._buttons_layout.addLayout(self._left_layout)
        self._buttons_layout.addStretch(1)
        self._buttons_layout.addLayout(self._right_layout)
        self._buttons_layout.setAlignment(self._left_layout, Qt.AlignmentFlag.AlignLeft)
        self._buttons_layout.setAlignment(self._right_layout, Qt.AlignmentFlag.AlignRight)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setSpacing(12)
        self._layout.addLayout(hint_layout, 1)
        self._layout.addLayout(self._buttons_layout)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.set_hint("")
        self._breakpoints.changed.connect(self.update_layout)
        self.apply_theme()

    def set_hint(self, text: str, icon: str = "info") -> None:
        """Set the hint; an empty one is hidden."""
        self.hint_label.setText(text)
        self._icon.set(icon)
        self.hint_label.setVisible(bool(text))
        self._icon.setVisible(bool(text))
        self._layout.setStretch(0, 1 if text else 0)
        self._layout.setStretch(1, 0 if text else 1)
        self.update_layout()

    def add_button(self, button: Button) -> Button:
        """Add a button at the right."""
        button.large = True
        button.refresh()
        self._right_buttons.append(button)
        self._right_layout.addWidget(button)
        return button

    def add_left_button(self, button: Button) -> Button:
        """Add a button at the left."""
        self._left_layout.addWidget(button)
        return button

    def refresh(self) -> None:
        self.update_layout()
        super().refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.update_layout()

    def update_layout(self) -> None:
        """Arrange the buttons again, after their texts changed."""
        margin, low = self._breakpoints.margin, self._breakpoints.is_low
        self._layout.setContentsMargins(margin, 10 if low else 14, margin, 10 if low else 14)
        available = self.width() - 2 * margin
        widths = [button.sizeHint().width() for button in self._right_buttons if not button.isHidden()]
        right_width = sum(widths) + self._right_layout.spacing() * max(len(widths) - 1, 0)
        needed = self._left_layout.sizeHint().width() + right_width + 2 * self._buttons_layout.spacing()
        _set_direction(self._right_layout, vertical=right_width > available)
        _set_direction(self._buttons_layout, vertical=needed > available)
        hint_width = available - self._buttons_layout.sizeHint().width() - self._icon.width() - 36
        line_height = self.hint_label.fontMetrics().height() * theme.line_height()
        stacks_hint = (
            bool(self.hint_label.text())
            and self.hint_label.heightForWidth(max(hint_width, 1)) > _MAX_HINT_LINES * line_height
        )
        _set_direction(self._layout, vertical=stacks_hint)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.fillRect(0, 0, self.width(), theme.current().line_width, theme.color("line"))


def _set_direction(box: QBoxLayout, *, vertical: bool) -> None:
    direction = QBoxLayout.Direction.TopToBottom if vertical else QBoxLayout.Direction.LeftToRight
    if box.direction() != direction:
        box.setDirection(direction)
