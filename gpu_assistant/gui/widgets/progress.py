"""Progress: a bar, and the steps of an installation."""

from __future__ import annotations

from itertools import takewhile
from typing import Literal

from PySide6.QtCore import QElapsedTimer, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QHideEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QShowEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QSizePolicy, QVBoxLayout, QWidget

from ...core.plan import StepState
from ...texts.format import format_counted, format_percent
from .. import theme
from .base import Themed, animations_enabled, announce, draw_rounded_rect, tint_border
from .buttons import SPIN_MS, Button
from .icons import IconWidget, draw_icon
from .text import label

_ANNOUNCED_PARTS = 4


class ProgressBar(Themed, QProgressBar):
    """A bar of `height` pixels; an unknown total (None) shows stripes that do not move."""

    def __init__(self, *, height: int = 10, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._height = height
        self._fraction: float | None = 0.0
        self._announced = 0
        self.token = "accent"
        self.setTextVisible(False)
        self.setRange(0, 100)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def retranslate(self) -> None:
        self.setAccessibleName(self.tr("Progress"))

    def fraction(self) -> float | None:
        """0 to 1, None while the total is unknown."""
        return self._fraction

    def set_fraction(self, fraction: float | None) -> None:
        """Set 0 to 1, or None; every quarter is announced to screen readers once."""
        self._fraction = None if fraction is None else min(max(fraction, 0.0), 1.0)
        if self._fraction is None:
            self.setRange(0, 0)
        else:
            self.setRange(0, 100)
            # Qt would paint the whole window within the call, for each of many small steps.
            self.setUpdatesEnabled(False)
            self.setValue(round(self._fraction * 100))
            self.setUpdatesEnabled(True)
            quarter = int(self._fraction * _ANNOUNCED_PARTS)
            if quarter > self._announced and self.isVisible():
                announce(self, format_percent(100 * quarter / _ANNOUNCED_PARTS))
            self._announced = quarter
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, self._height)

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self._height)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        rect = QRectF(self.rect())
        radius = rect.height() / 2
        border = theme.color("line") if theme.current().line_width > 1 else None
        draw_rounded_rect(painter, rect, radius, theme.color("pressed"), border)
        track_path = QPainterPath()
        track_path.addRoundedRect(rect, radius, radius)
        painter.setClipPath(track_path)
        if self._fraction is None:
            painter.setPen(QPen(theme.color(self.token), rect.height() / 2, Qt.PenStyle.SolidLine))
            step = max(rect.height() * 1.8, 8.0)
            x = -rect.height()
            while x < rect.width() + rect.height():
                painter.drawLine(round(x), round(rect.height() + 4), round(x + rect.height() + 8), -4)
                x += step
        elif self._fraction > 0:
            done_rect = QRectF(0, 0, max(rect.width() * self._fraction, rect.height()), rect.height())
            draw_rounded_rect(painter, done_rect, radius, theme.color(self.token if self.isEnabled() else "disabled"))


MIN_FOLDED_STEPS = 2
STATE_ICON_SIZE = 26
# Of a step, or of a check, which may warn.
IconState = StepState | Literal["warn"]
_STEP_BACKGROUNDS: dict[IconState, str] = {
    "done": "ok_soft",
    "failed": "error_soft",
    "cancelled": "hover",
    "warn": "warn_soft",
}
_STEP_ICONS: dict[IconState, tuple[str, str]] = {
    "done": ("check", "ok"),
    "failed": ("error", "error"),
    "cancelled": ("pause", "soft"),
    "warn": ("warn", "warn"),
}


class StepList(Themed, QWidget):
    """Rows of state icon, title, detail, and a time or size at the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self.rows: dict[str, StepRow] = {}
        self._unused_rows: list[StepRow] = []
        self._compact = self._folding_enabled = self._expanded = self._hides_waiting = False
        # Stands for the done steps where they are folded; a click shows them again.
        self.fold_button = Button(kind="ghost", icon_name="check", trailing_icon="down", small=True)
        self.fold_button.clicked.connect(self._toggle_expanded)
        self.fold_button.hide()
        self._column.addWidget(self.fold_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.apply_theme()

    def retranslate(self) -> None:
        self.setAccessibleName(self.tr("Steps"))
        self.fold_button.setText(format_counted(self.tr("{n} steps done"), n=len(self._completed_rows())))
        self.fold_button.setAccessibleDescription(self.tr("expanded") if self._expanded else self.tr("collapsed"))
        self.fold_button.set_icon("check", "up" if self._expanded else "down")

    def set_compact(self, compact: bool, *, fold_done: bool = False, hide_waiting: bool = False) -> None:
        """Show details of running and failed steps only; with `fold_done` the done steps at the head take one line,
        with `hide_waiting` those that did not begin are left out.
        """
        self._folding_enabled, self._hides_waiting = fold_done, hide_waiting
        if compact != self._compact:
            self._compact = compact
            for row in (*self.rows.values(), *self._unused_rows):
                row.set_compact(compact)
        self._update_rows()

    def _completed_rows(self) -> list[StepRow]:
        """The rows at the head that are done or skipped."""
        completed = takewhile(lambda row: row.state in ("done", "skipped"), self.rows.values())
        return list(completed)

    def _update_rows(self) -> None:
        completed = self._completed_rows() if self._folding_enabled else []
        folding = len(completed) >= MIN_FOLDED_STEPS
        self.fold_button.setVisible(folding)
        for row in self.rows.values():
            is_folded = folding and not self._expanded and row in completed
            row.setVisible(not is_folded and not (self._hides_waiting and row.state == "waiting"))
        self.retranslate()

    def _toggle_expanded(self) -> None:
        self._expanded = not self._expanded
        self._update_rows()

    def add_step(self, step: str, title: str, detail: str = "", trailing: str = "", *, admin: bool = False) -> None:
        """Add a waiting step; `admin` shows the shield."""
        self.preallocate(1)
        row = self._unused_rows.pop(0)
        self.rows[step] = row
        self._column.addWidget(row)
        row.set_admin(admin)
        row.set_title(title)
        row.set_state("waiting", detail, trailing)
        row.show()

    def preallocate(self, count: int) -> None:
        """Create rows before they are needed: each takes 2 ms."""
        while len(self._unused_rows) < count:
            row = StepRow(parent=self)
            row.set_compact(self._compact)
            row.hide()
            self._unused_rows.append(row)

    def clear(self) -> None:
        """Remove all steps; their rows are used again."""
        for row in self.rows.values():
            self._column.removeWidget(row)
            row.hide()
        self._unused_rows = [*self.rows.values(), *self._unused_rows]
        self.rows, self._expanded = {}, False
        self._update_rows()

    def set_title(self, step: str, title: str) -> None:
        self.rows[step].set_title(title)

    def set_state(self, step: str, state: StepState, detail: str | None = None, trailing: str | None = None) -> None:
        """Set a step's state; None keeps a text as it is."""
        previous = self.rows[step].state
        self.rows[step].set_state(state, detail, trailing)
        if state != previous and (self._folding_enabled or self._hides_waiting):
            self._update_rows()

    def state(self, step: str) -> StepState:
        return self.rows[step].state


PLANNED_OFFSET = 3  # pixels that the text is lower than the icon, whose middle is that of the title then


class StepRow(Themed, QWidget):
    """One step; screen readers get one sentence. `planned`: it is read before anything runs, its title as a heading."""

    def __init__(self, *, admin: bool = False, planned: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state: StepState = "waiting"
        self._planned = planned
        self._compact = False
        self._layout = row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 14, 8)
        row.setSpacing(12)
        self._state_icon = StepStateIcon()
        self._title_label, self._detail_label, self._trailing_label = label("body"), label("small"), label("small")
        self._trailing_label.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Minimum)
        self._shield_icon: IconWidget | None = None
        self._title_layout = title_layout = QHBoxLayout()
        title_layout.setSpacing(6)
        title_layout.addWidget(self._title_label, 1)
        self.set_admin(admin)
        text_layout = QVBoxLayout()
        text_layout.setSpacing(2)
        text_layout.addStretch(0)
        text_layout.addLayout(title_layout)
        text_layout.addWidget(self._detail_label)
        text_layout.addStretch(0)
        beside = Qt.AlignmentFlag.AlignTop if planned else Qt.AlignmentFlag.AlignVCenter
        if planned:
            text_layout.setContentsMargins(0, PLANNED_OFFSET, 0, 0)
            self._trailing_label.setContentsMargins(0, PLANNED_OFFSET, 0, 0)
        row.addWidget(self._state_icon, 0, beside)
        row.addLayout(text_layout, 1)
        row.addWidget(self._trailing_label, 0, beside)
        self.apply_theme()

    def retranslate(self) -> None:
        state_text = {
            "waiting": self.tr("waiting"),
            "running": self.tr("running"),
            "done": self.tr("done"),
            "skipped": self.tr("not needed"),
            "failed": self.tr("failed"),
            "cancelled": self.tr("stopped"),
        }[self.state]
        parts = (state_text, self._detail_label.text(), self._trailing_label.text())
        self.setAccessibleName(f"{self._title_label.text()}: " + ", ".join(part for part in parts if part))

    def set_compact(self, compact: bool) -> None:
        self._compact = compact
        self._layout.setContentsMargins(12, 3 if compact else 8, 14, 3 if compact else 8)
        self._update_detail()

    def _update_detail(self) -> None:
        shown = not self._compact or self.state in ("running", "failed", "cancelled")
        self._detail_label.setVisible(shown and bool(self._detail_label.text()))

    def set_admin(self, admin: bool) -> None:
        """Show or hide the shield behind the title."""
        if admin and self._shield_icon is None:
            self._shield_icon = IconWidget("shield", "soft", 16)
            self._title_layout.addWidget(self._shield_icon)
            self._title_layout.addStretch(1)
        if self._shield_icon is not None:
            self._shield_icon.setVisible(admin)
            self._title_layout.setStretch(0, 0 if admin else 1)
            self._title_layout.setStretch(2, 1 if admin else 0)

    def set_title(self, title: str) -> None:
        self._title_label.setText(title)
        self.retranslate()

    def set_state(self, state: StepState, detail: str | None, trailing: str | None) -> None:
        """Set the state, the second line, and the text at the right; None keeps a text as it is."""
        self.state = state
        if detail is not None:
            self._detail_label.setText(detail)
        self._update_detail()
        if trailing is not None:
            self._trailing_label.setText(trailing)
            self._trailing_label.setVisible(bool(trailing))
        stands_out = self._planned or state in ("running", "failed", "cancelled")
        self._title_label.set_kind("strong" if stands_out else "body")
        self._title_label.set_tone("soft" if state in ("waiting", "skipped") and not self._planned else "text")
        self._detail_label.set_tone("error" if state == "failed" else "soft")
        self._state_icon.set_state(state)
        self.retranslate()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        if self.state == "running":
            border = tint_border("accent")
            rect = QRectF(self.rect())
            draw_rounded_rect(
                QPainter(self), rect, 8, theme.color("accent_soft"), theme.color(border) if border else None, width=2
            )


class StepStateIcon(Themed, QWidget):
    """A step's state: ring, spinner, tick, dash, octagon or pause; a check's triangle. `size` in pixels at 100 %."""

    def __init__(self, parent: QWidget | None = None, *, size: int = STATE_ICON_SIZE) -> None:
        super().__init__(parent)
        self._size = size
        self._state: IconState = "waiting"
        self._clock = QElapsedTimer()
        self._clock.start()
        self._spin_timer = QTimer(self)
        self._spin_timer.setInterval(50)
        self._spin_timer.timeout.connect(self.update)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.apply_theme()

    def set_state(self, state: IconState) -> None:
        self._state = state
        self._animate()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(self._size), theme.px(self._size))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._animate()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._spin_timer.stop()

    def _animate(self) -> None:
        if self._state == "running" and self.isVisible() and animations_enabled(self):
            self._spin_timer.start()
        else:
            self._spin_timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        rect = QRectF(self.rect())
        if self._state in _STEP_ICONS:
            name, token = _STEP_ICONS[self._state]
            border = tint_border(token)
            draw_rounded_rect(
                painter,
                rect.adjusted(2, 2, -2, -2),
                rect.width() / 2 - 2,
                theme.color(_STEP_BACKGROUNDS[self._state]),
                theme.color(border) if border else None,
                width=1.5,
            )
            draw_icon(painter, name, token, 16, rect)
            return
        inset = 4 * self._size / STATE_ICON_SIZE
        ring_rect = rect.adjusted(inset, inset, -inset, -inset)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._state == "running":
            pen = QPen(theme.color("accent"), 2.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            turn = (self._clock.elapsed() % SPIN_MS) / SPIN_MS if self._spin_timer.isActive() else 0.0
            painter.drawArc(ring_rect, round((90 - turn * 360) * 16), -250 * 16)
            return
        draw_rounded_rect(painter, ring_rect, ring_rect.width() / 2, None, theme.color("control"), width=1.5)
        if self._state == "skipped":
            center = rect.center()
            painter.setPen(QPen(theme.color("soft"), 1.7))
            painter.drawLine(round(center.x() - 4), round(center.y()), round(center.x() + 4), round(center.y()))
