"""Where the window stood when it was closed, kept for the next start."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow

from ...core import json
from ...core.errors import AppError

FIRST = (1180, 760)
SMALLEST = (880, 520)
# Left, top, right, bottom: as far as the widest usual frame reaches, while nobody knows the one that comes.
USUAL_FRAME = (8, 40, 8, 8)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Position and size in pixels without the frame, and whether the window filled the screen.

    `frame` is how far the frame reached beyond: left, top, right, bottom.
    """

    x: int
    y: int
    width: int
    height: int
    frame: tuple[int, int, int, int] = (0, 0, 0, 0)
    maximized: bool = False


def keep(window: QMainWindow, file: Path) -> None:
    """Write where the window stands; not worth a word to the user where that fails."""
    normal = window.normalGeometry() if window.isMaximized() else window.geometry()
    inner, outer = window.geometry(), window.frameGeometry()
    place = Place(
        x=normal.x(),
        y=normal.y(),
        width=normal.width(),
        height=normal.height(),
        frame=(
            max(inner.left() - outer.left(), 0),
            max(inner.top() - outer.top(), 0),
            max(outer.right() - inner.right(), 0),
            max(outer.bottom() - inner.bottom(), 0),
        ),
        maximized=window.isMaximized(),
    )
    try:
        json.write_file(file, json.encode(place))
    except AppError:
        return


def restore(window: QMainWindow, file: Path) -> None:
    """Put the window where it stood, or at its first size; always wholly on a screen that is there."""
    place: Place | None = None
    with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        place = json.decode(file.read_bytes(), Place)
    wanted = QRect(place.x, place.y, place.width, place.height) if place is not None else QRect(0, 0, *FIRST)
    screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
    free = next((screen for screen in screens if screen.contains(wanted.center())), screens[0])
    known = place is not None and free.contains(wanted.center())
    left, top, right, bottom = place.frame if place is not None else USUAL_FRAME
    free = free.adjusted(left, top, -right, -bottom)
    size = wanted.size().boundedTo(free.size())
    window.resize(size)
    if known:
        # Without the frame, as it was kept: `move` means the frame's corner, and the window would creep.
        x = min(max(wanted.x(), free.x()), free.right() - size.width() + 1)
        y = min(max(wanted.y(), free.y()), free.bottom() - size.height() + 1)
        window.setGeometry(QRect(QPoint(x, y), size))
    if place is not None and place.maximized:
        window.showMaximized()
