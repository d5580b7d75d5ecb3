"""Where the window stood when it was closed, kept for the next start."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec
from PySide6.QtCore import QRect
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow

from ...core import json
from ...core.errors import AppError

FIRST = (1180, 760)
SMALLEST = (880, 520)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Frame position and size in pixels, and whether the window filled the screen."""

    x: int
    y: int
    width: int
    height: int
    maximized: bool = False


def keep(window: QMainWindow, file: Path) -> None:
    """Write where the window stands; not worth a word to the user where that fails."""
    normal = window.normalGeometry() if window.isMaximized() else window.geometry()
    place = Place(
        x=normal.x(),
        y=normal.y(),
        width=normal.width(),
        height=normal.height(),
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
    size = wanted.size().boundedTo(free.size())
    window.resize(size)
    if known:
        window.move(
            min(max(wanted.x(), free.x()), free.right() - size.width() + 1),
            min(max(wanted.y(), free.y()), free.bottom() - size.height() + 1),
        )
    if place is not None and place.maximized:
        window.showMaximized()
