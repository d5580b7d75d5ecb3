"""The wizard's steps: where one is, what comes, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from .. import theme
from .base import KeyboardFocus, Live, focus_ring, rounded
from .picture import draw_icon
from .rail import Brand, Rail
from .rail_button import RailButton
from .text import laid_out

WIDE, SLIM = 240, 200
DISC, BETWEEN, LEAST_BETWEEN, LEFT = 26, 26, 6, 15
UNBOUNDED = 16_777_215
# Words that would take more than this share of the window are left to the page: its discs say where one is.
SHARE = 1 / 3


class StepRail(Rail):
    """`steps` are (title, hint); the hint shows under the current one. `chosen` comes for done steps only.

    Where large text would take too much of a small window it is `bare`: discs without their titles, which show on
    hover and are told to screen readers; what is lower than its steps moves them together.
    """

    chosen = Signal(int)

    def __init__(self, steps: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bare = False
        self.column.setSpacing(0)
        self.brand = Brand()
        self.column.addWidget(self.brand)
        self.buttons = [_Step(number, len(steps)) for number in range(len(steps))]
        for button in self.buttons:
            self.column.addWidget(button)
            button.clicked.connect(lambda _checked=False, number=button.number: self.chosen.emit(number))
        self.set_steps(steps)
        self.set_current(0)
        self.shape_.resized.connect(self._fit)
        self.follow()

    def retranslate(self) -> None:
        """What the rail is for."""
        self.setAccessibleName(self.tr("Steps"))
        for button in self.buttons:
            button.retranslate()

    def set_steps(self, steps: Sequence[tuple[str, str]]) -> None:
        """The words again, in another language."""
        for button, (title, hint) in zip(self.buttons, steps, strict=True):
            button.set_words(title, hint)
        self.refresh()

    def set_current(self, current: int, *, reachable: bool = True) -> None:
        """All before `current` are done; with `reachable` False (while installing) none leads back."""
        for number, button in enumerate(self.buttons):
            state: State = "done" if number < current else "current" if number == current else "waiting"
            button.set_state(state, reachable and state == "done")

    def refresh(self) -> None:
        """Width of now."""
        # By itself it is its own window, which has the width that it wants.
        if self.window() is not self and self.isVisible():
            self.bare = self._crowds()
        self.brand.set_bare(self.bare)
        for step in self.buttons:
            step.set_bare(self.bare)
        for button in self.findChildren(RailButton):
            button.set_bare(self.bare)
        if self.bare:
            wide = max(2 * LEFT + theme.px(DISC), self.brand.minimumSizeHint().width())
            self.setFixedWidth(wide + self._beside())
        else:
            self.setFixedWidth(self._titled())
        super().refresh()
        self._spread()

    def _beside(self) -> int:
        margins = self.outer.contentsMargins()
        return margins.left() + margins.right()

    def _titled(self) -> int:
        """The width with the titles."""
        grown = 1 + (theme.text_scale() - 1) / 2
        needed = max(button.needed() for button in self.buttons) + self._beside()
        return max(round((SLIM if self.shape_.narrow else WIDE) * grown), needed)

    def _crowds(self) -> bool:
        """Whether the titles would take too much of the window."""
        return self._titled() > self.window().width() * SHARE

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another height moves the steps together, or apart again."""
        super().resizeEvent(event)
        self._spread()

    def _fit(self) -> None:
        """Another width of the window may leave room for the titles, or none."""
        if self.isVisible() and self.window() is not self and self._crowds() != self.bare:
            self.refresh()

    def _spread(self) -> None:
        """Each step as high as there is room for."""
        if self.window() is self:
            return
        margins = self.outer.contentsMargins()
        self.foot.invalidate()  # rows that became columns do not tell it
        room = self.height() - margins.top() - margins.bottom() - self.foot.sizeHint().height()
        room -= 2 * self.outer.spacing()
        count = len(self.buttons)
        least = max(button.least() for button in self.buttons)
        brand = self.brand.sizeHint().height()
        self.brand.setVisible(room - brand >= count * least)
        room -= brand if not self.brand.isHidden() else 0
        line = min(max(room // count, least), theme.px(DISC) + BETWEEN)
        for button in self.buttons:
            button.set_line(line, room - count * line)


State = Literal["done", "current", "waiting"]


class _Step(KeyboardFocus, Live, QPushButton):
    def __init__(self, number: int, count: int) -> None:
        super().__init__()
        self.number, self._count = number, count
        self._hint = self._note = ""
        self._state: State = "waiting"
        self._leads_back = self._bare = False
        # The way between two discs does not grow with the text, so that all steps have room.
        self._line = theme.px(DISC) + BETWEEN
        self._spare = UNBOUNDED
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAutoDefault(False)
        self.follow()

    def set_words(self, title: str, hint: str) -> None:
        self._hint = hint
        self.setText(title)
        self.retranslate()
        self.updateGeometry()

    def set_note(self, note: str) -> None:
        """What shows on hover, such as why no way leads back."""
        self._note = note
        self.retranslate()

    def set_bare(self, bare: bool) -> None:
        """Only the disc; its title shows on hover."""
        if bare != self._bare:
            self._bare = bare
            self.retranslate()
            self.updateGeometry()

    def set_line(self, line: int, spare: int) -> None:
        """How high it is in pixels, and how much more its hint may take."""
        if (line, spare) != (self._line, self._spare):
            self._line, self._spare = line, spare
            self.updateGeometry()
            self.update()

    def set_state(self, state: State, leads_back: bool) -> None:
        self._state, self._leads_back = state, leads_back
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if leads_back else Qt.FocusPolicy.NoFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor if leads_back else Qt.CursorShape.ArrowCursor)
        self.retranslate()
        self.refresh()

    def retranslate(self) -> None:
        states = {"done": self.tr("done"), "current": self.tr("current"), "waiting": self.tr("waiting")}
        self.setAccessibleName(
            self.tr("Step {number} of {count}: {title}, {state}").format(
                number=self.number + 1, count=self._count, title=self.text(), state=states[self._state]
            )
        )
        shown = (self.text() if self._bare else "", self._note)
        self.setToolTip("\n".join(each for each in shown if each))

    def hitButton(self, pos: QPoint) -> bool:
        return self._leads_back and super().hitButton(pos)

    def refresh(self) -> None:
        self.setFont(theme.font("strong" if self._state == "current" else "body"))
        super().refresh()

    def sizeHint(self) -> QSize:
        return QSize(0 if self._bare else theme.px(150), self._line)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def needed(self) -> int:
        """The width that the title takes, as the current one."""
        return self._left() + QFontMetrics(theme.font("strong")).horizontalAdvance(self.text())

    def least(self) -> int:
        """The height that its words and a glimpse of the way take."""
        return max(QFontMetrics(theme.font("strong")).height(), theme.px(20)) + LEAST_BETWEEN

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max(self._line, self._with_hint(width)) if self._hinted(width) else self._line

    def _with_hint(self, width: int) -> int:
        hint = laid_out(self._hint, theme.font("caption"), width - self._left())[1].height()
        return round(self._line / 2 + self.fontMetrics().height() / 2 + 3 + hint + 4)

    def _hinted(self, width: int) -> bool:
        if self._state != "current" or not self._hint or self._bare:
            return False
        return self._with_hint(width) - self._line <= self._spare

    def _disc_size(self) -> int:
        return min(theme.px(DISC), self._line - LEAST_BETWEEN)

    def _left(self) -> int:
        return LEFT + theme.px(DISC) + 13

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        disc, line = self._disc_size(), self._line
        left = (self.width() - disc) / 2 if self._bare else LEFT + (theme.px(DISC) - disc) / 2
        circle = QRectF(left, (line - disc) / 2, disc, disc)
        if self.ringed:
            focus_ring(painter, QRectF(4, 2, self.width() - 4, line - 4), 8)
        elif self._leads_back and self.underMouse():
            rounded(painter, QRectF(4, 4, self.width() - 4, line - 8), 8, theme.color("hover"))
        self._links(painter, circle)
        self._disc(painter, circle)
        if self._bare:
            return
        painter.setPen(theme.color("soft" if self._state == "waiting" else "text"))
        painter.setFont(self.font())
        start = self._left()
        words = QRectF(start, 0, self.width() - start, line)
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter), self.text())
        if self._hinted(self.width()):
            painter.setPen(theme.color("soft"))
            layout, _size = laid_out(self._hint, theme.font("caption"), self.width() - start)
            layout.draw(painter, QPointF(start, line / 2 + self.fontMetrics().height() / 2 + 3))

    def _links(self, painter: QPainter, circle: QRectF) -> None:
        """Half of the line to each neighbour; accent where the way is done."""
        x = circle.center().x()
        for wanted, done, top, bottom in (
            (self.number > 0, self._state != "waiting", 0.0, circle.top() - 2),
            (self.number < self._count - 1, self._state == "done", circle.bottom() + 2, float(self.height())),
        ):
            if wanted:
                painter.setPen(QPen(theme.color("accent" if done else "control"), 1.6))
                painter.drawLine(QPointF(x, top), QPointF(x, bottom))

    def _disc(self, painter: QPainter, circle: QRectF) -> None:
        fill = {"current": theme.color("accent"), "done": theme.color("card"), "waiting": None}[self._state]
        edge = theme.color("control" if self._state == "waiting" else "accent")
        rounded(painter, circle, circle.width() / 2, fill, edge, width=1.6)
        if self._state == "done":
            draw_icon(painter, "check", "accent", 16, circle)
            return
        painter.setPen(theme.color("on_accent" if self._state == "current" else "soft"))
        painter.setFont(theme.font("caption-strong" if self._state == "current" else "small"))
        painter.drawText(circle, int(Qt.AlignmentFlag.AlignCenter), str(self.number + 1))
