"""The wizard's steps: where one is, what comes, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from .. import theme
from .base import KeyboardFocus, Live, focus_ring, rounded
from .picture import draw_icon
from .rail import Brand, Rail
from .text import laid_out

WIDE, SLIM = 240, 200
DISC = 26


class StepRail(Rail):
    """`steps` are (title, hint); the hint shows under the current one. `chosen` comes for done steps only."""

    chosen = Signal(int)

    def __init__(self, steps: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.column.setSpacing(0)
        self.column.addWidget(Brand())
        self.buttons = [_Step(number, len(steps)) for number in range(len(steps))]
        for button in self.buttons:
            self.column.addWidget(button)
            button.clicked.connect(lambda _checked=False, number=button.number: self.chosen.emit(number))
        self.set_steps(steps)
        self.set_current(0)
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
        grown = 1 + (theme.text_scale() - 1) / 2
        margins = self.contentsMargins()
        if (outer := self.layout()) is not None:
            margins += outer.contentsMargins()
        needed = max(button.needed() for button in self.buttons) + margins.left() + margins.right()
        self.setFixedWidth(max(round((SLIM if self.shape_.narrow else WIDE) * grown), needed))
        super().refresh()


State = Literal["done", "current", "waiting"]


class _Step(KeyboardFocus, Live, QPushButton):
    def __init__(self, number: int, count: int) -> None:
        super().__init__()
        self.number, self._count = number, count
        self._hint = ""
        self._state: State = "waiting"
        self._leads_back = False
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

    def hitButton(self, pos: QPoint) -> bool:
        return self._leads_back and super().hitButton(pos)

    def refresh(self) -> None:
        self.setFont(theme.font("strong" if self._state == "current" else "body"))
        super().refresh()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(150), theme.px(52))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def needed(self) -> int:
        """The width that the title takes, as the current one."""
        return self._left() + QFontMetrics(theme.font("strong")).horizontalAdvance(self.text())

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        line = theme.px(52)
        if self._state != "current" or not self._hint:
            return line
        hint = laid_out(self._hint, theme.font("caption"), width - self._left())[1].height()
        return max(line, round(line / 2 + self.fontMetrics().height() / 2 + 3 + hint + 4))

    def _left(self) -> int:
        return 15 + theme.px(DISC) + 13

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        disc, line = theme.px(DISC), theme.px(52)
        circle = QRectF(15, (line - disc) / 2, disc, disc)
        if self.ringed:
            focus_ring(painter, QRectF(4, 2, self.width() - 4, line - 4), 8)
        elif self._leads_back and self.underMouse():
            rounded(painter, QRectF(4, 4, self.width() - 4, line - 8), 8, theme.color("hover"))
        self._links(painter, circle)
        self._disc(painter, circle)
        painter.setPen(theme.color("soft" if self._state == "waiting" else "text"))
        painter.setFont(self.font())
        left = self._left()
        words = QRectF(left, 0, self.width() - left, line)
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter), self.text())
        if self._state == "current" and self._hint:
            painter.setPen(theme.color("soft"))
            layout, _size = laid_out(self._hint, theme.font("caption"), self.width() - left)
            layout.draw(painter, QPointF(left, line / 2 + self.fontMetrics().height() / 2 + 3))

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
