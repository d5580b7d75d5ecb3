"""Rails at the window's left: the main area's pages, the wizard's steps, and the buttons that they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from .. import theme
from . import icons
from .base import Breakpoints, KeyboardFocus, Themed, draw_focus_ring, draw_rounded_rect
from .icons import draw_icon
from .text import label, layout_text


def lay_out_with_rail(window: QWidget, rail: Rail, banner: QWidget, pages: QWidget) -> None:
    """Lay a window out: the rail at the left, a banner and the pages at the right."""
    right = QVBoxLayout()
    right.setSpacing(0)
    right.addWidget(banner)
    right.addWidget(pages, 1)
    row = QHBoxLayout(window)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(0)
    row.addWidget(rail)
    row.addLayout(right, 1)


STACKED_ICON, STACKED_GAP, STACKED_PADDING = 20, 5, 21  # pixels at 100 % of an icon above its text


class RailButton(KeyboardFocus, Themed, QPushButton):
    """A row of a rail: icon and text. The checked one has a bar and bolder text; a badge marks what needs attention."""

    def __init__(
        self, icon_name: str, text: str = "", *, trailing_icon: str | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(text, parent)
        self.icon_name, self.trailing_icon = icon_name, trailing_icon
        self.stacked = self._icon_only = self._tight = False
        self._badge: tuple[str, str] | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAutoDefault(False)
        self.apply_theme()

    def set_stacked(self, stacked: bool) -> None:
        """Put the icon above the text, or beside it."""
        self.stacked = stacked
        self.refresh()

    def set_icon_only(self, icon_only: bool) -> None:
        """Show the icon alone; the text becomes the tool tip."""
        if icon_only != self._icon_only:
            self._icon_only = icon_only
            self.refresh()

    def set_tight(self, tight: bool) -> None:
        """Take less height where the icon is above the text: the icon does not grow with the text then."""
        if tight != self._tight:
            self._tight = tight
            self.updateGeometry()
            self.update()

    @property
    def full_height(self) -> int:
        """The height in pixels that it has while it is not tight."""
        return self.fontMetrics().height() + (theme.px(STACKED_ICON) + STACKED_PADDING if self.stacked else 25)

    def set_badge(self, kind: str | None, text: str = "", description: str = "") -> None:
        """Show a disc ("warn" or "error") with a sign or count, None hides it; `description` says what it means."""
        badge = (kind, text) if kind else None
        if (badge, description) == (self._badge, self.accessibleDescription()):
            return
        self._badge = badge
        self.setToolTip(description)
        self.setAccessibleDescription(description)
        self.update()

    def refresh(self) -> None:
        # Rows at the rail's bottom are no pages: smaller text.
        kind = "caption" if self.stacked else "body" if self.isCheckable() else "small"
        if self.isChecked():
            kind = "caption-strong" if self.stacked else "strong"
        self.setFont(theme.font(kind))
        horizontal_policy = QSizePolicy.Policy.Expanding if self._fills_width() else QSizePolicy.Policy.Preferred
        self.setSizePolicy(horizontal_policy, QSizePolicy.Policy.Fixed)
        if not self._badge:
            self.setToolTip(self.accessibleName() or self.text() if self._icon_only else "")
        super().refresh()

    def _fills_width(self) -> bool:
        return self.isCheckable() or self.stacked or self._icon_only

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        if self.isCheckable():
            # Wide enough for the weight of the current page, so that nothing moves when a page is chosen.
            metrics = QFontMetrics(theme.font("caption-strong" if self.stacked else "strong"))
        width, height = metrics.horizontalAdvance(self.text()), self.fontMetrics().height()
        if self._icon_only:
            return QSize(theme.px(18) + 24, height + 20)
        if self.stacked:
            tight_height = height + STACKED_ICON + STACKED_GAP + 4
            return QSize(max(width + 16, theme.px(64)), tight_height if self._tight else self.full_height)
        if not self.isCheckable():
            trailing_width = theme.px(14) + 4 if self.trailing_icon else 0
            return QSize(width + theme.px(18) + trailing_width + 26, height + 20)
        return QSize(width + theme.px(20) + 42, height + 25)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def nextCheckState(self) -> None:
        super().nextCheckState()
        self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        body = QRectF(self.rect())
        if self.shows_focus_ring:
            body = draw_focus_ring(painter, body, 8)
        background = "card" if self.isChecked() else "pressed" if self.isDown() else "hover"
        if self.isChecked() or self.isDown() or self.underMouse():
            border = theme.color("accent") if self.isChecked() and theme.current().line_width > 1 else None
            draw_rounded_rect(painter, body, 8, theme.color(background), border, width=2)
        if self.isChecked():
            bar_height = theme.px(18)
            draw_rounded_rect(
                painter, QRectF(body.x(), self.height() / 2 - bar_height / 2, 3, bar_height), 1.5, theme.color("accent")
            )
        foreground = "text" if self.isChecked() else "soft"
        icon_token = "accent" if self.isChecked() else "soft"
        painter.setFont(self.font())
        if self.stacked:
            self._draw_stacked(painter, foreground, icon_token)
        else:
            self._draw_row(painter, foreground, icon_token)

    def _draw_stacked(self, painter: QPainter, foreground: str, icon_token: str) -> None:
        text_height = self.fontMetrics().height()
        size = round(STACKED_ICON / theme.text_scale()) if self._tight else STACKED_ICON
        side = theme.px(size)
        top = (self.height() - side - STACKED_GAP - text_height) / 2
        draw_icon(painter, self.icon_name, icon_token, size, QRectF(0, top, self.width(), side))
        painter.setPen(theme.color(foreground))
        text_rect = QRectF(0, top + side + STACKED_GAP, self.width(), text_height + 2)
        painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop), self.text())
        self._draw_badge(painter, self.width() / 2 + side / 2, top - 5)

    def _draw_row(self, painter: QPainter, foreground: str, icon_token: str) -> None:
        size, left, gap = (20, 14, 12) if self.isCheckable() else (18, 12, 10)
        side = theme.px(size)
        if self._icon_only:
            draw_icon(painter, self.icon_name, icon_token, size, QRectF(self.rect()))
            return
        draw_icon(painter, self.icon_name, icon_token, size, QRectF(left, 0, side, self.height()))
        painter.setPen(theme.color(foreground))
        text_rect = QRectF(left + side + gap, 0, self.width(), self.height())
        painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignVCenter), self.text())
        if self.trailing_icon:
            x = text_rect.x() + self.fontMetrics().horizontalAdvance(self.text()) + 4
            draw_icon(painter, self.trailing_icon, foreground, 14, QRectF(x, 0, theme.px(14), self.height()))
        self._draw_badge(painter, self.width() - theme.px(18) - 10, self.height() / 2 - theme.px(9))

    def _draw_badge(self, painter: QPainter, x: float, y: float) -> None:
        if self._badge is None:
            return
        kind, text = self._badge
        disc = QRectF(x, y, theme.px(18), theme.px(18))
        draw_rounded_rect(painter, disc, disc.height() / 2, theme.color(kind))
        painter.setFont(theme.font("caption-strong"))
        painter.setPen(theme.color("card"))
        painter.drawText(disc, int(Qt.AlignmentFlag.AlignCenter), text)


class Rail(Themed, QWidget):
    """A column at the window's left: `column` holds its rows, `footer` the rows at its bottom."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.breakpoints = Breakpoints(self)
        self._footer_rows: list[tuple[QBoxLayout, tuple[QWidget, ...]]] = []
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 14, 12, 14)
        self.column = QVBoxLayout()
        self.column.setSpacing(4)
        self.footer = QVBoxLayout()
        self.footer.setSpacing(4)
        layout.addLayout(self.column)
        layout.addStretch(1)
        layout.addLayout(self.footer)
        self.outer_layout = layout
        self.breakpoints.changed.connect(self.refresh)

    def add_footer_row(self, *widgets: QWidget) -> None:
        """Add a row at the bottom with widgets spread over its width; too wide, it becomes a column."""
        row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.setSpacing(0)
        for index, widget in enumerate(widgets):
            if index:
                row.addStretch(1)
            row.addWidget(widget)
        self.footer.addLayout(row)
        self._footer_rows.append((row, widgets))
        self.refresh()

    def refresh(self) -> None:
        self._arrange_footer()
        super().refresh()

    def event(self, event: QEvent) -> bool:
        # Its rows take new texts and fonts after the rail itself.
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange_footer()
        return super().event(event)

    def _arrange_footer(self) -> None:
        margins = self.outer_layout.contentsMargins()
        available = self.maximumWidth() - margins.left() - margins.right()
        for row, widgets in self._footer_rows:
            fits = sum(widget.sizeHint().width() for widget in widgets) <= available
            direction = QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom
            if row.direction() != direction:
                row.setDirection(direction)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("rail"))
        width = theme.current().line_width
        if width > 1:
            painter.fillRect(self.width() - width, 0, width, self.height(), theme.color("line"))


class Brand(Themed, QWidget):
    """The product's mark and name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(12, 10, 8, 18)
        self._layout.setSpacing(12)
        self._brand_mark = _BrandMark()
        self.name_label = label("strong")
        self._layout.addWidget(self._brand_mark)
        self._layout.addWidget(self.name_label, 1)
        self.apply_theme()

    def set_icon_only(self, icon_only: bool) -> None:
        self.name_label.setVisible(not icon_only)
        self._layout.setContentsMargins(0 if icon_only else 12, 10, 0 if icon_only else 8, 18)
        alignment = Qt.AlignmentFlag.AlignHCenter if icon_only else Qt.AlignmentFlag(0)
        self._layout.setAlignment(self._brand_mark, alignment | Qt.AlignmentFlag.AlignVCenter)

    def retranslate(self) -> None:
        self.name_label.setText(self.tr("GPU Assistant"))
        self.setAccessibleName(self.name_label.text())


class _BrandMark(Themed, QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.apply_theme()

    def refresh(self) -> None:
        self.setFixedSize(theme.px(30), theme.px(30))
        super().refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        QPainter(self).drawPixmap(0, 0, icons.brand_mark(30, self.devicePixelRatioF()))


NAV_RAIL_WIDTH, NARROW_RAIL_WIDTH = 212, 88


class NavigationRail(Rail):
    """The main area's pages; below 1180 pixels, the window's first width, the icons are above the texts. Arrow keys
    move within it.

    `items` and `bottom` are (icon, text); indexes count through both. `chosen` is emitted for each page that the user
    chooses.
    """

    chosen = Signal(int)

    def __init__(
        self,
        items: Sequence[tuple[str, str]],
        bottom: Sequence[tuple[str, str]] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.buttons: list[RailButton] = []
        for index, (icon, text) in enumerate((*items, *bottom)):
            button = RailButton(icon, text, parent=self)
            button.setCheckable(True)
            button.setAutoExclusive(True)
            button.toggled.connect(button.refresh)
            button.clicked.connect(lambda _checked=False, index=index: self.chosen.emit(index))
            (self.column if index < len(items) else self.footer).addWidget(button)
            self.buttons.append(button)
        self.apply_theme()

    def retranslate(self) -> None:
        self.setAccessibleName(self.tr("Pages"))

    def set_texts(self, texts: Sequence[str]) -> None:
        """Set the texts, in another language."""
        for button, text in zip(self.buttons, texts, strict=True):
            button.setText(text)
        self.refresh()

    def set_current(self, index: int) -> None:
        """Select a page; `chosen` is not emitted."""
        self.buttons[index].setChecked(True)

    def current(self) -> int:
        """The current page, -1 for none."""
        return next((index for index, button in enumerate(self.buttons) if button.isChecked()), -1)

    def set_badge(self, index: int, kind: str | None, text: str = "", description: str = "") -> None:
        """Mark a page; see `RailButton.set_badge`."""
        self.buttons[index].set_badge(kind, text, description)

    def refresh(self) -> None:
        narrow = self.breakpoints.is_rail_narrow
        scale = 1 + (theme.text_scale() - 1) / 2
        margin = 8 if narrow else 12
        self.outer_layout.setContentsMargins(margin, 14, margin, 14)
        buttons = self.findChildren(RailButton)
        for button in buttons:
            button.set_stacked(narrow)
        # No text is cut: the rail is as wide as its widest.
        widest = max((button.sizeHint().width() for button in buttons), default=0) + 2 * margin
        self.setFixedWidth(max(round((NARROW_RAIL_WIDTH if narrow else NAV_RAIL_WIDTH) * scale), widest))
        super().refresh()
        self._fit_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height()

    def _fit_height(self) -> None:
        """Large text in a low window: all pages are still there, none is cut."""
        margins = self.outer_layout.contentsMargins()
        needed = sum(button.full_height + self.column.spacing() for button in self.buttons)
        needed += margins.top() + margins.bottom() + self.outer_layout.spacing()
        for button in self.buttons:
            button.set_tight(self.window() is not self and needed > self.height())


STEP_RAIL_WIDTH, NARROW_STEP_RAIL_WIDTH = 240, 200
DISC_SIZE, STEP_GAP, MIN_STEP_GAP, DISC_LEFT = 26, 26, 6, 15
UNBOUNDED_HEIGHT = 16_777_215
# With titles that would take more than this share of the window, the rail shows its discs alone.
MAX_WINDOW_SHARE = 1 / 3


class StepRail(Rail):
    """The wizard's steps, (title, hint) each; the current one shows its hint. `chosen` is emitted for done steps only.

    Where large text would take too much of a small window it is `icon_only`: discs whose titles are tool tips. In a low
    window the steps move together.
    """

    chosen = Signal(int)

    def __init__(self, steps: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.icon_only = False
        self.column.setSpacing(0)
        self.brand = Brand()
        self.column.addWidget(self.brand)
        self.buttons = [_StepButton(number, len(steps)) for number in range(len(steps))]
        for button in self.buttons:
            self.column.addWidget(button)
            button.clicked.connect(lambda _checked=False, number=button.number: self.chosen.emit(number))
        self.set_steps(steps)
        self.set_current(0)
        self.breakpoints.resized.connect(self._update_icon_only)
        self.apply_theme()

    def retranslate(self) -> None:
        self.setAccessibleName(self.tr("Steps"))
        for button in self.buttons:
            button.retranslate()

    def set_steps(self, steps: Sequence[tuple[str, str]]) -> None:
        """Set the texts, in another language."""
        for button, (title, hint) in zip(self.buttons, steps, strict=True):
            button.set_texts(title, hint)
        self.refresh()

    def set_current(self, current: int, *, reachable: bool = True, failed: bool = False) -> None:
        """Steps before `current` are done; `reachable` is False while none can be opened (during an install). What the
        current one is for has `failed`.
        """
        for number, button in enumerate(self.buttons):
            state: StepRailState = "done" if number < current else "current" if number == current else "waiting"
            state = "failed" if failed and number == current else state
            button.set_state(state, reachable and state == "done")

    def refresh(self) -> None:
        # Without a parent it is its own window and has its preferred width.
        if self.window() is not self and self.isVisible():
            self.icon_only = self._takes_too_much()
        self.brand.set_icon_only(self.icon_only)
        for step in self.buttons:
            step.set_icon_only(self.icon_only)
        for button in self.findChildren(RailButton):
            button.set_icon_only(self.icon_only)
        if self.icon_only:
            width = max(2 * DISC_LEFT + theme.px(DISC_SIZE), self.brand.minimumSizeHint().width())
            self.setFixedWidth(width + self._horizontal_margins())
        else:
            self.setFixedWidth(self._width_with_titles())
        super().refresh()
        self.footer.invalidate()  # rows that became columns do not invalidate it
        self._distribute_height()

    def event(self, event: QEvent) -> bool:
        # Rows of the footer that have become higher or lower move the steps, too.
        if event.type() == QEvent.Type.LayoutRequest:
            self._distribute_height()
        return super().event(event)

    def _horizontal_margins(self) -> int:
        margins = self.outer_layout.contentsMargins()
        return margins.left() + margins.right()

    def _width_with_titles(self) -> int:
        scale = 1 + (theme.text_scale() - 1) / 2
        needed = max(button.title_width() for button in self.buttons) + self._horizontal_margins()
        return max(round((NARROW_STEP_RAIL_WIDTH if self.breakpoints.is_narrow else STEP_RAIL_WIDTH) * scale), needed)

    def _takes_too_much(self) -> bool:
        """Whether the titles would take too much of the window."""
        return self._width_with_titles() > self.window().width() * MAX_WINDOW_SHARE

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._distribute_height()

    def _update_icon_only(self) -> None:
        if self.isVisible() and self.window() is not self and self._takes_too_much() != self.icon_only:
            self.refresh()

    def _distribute_height(self) -> None:
        """Make each step as high as there is space for."""
        if self.window() is self:
            return
        margins = self.outer_layout.contentsMargins()
        available = self.height() - margins.top() - margins.bottom() - self.footer.sizeHint().height()
        available -= 2 * self.outer_layout.spacing()
        count = len(self.buttons)
        min_height = max(button.min_height() for button in self.buttons)
        brand_height = self.brand.sizeHint().height()
        self.brand.setVisible(available - brand_height >= count * min_height)
        available -= brand_height if not self.brand.isHidden() else 0
        step_height = min(max(available // count, min_height), theme.px(DISC_SIZE) + STEP_GAP)
        for button in self.buttons:
            button.set_height(step_height, available - count * step_height)


StepRailState = Literal["done", "current", "failed", "waiting"]
CURRENT_STATES: tuple[StepRailState, ...] = ("current", "failed")


class _StepButton(KeyboardFocus, Themed, QPushButton):
    def __init__(self, number: int, count: int) -> None:
        super().__init__()
        self.number, self._count = number, count
        self._hint = self._note = ""
        self._state: StepRailState = "waiting"
        self._clickable = self._icon_only = False
        # The gap between two discs does not grow with the text, so that all steps fit.
        self._height = theme.px(DISC_SIZE) + STEP_GAP
        self._hint_space = UNBOUNDED_HEIGHT
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAutoDefault(False)
        self.apply_theme()

    def set_texts(self, title: str, hint: str) -> None:
        self._hint = hint
        self.setText(title)
        self.retranslate()
        self.updateGeometry()

    def set_note(self, note: str) -> None:
        """Set the tool tip, such as why the step cannot be opened."""
        self._note = note
        self.retranslate()

    def set_icon_only(self, icon_only: bool) -> None:
        if icon_only != self._icon_only:
            self._icon_only = icon_only
            self.retranslate()
            self.updateGeometry()

    def set_height(self, height: int, hint_space: int) -> None:
        """Set its height in pixels, and how much more its hint may take."""
        if (height, hint_space) != (self._height, self._hint_space):
            self._height, self._hint_space = height, hint_space
            self.updateGeometry()
            self.update()

    def set_state(self, state: StepRailState, clickable: bool) -> None:
        self._state, self._clickable = state, clickable
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if clickable else Qt.FocusPolicy.NoFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor if clickable else Qt.CursorShape.ArrowCursor)
        self.retranslate()
        self.refresh()

    def retranslate(self) -> None:
        state_texts = {
            "done": self.tr("done"),
            "current": self.tr("current"),
            "failed": self.tr("failed"),
            "waiting": self.tr("waiting"),
        }
        self.setAccessibleName(
            self.tr("Step {number} of {count}: {title}, {state}").format(
                number=self.number + 1, count=self._count, title=self.text(), state=state_texts[self._state]
            )
        )
        parts = (self.text() if self._icon_only else "", self._note)
        self.setToolTip("\n".join(each for each in parts if each))

    def hitButton(self, pos: QPoint) -> bool:
        return self._clickable and super().hitButton(pos)

    def refresh(self) -> None:
        self.setFont(theme.font("strong" if self._state in CURRENT_STATES else "body"))
        super().refresh()

    def sizeHint(self) -> QSize:
        return QSize(0 if self._icon_only else theme.px(150), self._height)

    def minimumSizeHint(self) -> QSize:
        return QSize(0 if self._icon_only else self.title_width(), self._height)

    def title_width(self) -> int:
        """The width of the title in the current step's weight."""
        return self._text_left() + QFontMetrics(theme.font("strong")).horizontalAdvance(self.text())

    def min_height(self) -> int:
        """The least height for the title and a piece of the line."""
        return max(QFontMetrics(theme.font("strong")).height(), theme.px(20)) + MIN_STEP_GAP

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max(self._height, self._height_with_hint(width)) if self._shows_hint(width) else self._height

    def _height_with_hint(self, width: int) -> int:
        hint_height = layout_text(self._hint, theme.font("caption"), width - self._text_left())[1].height()
        return round(self._height / 2 + self.fontMetrics().height() / 2 + 3 + hint_height + 4)

    def _shows_hint(self, width: int) -> bool:
        if self._state not in CURRENT_STATES or not self._hint or self._icon_only:
            return False
        return self._height_with_hint(width) - self._height <= self._hint_space

    def _disc_size(self) -> int:
        return min(theme.px(DISC_SIZE), self._height - MIN_STEP_GAP)

    def _text_left(self) -> int:
        return DISC_LEFT + theme.px(DISC_SIZE) + 13

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        disc_size, height = self._disc_size(), self._height
        left = (self.width() - disc_size) / 2 if self._icon_only else DISC_LEFT + (theme.px(DISC_SIZE) - disc_size) / 2
        circle = QRectF(left, (height - disc_size) / 2, disc_size, disc_size)
        if self.shows_focus_ring:
            draw_focus_ring(painter, QRectF(4, 2, self.width() - 4, height - 4), 8)
        elif self._clickable and self.underMouse():
            draw_rounded_rect(painter, QRectF(4, 4, self.width() - 4, height - 8), 8, theme.color("hover"))
        self._draw_links(painter, circle)
        self._draw_disc(painter, circle)
        if self._icon_only:
            return
        painter.setPen(theme.color("soft" if self._state == "waiting" else "text"))
        painter.setFont(self.font())
        start = self._text_left()
        text_rect = QRectF(start, 0, self.width() - start, height)
        painter.drawText(text_rect, int(Qt.AlignmentFlag.AlignVCenter), self.text())
        if self._shows_hint(self.width()):
            painter.setPen(theme.color("soft"))
            layout, _size = layout_text(self._hint, theme.font("caption"), self.width() - start)
            layout.draw(painter, QPointF(start, height / 2 + self.fontMetrics().height() / 2 + 3))

    def _draw_links(self, painter: QPainter, circle: QRectF) -> None:
        """Half of the line to each neighbour, in the accent colour where the step is done."""
        x = circle.center().x()
        for drawn, done, top, bottom in (
            (self.number > 0, self._state != "waiting", 0.0, circle.top() - 2),
            (self.number < self._count - 1, self._state == "done", circle.bottom() + 2, float(self.height())),
        ):
            if drawn:
                painter.setPen(QPen(theme.color("accent" if done else "control"), 1.6))
                painter.drawLine(QPointF(x, top), QPointF(x, bottom))

    def _draw_disc(self, painter: QPainter, circle: QRectF) -> None:
        fill = {"current": "accent", "failed": "error", "done": "card", "waiting": None}[self._state]
        border = {"failed": "error", "waiting": "control"}.get(self._state, "accent")
        draw_rounded_rect(
            painter,
            circle,
            circle.width() / 2,
            theme.color(fill) if fill is not None else None,
            theme.color(border),
            width=1.6,
        )
        if self._state in ("done", "failed"):
            icon, token = ("check", "accent") if self._state == "done" else ("cross", "on_accent")
            draw_icon(painter, icon, token, 16, circle)
            return
        painter.setPen(theme.color("on_accent" if self._state == "current" else "soft"))
        painter.setFont(theme.font("caption-strong" if self._state == "current" else "small"))
        painter.drawText(circle, int(Qt.AlignmentFlag.AlignCenter), str(self.number + 1))
