"""What every component shares: it follows language and theme while it lives, and shows keyboard focus."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPen
from PySide6.QtWidgets import QApplication, QWidget

from .. import theme

RING = 3  # 2 px of ring and 1 px of gap


class Live:
    """Mixin for widgets: calls `retranslate` and `refresh` when language, theme or text scale change.

    Stands before the Qt class in the bases. `follow()` is called at the end of `__init__`.
    """

    def follow(self) -> None:
        """Dress the widget now and with every change of theme, text scale or language."""
        theme.notice.changed.connect(self.refresh)
        self.retranslate()
        self.refresh()

    def retranslate(self) -> None:
        """Say the widget's own words again, in the language of now."""

    def refresh(self) -> None:
        """Take fonts and colours of now; painted widgets need no more than a repaint."""
        self.updateGeometry()  # type: ignore[attr-defined]
        self.update()  # type: ignore[attr-defined]

    def changeEvent(self, event: QEvent) -> None:
        """Qt's own way to tell of a new language or state."""
        super().changeEvent(event)  # type: ignore[misc]
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
            self.refresh()
        elif event.type() == QEvent.Type.EnabledChange:
            self.update()  # type: ignore[attr-defined]


_PASSING = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)


class KeyboardFocus:
    """Mixin for painted controls that show where the keyboard is.

    Going to another window or into a menu and back changes nothing about how the focus was got.
    """

    _by_keyboard = False

    @property
    def ringed(self) -> bool:
        """Whether the ring is shown: it has focus, and not from the mouse."""
        return self._by_keyboard and self.hasFocus()  # type: ignore[attr-defined]

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Focus by keyboard, shortcut or program shows the ring."""
        if event.reason() not in _PASSING:
            self._by_keyboard = event.reason() != Qt.FocusReason.MouseFocusReason
        super().focusInEvent(event)  # type: ignore[misc]

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """No focus, no ring."""
        if event.reason() not in _PASSING:
            self._by_keyboard = False
        super().focusOutEvent(event)  # type: ignore[misc]


def rounded(
    painter: QPainter,
    rect: QRectF,
    radius: float,
    fill: QColor | None = None,
    edge: QColor | None = None,
    *,
    width: float = 1.0,
) -> None:
    """A rounded box whose edge lies inside `rect`."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(edge, width) if edge is not None else Qt.PenStyle.NoPen)
    inset = width / 2 if edge is not None else 0.0
    painter.drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), radius, radius)


def focus_ring(painter: QPainter, rect: QRectF, radius: float) -> QRectF:
    """Draw the focus ring along `rect` and give the space that is left inside it."""
    rounded(painter, rect, radius + RING, None, theme.color("focus"), width=2)
    return rect.adjusted(RING, RING, -RING, -RING)


def boxed(painter: QPainter, rect: QRectF, radius: float, ground: str, edge: str | None = "line") -> None:
    """A card-like ground of a token, edged with another token as thick as the theme wants."""
    width = theme.current().line_width
    rounded(painter, rect, radius, theme.color(ground), theme.color(edge) if edge else None, width=width)


def soft_edge(kind: str) -> str | None:
    """The edge of a tinted ground: none, but the state's own colour where all grounds are alike."""
    return kind if theme.current().line_width > 1 else None


def moving(widget: QWidget) -> bool:
    """Whether the system wants animations."""
    from PySide6.QtWidgets import QStyle  # its many enums take 8 ms: not before the first window

    return widget.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, widget) > 0


def announce(widget: QWidget, text: str) -> None:
    """Let a screen reader say something that changed (Qt tells it from 6.8 on)."""
    from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))


def app() -> QApplication:
    """The running application."""
    found: QObject | None = QApplication.instance()
    assert isinstance(found, QApplication)  # noqa: S101 - widgets cannot exist without one
    return found
