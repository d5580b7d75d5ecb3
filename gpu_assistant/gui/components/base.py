"""What every component shares: it follows language and theme while it lives, and shows keyboard focus."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import shiboken6
from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPen, QShowEvent
from PySide6.QtWidgets import QApplication, QWidget

from .. import theme
from .late import later

_COLOURS, _SIZES, _WORDS = 1, 2, 4
RING = 3  # 2 px of ring and 1 px of gap


class Live:
    """Mixin for widgets: calls `retranslate`, `refresh`, `recolour` when language, text size or theme change.

    Stands before the Qt class in the bases. `follow()` is called at the end of `__init__`. What is on the screen
    changes at once; what is not changes in small portions soon after, or when it is shown, whichever comes first.
    """

    _due = 0

    def follow(self) -> None:
        """Dress the widget now and with every change of theme, text scale or language."""
        _following[self] = None
        self.retranslate()
        self.refresh()

    def retranslate(self) -> None:
        """Say the widget's own words again, in the language of now."""

    def refresh(self) -> None:
        """Take fonts, sizes and colours of now."""
        self.updateGeometry()  # type: ignore[attr-defined]
        self.update()  # type: ignore[attr-defined]

    def recolour(self) -> None:
        """Take the colours of now, sizes being as they were; painted widgets need no more than a repaint."""
        self.update()  # type: ignore[attr-defined]

    def catch_up(self) -> None:
        """Do what is due."""
        due, self._due = self._due, 0
        if due & _WORDS:
            self.retranslate()
        if due & _SIZES:
            self.refresh()
        elif due:
            self.recolour()

    def changeEvent(self, event: QEvent) -> None:
        """Qt's own way to tell of a new language or state."""
        super().changeEvent(event)  # type: ignore[misc]
        if event.type() == QEvent.Type.LanguageChange:
            self._owe(_WORDS | _SIZES)
        elif event.type() == QEvent.Type.EnabledChange:
            self.update()  # type: ignore[attr-defined]

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what changed while nobody saw it."""
        self.catch_up()
        super().showEvent(event)  # type: ignore[misc]

    def _look_changed(self, sizes: bool) -> None:
        self._owe(_SIZES if sizes else _COLOURS)

    def _owe(self, what: int) -> None:
        owed, self._due = self._due, self._due | what
        if self.isVisible():  # type: ignore[attr-defined]
            self.catch_up()
        elif not owed:
            later(self)


# In the order in which they were made. A connection for each would cost as much as the rest of making a widget.
_following: WeakKeyDictionary[Live, None] = WeakKeyDictionary()


def _tell(sizes: bool) -> None:
    for widget in list(_following):
        if shiboken6.isValid(widget):
            widget._look_changed(sizes)


theme.notice.changed.connect(_tell)

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


def load_announcing() -> None:
    """Load what `announce` needs: Qt's classes for it and their enums take 25 ms."""
    from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent  # noqa: F401


def app() -> QApplication:
    """The running application."""
    found: QObject | None = QApplication.instance()
    assert isinstance(found, QApplication)  # noqa: S101 - widgets cannot exist without one
    return found
