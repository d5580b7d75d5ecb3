"""The steps of a plan and of an installation."""

from __future__ import annotations

from itertools import takewhile

from PySide6.QtCore import QElapsedTimer, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from ...core.plan import StepState
from ...texts.format import counted
from .. import theme
from .base import Live, moving, rounded, soft_edge
from .button import TURN_MS, Button
from .picture import Icon, draw_icon
from .text import label

FEWEST_FOLDED = 2
_GROUND = {"done": "ok_soft", "failed": "error_soft", "cancelled": "warn_soft"}
_PICTURE = {"done": ("check", "ok"), "failed": ("error", "error"), "cancelled": ("cross", "warn")}


class StepList(Live, QWidget):
    """Rows of state icon, title, detail, and a time or size at the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self.rows: dict[str, StepRow] = {}
        self._spare: list[StepRow] = []
        self._compact = self._folds = self._unfolded = False
        # What is behind stands in one line where there is little room; pressed, it shows all again.
        self.fold = Button(kind="ghost", icon="check", after="down")
        self.fold.clicked.connect(self._unfold)
        self.fold.hide()
        self._column.addWidget(self.fold, 0, Qt.AlignmentFlag.AlignLeft)
        self.follow()

    def retranslate(self) -> None:
        """What the list is."""
        self.setAccessibleName(self.tr("Steps"))
        self.fold.setText(counted(self.tr("{n} steps done"), n=len(self._behind())))
        self.fold.setAccessibleDescription(self.tr("open") if self._unfolded else self.tr("closed"))
        self.fold.set_icon("check", "up" if self._unfolded else "down")

    def set_compact(self, on: bool, *, folds: bool = False) -> None:
        """Rows of one line where nothing runs or failed; where it `folds`, the done ones at the head are one line."""
        self._folds = folds
        if on != self._compact:
            self._compact = on
            for row in (*self.rows.values(), *self._spare):
                row.set_compact(on)
        self._arrange()

    def _behind(self) -> list[StepRow]:
        """The rows at the head that have come to their end."""
        ended = takewhile(lambda row: row.state in ("done", "skipped"), self.rows.values())
        return list(ended)

    def _arrange(self) -> None:
        behind = self._behind() if self._folds else []
        folding = len(behind) >= FEWEST_FOLDED
        self.fold.setVisible(folding)
        for row in self.rows.values():
            row.setVisible(not folding or self._unfolded or row not in behind)
        self.retranslate()

    def _unfold(self) -> None:
        self._unfolded = not self._unfolded
        self._arrange()

    def add(self, step: str, title: str, detail: str = "", right: str = "", *, admin: bool = False) -> None:
        """One more step, waiting; `admin` shows the shield."""
        self.reserve(1)
        row = self._spare.pop(0)
        self.rows[step] = row
        self._column.addWidget(row)
        row.set_admin(admin)
        row.set_title(title)
        row.set_state("waiting", detail, right)
        row.show()

    def reserve(self, count: int) -> None:
        """Make rows before they are needed: each takes 2 ms."""
        while len(self._spare) < count:
            row = StepRow(parent=self)
            row.set_compact(self._compact)
            row.hide()
            self._spare.append(row)

    def clear(self) -> None:
        """No steps; their rows are kept for others."""
        for row in self.rows.values():
            self._column.removeWidget(row)
            row.hide()
        self._spare = [*self.rows.values(), *self._spare]
        self.rows, self._unfolded = {}, False
        self._arrange()

    def set_title(self, step: str, title: str) -> None:
        """The step's title, in another language."""
        self.rows[step].set_title(title)

    def set_state(self, step: str, state: StepState, detail: str | None = None, right: str | None = None) -> None:
        """Where a step is; None keeps the words there are."""
        before = self.rows[step].state
        self.rows[step].set_state(state, detail, right)
        if state != before and self._folds:
            self._arrange()

    def state(self, step: str) -> StepState:
        """Where a step is."""
        return self.rows[step].state


class StepRow(Live, QWidget):
    """One step; read as one sentence."""

    def __init__(self, *, admin: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state: StepState = "waiting"
        self._compact = False
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 14, 8)
        row.setSpacing(12)
        self._picture = StateIcon()
        self._title, self._detail, self._right = label("body"), label("small"), label("small")
        self._right.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Minimum)
        self._shield: Icon | None = None
        self._head = head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(self._title, 1)
        self.set_admin(admin)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addStretch(0)
        words.addLayout(head)
        words.addWidget(self._detail)
        words.addStretch(0)
        row.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addLayout(words, 1)
        row.addWidget(self._right, 0, Qt.AlignmentFlag.AlignVCenter)
        self.follow()

    def retranslate(self) -> None:
        """The sentence a screen reader says."""
        word = {
            "waiting": self.tr("waiting"),
            "running": self.tr("running"),
            "done": self.tr("done"),
            "skipped": self.tr("not needed"),
            "failed": self.tr("failed"),
            "cancelled": self.tr("stopped"),
        }[self.state]
        parts = (word, self._detail.text(), self._right.text())
        self.setAccessibleName(f"{self._title.text()}: " + ", ".join(part for part in parts if part))

    def set_compact(self, on: bool) -> None:
        """As low as its title, unless it runs or failed."""
        self._compact = on
        self._row.setContentsMargins(12, 3 if on else 8, 14, 3 if on else 8)
        self._show_detail()

    def _show_detail(self) -> None:
        told = not self._compact or self.state in ("running", "failed", "cancelled")
        self._detail.setVisible(told and bool(self._detail.text()))

    def set_admin(self, admin: bool) -> None:
        """Whether the shield stands behind the title."""
        if admin and self._shield is None:
            self._shield = Icon("shield", "soft", 16)
            self._head.addWidget(self._shield)
            self._head.addStretch(1)
        if self._shield is not None:
            self._shield.setVisible(admin)
            self._head.setStretch(0, 0 if admin else 1)
            self._head.setStretch(2, 1 if admin else 0)

    def set_title(self, title: str) -> None:
        """What the step does."""
        self._title.setText(title)
        self.retranslate()

    def set_state(self, state: StepState, detail: str | None, right: str | None) -> None:
        """State, second line, and what stands at the right."""
        self.state = state
        if detail is not None:
            self._detail.setText(detail)
        self._show_detail()
        if right is not None:
            self._right.setText(right)
            self._right.setVisible(bool(right))
        self._title.set_kind("strong" if state in ("running", "failed") else "body")
        self._title.set_tone("soft" if state in ("waiting", "skipped", "cancelled") else "text")
        self._detail.set_tone("error" if state == "failed" else "soft")
        self._picture.set_state(state)
        self.retranslate()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The running row is tinted."""
        del event
        if self.state == "running":
            edge = soft_edge("accent")
            rect = QRectF(self.rect())
            rounded(QPainter(self), rect, 8, theme.color("accent_soft"), theme.color(edge) if edge else None, width=2)


class StateIcon(Live, QWidget):
    """A step's state in 26 px: ring, turning arc, tick, dash, octagon, cross."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state: StepState = "waiting"
        self._clock = QElapsedTimer()
        self._clock.start()
        self._turn = QTimer(self)
        self._turn.setInterval(50)
        self._turn.timeout.connect(self.update)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.follow()

    def set_state(self, state: StepState) -> None:
        """Another state."""
        self._state = state
        self._animate()
        self.update()

    def sizeHint(self) -> QSize:
        """26 px, grown with the text."""
        return QSize(theme.px(26), theme.px(26))

    def showEvent(self, event: QShowEvent) -> None:
        """Turn only while seen."""
        super().showEvent(event)
        self._animate()

    def hideEvent(self, event: QHideEvent) -> None:
        """Rest while hidden."""
        super().hideEvent(event)
        self._turn.stop()

    def _animate(self) -> None:
        if self._state == "running" and self.isVisible() and moving(self):
            self._turn.start()
        else:
            self._turn.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The state's picture."""
        del event
        painter = QPainter(self)
        rect = QRectF(self.rect())
        if self._state in _PICTURE:
            name, token = _PICTURE[self._state]
            edge = soft_edge(token)
            rounded(
                painter,
                rect.adjusted(2, 2, -2, -2),
                rect.width() / 2 - 2,
                theme.color(_GROUND[self._state]),
                theme.color(edge) if edge else None,
                width=1.5,
            )
            draw_icon(painter, name, token, 16, rect)
            return
        ring = rect.adjusted(4, 4, -4, -4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._state == "running":
            pen = QPen(theme.color("accent"), 2.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            turned = (self._clock.elapsed() % TURN_MS) / TURN_MS if self._turn.isActive() else 0.0
            painter.drawArc(ring, round((90 - turned * 360) * 16), -250 * 16)
            return
        rounded(painter, ring, ring.width() / 2, None, theme.color("control"), width=1.5)
        if self._state == "skipped":
            middle = rect.center()
            painter.setPen(QPen(theme.color("soft"), 1.7))
            painter.drawLine(round(middle.x() - 4), round(middle.y()), round(middle.x() + 4), round(middle.y()))
